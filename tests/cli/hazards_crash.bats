#!/usr/bin/env bats
# A profiler beside the recorder crashes, hangs or takes all memory at its 20th
# sample (tests/modules/crash.c): the program it profiles runs on, clean.

load helpers
load tracees

# With little address space; a sanitizer wants terabytes.
[ -z "${SANITIZED-}" ] || setup() { skip 'sanitizers need the address space'; }

setup_file() {
	export MODULES=$BATS_FILE_TMPDIR
	${CC:-cc} -D_GNU_SOURCE -fPIC -shared -O1 -I "$SOURCES/include" \
		-o "$MODULES/libcprof-profiler-crash.so" "$SOURCES/tests/modules/crash.c"
}

# crash_with HOW: to some busy programs, by attach.
crash_with() {
	local line name how=$1
	while read -r line; do
		read -r -a name <<<"$line"
		native "${name[@]}"
		begin "${name[@]}" || { complain "$line: not begun"; continue; }
		# Address space, lest it takes the machine's memory.
		(
			ulimit -v 1500000 -c 0
			exec "$CPROF" attach -q -o attach.data --capture=ptrace -s 2000 --plugin-dir="$MODULES" \
				--profile=crash:"$how",sample,20 "$tracee" >attach.out 2>attach.err </dev/null 3>&-
		) &
		controller=$!
		started+=("$controller")
		if [ "$how" = sleep ]; then
			# It hangs for ever; the tracer gives it up.
			until_true any_traced "$tracee"
			soon_left_alone "$tracee" "$line"
			kill -KILL "$controller"
			ended "$controller"
		else
			ended "$controller"
			[[ $ended == 1 && $(cat attach.err) == *' the profiler crash crashed in its callback sample_hit'* ]] ||
				complain "$line: cprof did not crash: $ended $(cat attach.err)"
		fi
		soon_left_alone "$tracee" "$line"
		finish
		[ "$finished" = "$native" ] || complain "$line: $finished; alone: $native"
	done <<-END
		thread_storm
		fork_storm
		exceptions
		signal_storm
		busy_threads
		many_threads --mode=spin --threads=8
	END
	no_complaints
}

@test "a profiler crashes: the program runs on" {
	crash_with segv
}

@test "a profiler hangs: the program is let go" {
	crash_with sleep
}

@test "a profiler takes all memory: the program runs on" {
	crash_with memory
}

# cprof waits for it, so that nobody finds it in the background.
@test "a profiler of cprof run crashes: CMD runs on" {
	mkfifo ready
	(
		ulimit -c 0
		exec "$CPROF" run -q --capture=ptrace -s 2000 -o rec --plugin-dir="$MODULES" \
			--profile=crash:segv,sample,20 -- "$TRACEES/busy_threads" --ready=ready --until=stop --limit=240 \
			>out 2>err </dev/null 3>&-
	) &
	local run=$! tracee
	started+=("$run")
	read -r tracee <ready
	until_true grep -q 'crashed in its callback sample_hit' err
	until_true left_alone "$tracee"
	# As its own alarm does, some seconds later.
	kill -ALRM "$run"
	kill -0 "$run"
	: >stop
	ended "$run"
	[ "$ended" = 125 ]
	grep -q '^busy_threads: ok' out
}

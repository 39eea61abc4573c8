#!/usr/bin/env bats
# cprof run: CMD runs as it would alone, and its status is cprof's.

load helpers
load tracees

@test "the status is CMD's own" {
	local want
	for want in 0 1 2 42 124 125 126 127 255; do
		status=0
		"$CPROF" run -q -- sh -c "exit $want" || status=$?
		assert_equal "$status" "$want"
	done
}

@test "128+N when signal N ended CMD" {
	for signal in TERM KILL SEGV ABRT USR1 INT; do
		separately "$CPROF" run -q -- sh -c "ulimit -c 0; kill -$signal \$\$"
		assert_equal "$status" "$((128 + $(kill -l "$signal")))"
	done
}

@test "126 when CMD can't be executed, 127 when it is not found" {
	: >not-executable
	separately "$CPROF" run -- ./not-executable
	assert_equal "$status" 126
	[[ $stderr == *not-executable*"ermission denied"* ]]
	separately -127 "$CPROF" run -- ./nothing-here
	assert_equal "$status" 127
	[[ $stderr == *nothing-here*"o such file"* ]]
	separately -127 "$CPROF" run -- nothing-on-the-path
	assert_equal "$status" 127
	[[ $stderr == *nothing-on-the-path* ]]
	separately "$CPROF" run -- /
	assert_equal "$status" 126
	printf '\177ELF and then nothing' >broken
	chmod +x broken
	# Not handed to a shell, as execvp() would.
	separately "$CPROF" run -- ./broken
	assert_equal "$status" 126
	assert_equal "$output" ""
}

@test "125 when cprof itself fails" {
	separately "$CPROF" run --no-such-option -- true
	assert_equal "$status" 125
	separately "$CPROF" run
	assert_equal "$status" 125
	separately "$CPROF" run -o /nonexistent/dir/file -- true
	assert_equal "$status" 125
	[[ $stderr == *"/nonexistent/dir/file"* ]]
	separately "$CPROF" run -o - -- true
	assert_equal "$status" 125
}

@test "CMD begins only when cprof is able to record" {
	separately "$CPROF" run -o /nonexistent/dir/file -- touch begun
	assert_not_exist begun
}

@test "standard output belongs to CMD alone, standard error gets the summary" {
	separately "$CPROF" run -- sh -c 'echo out; echo err >&2'
	assert_success
	assert_output out
	[[ $stderr == err* ]]
	[[ $stderr == *cprof* ]]
	separately "$CPROF" run -q -- sh -c 'echo out; echo err >&2'
	assert_output out
	assert_equal "$stderr" err
}

@test "arguments, environment, descriptors, signals, limits, affinity, input: as alone" {
	head -c 100000 /dev/urandom >input
	local command=(env -i A=1 "B=two words" "PATH=$PATH" "HOME=$BATS_TEST_TMPDIR")
	local tracee=("$TRACEES/print_state" one "" "three  words" --four)
	"${command[@]}" "${tracee[@]}" <input >alone.out 2>alone.err 7<input
	"${command[@]}" "$CPROF" run -q -o rec -- "${tracee[@]}" <input >under.out 2>under.err 7<input
	sed -i 's/alone.out/OUT/; s/alone.err/ERR/' alone.out
	sed -i 's/under.out/OUT/; s/under.err/ERR/' under.out
	diff -u alone.out under.out
	diff -u alone.err under.err
}

@test "the same with signals ignored and blocked, limits and an affinity" {
	# shellcheck disable=SC2054 # lists of env's
	local inherit=(env --ignore-signal=USR1,PIPE --block-signal=USR2,CHLD)
	local tracee=("$TRACEES/print_state")
	needs taskset prlimit
	"${inherit[@]}" taskset 1 prlimit --nofile=200:300 --core=0 "${tracee[@]}" >alone.out \
		2>alone.err </dev/null
	"${inherit[@]}" taskset 1 prlimit --nofile=200:300 --core=0 \
		"$CPROF" run -q -o rec -- "${tracee[@]}" >under.out 2>under.err </dev/null
	sed -i '/^env _=/d; s/alone.out/OUT/; s/alone.err/ERR/' alone.out
	sed -i '/^env _=/d; s/under.out/OUT/; s/under.err/ERR/' under.out
	diff -u alone.out under.out
}

@test "closed standard descriptors stay closed" {
	"$TRACEES/print_state" 2>alone.err >alone.out <&-
	"$CPROF" run -q -o rec -- "$TRACEES/print_state" 2>under.err >under.out <&-
	diff <(grep '^fd' alone.out | sed 's/alone/X/') <(grep '^fd' under.out | sed 's/under/X/')
}

@test "CMD is found on the PATH, options after it are CMD's" {
	separately "$CPROF" run -q echo -n -o x --help
	assert_output "-o x --help"
	assert_success
	assert_exist cprof.data
}

@test "a script, and a shell's pipeline of children" {
	printf '#!/bin/sh\nls / | sort | wc -l | tr -d " "\nexit 7\n' >script
	chmod +x script
	separately "$CPROF" run -q -- ./script
	assert_equal "$status" 7
	# shellcheck disable=SC2012
	assert_output "$(ls / | wc -l)"
}

@test "-d ends the recording, CMD goes on and its status is returned" {
	mkfifo ready
	"$CPROF" run -q -d 50ms -o rec -- "$TRACEES/known_stack" --ready=ready --until=stop \
		>out 2>err </dev/null 3>&- &
	local run=$! tracee
	started+=("$run")
	read -r tracee <ready
	until_true left_alone "$tracee"
	assert_exist rec
	kill -0 "$tracee"
	kill -0 "$run"
	: >stop
	ended "$run"
	assert_equal "$ended" 0
	tail -n 1 out | grep -q '^known_stack: ok'
}

@test "-d: a signal that ends CMD later is still returned" {
	mkfifo ready
	"$CPROF" run -q -d 20ms -o rec -- "$TRACEES/known_stack" --ready=ready --until=stop \
		>out 2>err </dev/null 3>&- &
	local run=$! tracee
	started+=("$run")
	read -r tracee <ready
	until_true left_alone "$tracee"
	kill -TERM "$tracee"
	ended "$run"
	assert_equal "$ended" $((128 + 15))
}

# passed_on SIGNAL: sent to cprof, it reaches CMD, which handles it.
passed_on() {
	"$CPROF" run -q -o rec -- sh -c "trap 'echo got $1; exit 5' $1
		echo ready; while :; do sleep 0.05; done" >out 2>err </dev/null 3>&- &
	local run=$!
	started+=("$run")
	until_true grep -q ready out
	kill "-$1" "$run"
	ended "$run"
	assert_equal "$ended" 5
	grep -q "got $1" out
	assert_exist rec
}

@test "SIGTERM sent to cprof run is passed on to CMD" {
	passed_on TERM
}

@test "SIGHUP sent to cprof run is passed on to CMD" {
	passed_on HUP
}

@test "SIGTERM that CMD does not handle ends it: 143, and a recording" {
	mkfifo ready
	"$CPROF" run -q -o rec -- "$TRACEES/known_stack" --ready=ready --until=stop \
		>out 2>err </dev/null 3>&- &
	local run=$!
	started+=("$run")
	read -r _ <ready
	kill -TERM "$run"
	ended "$run"
	assert_equal "$ended" 143
	assert_exist rec
}

# What is looked at before CMD is made is a pipe, whose opening waits.
@test "a signal before CMD is started ends cprof, and it is said: 128+N, and nothing is left" {
	local signal
	mkfifo cmd
	chmod +x cmd
	for signal in TERM HUP INT QUIT; do
		start env --default-signal "$CPROF" run -o "$PWD/rec" -- ./cmd
		until_true handles "$pid" "$signal"
		kill "-$signal" "$pid"
		ended "$pid"
		assert_equal "$ended: $(cat err)" \
			"$((128 + $(kill -l "$signal"))): cprof: ended by SIG$signal before './cmd' was started"
		assert_not_exist rec
		until_true eval "! pgrep -f '$PWD/rec'"
	done
	# Nor is a file for calls as they come, and an older one stays.
	echo older >lines
	local file
	for file in new lines; do
		start "$CPROF" run -t main --live="$file" -- ./cmd
		until_true handles "$pid" TERM
		kill -TERM "$pid"
		ended "$pid"
		assert_equal "$ended: $(cat err)" "143: cprof: ended by SIGTERM before './cmd' was started"
	done
	run -127 "$CPROF" run -t main --live=lines -- ./nobody
	assert_not_exist new
	assert_equal "$(cat lines)" older
	run -125 "$CPROF" run -t main --live=none/lines -- true
	"$CPROF" run -t main --live=lines -- "$TRACEES/counted" >out
	grep -q '^ .* main(' lines
	run ! grep -q older lines
}

# Whenever it comes: either nothing of CMD was executed, then there is no recording and the
# older one has its name, or it is CMD's, as later.
@test "SIGTERM at any moment of the beginning" {
	local n round
	for ((n = 0; n < $(long_or 300 8); n++)); do
		rm -f begun rec rec.old
		echo older >rec
		start "$CPROF" run -q -s 99 -o "$PWD/rec" -- "$BASH" -c '>begun; exec sleep 1000'
		until handles "$pid" TERM; do :; done
		if ((n % 2)); then
			until [ -e rec.old ]; do :; done
		fi
		for ((round = 0; round < n * n * 80; round++)); do :; done
		kill -TERM "$pid"
		ended "$pid"
		assert_equal "$ended" 143
		if grep -q "^cprof: ended by SIGTERM before '.*bash' was started$" err; then
			assert_not_exist begun
			assert_not_exist rec.old
			assert_equal "$(cat rec)" older
		else
			assert_equal "$(cat err rec.old)" older
			"$CPROF" report rec >report
		fi
		until_true eval "! pgrep -f '$PWD/rec'"
	done
}

# A terminal of its own, so that ^C goes to the whole foreground group. The shell
# that is to print the status is in it, too: without a trap, it ends as well if it
# gets to look only when cprof has ended.
@test "Ctrl-C reaches CMD as it would without cprof" {
	needs script
	cat >job <<-END
		trap 'echo got INT; exit 9' INT
		echo \$\$ >pid
		while :; do sleep 0.05; done
	END
	mkfifo keys
	env --default-signal=INT,QUIT script -qec "trap : INT; '$CPROF' run -q -o rec -- sh job; echo status \$?" typescript <keys >out 2>&1 3>&- &
	local session=$!
	started+=("$session")
	exec 8>keys
	until_true test -s pid
	until_true traced "$(cat pid)"
	printf '\003' >&8
	until_true grep -q 'status [0-9]' typescript
	exec 8>&-
	grep -q 'got INT' typescript
	grep -q 'status 9' typescript
}

@test "Ctrl-C that CMD does not handle: 130" {
	needs script
	mkfifo keys
	local job="'echo \$\$ >pid; exec sleep 60'"
	env --default-signal=INT,QUIT script -qec "trap : INT; '$CPROF' run -q -o rec -- sh -c $job; echo status \$?" \
		typescript <keys >out 2>&1 3>&- &
	started+=("$!")
	exec 8>keys
	until_true test -s pid
	# Not while it is a shell: dash forgets about a SIGINT while it starts something.
	until_true grep -qx sleep "/proc/$(cat pid)/comm"
	traced "$(cat pid)"
	printf '\003' >&8
	until_true grep -q 'status [0-9]' typescript
	exec 8>&-
	grep -q 'status 130' typescript
	assert_exist rec
}

# begins STATUS: either CMD ran, and this is its status, or cprof could not begin.
begins() {
	case $1 in
	7) [ -e ran ] && "$CPROF" report x.data >report ;;
	125) [ ! -e ran ] && [ ! -s x.data ] && grep -q '^cprof: ' err ;;
	127) grep -q 'loading shared libraries' err ;; # so it was not cprof yet
	*) false ;;
	esac
}

@test "where cprof can't record from the beginning, it ends with 125 and CMD is not started" {
	[ -z "${SANITIZED-}" ] || skip "the sanitizers need files of their own"
	local status n
	{ (ulimit -f 0 && exec "$CPROF" run -o x.data -- sh -c ': >ran; exit 7') 2>&1 || echo "status $?"; } |
		cat >err
	grep -x 'status 125' err
	begins 125
	grep 'File too large' err
	for n in {5..24..2}; do
		rm -f x.data ran
		status=0
		(ulimit -n "$n" && exec "$CPROF" run -o x.data -- sh -c ': >ran; exit 7') >out 2>err || status=$?
		begins "$status" || { echo "$n descriptors: status $status"; cat err; return 1; }
	done
	mkdir -p small
	mount -t tmpfs -o size=4k none small 2>/dev/null || skip "no right to mount"
	head -c 4096 /dev/zero >small/full
	rm -f ran x.data
	status=0
	"$CPROF" run -o small/x.data -- sh -c ': >ran; exit 7' 2>err || status=$?
	umount small
	assert_equal "$status" 125
	begins "$status"
}

# What is placed at once is no matter of the stack; and the limit is the program's own. What the
# environment takes, up to a quarter of it, is not left to us.
@test "a limit of the stack that leaves little" {
	export FILLING
	for how in "-t all -a -r" --allocs "--capture=ptrace -s 499"; do
		for limit in "-S -s 64" "-s 64" "-s 64 filled"; do
			FILLING=
			[ "$limit" = "${limit% filled}" ] || FILLING=$(printf '%9000s' '')
			limit=${limit% filled}
			# shellcheck disable=SC2086
			(ulimit $limit && exec "$CPROF" run -q -o x.data $how -- sh -c 'ulimit -s; ulimit -c; exit 7') >out 2>err || status=$?
			# cprof works on a stack of its own, of which the sanitizers warn.
			assert_equal "$status $(grep -v "ASan doesn't fully support makecontext" err)" "7 "
			# shellcheck disable=SC2086
			(ulimit $limit && sh -c 'ulimit -s; ulimit -c') | diff - out
		done
	done
}

# Daemons and Python programs hand that on. Who ignores it is told of no stop.
@test "a SIGCHLD that is ignored is so for CMD, and cprof works" {
	gcc -o ignored -x c - <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct sigaction action;
			if (!strcmp(argv[1], "ignore")) {
				signal(SIGCHLD, SIG_IGN);
				execvp(argv[2], argv + 2);
			}
			sigaction(SIGCHLD, NULL, &action);
			puts(action.sa_handler == SIG_IGN ? "ignored" : action.sa_handler == SIG_DFL ? "default" : "?");
			return 7;
		}
	END
	local how way
	for how in "run -s 99" "run --capture=ptrace -s 499" "run -t main -a" "run -t main --traps" cover; do
		for way in ignored default; do
			status=0
			# shellcheck disable=SC2046,SC2086
			timeout -k 3 60 $([ $way = default ] || echo ./ignored ignore) "$CPROF" $how -q -o x.data \
				-- ./ignored seen >out 2>err || status=$?
			assert_equal "$how: $status $(cat out)" "$how: 7 $way"
		done
	done
	sleep 30 &
	timeout -k 3 60 ./ignored ignore "$CPROF" attach -q -d 50ms -t all -o x.data $!
	kill $!
}

@test "a recording cut short by a full disk: CMD's status is kept, and it is said" {
	mkdir small
	mount -t tmpfs -o size=4k none small 2>/dev/null || skip "no right to mount"
	local status=0
	"$CPROF" run -s 5000 -o small/rec -- sh -c \
		"'$TRACEES/deep' --rounds=300; exit 33" >out 2>err || status=$?
	umount small
	[ "$status" = 33 ] || { echo "status $status"; cat err; false; }
	grep -q '^deep: ok' out
	grep -qi -e 'no space' -e 'disk' err
}

@test "a file size limit does not hurt CMD" {
	[ -z "${SANITIZED-}" ] || skip "the sanitizers write files of their own"
	needs prlimit
	local status=0
	prlimit --fsize=4096 "$CPROF" run -s 5000 -o rec -- "$TRACEES/deep" --rounds=600 \
		>out 2>err || status=$?
	assert_equal "$status" 0
	grep -q '^deep: ok' out
	grep -qi -e 'too large' -e 'file size' -e 'limit' err
}

@test "an older recording is kept as .old" {
	"$CPROF" run -q -- true
	local first
	first=$(cksum <cprof.data)
	"$CPROF" run -q -- true
	assert_equal "$(cksum <cprof.data.old)" "$first"
}

@test "the recording is 0600 and follows no link" {
	umask 0
	"$CPROF" run -q -o rec -- true
	assert_equal "$(stat -c %a rec)" 600
	: >victim
	ln -s victim link
	separately "$CPROF" run -q -o link -- true
	[ ! -s victim ]
}

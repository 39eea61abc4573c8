#!/usr/bin/env bats
# cprof stack: the stack of every thread, judged by the programs that know their
# own stacks and by gdb.

load helpers
load tracees

# frames_of TID: the functions of a thread, leaf first, one a line, from
# stack.json. Inlined frames count as gdb counts them.
frames_of() {
	jq -r --argjson tid "$1" '.threads[] | select(.tid == $tid) | .frames[] | .function // "?"' \
		stack.json
}

# program_frames_of TID: only those whose names the program printed.
program_frames_of() {
	frames_of "$1" | grep -x -F -f <(program_functions)
}

program_functions() {
	grep '^stack ' "$tracee_output" | cut -d ' ' -f 4- | tr ' ' '\n' | sort -u
}

# as_printed PROGRAM OPTION...: each thread's frames are those that it printed.
as_printed() {
	local tid kind want got
	while read -r _ tid kind want; do
		got=$(program_frames_of "$tid" | tr '\n' ' ')
		[ "${got% }" = "$want" ] ||
			complain "$*: $kind: $(frames_of "$tid" | uniq -c | tr -s ' \n' ' '); not: $(
				tr ' ' '\n' <<<"$want" | uniq -c | tr -s ' \n' ' ')"
	done < <(grep '^stack ' "$tracee_output")
}

known() {
	begin "$@"
	grep -q '^stack ' "$tracee_output"
}

known_asleep() {
	asleep "$@"
	grep -q '^stack ' "$tracee_output"
}

@test "the known stacks, without stopping a blocked thread" {
	needs jq
	local program
	for program in known_stack known_stack_fp known_stack_O0 known_stack_nopie \
		known_stack_static known_stack_static_pie; do
		known "$program" || { complain "$program: not begun"; continue; }
		take && as_printed "$program" || complain "$program: $(cat stack.err)"
		soon_left_alone "$tracee" "$program"
		finish
		[ "$finished" = "status 0, known_stack: ok N chains of calls" ] ||
			complain "$program: $finished"
	done
	no_complaints
}

@test "the known stacks with --stop" {
	needs jq
	local program
	for program in known_stack known_stack_fp known_stack_O0 known_stack_nopie \
		known_stack_static known_stack_static_pie; do
		known "$program" || { complain "$program: not begun"; continue; }
		take --stop && as_printed "$program" --stop || complain "$program: $(cat stack.err)"
		soon_left_alone "$tracee" "$program"
		finish
		[ "$finished" = "status 0, known_stack: ok N chains of calls" ] ||
			complain "$program: $finished"
	done
	no_complaints
}

@test "the known stacks of a program that was deleted" {
	needs jq
	cp "$TRACEES/known_stack" gone
	mkfifo ready
	start ./gone --ready=ready --until=stop
	read -r tracee <ready
	tracee_output=out
	rm gone
	take
	as_printed deleted
	finish
	no_complaints
}

@test "200 and 10,000 frames deep" {
	needs jq
	local depth
	for depth in 200 10000; do
		known known_stack --mode=deep --depth="$depth" || return
		take
		as_printed "$depth"
		finish
	done
	no_complaints
}

# guessed_in_order TID WANT...: where frames have to be guessed some may be
# missing, but none is out of order, and the outermost is there.
guessed_in_order() {
	local tid=$1 name got
	shift
	for name in $(program_frames_of "$tid"); do
		while [ $# -gt 0 ] && [ "$1" != "$name" ]; do
			shift
		done
		[ $# -gt 0 ] || {
			complain "$tid: out of order: $(frames_of "$tid" | tr '\n' ' ')"
			return 0
		}
	done
	[ $# = 1 ] || complain "$tid: does not reach the outermost frame"
	got=$(jq --argjson tid "$tid" '[.threads[] | select(.tid == $tid) | .frames[] |
		select(.guessed)] | length' stack.json)
	[ "$got" -gt 0 ] || complain "$tid: guessed, and no frame says so"
}

@test "without call frame information: by frame pointers, flagged as guessed" {
	needs jq
	known known_stack_nocfi --mode=read
	local tid frames
	read -r _ tid _ frames < <(grep '^stack ' "$tracee_output")
	take --stop
	as_printed nocfi
	# shellcheck disable=SC2086
	guessed_in_order "$tid" $frames
	take
	# shellcheck disable=SC2086
	guessed_in_order "$tid" $frames
	finish
	no_complaints
}

# The stripped twin has the same code at the same addresses: what cprof calls a
# function there must begin where the symbol does.
@test "a stripped program: as many frames, at the same places" {
	needs jq nm
	known known_stack_stripped
	take
	local tid want got
	while read -r _ tid _ want; do
		got=$(jq --argjson tid "$tid" '[.threads[] | select(.tid == $tid) | .frames[] |
			select(.image == "known_stack_stripped")] | length' stack.json)
		[ "$got" = "$(wc -w <<<"$want")" ] ||
			complain "stripped: $got frames in the program, not $(wc -w <<<"$want")"
	done < <(grep '^stack ' "$tracee_output")
	finish
	no_complaints
}

@test "musl, statically linked" {
	needs jq
	[ -x "$TRACEES/known_stack_musl" ] || skip "musl-gcc is not installed"
	known known_stack_musl
	take --stop
	# musl's own functions have no call frame information.
	local tid frames
	while read -r _ tid _ frames; do
		# shellcheck disable=SC2086
		guessed_in_order "$tid" $frames
	done < <(grep -e ' read ' -e ' cond ' -e ' sem ' "$tracee_output")
	finish
	no_complaints
}

@test "C++ names, and a running thread" {
	needs jq
	begin sample_cpp
	take
	local tid kind want got
	while read -r _ tid kind want; do
		got=$(frames_of "$tid" | sed 's/operator()/operator@/; s/(.*//; s/^[a-z ]* //; s/@/()/' |
			grep -E '^(shop|work)::' | uniq | tr '\n' ' ')
		case $kind in
		blocked) [ "${got% }" = "$want" ] || complain "C++: $got; not: $want" ;;
		*) [[ $got == *work::compute* ]] || complain "C++: $got" ;;
		esac
	done < <(grep '^stack ' "$tracee_output")
	finish
	no_complaints
}

@test "Rust names" {
	needs jq
	[ -x "$TRACEES/sample_rust" ] || skip "rustc is not installed"
	begin sample_rust
	take
	jq -r '.threads[].frames[].function // "?"' stack.json >functions
	finish
	grep -q 'sample_rust::shop::open' functions
	grep -q 'as sample_rust::shop::Serve>::serve' functions
	grep -q 'sample_rust::work::compute' functions
	not grep -q '17h[0-9a-f]\{16\}' functions
}

# The frames of every thread as gdb has them, "TID PC NAME" a line: those that
# are on the stack (gdb also makes up frames for tail calls).
gdb_frames() {
	cat >frames.py <<-END
		import gdb
		for thread in gdb.selected_inferior().threads():
		    thread.switch()
		    frame = gdb.newest_frame()
		    while frame:
		        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
		            print("frame", thread.ptid[1], hex(frame.pc()), frame.name())
		        frame = frame.older()
	END
	gdb -nx -batch -p "$tracee" -ex 'set backtrace past-main on' -ex 'set backtrace limit 20000' \
		-ex 'source frames.py' 2>gdb.err | sed -n 's/^frame //p' >gdb.frames
	[ -s gdb.frames ] || { cat gdb.err; return 1; }
}

# unlike_gdb [TID...]: the threads in stack.json with other frames than gdb's, one
# a line. Those that are named spin, and are elsewhere in their leaf.
unlike_gdb() {
	local tid got want
	# shellcheck disable=SC2013 # numbers
	for tid in $(cut -d ' ' -f 1 gdb.frames | sort -u); do
		want=$(awk -v tid="$tid" '$1 == tid { print $2 }' gdb.frames | tr '\n' ' ')
		got=$(jq -r --argjson tid "$tid" '.threads[] | select(.tid == $tid) | .frames[] |
			select(.inlined | not) | .ip' stack.json | tr '\n' ' ')
		[[ " $* " != *" $tid "* ]] || got=${got#* } want=${want#* }
		[ "$got" = "$want" ] || echo "thread $tid: $got ($(frames_of "$tid" | uniq |
			tr '\n' ' ')); gdb: $want ($(awk -v tid="$tid" '$1 == tid { print $3 }' \
			gdb.frames | uniq | tr '\n' ' '))"
	done
}

as_gdb() {
	local line
	while read -r line; do
		complain "$line"
	done < <(unlike_gdb "$@")
}

@test "the same frames in the same order as gdb, blocked threads not stopped" {
	needs jq gdb
	local spinning
	known_asleep known_stack
	spinning=$(awk '$1 == "stack" && $3 == "spin" { print $2 }' "$tracee_output" | tr '\n' ' ')
	take
	gdb_frames
	# shellcheck disable=SC2086
	as_gdb $spinning
	finish
	no_complaints
}

@test "the same frames in the same order as gdb, with --stop" {
	needs jq gdb
	local spinning program
	for program in known_stack known_stack_O0 known_stack_static; do
		known_asleep "$program"
		spinning=$(awk '$1 == "stack" && $3 == "spin" { print $2 }' "$tracee_output" | tr '\n' ' ')
		take --stop
		gdb_frames
		# shellcheck disable=SC2086
		as_gdb $spinning
		finish
	done
	no_complaints
}

# reads COMMAND...: started, and asleep in a read of its standard input.
reads() {
	mkfifo -m 600 "input.$1"
	exec {input_fd}<>"input.$1"
	# shellcheck disable=SC2016 # the inner one expands
	start bash -c 'exec "$@" <input."$1"' - "$@"
	tracee=$pid
	until_true grep -q '^0 0x0 ' "/proc/$pid/syscall"
}

answer() {
	echo >&"$input_fd"
	exec {input_fd}>&-
	wait "$pid"
}

# both_as_gdb NAME [TID...]: all frames of all threads are gdb's, by either unwinder.
both_as_gdb() {
	local unwinder threads
	gdb_frames
	threads=$(cut -d ' ' -f 1 gdb.frames | sort -u | wc -l)
	for unwinder in own libunwind-ptrace; do
		take --stop --unwinder="$unwinder"
		unlike_gdb "${@:2}" >unlike
		echo "# $1: $unwinder: $threads threads, unlike gdb's: $(wc -l <unlike)" >&3
		[ ! -s unlike ] || complain "$1, $unwinder: $(cat unlike)"
	done
}

@test "libunwind-ptrace, cprof and gdb are of one opinion" {
	needs jq gdb sqlite3
	local spinning
	run "$CPROF" stack --unwinder=libunwind-ptrace $$
	assert_failure 2
	assert_line --index 0 \
		"cprof: libunwind-ptrace walks threads that stand still: say --stop, too"
	known_asleep known_stack
	spinning=$(awk '$1 == "stack" && $3 == "spin" { print $2 }' "$tracee_output" | tr '\n' ' ')
	# shellcheck disable=SC2086 # numbers
	both_as_gdb known_stack $spinning
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	asleep sample_cpp
	spinning=$(awk '$1 == "stack" && $3 != "blocked" { print $2 }' "$tracee_output" | tr '\n' ' ')
	# shellcheck disable=SC2086 # numbers
	both_as_gdb sample_cpp $spinning
	finish
	asleep many_threads --threads=40
	both_as_gdb many_threads
	finish
	assert_equal "$finished" "status 0, many_threads: ok N idle threads"
	reads sqlite3
	both_as_gdb sqlite3
	exec {input_fd}>&-
	kill "$pid"
	reads python3 -c 'def down(n): return down(n - 1) if n else input()
down(40)'
	both_as_gdb python3
	answer
	no_complaints
}

# What the compiler's runtime adds to a library (crtbegin.o) has none; it calls destructors.
@test "through code without call frame information frames are gdb's, and none is guessed" {
	needs jq gdb g++
	cat >lib.cpp <<-END
		#include <unistd.h>
		struct Last { char c = 0; ~Last() { if (read(0, &c, 1) < 0) c = 1; } } last;
	END
	cat >closes.cpp <<-END
		#include <dlfcn.h>
		int main() { return dlclose(dlopen("./lib.so", RTLD_NOW)); }
	END
	g++ -O2 -shared -fPIC -o lib.so lib.cpp
	g++ -O2 -g -o closes closes.cpp
	PATH=$PWD:$PATH reads closes
	gdb_frames
	# gdb 13 takes rbp, which is pushed late, for a caller: that lies in the heap.
	sed -i '/ None$/d' gdb.frames
	take --stop
	as_gdb
	run jq -c '[.threads[].frames[] | select(.guessed)] | length' stack.json
	assert_output 0
	take
	as_gdb
	answer
	no_complaints
}

# No table leads to the call frame information of a static program, and libunwind
# takes another file offset for the load bias of what lld links.
@test "cprof and gdb are of one opinion where libunwind-ptrace is not" {
	needs jq gdb clang ld.lld
	local program
	clang -D_GNU_SOURCE -O2 -g -fuse-ld=lld -pthread -o known_stack_lld \
		"$SOURCES/tests/tracees/known_stack.c"
	cp "$TRACEES/known_stack_static" .
	for program in known_stack_lld known_stack_static; do
		TRACEES=$PWD known_asleep "$program" --mode=read
		gdb_frames
		take --stop
		as_gdb
		take --stop --unwinder=libunwind-ptrace
		echo "# $program: libunwind-ptrace: 2 threads, unlike gdb's: $(unlike_gdb | wc -l)" >&3
		finish
	done
	no_complaints
}

# libunwind aborts at a table of another kind than the usual one.
@test "a second opinion where the table of call frame information is broken" {
	needs jq readelf
	local offset
	cp "$TRACEES/known_stack" .
	offset=$((0x$(readelf -SW known_stack | sed -n 's/.* .eh_frame_hdr  *PROGBITS  *[0-9a-f]*  *\([0-9a-f]*\) .*/\1/p')))
	[ "$offset" -gt 0 ]
	printf '\053' | dd of=known_stack bs=1 seek=$((offset + 3)) conv=notrunc status=none
	TRACEES=$PWD known known_stack --mode=read
	take --stop
	as_printed broken
	take --stop --unwinder=libunwind-ptrace
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	no_complaints
}

@test "a second opinion leaves no EINTR" {
	begin eintr
	for _ in 1 2 3 4 5; do
		"$CPROF" stack --stop --unwinder=libunwind-ptrace "$tracee" >stack.out 2>stack.err
		assert_equal "$(cat stack.err)" ""
	done
	soon_left_alone "$tracee" eintr
	finish
	assert_equal "$finished" "status 0, eintr: ok no EINTR in N blocking calls"
	no_complaints
}

# More than the ring between tracer and controller holds.
@test "8,000 threads: none is missing" {
	needs jq
	begin many_threads --threads=8000
	take
	finish
	assert_equal "$finished" "status 0, many_threads: ok N idle threads"
	run jq '[.threads[] | select(.captured and (.frames | last | .truncated | not))] | length' stack.json
	assert_output 8001
}

@test "twice on a running thread: it runs on" {
	needs jq
	known known_stack --mode=spin
	local tid before
	tid=$(awk '$1 == "stack" { print $2 }' "$tracee_output")
	# By the kernel's account: what it computed since.
	went_on() { (($(cut -d' ' -f1 "/proc/$tracee/task/$tid/schedstat") > before)); }
	before=0
	for _ in 1 2; do
		take
		as_printed spin
		before=$(cut -d' ' -f1 "/proc/$tracee/task/$tid/schedstat")
		until_true went_on
	done
	finish
	no_complaints
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
}

@test "cprof stack leaves no EINTR, no changed signal state" {
	begin eintr
	signal_state "$tracee" >before
	for _ in 1 2 3 4 5; do
		"$CPROF" stack "$tracee" >stack.out
	done
	soon_left_alone "$tracee" eintr
	signal_state "$tracee" | diff before -
	finish
	assert_equal "$finished" "status 0, eintr: ok no EINTR in N blocking calls"
	no_complaints
}

@test "cprof stack --stop leaves no EINTR" {
	begin eintr
	for _ in 1 2 3 4 5; do
		"$CPROF" stack --stop "$tracee" >stack.out
	done
	soon_left_alone "$tracee" eintr
	finish
	assert_equal "$finished" "status 0, eintr: ok no EINTR in N blocking calls"
	no_complaints
}

@test "hostile names are escaped" {
	needs jq
	begin hostile_names
	"$CPROF" stack "$tracee" >stack.out
	take
	finish
	not env LC_ALL=C grep -q -a "$(printf '[\001-\010\013-\037\177]')" stack.out
	not env LC_ALL=C grep -q -a "$(printf '\302[\200-\237]')" stack.out
	not env LC_ALL=C grep -q -a "$(printf '\342\200\256')" stack.out
	not env LC_ALL=C grep -q -a "$(printf '\033')" stack.json
	jq -e '.threads | length == 13' stack.json
}

# made PROGRAM: runs it under gdb until a signal ends it, to `core`.
made() {
	gdb -batch -nx -iex 'set debuginfod enabled off' -ex run -ex 'generate-core-file core' "$@" >gdb.out 2>&1 </dev/null
	[ -s core ] || { cat gdb.out >&2; return 1; }
}

@test "a core file's threads have gdb's frames, arguments and locals, and the signal that ended it" {
	needs gdb gcc jq
	cat >dies.c <<-'END'
		#include <pthread.h>
		#include <unistd.h>
		struct item { int id; const char *name; double price; };
		static volatile int ready;
		static void *waits(void *arg) { long own = 40 + *(int *)arg; ready = 1; for (;;) pause(); return (void *)own; }
		static inline __attribute__((always_inline)) int read_it(int *at) { return *at; }
		__attribute__((noinline)) int reached(struct item *item, int depth)
		{
			int twice = 2 * depth;
			if (depth)
				return reached(item, depth - 1) + twice;
			return read_it((int *)(long)(twice + 0x28)) + item->id;
		}
		int main(void)
		{
			struct item item = { 7, "seven", 1.5 };
			pthread_t t;
			int two = 2;
			pthread_create(&t, NULL, waits, &two);
			while (!ready) usleep(1000);
			return reached(&item, 3);
		}
	END
	gcc -g -O0 -pthread -o dies dies.c
	made ./dies
	"$CPROF" stack --json --args --locals core >stack.json
	jq -e '.core == { command: "dies", signal: 11, address: "0x28" }' stack.json
	jq -r '.threads[].frames[] | select(.image == "dies" and .file != null) | "\(.function):\(.line)"' stack.json >ours
	gdb -batch -nx -iex 'set debuginfod enabled off' -ex 'echo begin\\n' -ex 'thread apply 1 2 bt' dies core 2>/dev/null |
		sed -nE '1,/^begin/d; s/^#[0-9]+ +(0x[0-9a-f]+ in )?([a-z_]+) .* at dies\.c:([0-9]+)$/\2:\3/p' >theirs
	[ "$(wc -l <theirs)" -ge 7 ]
	diff theirs ours
	jq -e '.threads[0].frames | map(select(.function == "reached")) | map(.args[1].value) == [0, 1, 2, 3]' stack.json
	jq -e '.threads[0].frames | map(select(.function == "reached")) | map(.locals[0].value) == [0, 2, 4, 6]' stack.json
	jq -e '.threads[1].frames[] | select(.function == "waits") | .locals[0].value == 42' stack.json
	"$CPROF" stack -l core | grep -F 'item={id=7, name="seven", price=1.5}'
	"$CPROF" stack core >text
	grep -E '^core file of process [0-9]+ "dies", 2 threads$' text
	grep -E '^signal 11 \(Segmentation fault\) at address 0x28 in thread [0-9]+$' text
	grep -F 'read_it at' text
	not grep -F 'read_it at' <<<"$("$CPROF" stack --no-inlines core)"
	gdb -batch -nx -iex 'set debuginfod enabled off' -ex 'info registers rbx rip' dies core 2>/dev/null |
		sed -nE 's/^(rbx|rip) +(0x[0-9a-f]+).*/\1 \2/p' >theirs
	"$CPROF" stack --json --registers core |
		jq -r '.threads[0].frames[0].registers | "rbx \(.rbx)", "rip \(.rip)"' | diff theirs -
}

@test "calls that are inlined into each other are no recursion" {
	needs gdb gcc
	cat >inl.c <<'END'
#include <stdio.h>
#include <unistd.h>
#define IN static inline __attribute__((always_inline)) int
IN one(int n) { char c; return (int)read(0, &c, 1) + n; }
IN two(int n) { return one(n + 1) + 1; }
IN three(int n) { return two(n + 1) + 1; }
IN four(int n) { return three(n + 1) + 1; }
IN five(int n) { return four(n + 1) + 1; }
IN six(int n) { return five(n + 1) + 1; }
int main(void) { puts("ready"); fflush(stdout); return six(1) == 0; }
END
	gcc -g -O1 -o inl inl.c
	mkfifo hold
	./inl <hold >said &
	pid=$!
	exec {holding}>hold
	until [ -s said ]; do :; done
	"$CPROF" stack "$pid" >shown
	gdb -batch -nx -iex 'set debuginfod enabled off' -p "$pid" -ex bt 2>/dev/null |
		sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(one|two|three|four|five|six|main) .*/\2/p' >theirs
	sed -nE 's/^ *#[0-9]+ +.*\b(one|two|three|four|five|six|main)\b.*/\1/p' shown | diff theirs - || { cat shown; false; } >&2
	exec {holding}>&-
	wait "$pid" || true
}

@test "a core file: what can't be known of it is said" {
	needs gdb gcc python3
	printf 'int f(int n) { volatile char pad[2000]; pad[0] = n; return f(n + 1) + pad[0]; }\nint main(void) { return f(0); }\n' >dies.c
	gcc -g -o dies dies.c
	made ./dies
	separately "$CPROF" stack core
	assert_success
	assert_equal "$stderr" ''
	grep -E '^       \.\.\. the same [0-9]{4} times more, up to #[0-9]{4}$' <<<"$output"
	grep -E '^  #[0-9]{4} .* main\+' <<<"$output"
	not grep -F 'cannot be followed' <<<"$output"
	head -c "$(($(stat -c %s core) / 2))" core >short # gdb's notes are at the end
	separately "$CPROF" stack short
	assert_failure 1
	assert_equal "$stderr" 'cprof: short: the core file is cut short, and nothing of its threads is there'
	python3 -c '
import struct
core = bytearray(open("core", "rb").read())
count, = struct.unpack_from("<H", core, 56)
struct.pack_into("<Q", core, 64 + 56 * (count - 1) + 32, 1 << 40) # bytes of the last segment
open("short", "wb").write(core)'
	separately "$CPROF" stack short
	assert_success
	assert_equal "$stderr" 'cprof: warning: the core file is cut short: what is missing is unreadable'
	printf 'int main(void) { return 1; }\n' | gcc -g -x c -o dies -
	separately "$CPROF" stack core
	assert_success
	grep -F 'dies is not the file that the core was made with' <<<"$stderr"
	separately "$CPROF" stack --stop core
	assert_failure 2
	grep -F "'core' is a core file" <<<"$stderr"
	separately "$CPROF" stack dies
	assert_failure 2
	grep -F "'dies' is neither the number of a process nor a core file" <<<"$stderr"
	separately "$CPROF" stack nothing
	assert_failure 2
}

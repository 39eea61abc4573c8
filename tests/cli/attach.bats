#!/usr/bin/env bats
# cprof attach: what it leaves behind (nothing), how it ends, what it refuses.

load helpers
load tracees

@test "attach and detach: no EINTR in any blocking call, masks and all unchanged" {
	begin eintr
	signal_state "$tracee" >before
	for ((i = 0; i < $(long_or 20 5); i++)); do
		"$CPROF" attach -q -s 100 -d 200ms -o rec "$tracee"
		left_alone "$tracee"
	done
	signal_state "$tracee" | diff before -
	finish
	assert_equal "$finished" "status 0, eintr: ok no EINTR in N blocking calls"
}

@test "the same by the wall clock" {
	begin eintr
	signal_state "$tracee" >before
	for ((i = 0; i < $(long_or 20 5); i++)); do
		"$CPROF" attach -q -s 100 --clock=wall -d 200ms -o rec "$tracee"
		left_alone "$tracee"
	done
	signal_state "$tracee" | diff before -
	finish
	assert_equal "$finished" "status 0, eintr: ok no EINTR in N blocking calls"
}

@test "a server under load loses no request to attach and detach" {
	begin echo_server --mode=server --threads=4
	local port
	port=$(ss -tlnpH | sed -n "s/.*127.0.0.1:\([0-9]*\) .*pid=$tracee,.*/\1/p")
	"$TRACEES/echo_server" --mode=client --size="$port" --threads=4 --until=stop.client \
		>client.out 2>&1 </dev/null 3>&- &
	local client=$!
	started+=("$client")
	for ((i = 0; i < $(long_or 50 10); i++)); do
		"$CPROF" attach -q -s $((i % 2 ? 99 : 1000)) -d 100ms -o rec "$tracee"
	done
	soon_left_alone "$tracee" server
	: >stop.client
	ended "$client"
	assert_equal "$ended, $(cat client.out)" "0, echo_server: ok every request was answered"
	finish
	assert_equal "$finished" "status 0, echo_server: ok no EINTR"
	no_complaints
}

@test "an instant SIGKILL of all of cprof leaves no thread stopped" {
	begin many_threads --mode=spin --threads=4
	for ((i = 0; i < $(long_or 100 10); i++)); do
		attach -s 2000
		# shellcheck disable=SC2046
		kill -KILL $(cprof_pids) 2>/dev/null || :
		ended "$controller"
		[ "$ended" = 137 ] || complain "round $i: cprof ended by itself: $ended"
		soon_left_alone "$tracee" "round $i"
	done
	finish
	assert_equal "$finished" "status 0, many_threads: ok N spin threads"
	no_complaints
}

@test "a program that is stopped by job control stays stopped" {
	begin known_stack --mode=spin
	kill -STOP "$tracee"
	stopped() { task_state "/proc/$tracee" && [[ $state == [tT] ]]; }
	until_true stopped
	"$CPROF" attach -q -d 50ms -o rec "$tracee"
	grep -q '^State:[[:space:]]*T' "/proc/$tracee/status"
	grep -q '^TracerPid:[[:space:]]*0' "/proc/$tracee/status"
	"$CPROF" stack "$tracee" >out.stack
	grep -q '^State:[[:space:]]*T' "/proc/$tracee/status"
	kill -CONT "$tracee"
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
}

@test "Ctrl-C, SIGTERM, SIGHUP end the recording: status 0, a recording, a summary" {
	for signal in INT TERM HUP; do
		begin known_stack
		env --default-signal "$CPROF" attach -o "rec.$signal" "$tracee" >attach.out \
			2>attach.err </dev/null 3>&- &
		controller=$!
		started+=("$controller")
		until_true any_traced "$tracee"
		kill "-$signal" "$controller"
		ended "$controller"
		assert_equal "$ended" 0
		left_alone "$tracee"
		[ -s "rec.$signal" ]
		[ ! -s attach.out ]
		grep -q "^Cost of profiling" attach.err
		finish
		assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	done
}

# A profiler that is loaded opens a pipe, which waits.
@test "a signal before the process is attached to: it is said that nothing was recorded" {
	local signal
	mkfifo pipe
	cat >waits.c <<-END
		#include <cprof/cprof.h>
		#include <fcntl.h>
		__attribute__((constructor)) static void wait(void) { open("pipe", O_RDONLY); }
	END
	${CC:-cc} -shared -fPIC -I"$SOURCES/include" -o libcprof-profiler-waits.so waits.c
	begin known_stack
	for signal in INT TERM HUP; do
		env --default-signal "$CPROF" attach -o rec -s 99 --plugin-dir="$PWD" --profile=waits \
			"$tracee" >attach.out 2>attach.err </dev/null 3>&- &
		controller=$!
		started+=("$controller")
		until_true handles "$controller" "$signal"
		kill "-$signal" "$controller"
		ended "$controller"
		assert_equal "$ended: $(cat attach.out attach.err)" \
			"1: cprof: ended by SIG$signal before process $tracee was attached to: nothing was recorded"
		assert_not_exist rec
		until_true eval "! pgrep -f 'plugin-dir=$PWD'"
		left_alone "$tracee"
	done
	"$BATS_TEST_DIRNAME/text_of" "$tracee"
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
}

@test "the recording to a pipe whose reader goes away: it ends, the program runs on" {
	begin known_stack
	mkfifo pipe
	env --default-signal "$CPROF" attach -q -s 1000 --clock=wall -o - "$tracee" >pipe \
		2>attach.err </dev/null 3>&- &
	controller=$!
	started+=("$controller")
	head -c 1 <pipe >/dev/null
	ended "$controller"
	[ "$ended" = 1 ] || [ "$ended" = 141 ]
	soon_left_alone "$tracee" pipe
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	no_complaints
}

@test "-o - writes the recording to standard output" {
	begin known_stack
	"$CPROF" attach -q -d 100ms -s 1000 -o - "$tracee" >piped
	finish
	"$CPROF" report piped >report.out
	[ -s report.out ]
}

@test "a full disk: status 1, said, and the program runs on" {
	mkdir small
	mount -t tmpfs -o size=4k none small 2>/dev/null || skip "no right to mount"
	begin deep --depth=300
	local status=0
	timeout -k 5 60 "$CPROF" attach -s 5000 --clock=wall -o small/rec "$tracee" >attach.out \
		2>attach.err || status=$?
	umount small
	soon_left_alone "$tracee" deep
	finish
	assert_equal "$status" 1
	grep -qi -e 'no space' -e 'disk' attach.err
	assert_equal "$finished" "status 0, deep: ok N frames"
	no_complaints
}

@test "the program ends while it is profiled: status 0, a recording" {
	begin known_stack
	attach
	finish
	ended "$controller"
	assert_equal "$ended" 0
	[ -s attach.data ]
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
}

@test "thousands of threads are attached to and left" {
	begin many_threads --threads="$(long_or 16000 2000)"
	for clock in cpu wall; do
		"$CPROF" attach -q -d 100ms --clock="$clock" -o rec "$tracee"
		grep -h -e '^TracerPid' -e '^State' /proc/"$tracee"/task/*/status | sort -u >states
		not grep -q -e 'TracerPid:[[:space:]]*[1-9]' -e 'State:[[:space:]]*[tT]' states
	done
	finish
	assert_equal "$finished" "status 0, many_threads: ok N idle threads"
}

# --- what is refused, and how ---

# refused STATUS PATTERN... -- ARG...: cprof ends so, and says that.
refused() {
	local want=$1 patterns=() pattern
	shift
	while [ "$1" != -- ]; do
		patterns+=("$1")
		shift
	done
	shift
	separately timeout -k 5 60 "$@"
	[ "$status" = "$want" ] || complain "$*: ended with $status: $stderr"
	for pattern in "${patterns[@]}"; do
		grep -qi -e "$pattern" <<<"$stderr" || complain "$*: no '$pattern' in: $stderr"
	done
	[ "$(wc -l <<<"$stderr")" -le 8 ] || complain "$*: too much is said: $stderr"
}

@test "no such process" {
	refused 1 "no such process" 4194303 -- "$CPROF" attach 4194303
	refused 1 "no such process" 4194303 -- "$CPROF" stack 4194303
	no_complaints
}

@test "not a pid: bad usage" {
	local bad
	for bad in abc 0 -1 "" 99999999999999999999 12x; do
		separately "$CPROF" attach -- "$bad"
		assert_equal "$status" 2
		separately "$CPROF" stack -- "$bad"
		assert_equal "$status" 2
	done
	separately "$CPROF" attach
	assert_equal "$status" 2
}

@test "a process that someone else traces: named with pid and name" {
	needs gdb
	begin known_stack --mode=spin
	mkfifo gdb.in
	gdb -nx -q -p "$tracee" <gdb.in >gdb.out 2>&1 3>&- &
	local gdb=$!
	started+=("$gdb")
	exec 8>gdb.in
	until_true traced "$tracee"
	refused 1 "gdb" "$gdb" -- "$CPROF" attach -o rec "$tracee"
	refused 1 "gdb" "$gdb" -- "$CPROF" stack "$tracee"
	echo detach >&8
	exec 8>&-
	wait "$gdb" || :
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	no_complaints
}

@test "cprof's own second attach is named too" {
	begin known_stack --mode=spin
	attach
	refused 1 "cprof" -- "$CPROF" attach -o rec2 "$tracee"
	kill -TERM "$controller"
	ended "$controller"
	finish
	no_complaints
}

@test "not permitted: what would help is named" {
	needs setpriv
	[ "$(id -u)" = 0 ] || skip "only root can become somebody else"
	begin known_stack --mode=spin
	chmod 777 .
	refused 1 "not permitted" "root\|CAP_SYS_PTRACE" -- \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$CPROF" attach -o rec "$tracee"
	finish
	no_complaints
}

# Nobody may look at the process PID: what /proc has of it is root's.
is_roots() { [ "$(stat -c %u "/proc/$1/status")" = 0 ]; }

@test "an undumpable process of one's own: not permitted, and why" {
	needs setpriv
	[ "$(id -u)" = 0 ] || skip "only root can become somebody else"
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod 777 .
	mkfifo -m 666 ready
	start "${nobody[@]}" "$TRACEES/undumpable" --ready=ready --until=stop
	read -r tracee <ready
	until_true is_roots "$tracee"
	tracee_output=out
	refused 1 "not permitted" "dumpable" -- "${nobody[@]}" "$CPROF" attach -o rec "$tracee"
	# root may.
	"$CPROF" attach -q -d 50ms -o rec.root "$tracee"
	finish
	assert_equal "$finished" "status 0, undumpable: ok still not dumpable"
	no_complaints
}

@test "one's own processes can be profiled without privileges" {
	needs setpriv
	[ "$(id -u)" = 0 ] || skip "only root can become somebody else"
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all)
	chmod 777 .
	mkfifo -m 666 ready
	start "${nobody[@]}" "$TRACEES/known_stack" --ready=ready --until=stop
	read -r tracee <ready
	tracee_output=out
	"${nobody[@]}" "$CPROF" attach -q -d 100ms -s 999 -o rec "$tracee"
	"${nobody[@]}" "$CPROF" stack "$tracee" | grep -q leaf_read
	cp "$TRACEES/deep" . # where nobody may go
	"${nobody[@]}" "$CPROF" run -q -o rec.run -- ./deep | grep -q '^deep: ok'
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
}

# Kernels of virtual machines may be unable to.
needs_32_bits() {
	local status=0
	[ -x "$TRACEES/elf32" ] || skip "the compiler makes no 32-bit programs"
	"$TRACEES/elf32" </dev/null || status=$?
	[ "$status" != 126 ] || skip "the kernel executes no 32-bit programs"
}

@test "a 32-bit program is refused by name, and runs on" {
	needs_32_bits
	mkfifo input
	"$TRACEES/elf32" <input 3>&- &
	tracee=$!
	started+=("$tracee")
	exec 8>input
	until_true test "/proc/$tracee/exe" -ef "$TRACEES/elf32"
	refused 1 "32-bit" -- "$CPROF" attach -o rec "$tracee"
	refused 1 "32-bit" -- "$CPROF" stack "$tracee"
	soon_left_alone "$tracee" elf32
	exec 8>&-
	ended "$tracee"
	assert_equal "$ended" 32
	no_complaints
}

@test "a 32-bit program under run: it runs, its status is its own" {
	needs_32_bits
	separately "$CPROF" run -- "$TRACEES/elf32"
	[ "$status" = 32 ] || [ "$status" = 125 ]
	[[ $stderr == *32-bit* ]]
}

@test "a zombie" {
	# It ends only when its parent is one that does not wait.
	sh -c 'sh -c "until grep -qx sleep /proc/\$PPID/comm; do :; done" &
		echo $! >zombie; exec sleep 60' 3>&- &
	started+=("$!")
	until_true test -s zombie
	tracee=$(cat zombie)
	dead() { grep -q '^State:[[:space:]]*Z' "/proc/$tracee/status"; }
	until_true dead
	refused 1 "$tracee" "zombie\|ended\|exited\|defunct" -- "$CPROF" attach -o rec "$tracee"
	refused 1 "$tracee" -- "$CPROF" stack "$tracee"
	refused 1 "$tracee" "zombie" -- "$CPROF" inspect "$tracee" x
	refused 1 "$tracee" "zombie" -- "$CPROF" functions "$tracee"
	no_complaints
}

@test "a kernel thread" {
	[ -d /proc/2 ] && [ ! -s /proc/2/cmdline ] || skip "no kernel thread is seen from here"
	[ "$(cat /proc/2/comm)" = kthreadd ] || skip "no kernel thread is seen from here"
	refused 1 "kernel" -- "$CPROF" attach -o rec 2
	refused 1 "kernel" -- "$CPROF" stack 2
	no_complaints
}

@test "itself" {
	# The shell's pid becomes cprof's.
	separately sh -c "exec '$CPROF' attach -o rec \$\$"
	assert_equal "$status" 1
	[[ $stderr == *cprof* ]]
	separately sh -c "exec '$CPROF' stack \$\$"
	assert_equal "$status" 1
}

@test "its own parent" {
	# A shell that profiles itself waits for its child: nobody hangs.
	timeout -k 5 60 sh -c "'$CPROF' attach -q -d 50ms -o rec \$\$; echo status \$?" >parent.out
	assert_equal "$(cat parent.out)" "status 0"
}

@test "a process in another pid namespace" {
	needs unshare
	mkfifo ready
	unshare -p -f true 2>/dev/null || skip "no right to make a pid namespace"
	unshare -p -f "$TRACEES/known_stack" --ready=ready --until=stop >out 2>err </dev/null 3>&- &
	pid=$!
	started+=("$pid")
	read -r inner <ready
	assert_equal "$inner" 1
	read -r tracee _ <"/proc/$pid/task/$pid/children" || :
	tracee_output=out
	"$CPROF" attach -q -d 100ms -s 999 -o rec "$tracee"
	"$CPROF" stack "$tracee" | grep -q leaf_read
	"$CPROF" stack --json "$tracee" | jq -e --argjson pid "$tracee" '.pid == $pid'
	soon_left_alone "$tracee" namespace
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
	no_complaints
}

@test "a program in another mount namespace and root" {
	needs unshare
	mkdir root
	cp "$TRACEES/known_stack_static" root/program
	unshare -m true 2>/dev/null || skip "no right to make a mount namespace"
	mkfifo root/ready
	unshare -m -R root /program --ready=/ready --until=/stop >out 2>err </dev/null 3>&- &
	pid=$!
	started+=("$pid")
	read -r tracee <root/ready
	# shellcheck disable=SC2034 # for finish
	tracee_output=out
	"$CPROF" stack "$tracee" | grep -q leaf_read
	"$CPROF" attach -q -d 100ms -s 999 -o rec "$tracee"
	: >root/stop
	finish
	assert_equal "$finished" "status 0, known_stack: ok N chains of calls"
}

# Its leader is a zombie while another thread executes a program.
@test "a program that executes itself all the time, from threads, can be attached to" {
	begin exec_chain --mode=thread
	local _
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$CPROF" stack "$tracee" >/dev/null
	done
	finish
	[[ $finished == "status 0, exec_chain: ok"* ]]
}

#!/usr/bin/env bats
# cprof ctl: a session is steered while it runs. What the commands did is seen in the
# recording, in /proc, and by what the program itself says.

load helpers
load tracees

# Sockets of their own: another test's session is none of these.
private() {
	mkdir -m 700 runtime
	export XDG_RUNTIME_DIR=$PWD/runtime
	sockets=$XDG_RUNTIME_DIR/cprof
}

ctl() { "$CPROF" ctl "$@"; }

# session OPTION...: of $tracee, in the background, that takes commands.
session() {
	private
	begin many_threads --mode=spin --threads=2
	attach "$@"
	until_true ctl "$tracee" status >status.first
}

# key NAME: of the session's status.
key() { ctl "$tracee" status --json | python3 -c "import json, sys; s = json.load(sys.stdin); print(s$1)"; }

sampled() { [ "$(key '["samples"]["total"]')" -gt 0 ]; }

socket_of() { echo "$sockets"/"$tracee"-*.sock; }

# say: runs a script of Python's that has the session's socket as connect().
say() {
	cat - /dev/fd/3 3<&0 <<-'END' >say.py
		import os, socket, sys
		def connect():
		    s = socket.socket(socket.AF_UNIX)
		    s.connect(sys.argv[1])
		    return s
		def ask(s, line):
		    s.sendall(line)
		    f = s.makefile("rb")
		    head = f.readline().split()
		    return head[0], f.read(int(head[1]))
	END
	python3 say.py "$(socket_of)"
}

@test "status: for a person and as JSON, by the program, a child's pid and cprof's" {
	session -s 999
	until_true sampled
	run ctl "$tracee" status
	assert_success
	assert_line --partial "process    $tracee, attached to for"
	assert_line --partial "by cprof $controller: 1 process"
	assert_line --partial "recording  attach.data, "
	assert_line --partial 'samples    at 999 Hz of CPU time: '
	assert_equal "$(key '["pid"]') $(key '["cprof"]') $(key '["samples"]["hz"]')" "$tracee $controller 999"
	assert_equal "$(key '["threads"]')" "$(find "/proc/$tracee/task" -mindepth 1 -maxdepth 1 | wc -l)"
	assert_equal "$(ctl "$controller" status --json | cut -c 1-20)" "$(ctl "$tracee" status --json | cut -c 1-20)"
	run ctl "$(socket_of)" status
	assert_success
	ctl "$tracee" stop
	ended "$controller"
	finish
}

@test "stop answers when the recording is complete, and the program runs on" {
	session
	run ctl "$tracee" stop
	assert_success
	assert_output "the session is over; 'attach.data' is complete"
	"$CPROF" report --json attach.data >report.json
	left_alone "$tracee"
	ended "$controller"
	assert_equal "$ended" 0
	assert_equal "$(ls -A "$sockets")" ""
	finish
	assert_equal "$finished" "status 0, $(verdict "$tracee_output")"
}

@test "a session of run is steered, and CMD's status is its own" {
	private
	mkfifo go
	start "$CPROF" run -q -o run.data -- sh -c 'read -r line <go; exit 7'
	until_true ctl "$pid" status
	ctl "$pid" stop >stopped &
	stopper=$!
	wait "$stopper"
	echo >go
	ended "$pid"
	assert_equal "$ended" 7
	assert_equal "$(cat stopped)" "the session is over; 'run.data' is complete"
}

@test "a child of the program leads to its session" {
	private
	start "$CPROF" run -q -o run.data -- sh -c 'sleep 1000 & echo $! >child.new; mv child.new child; wait'
	until_true test -e child
	until_true ctl "$(cat child)" status
	run ctl "$(cat child)" status
	assert_line --partial '2 processes'
	kill "$(cat child)"
	ended "$pid"
}

@test "what is wrong is said" {
	session
	run ctl "$tracee" statsu
	assert_failure 1
	assert_line "cprof: there is no command 'statsu': did you mean 'status'?"
	assert_line --partial 'cprof: the commands are status, '
	run ctl "$tracee" stop now
	assert_failure 2
	assert_line "cprof: 'stop' takes nothing behind it"
	run ctl "$tracee" status extra
	assert_failure 2
	assert_line "cprof: 'status' takes nothing behind it"
	run ctl "$tracee"
	assert_failure 2
	run ctl $$ status
	assert_failure 1
	assert_line "cprof: no session profiles process $$"
	run ctl 999999999 status
	assert_failure 1
	assert_output 'cprof: there is no process 999999999'
	run ctl ./nowhere status
	assert_failure 1
	assert_output "cprof: connecting to './nowhere': No such file or directory"
	: >plain
	run ctl ./plain status
	assert_failure 1
	assert_output --partial 'nobody listens'
	run ctl "$tracee" statu$'\033[2J'
	assert_failure 1
	refute_output --partial $'\033'
	run ctl --json "$tracee" nothing
	assert_failure 1
	assert_output --partial '{"command":"nothing","done":false,"answer":"there is no command'
	ctl "$tracee" stop
	finish
}

@test "the socket is its user's alone: modes, and who connects" {
	[ "$(id -u)" = 0 ] || skip 'needs root'
	needs setpriv
	session
	assert_equal "$(stat -c '%a %U' "$sockets") $(stat -c '%a %F' "$(socket_of)")" "700 $(id -un) 600 socket"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$BATS_SUITE_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR/runtime" 2>/dev/null || :
	run setpriv --reuid=nobody --clear-groups "$CPROF" ctl "$(socket_of)" stop
	assert_failure 1
	assert_output --partial 'Permission denied'
	# Even where file modes let them in.
	chmod 755 "$sockets"
	chmod 666 "$(socket_of)"
	run setpriv --reuid=nobody --clear-groups "$CPROF" ctl "$(socket_of)" stop
	assert_failure 1
	assert_output "cprof: the session is another user's"
	chmod 700 "$sockets"
	ctl "$tracee" stop
	finish
}

@test "a directory that is not one's own is refused, and the session goes on" {
	private
	mkdir elsewhere
	ln -s ../elsewhere runtime/cprof
	run --separate-stderr "$CPROF" run -q -o run.data -- true
	assert_success
	assert_equal "$(ls -A elsewhere)" ""
	[[ $stderr == *"can't be steered"*"no directory of your own"* ]]
	rm runtime/cprof
	mkdir -m 777 runtime/cprof
	chmod 777 runtime/cprof
	run --separate-stderr "$CPROF" run -q -o run.data -- true
	assert_success
	[[ $stderr == *"can't be steered"* ]]
}

@test "garbage, silence, half lines and fifty at once" {
	session
	say <<-'END'
		garbage = connect()
		answer = ask(garbage, bytes(range(1, 10)) + bytes(range(11, 32)) + b"\x80\xff \xc0\n")
		assert answer[0] == b"no", answer
		zero = ask(connect(), b"status\0json\n")
		assert zero == (b"no", b"a command is a line of text"), zero
		endless = connect()
		answer = ask(endless, b"x" * 4096)
		assert answer == (b"no", b"the line is too long"), answer
		assert endless.recv(1) == b""
		half = connect()
		half.sendall(b"sta")
		silent = [connect() for i in range(50)]
		loud = [connect() for i in range(50)]
		for s in loud:
		    try: s.sendall(b"status json\n")
		    except (BrokenPipeError, ConnectionResetError): pass # others took its place
		assert ask(connect(), b"status\n")[0] == b"ok"
		several = connect()
		several.sendall(b"status\nnone\nstatus\n")
		f = several.makefile("rb")
		for want in b"ok", b"no", b"ok":
		    head = f.readline().split()
		    assert head[0] == want, head
		    f.read(int(head[1]))
		deaf = connect()
		try:
		    deaf.settimeout(0.5)
		    while True: deaf.sendall(b"status json\n" * 100)
		except (TimeoutError, BrokenPipeError, ConnectionResetError):
		    pass
		assert ask(connect(), b"status\n")[0] == b"ok"
	END
	for ((i = 0; i < 50; i++)); do ctl "$tracee" status >"status.$i" 2>&1 & asked[i]=$!; done
	for ((i = 0; i < 50; i++)); do
		wait "${asked[i]}" || fail "$i: $(cat "status.$i")"
	done
	assert_equal "$(cat status.? status.?? | grep -c 'by cprof')" 50
	ctl "$tracee" stop
	ended "$controller"
	assert_equal "$ended" 0
	finish
}

@test "the socket of a killed cprof is in nobody's way" {
	session
	local old
	old=$(socket_of)
	# shellcheck disable=SC2046
	kill -KILL $(cprof_pids)
	ended "$controller"
	soon_left_alone "$tracee" killed
	assert_exist "$old"
	run ctl "$tracee" status
	assert_failure 1
	assert_line "cprof: no session profiles process $tracee"
	run ctl "$old" status
	assert_failure 1
	assert_output --partial 'its cprof is gone'
	: >"$sockets/1-999999999.new"
	attach
	until_true ctl "$tracee" status
	assert_not_exist "$old"
	assert_not_exist "$sockets/1-999999999.new"
	assert_equal "$(key '["cprof"]')" "$controller"
	ctl "$tracee" stop
	finish
	no_complaints
}

# ---- what is recorded ----

# A redis-server of our own, attached to with these options.
redis_session() {
	needs redis-server redis-cli
	private
	start redis-server --port 0 --unixsocket "$PWD/redis.sock" --save ''
	tracee=$pid
	until_true redis PING
	attach "$@"
	until_true ctl "$tracee" status
}

redis() { redis-cli -s "$PWD/redis.sock" "$@" >/dev/null; }

# calls_of FUNCTION [FILE]: in the recording.
calls_of() {
	"$CPROF" report --json "${2-attach.data}" | python3 -c '
import json, sys
calls = json.load(sys.stdin).get("calls", {}).get("functions", [])
print(sum(f["calls"] for f in calls if f["function"] == sys.argv[1]))' "$1"
}

stopped() {
	ctl "$tracee" stop
	ended "$controller"
	assert_equal "$ended" 0
}

@test "trace and untrace while it runs, in a session that began without: the calls are redis's own count" {
	[ -z "${SANITIZED-}" ] || skip 'the sanitizers make cprof too slow for its times'
	redis_session
	redis -r 3 GET before
	run ctl "$tracee" trace getComand
	assert_failure 1
	assert_output --partial "no function matches 'getComand': did you mean 'getCommand"
	run ctl "$tracee" trace '/(/'
	assert_failure 1
	run ctl "$tracee" trace
	assert_failure 2
	assert_line "cprof: 'trace' needs SPEC"
	run ctl "$tracee" untrace getCommand
	assert_failure 1
	assert_output 'cprof: nothing is traced'
	run ctl "$tracee" trace getCommand
	assert_success
	assert_output 'traced: 1 function'
	redis-cli -s redis.sock CONFIG RESETSTAT
	redis -r 7 GET traced
	ctl "$tracee" trace setCommand
	assert_equal "$(key '["calls"]["traced"]')" getCommand,setCommand
	redis -r 2 SET traced 1
	run ctl "$tracee" untrace pingCommand
	assert_failure 1
	assert_output --partial "nothing that 'pingCommand' matches was traced"
	ctl "$tracee" untrace getCommand
	redis-cli -s redis.sock INFO commandstats >stats
	redis -r 5 GET after
	redis -r 1 SET traced 1
	stopped
	grep -q '^cmdstat_get:calls=7,' stats
	assert_equal "$(calls_of getCommand) $(calls_of setCommand)" "7 3"
	"$CPROF" replay attach.data | grep -c 'setCommand(' >count
	assert_equal "$(cat count)" 3
	assert_equal "$("$CPROF" report --annotations attach.data | grep -oE '(no longer )?traced: .*')" \
		"no longer traced: getCommand
traced: getCommand
traced: setCommand"
}

# stops: of the session until now.
stops() { key '["overhead"]["stops"]'; }

@test "trace, pause and resume have detours, whatever the session began with" {
	[ -z "${SANITIZED-}" ] || skip 'the sanitizers make cprof too slow for its times'
	needs redis-server redis-cli
	local maps before
	redis_session --allocs --max-rate=0
	redis SET a 1
	ctl "$tracee" trace getCommand,setCommand
	redis GET a
	before=$(stops)
	redis -r 500 GET a
	maps=$(wc -l <"/proc/$tracee/maps")
	for _ in 1 2 3; do
		ctl "$tracee" pause
		redis -r 10 GET a
		ctl "$tracee" resume
		redis -r 500 GET a
		ctl "$tracee" untrace getCommand
		redis -r 10 GET a
		ctl "$tracee" trace getCommand
		redis -r 500 GET a
	done
	# By breakpoints they were two each, 7,000; some are for rings, and new threads.
	[ "$(($(stops) - before))" -lt 700 ] || fail "$(($(stops) - before)) stops"
	assert_equal "$(wc -l <"/proc/$tracee/maps")" "$maps"
	stopped
	assert_equal "$(calls_of getCommand)" 3501
}

# goes_on OPTION...: a program, ./goes_on, in $tracee, whose functions are read from standard
# input. It calls wrong_by(i) with 0, 1, 2, ... until it gets SIGTERM, and says whether all
# were 0.
goes_on() {
	cat - /dev/fd/3 3<<-'END' >goes_on.c
		#include <signal.h>
		#include <stdio.h>
		static volatile sig_atomic_t ended;
		static void end(int signal) { (void)signal; ended = 1; }
		int main(void)
		{
			long wrong = 0, i;
			signal(SIGTERM, end);
			puts("runs");
			fflush(stdout);
			for (i = 0; !ended; i++)
				wrong += wrong_by(i);
			return puts(wrong ? "wrong" : "fine") < 0;
		}
	END
	gcc "$@" -o goes_on goes_on.c
	private
	start ./goes_on
	tracee=$pid
	until_true grep -q runs out
}

# It went on as it should, and ends.
was_fine() {
	ctl "$tracee" stop
	wait "$controller"
	kill "$tracee"
	wait "$tracee"
	assert_equal "$(tail -n 1 out)" fine
}

# The jump at the end of first() leads by the bytes that second() begins with, as long as
# there is no breakpoint.
@test "a function that is traced again comes by breakpoints where those of others are in its way" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	needs gcc
	goes_on -O0 -fno-toplevel-reorder <<-'END'
		long second(void), third(long n);
		/* Something leads to its leave, so that only the ret behind that is free. */
		__attribute__((noinline)) long first(long n) { return n < 0 ? n : third(n) - 1; }
		__asm__(".globl second; .type second, @function; second: xor %eax, %eax; ret; .size second, . - second");
		__attribute__((noinline)) long third(long n) { volatile long k = n; return k + 2; }
		static long wrong_by(long i) { return first(i) - i - 1 + second() + third(i) - i - 2; }
	END
	attach -t first --max-rate=0
	until_true ctl "$tracee" status >status.first
	[ "$(stops)" -lt 1000 ]
	for _ in 1 2 3; do
		ctl "$tracee" untrace first
		ctl "$tracee" trace first,second,third
		ctl "$tracee" untrace second,third
		ctl "$tracee" untrace first
		ctl "$tracee" trace first
	done
	was_fine
}

# inner() goes on in the function that follows, so there is a breakpoint where it returns to,
# which is where the jump of a detour of outer() would stand.
@test "a function has no detour over a breakpoint that another one returns to" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	needs gcc
	goes_on -O1 <<-'END'
		long outer(long n);
		__asm__(".globl inner; .type inner, @function; inner: inc %rdi; .size inner, . - inner\n"
			".globl rest; .type rest, @function; rest: lea (%rdi), %rax; ret; .size rest, . - rest\n"
			".globl outer; .type outer, @function; outer: sub $8, %rsp; call inner; add $8, %rsp; ret; .size outer, . - outer\n"
			"ud2");
		static long wrong_by(long i) { return outer(i) - i - 1; }
	END
	attach -t inner --max-rate=0
	until_true ctl "$tracee" status >status.first
	called() { [ "$(key '["calls"]["events"]')" -gt $((before + 2000)) ]; }
	for _ in 1 2 3; do
		before=$(key '["calls"]["events"]')
		until_true called
		ctl "$tracee" trace outer
		before=$(key '["calls"]["events"]')
		until_true called
		ctl "$tracee" untrace outer
	done
	was_fine
}

@test "pause and resume: what is between is not recorded, and said to be" {
	[ -z "${SANITIZED-}" ] || skip 'the sanitizers make cprof too slow for its times'
	redis_session -t getCommand
	redis -r 3 GET a
	run ctl "$tracee" resume
	assert_failure 1
	assert_output 'cprof: it is not paused'
	ctl "$tracee" pause
	assert_equal "$(key '["paused"]')" True
	redis -r 4 GET a
	ctl "$tracee" trace pingCommand
	redis -r 4 PING
	ctl "$tracee" resume
	redis -r 5 GET a
	redis -r 2 PING
	ctl "$tracee" mark $'a \e[31mred\e[0m mark'
	redis GET a
	stopped
	assert_equal "$(calls_of getCommand) $(calls_of pingCommand)" "9 2"
	"$CPROF" replay attach.data >replayed
	assert_equal "$(grep -o -E 'getCommand|pingCommand\(|paused|resumed|red.*mark' replayed | uniq -c | tr -s ' \n' ' ')" \
		" 3 getCommand 1 paused 1 resumed 5 getCommand 2 pingCommand( 1 red\\x1b[0m mark mark 1 getCommand "
	not grep -q $'\e' replayed
}

is_paused() { [ "$(key '["paused"]')" = "$1" ]; }

@test "--signal: the same by a signal to cprof, which the program has no part of" {
	[ -z "${SANITIZED-}" ] || skip 'the sanitizers make cprof too slow for its times'
	redis_session -t getCommand --signal=USR2
	redis -r 3 GET a
	kill -USR2 "$controller"
	until_true is_paused True
	redis -r 4 GET a
	kill -USR2 "$controller"
	until_true is_paused False
	redis -r 5 GET a
	# It has no handler, so one that came would have been its end.
	refute grep -q SIGUSR2 out
	stopped
	assert_equal "$(calls_of getCommand)" 8
	"$CPROF" replay attach.data | grep -o -E 'getCommand|paused|resumed' | uniq -c | tr -s ' \n' ' ' >replayed
	assert_equal "$(cat replayed)" ' 3 getCommand 1 paused 1 resumed 5 getCommand '
	redis PING
	run -2 "$CPROF" attach --signal=TERM "$tracee"
}

@test "--signal of run: CMD has the signal's action as it would without" {
	private
	mkfifo go
	start "$CPROF" run -q -s 99 --signal=USR1 -o run.data -- sh -c 'read -r line <go; kill -USR1 $$'
	until_true ctl "$pid" status
	tracee=$pid
	kill -USR1 "$pid"
	until_true is_paused True
	echo >go
	ended "$pid"
	assert_equal "$ended" 138
}

cpu_ticks() {
	local stat
	read -r -a stat <"/proc/$tracee/stat"
	echo $((stat[13] + stat[14]))
}
used() { [ "$(cpu_ticks)" -ge "$1" ]; }
samples_total() { [ "$(key '["samples"]["total"]')" -ge "$1" ]; }

@test "sample: another rate, none, and a pause whose time is in no sample" {
	[ -z "${SANITIZED-}" ] || skip 'the sanitizers make cprof too slow for its times'
	local hz paused=0 from
	hz=$(getconf CLK_TCK)
	session -s 100
	until_true samples_total 20
	ctl "$tracee" sample 0
	assert_equal "$(key '["samples"]["hz"]')" 0
	from=$(cpu_ticks)
	until_true used $((from + 2 * hz))
	assert_equal "$(key '["samples"]["total"]')" "$(key '["samples"]["total"]')"
	paused=$(($(cpu_ticks) - from))
	run ctl "$tracee" sample many
	assert_failure 1
	run ctl "$tracee" sample 500
	assert_output 'samples at 500 Hz'
	until_true samples_total 60
	stopped
	"$CPROF" report --json attach.data >report.json
	python3 - "$paused" "$hz" <<-'END'
		import json, sys
		s = json.load(open("report.json"))["samples"]
		paused = int(sys.argv[1]) / int(sys.argv[2])
		print(s["total_ns"], s["unsampled_ns"], s["cpu_ns"], paused)
		assert s["unsampled_ns"] / 1e9 > paused - 0.1
		assert paused - 0.1 < s["paused_ns"] / 1e9 <= s["unsampled_ns"] / 1e9
		assert abs(s["total_ns"] + s["unsampled_ns"] - s["cpu_ns"]) < 1e6
	END
	"$CPROF" report attach.data | grep -q "of the program's CPU time is not above: samples were paused"
	# Another rate is no reason to stop anybody.
	jq -e '.capture != "perf" or .overhead.perf_samples * 10 >= .samples.total * 9' report.json || { jq -c '.overhead, .samples.total' report.json >&2; false; }
	finish
}

# ---- recordings one after the other ----

# whole FILE...: each is a recording of which nothing is missing.
whole() {
	local file
	for file; do
		"$CPROF" report --json "$file" | python3 -c '
import json, sys
d = json.load(sys.stdin)["damage"]
assert not any(d.values()), d' || return
	done
}

@test "rotate: each recording is complete when it is said to be, and holds what was until then" {
	: >attach.data.2
	redis_session -t getCommand --traps --stack -s 999
	redis -r 5 GET a
	run ctl "$tracee" rotate
	assert_success
	assert_output "'attach.data.1' is complete"
	whole attach.data.1
	assert_equal "$(stat -c %a attach.data.1) $(stat -c %a attach.data)" '600 600'
	redis -r 6 GET a
	# What is there keeps its name.
	run ctl "$tracee" rotate
	assert_output "'attach.data.3' is complete"
	assert_equal "$(stat -c %s attach.data.2)" 0
	redis -r 7 GET a
	assert_equal "$(key '["recording"]["rotated"]')" 2
	run ctl "$tracee" rotate now
	assert_failure 2
	ctl "$tracee" stop
	ended "$controller"
	assert_equal "$ended" 0
	whole attach.data.1 attach.data.3 attach.data
	assert_equal "$(calls_of getCommand attach.data.1) $(calls_of getCommand attach.data.3) $(calls_of getCommand)" '5 6 7'
	# Names, stacks and threads are in each of them.
	for file in attach.data.1 attach.data.3 attach.data; do
		"$CPROF" replay --json "$file" >replayed
		assert_equal "$(grep -c '"stack":\["getCommand"\|"stack":\[.*"main"' replayed)" "$(grep -c '"event":"enter"' replayed)"
		grep -q "\"pid\":$tracee,\"tid\":$tracee," replayed
	done
	"$CPROF" merge -o merged attach.data.1 attach.data.3 attach.data
	assert_equal "$(calls_of getCommand merged)" 18
}

@test "attach --rotate: the last ones stay, also when cprof is killed" {
	redis_session -t getCommand --traps -s 99 --rotate=300ms:2
	until_true test -e attach.data.4
	redis -r 5 GET a
	until_true test -e attach.data.6
	until_true test ! -e attach.data.4
	assert_not_exist attach.data.1
	# shellcheck disable=SC2046
	kill -KILL $(cprof_pids)
	ended "$controller"
	local kept=(attach.data.*)
	((${#kept[@]} <= 4)) || fail "${kept[*]}"
	whole "${kept[0]}"
}

@test "attach --rotate and rotate: what makes no sense is refused" {
	for wrong in 0 5s:0 5s:x soon :3 5s:-1; do
		run "$CPROF" attach -q --rotate="$wrong" $$
		assert_failure 2
		assert_line --partial "--rotate takes TIME or TIME:N"
	done
	run "$CPROF" attach -q --coverage --rotate=5s $$
	assert_failure 2
	begin many_threads
	run --separate-stderr "$CPROF" attach -q -d 1s -o - --rotate=5s "$tracee"
	[ "$status" = 1 ]
	[[ $stderr == *'the recording is no file'* ]]
	finish
}

@test "a module answers a command of its own, and refuses one" {
	cat >libcprof-profiler-mine.c <<-'END'
		#include <cprof/cprof.h>
		#include <string.h>
		static cprof_profiler_handle handle;
		static void on_command(cprof_profiler *p, const char *name, const char *argument)
		{
			(void)p;
			if (!strcmp(name, "hello"))
				cprof_command_answer(handle, "and %s", argument);
			if (!strcmp(name, "never"))
				cprof_command_refuse(handle, "not %s", argument);
		}
		CPROF_PROFILER_INIT(mine)
		{
			(void)desc;
			handle = cprof_profiler_create(NULL);
			cprof_profiler_set_command_callback(handle, on_command);
		}
	END
	gcc -I"$SOURCES/include" -fPIC -shared -o libcprof-profiler-mine.so libcprof-profiler-mine.c
	session --plugin-dir=. --profile=mine
	run -0 ctl "$tracee" hello 'you there'
	assert_output 'mine: and you there'
	run -1 ctl "$tracee" never today
	assert_output --partial 'not today'
	run ! ctl "$tracee" helo
	assert_output --partial "there is no command 'helo'"
}

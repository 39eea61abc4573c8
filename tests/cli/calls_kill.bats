#!/usr/bin/env bats
# SIGKILL while breakpoints are in place, at any moment, of any one of cprof's
# processes and of all of them at once: the program goes on, unharmed.

load helpers
load tracees

# Programs that verify themselves, with functions that are called all the time.
victims='deep exceptions known_stack sample_cpp signal_storm'

# cprof's pids: the controller and its children.
all_of() { echo "$1"; pgrep -P "$1" || :; }

# kill_round WHO: attaches, kills at a random moment, awaits the end of the rest.
kill_round() {
	local targets
	"$CPROF" attach -q -o attach.data -t program -a -r --max-rate=0 "$tracee" >attach.out 2>attach.err </dev/null 3>&- &
	controller=$!
	started+=("$controller")
	# Some before anything is armed, most in the middle of it.
	read -r -t "0.$((RANDOM % 30 + 10))" <>nothing || :
	case $1 in
	controller) targets=$controller ;;
	tracer) targets=$(pgrep -P "$controller" -f cprof-tracer || pgrep -P "$controller") || targets='' ;;
	all) targets=$(all_of "$controller") ;;
	esac
	# shellcheck disable=SC2086 # several pids
	[ -z "$targets" ] || kill -KILL $targets 2>/dev/null || :
	[ "$1" != tracer ] || [ -n "$targets" ] || kill -KILL "$controller" 2>/dev/null || :
	wait "$controller" || :
}

# Whether it died shows in what it says in the end, too.
alive() { kill -0 "$1" 2>/dev/null; }

kill_rounds() {
	local rounds=$1 who=$2 victim
	mkfifo nothing
	for victim in $victims; do
		native "$victim"
		begin "$victim"
		for ((i = 0; i < rounds; i++)); do
			kill_round "$who"
			until_true left_alone "$tracee" || break
			alive "$tracee" || { complain "$victim: dead after $i kills of $who"; break; }
			# What a killed cprof left behind, the next one puts back.
			[ "$who" = all ] || until_true text_is_back || complain "$victim: $who: $(cat text)"
		done
		if alive "$tracee"; then
			"$CPROF" attach -q -d 10ms -o attach.data "$tracee" 2>attach.err || complain "$victim: $(cat attach.err)"
			text_is_back || complain "$victim: after the next attach: $(cat text)"
		fi
		finish
		[ "$finished" = "$native" ] || complain "$victim: $who: $finished; alone: $native"
	done
	no_complaints
}

text_is_back() { "$BATS_TEST_DIRNAME/text_of" "$tracee" >text; }

@test "SIGKILL of the controller while calls are traced" {
	kill_rounds "$(long_or 67 1)" controller
}

@test "SIGKILL of the tracer while calls are traced" {
	kill_rounds "$(long_or 67 1)" tracer
}

@test "SIGKILL of all of cprof while calls are traced" {
	kill_rounds "$(long_or 67 1)" all
}

# Workers of servers block every signal, and so does the C library around the
# making of children: a breakpoint that is hit there is a program's end unless
# somebody has seen to it. kills counts who survives.
kills() { "$BATS_TEST_DIRNAME/kills" --cprof="$CPROF" --rounds="$(long_or 1000 1)" "$@"; }
blocked() { kills "${@:2}" -- "$TRACEES/blocked_signals" --mode="$1" --size=1 --ready=% --until=@; }

@test "SIGKILL while threads that block all signals are traced" {
	blocked work
}

@test "SIGKILL while children are spawned and the C library is traced" {
	blocked '' --options='-t program,lib:libc* --max-rate=0'
}

# All signals are blocked around each of these, and by the C library besides.
@test "SIGKILL while a program does nothing but vfork" {
	blocked vfork --who=tracer,tracer+ --options='-t program,lib:libc* --max-rate=0'
}

@test "SIGKILL while a program does nothing but posix_spawn" {
	blocked spawns --who=tracer,both --options='-t program,lib:libc* --max-rate=0'
}

@test "SIGKILL while a program calls abort(), which handlers leave and children die of" {
	blocked aborts --who=tracer,controller+ --options='-t program,lib:libc* --max-rate=0'
}

@test "a program that sets SIGTRAP to its default after a SIGKILL" {
	blocked reset --who=controller+,both
}

# The kernel takes such a handler away at the first signal, be it a breakpoint's.
@test "SIGKILL while SIGTRAP has a handler for once" {
	kills --who=both --longest=3 --rounds="$(long_or 1000 3)" \
		-- "$TRACEES/blocked_signals" --mode=once --size=1 --ready=% --until=@
}

# Its C library is inside, and has no names.
@test "SIGKILL while threads of a stripped static program block all signals" {
	kills --who=both --longest=3 --rounds="$(long_or 1000 2)" --options='-t program --max-rate=0' \
		-- "$TRACEES/blocked_signals_static" --mode=work --size=1 --ready=% --until=@
}

# The dynamic linker has breakpoints before there is a C library, which takes a second to plan.
@test "SIGKILL of all of cprof while the C library is about to be covered" {
	needs python3
	gcc -O1 -Wl,-z,lazy -o blocks -x c - <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <time.h>
		__attribute__((noinline)) int own(int i) { return i * 3 + (getenv("HOME") != NULL); }
		int main(void)
		{
			struct timespec rest = { 0, 1000000 };
			sigset_t all;
			long sum = 0;
			sigfillset(&all);
			sigprocmask(SIG_BLOCK, &all, NULL);
			for (int i = 0; i < 30; i++) {
				nanosleep(&rest, NULL);
				sum += rand() % 7 + labs(-i) + atoi("4") + own(i);
			}
			printf("%s\n", sum > 0 ? "ok" : "not ok");
			return 0;
		}
	END
	for options in '-c --count --image=ld-* --image=libc*' '-c --count --traps --image=ld-* --image=libc*' \
		'-t lib:ld-*,lib:libc* --max-rate=0'; do
		assert_equal "$(python3 "$BATS_TEST_DIRNAME/kill_early.py" "$CPROF" "$options" ./blocks libc.so)" "status 0, ok"
	done
	# The program itself has them later than where it says what is blocked.
	for options in '-t program --max-rate=0' '-t program --traps --max-rate=0' '-c --count'; do
		assert_equal "$(python3 "$BATS_TEST_DIRNAME/kill_early.py" "$CPROF" "$options" ./blocks blocks)" "status 0, ok"
	done
}

@test "what is left of a killed tracer is taken out while SIGTRAP is set to its default" {
	blocked reset --next --who=both --options='-t program,lib:libc* --max-rate=0'
}

# The thread that unmaps it was in it, and is led back by a frame that the tracer wrote.
@test "SIGKILL of a leaving tracer that has just unmapped the code of detours" {
	kills --who=unmapped --rest=0.02 --rounds="$(long_or 300 8)" \
		-- "$TRACEES/blocked_signals" --mode=work --size=1 --ready=% --until=@
}

# at_calls PHASE STEP: SIGKILL of the tracer at every STEPth of its system calls.
at_calls() {
	"$BATS_TEST_DIRNAME/kill_at" --cprof="$CPROF" --phase="$1" --start=$((RANDOM % $2 + 1)) \
		--step="$(long_or 1 "$2")" --end=6000 \
		-- "$TRACEES/blocked_signals" --mode=work --size=1 --ready=% --until=@
}

@test "SIGKILL of a tracer that leaves, at any of its system calls" {
	at_calls leave 60
}

@test "SIGKILL of a tracer that begins, at any of its system calls" {
	at_calls arm 300
}

# Who sleeps makes system calls for it, several in one nap.
@test "SIGKILL of a tracer that begins ends nobody's nap" {
	"$BATS_TEST_DIRNAME/kill_at" --cprof="$CPROF" --phase=arm --start=$((RANDOM % 60 + 300)) \
		--step="$(long_or 3 60)" --end=1500 \
		-- "$TRACEES/eintr" --mode=nanosleep --ready=% --until=@
}

@test "SIGKILL of a tracer that takes out what a killed one left, at any of its system calls" {
	at_calls next 300
}

# By another tracer of the same cprof's.
@test "after a SIGKILL of the tracer alone nothing is left" {
	blocked work --look --who=tracer
	blocked reset --look --who=tracer
}

@test "SIGKILL while Python makes children" {
	needs /usr/bin/python3
	cat >loop.py <<-'END'
		import os, subprocess, sys
		open(sys.argv[2], "w").close()
		while not os.path.exists(sys.argv[1]):
		    for _ in range(5):
		        subprocess.run(["/bin/true"], check=True)
	END
	kills --options='-t lib:libc* --max-rate=0' -- /usr/bin/python3 loop.py @ %
	kills --options='--allocs --max-rate=0' --who=both,tracer -- /usr/bin/python3 loop.py @ %
}

@test "after a SIGKILL an attach of any kind takes SIGTRAP's handler out" {
	blocked work --next --who=both,tracer
}

@test "what masks are set is what the program is told" {
	under -t program,lib:libc* --max-rate=0 -- blocked_signals
	assert_equal "$under" "status 0, blocked_signals: ok N threads, N signals"
}

# What stands in the text is of one that is alive: who is refused leaves it alone.
@test "a second cprof is refused and takes nothing from the first" {
	needs gcc jq
	cat >asked.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile long n;
__attribute__((noinline)) void work(void) { n++; }
int main(void)
{
	sigset_t set;
	char byte;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) == 1)
		for (int i = 0; i < 10; i++) work();
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGTRAP);
	sigpending(&set);
	printf("%ld %d\n", n, sigismember(&set, SIGTRAP));
	return 0;
}
END
	gcc -O1 -g -o asked asked.c
	for how in '' --traps '-t lib:libc* --traps'; do
		rm -f in out
		mkfifo in
		# shellcheck disable=SC2086
		"$CPROF" run -q -o first.data --max-rate=0 -t work $how -- ./asked <in >out 3>&- &
		started+=($!)
		exec {feed}>in
		until_true test -s out # the program is ready
		for second in stack 'stack --stop' 'attach -d 1 -o second.data' 'attach -t work -d 1 -o second.data'; do
			printf x >&"$feed"
			# shellcheck disable=SC2086
			run "$CPROF" $second "$(head -n 1 out)"
			assert_failure 1
			assert_line --regexp '^cprof: process [0-9]+ \(cprof-tracer\) traces it already: only one'
			printf x >&"$feed"
		done
		exec {feed}>&-
		wait "${started[-1]}" || complain "$how: ended with $?"
		assert_equal "$(tail -n 1 out)" '80 1'
		assert_equal "$("$CPROF" report --json first.data | jq '[.calls.functions[] | select(.function == "work").calls] | add')" 80
	done
	no_complaints
}

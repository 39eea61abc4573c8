#!/usr/bin/env bats
# Which calls are kept while recording: the same as a replay of all of them chooses, and
# what the program says of itself.

load helpers

CC=${CC:-cc}

# tree: threads that call each other in ways that are known by their making, with tail calls;
# says how long its slow calls were at least and at most, and how many there were.
tree() {
	cat >tree.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#define N __attribute__((noinline, noclone))
volatile int sink;
N void leaf(int i) { sink += i; }
N void mid(int i) { leaf(i); leaf(i + 1); sink++; }
N int last(int i) { leaf(i); return sink; }
N int tailer(int i) { sink++; return last(i); }
N void other(int i) { mid(i); leaf(9); sink++; }
N void deep(int i) { if (i) deep(i - 1); else other(1); sink++; }
N void top(int i) { mid(i); other(i); tailer(i); deep(3); sink++; }
static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}
N void slow(long ns) { long end = now() + ns; leaf(1); while (now() < end) sink++; }
N void caller(long ns) { leaf(2); slow(ns); leaf(3); }
N void *thread(void *arg) { for (int i = 0; i < 5; i++) top(i); return arg; }
int main(int argc, char **argv)
{
	pthread_t t[3];
	int i;

	(void)argv;
	mid(0);
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], 0, thread, 0);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	other(2);
	for (i = 0; i < 4 && argc > 1; i++) {
		caller(30000000);
		caller(10);
	}
	tailer(3);
	top(1);
	leaf(4);
	return 0;
}
END
	"$CC" -g -O2 -pthread -o tree tree.c
}

# calls FILE [OPTION...]: in a form that no time is in, the same for each run: by thread (the
# threads do the same), calls with what is around them. Tids differ.
calls() {
	"$CPROF" replay --json "$@" | python3 -c '
import json, sys
threads = {}
for line in sys.stdin:
    e = json.loads(line)
    if e["event"] not in ("enter", "leave", "tail_call", "unwind"):
        continue
    t = threads.setdefault(e["tid"], [])
    t.append("%s%s %s" % (e["event"], e.get("target", ""), e["function"]))
print("\n---\n".join(sorted("\n".join(t) for t in threads.values())))'
}

@test "under, not-under, paths-to, levels: what a replay of all calls chooses" {
	tree
	for how in '' --traps --args; do
		"$CPROF" run -q ${how:+"$how"} -t program -o all.data -- ./tree
		while read -r -a options; do
			"$CPROF" run -q ${how:+"$how"} -t program "${options[@]}" -o some.data -- ./tree
			calls some.data >some
			diff <(calls all.data "${options[@]}") some ||
				fail "$how ${options[*]}"
			diff <("$CPROF" replay --fields=none "${options[@]}" all.data | sed 's/0x[0-9a-f]*//g' | sort) \
				<("$CPROF" replay --fields=none some.data | sed 's/0x[0-9a-f]*//g' | sort) ||
				fail "$how ${options[*]}: as text"
			left=$("$CPROF" report --json some.data | jq .overhead.calls_left_out)
			assert_equal "$((left + $(grep -c '^enter' some)))" "$(calls all.data | grep -c '^enter')"
		done <<-'END'
			--under=other
			--under=deep --levels=2
			--not-under=mid
			--under=top --not-under=deep,tailer
			--levels=3
			--under=tailer
			--paths-to=leaf
			--paths-to=last
			--paths-to=other --levels=2
			--paths-to=mid --not-under=deep
			--under=top --paths-to=deep,last
			--under=deep,top --not-under=leaf --levels=4
		END
	done
	run -0 "$CPROF" report some.data
	assert_line --partial "$left calls were left out while recording"
}

@test "min-duration: the calls that took so long, and those around them" {
	tree
	for how in '' --traps --args; do
		"$CPROF" run -q ${how:+"$how"} -t program --min-duration=20ms -o some.data -- ./tree slowly
		calls some.data >some
		# Threads that had to wait for a processor may have taken as long.
		assert_equal "$(grep -c '^enter slow$' some) $(grep -c '^enter caller$' some) $(grep -c '^enter main$' some)" '4 4 1'
		assert_equal "$(grep -c '^leave slow$' some) $(grep -c -e '^leave caller$' -e '^tail_call.* caller$' some)" '4 4'
		"$CPROF" replay --json some.data | jq -e -s '[.[] | select(.event == "leave" and .function == "slow")] |
			all(.duration_ns >= 20000000)' >/dev/null
		left=$("$CPROF" report --json some.data | jq .overhead.calls_left_out)
		"$CPROF" run -q ${how:+"$how"} -t program -o all.data -- ./tree slowly
		assert_equal "$((left + $(grep -c '^enter' some)))" "$(calls all.data | grep -c '^enter')"
	done
	# In the order of time, with what is no call between them.
	"$CPROF" run -q --allocs -t program --min-duration=20ms -o some.data -- ./tree slowly
	"$CPROF" replay --json some.data | jq -s '[.[].ts_ns] | . == sort' >sorted
	assert_equal "$(cat sorted)" true
}

@test "paths-to: enters that wait for longer than others wait for them" {
	cat >late.c <<'END'
#include <pthread.h>
#include <unistd.h>
#define N __attribute__((noinline, noclone))
volatile int sink, over;
N void wanted(int i) { sink += i; }
N void other(int i) { sink += i; }
N int tail(int i) { wanted(i); return sink; }
N int tailer(int i) { sink++; return tail(i); }
N void outer(int i) { usleep(2500000); other(i); tailer(i); other(i); }
N void nothing(int i) { usleep(1500000); other(i); sink++; }
N void *thread(void *arg) { while (!over) { wanted(1); usleep(20000); } return arg; }
int main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	if (argc > 1)
		pthread_create(&t, 0, thread, 0);
	nothing(1);
	outer(2);
	over = 1;
	if (argc > 1)
		pthread_join(t, 0);
	return 0;
}
END
	"$CC" -g -O2 -pthread -o late late.c
	"$CPROF" run -q -t program -o all.data -- ./late
	"$CPROF" run -q -t program --paths-to=wanted -o some.data -- ./late
	diff <(calls all.data --paths-to=wanted) <(calls some.data)
	"$CPROF" replay --fields=none some.data | sed 's/ = .*//; s/^.*main(.*/main/' >lines
	"$CPROF" replay --fields=none --paths-to=wanted all.data | sed 's/ = .*//; s/^.*main(.*/main/' >chosen
	diff <(tr -dc 'a-z(){}\n' <chosen) <(tr -dc 'a-z(){}\n' <lines)
	# The other thread's calls did not wait: they are there, each with its end.
	"$CPROF" run -q -t program --paths-to=wanted -o some.data -- ./late too
	calls some.data >some
	assert_equal "$(grep -c '^enter outer$' some) $(grep -c '^enter main$' some) $(grep -c nothing some)" '1 1 0'
	assert_equal "$(grep -c '^enter wanted$' some)" "$(grep -c '^leave wanted$' some)"
	assert [ "$(grep -c '^enter wanted$' some)" -gt 20 ]
}

@test "start-at, stop-at: between two calls, of whichever thread" {
	tree
	"$CPROF" run -q -t program --start-at=caller --stop-at=tailer -o some.data -- ./tree slowly
	# Before the first caller() no call is kept though tailer() was called; behind it four
	# times two until tailer().
	calls some.data | grep '^enter' | sort | uniq -c | tr -s ' ' >got
	assert_equal "$(tr '\n' ';' <got)" ' 8 enter caller; 24 enter leaf; 8 enter slow;'
	"$CPROF" run -q -t program --stop-at=thread -o some.data -- ./tree
	assert_equal "$(calls some.data | grep -c -e '^enter top$' -e '^enter other$')" 0
	assert_equal "$(calls some.data | grep -c '^enter mid$')" 1
	# What is open when it stops ends.
	calls some.data | grep -q '^leave main$'
}

@test "a summary of what is kept" {
	tree
	"$CPROF" run -q -t program --under=other --summary -o sum.data -- ./tree
	"$CPROF" run -q -t program -o all.data -- ./tree
	assert_equal "$("$CPROF" report --json sum.data | jq -c '[.calls.functions[] | [.function, .calls]] | sort')" \
		"$("$CPROF" report --json --under=other all.data | jq -c '[.calls.functions[] | [.function, .calls]] | sort')"
}

@test "what makes no sense is refused" {
	tree
	for option in --under=mid --not-under=mid --levels=2 --min-duration=1ms --start-at=mid --stop-at=mid; do
		run -125 "$CPROF" run "$option" -- ./tree
		assert_line --partial "${option%=*} is about calls: say which with --trace"
	done
	run -125 "$CPROF" run -t program --under=mis -- ./tree
	assert_line "cprof: no function matches 'mis'"
	assert_line --partial "mid"
	run -125 "$CPROF" run -t program --stop-at='/(/' -- ./tree
	run -125 "$CPROF" run -t program --summary --min-duration=1s -- ./tree
	assert_line --partial '--summary keeps no single calls'
	run -125 "$CPROF" run --profile=log:calls,levels=0 -- ./tree
	run -0 "$CPROF" run -t program --under=leaf --not-under=leaf -- ./tree
	assert_line --partial 'that there were are left out'
}

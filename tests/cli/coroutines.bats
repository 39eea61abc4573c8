#!/usr/bin/env bats
# Stacks that lie in frames of other stacks. The program says itself which calls it
# makes, how each ends and how deep it is.

load helpers
load tracees

functions=leaf,yielding,step,deeper,jumper,thrower,handler,interrupted,worker,around

way= # how calls are seen

# record MODE [ARGUMENT...]: the program's account goes to `told`, ours to x.data.
record() {
	local mode=$1
	shift
	"$CPROF" run -q $way -o x.data -t "$functions" --max-rate=0 -- "$program" --mode="$mode" "$@" \
		>told 2>err
	grep -q 'embedded: ok' told
	# What is wrong is said; nothing is.
	assert_equal "$(cat err)" ""
}

# Threads in an order that does not depend on their numbers: by all that they do.
by_thread() {
	jq -R -s -c 'split("\n") | map(select(. != "") | split("\t")) | group_by(.[0])
		| map(map(.[1:])) | sort'
}

of_program() {
	grep -v embedded: told | tr ' ' '\t' | by_thread
}

of_json() {
	"$CPROF" replay --json x.data | jq -r 'select(.event == "enter" or .event == "leave" or
		.event == "unwind") | [.tid, .event, .function, .depth] | @tsv' | by_thread
}

agree() {
	local mode
	for mode in "$@"; do
		record "$mode"
		if [ "$(of_json)" != "$(of_program)" ]; then
			echo "$mode differs"
			return 1
		fi
	done
}

# All events in their order, of threads one after the other.
tree_of() {
	jq -r 'select(.depth != null) | "\(.event) \(.function) \(.depth)"'
}

@test "coroutines in arrays of a frame have callers and ends of their own" {
	program=$TRACEES/embedded
	agree generate several nested same abandon plain
	# As they were counted, in tables too.
	assert_equal "$("$CPROF" report --json x.data | jq .calls.calls)" "$(grep -c enter told)"
}

@test "longjmp and throw on either side of a coroutine end their own calls" {
	program=$TRACEES/embedded
	agree jump
}

@test "coroutines in arrays of frames of several threads" {
	program=$TRACEES/embedded
	record generate --threads=3
	assert_equal "$(of_json)" "$(of_program)"
	record jump --threads=2
	assert_equal "$(of_json)" "$(of_program)"
}

@test "without optimisation, and stripped, coroutines are followed as well" {
	"${CXX:-c++}" -D_GNU_SOURCE -O0 -w -I"$SOURCES/tests/tracees" \
		"$SOURCES/tests/tracees/embedded.cpp" -o unoptimised -pthread
	program=./unoptimised
	agree generate several
	cp "$TRACEES/embedded" stripped
	strip -g stripped # .eh_frame is left
	program=./stripped
	agree nested same
}

@test "a switch of the program's own" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	program=$TRACEES/embedded
	agree bare
}

@test "calls rest while a handler runs on a stack in a frame" {
	program=$TRACEES/embedded
	record handler
	# Without depth: what is interrupted is not known.
	assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.depth != null) |
		"\(.event) \(.function)"' | sort | uniq -c)" \
		"$(grep -v embedded: told | cut -d ' ' -f 2,3 | sort | uniq -c)"
}

# musl has no unwind data, so where a thread begins no walk of its stack says.
@test "musl: threads are on their own stacks, and coroutines in arrays of a frame are not" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	needs musl-gcc jq
	cat >threads.c <<-'END'
		#include <pthread.h>
		#include <string.h>
		void swap(void **from, void *to);
		__asm__(".globl swap\n.type swap,@function\n"
			"swap: push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
			"mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
			"pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
			".size swap,.-swap\n.section .note.GNU-stack,\"\",@progbits\n.text");
		static __thread void *home, *other;
		__attribute__((noinline)) long work(long n) { __asm__ volatile(""); return n + 1; }
		__attribute__((noinline)) void step(long n) { work(n); swap(&other, home); }
		__attribute__((noinline)) void body(void) { for (long i = 0;; i++) step(i); }
		__attribute__((noinline)) void resume(void) { swap(&home, other); }
		static int embedded;
		static void *run(void *a)
		{
			char stack[65536] __attribute__((aligned(16)));
			void **top = (void **)(stack + sizeof(stack) - 64);

			memset(stack, 0, sizeof(stack));
			*--top = 0;
			*--top = (void *)body;
			other = top - 6;
			for (int i = 0; i < 2000; i++) {
				if (embedded)
					resume();
				work(i);
			}
			return a;
		}
		int main(int argc, char **argv)
		{
			pthread_t t[2];

			embedded = argc > 1 && argv[1];
			for (int i = 0; i < 2; i++)
				pthread_create(&t[i], 0, run, 0);
			for (int i = 0; i < 2; i++)
				pthread_join(t[i], 0);
			run(0);
			return 0;
		}
	END
	musl-gcc -g -O1 -o dynamic threads.c
	musl-gcc -static -g -O1 -o static threads.c
	for program in dynamic static; do
		"$CPROF" run -q -o x.data -t work,step,body,resume -- "./$program"
		"$CPROF" report --json x.data >x.json
		assert_equal "$(jq .calls.calls x.json)" 6000
		jq -e '.overhead.call_stops < 20' x.json
		"$CPROF" run -q -o x.data -t work,step,body,resume -- "./$program" embedded
		assert_equal "$("$CPROF" replay --json x.data | jq -r 'select(.depth != null) |
			"\(.event) \(.function) \(.depth)"' | sort | uniq -c | xargs -n 4 | sort)" \
			"$(printf '%s\n' '3 enter body 0' '6000 enter resume 0' '6000 enter step 1' \
				'6000 enter work 0' '6000 enter work 2' '6000 leave resume 0' \
				'5997 leave step 1' '6000 leave work 0' '6000 leave work 2' \
				'3 unwind body 0' '3 unwind step 1' | sort)"
	done
}

@test "where a coroutine's stack can't be walked, that is said of what rests" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	"$CPROF" run -q -o x.data -t "$functions" -- "$TRACEES/embedded" --mode=blind >told 2>err
	grep -q 'could not be walked' err
	"$CPROF" replay --json x.data | jq -s -e 'map(select(.event == "unwind")) |
		length > 0 and all(.unsure)'
	"$CPROF" replay x.data >text
	grep -q 'unwound, or at rest' text
}

@test "coroutines in arrays of a frame, by detours" {
	way=--fast
	program=$TRACEES/embedded
	agree same jump bare
	[ "$("$CPROF" report --json x.data | jq .overhead.fast_functions)" -gt 0 ]
	record generate --threads=3
	assert_equal "$(of_json)" "$(of_program)"
	"$CPROF" run -q --fast -o x.data -t "$functions" -- "$program" --mode=blind >told 2>err
	grep -q 'could not be walked' err
	"$CPROF" replay --json x.data | jq -s -e 'map(select(.event == "unwind")) |
		length > 0 and all(.unsure)'
}

# Without room for a jump between a call and a `ret`, and without padding between functions,
# some have breakpoints, among them the first that is called on a coroutine's stack.
@test "coroutines in arrays of a frame, partly by detours" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	local spec
	cat >partly.c <<-'END'
		#include <pthread.h>
		void change(void **from, void *to);
		__asm__(".text\n.globl change\n.type change,@function\n"
			"change: push %rbp\n push %rbx\n mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
			"pop %rbx\n pop %rbp\n ret\n.size change,.-change\n"
			".globl step\n.type step,@function\nstep: .cfi_startproc\n"
			"mov $1,%edi\n call work\n ret\n.cfi_endproc\n.size step,.-step\n"
			".globl body\n.type body,@function\nbody: .cfi_startproc\n"
			"sub $8,%rsp\n.cfi_def_cfa_offset 16\n"
			"1: call step\n call back\n jmp 1b\n.cfi_endproc\n.size body,.-body\n");
		void body(void);
		static __thread struct sides { void *own, *other; } *now;
		__attribute__((noipa)) long work(long n) { return n + 1; }
		__attribute__((noipa)) void back(void) { change(&now->other, now->own); }
		__attribute__((noipa)) void resume(struct sides *s)
		{
			change(&s->own, s->other);
			work(2);
			__asm__ volatile("");
		}
		__attribute__((noipa)) void *within(void *a)
		{
			void *stack[1024] __attribute__((aligned(16)));
			struct sides sides = { 0, &stack[1020] };

			stack[1023] = 0; /* where body() would return to */
			stack[1022] = (void *)body;
			stack[1021] = stack[1020] = 0;
			now = &sides;
			for (int i = 0; i < 100; i++)
				resume(&sides);
			return a;
		}
		int main(void)
		{
			pthread_t t;

			for (int i = 0; i < 4; i++) {
				pthread_create(&t, 0, within, 0);
				pthread_join(t, 0);
			}
			return 0;
		}
	END
	"${CC:-cc}" -g -O1 -fasynchronous-unwind-tables -o partly partly.c -pthread
	for spec in within,resume,step,work,body resume,step,work; do
		"$CPROF" run -q --traps -o x.data -t "$spec" -- ./partly
		"$CPROF" replay --json x.data | tree_of >traps
		assert_equal "$(grep -c 'leave resume' traps)" 400
		for _ in 1 2; do
			"$CPROF" run -q --fast -o x.data -t "$spec" -- ./partly
			jq -e '.overhead.fast_functions > 0' <("$CPROF" report --json x.data)
			diff traps <("$CPROF" replay --json x.data | tree_of)
		done
	done
}

@test "the text of replay tells coroutines as its JSON does" {
	local mode tid
	for mode in embedded:generate embedded:several embedded:jump coroutines:any; do
		"$CPROF" run -q -o x.data -t "$functions,yield_deep,body" --max-rate=0 -- \
			"$TRACEES/${mode%:*}" --mode="${mode#*:}" --rounds=1 >told
		for tid in $("$CPROF" replay --json x.data | jq .tid | sort -u); do
			"$CPROF" replay --json --thread="$tid" x.data >json
			"$CPROF" replay --thread="$tid" x.data >text
			"$SOURCES/tests/judge/replay_text.py" json text
		done
	done
}

@test "the report counts the stops by which calls on coroutines are told" {
	"$CPROF" run -q --max-rate=0 --fast -t program -- "$TRACEES/coroutines" --rounds=1
	# As far down as nobody was yet they are told by stops, the rest by records.
	"$CPROF" report --json >x.json
	jq -e '.calls.events as $events | .overhead | .records + .call_stops |
		. > 0.99 * $events and . <= 1.01 * $events' x.json
	jq -e '.overhead | .call_stops > 100 and .call_stops <= .stops' x.json
	jq -e '.overhead.stops_per_event > 0 and .overhead.stops_per_event < 0.1' x.json
}

# callers RECORDING FUNCTION: who called it, and how often.
callers() {
	"$CPROF" report --callers="$2" "$1" | awk '/^Callers/ { on = 1; next }
		on && $1 ~ /^[0-9,]+$/ { gsub(",", "", $1); print $NF, $1 }' | sort
}

@test "who calls on a coroutine's stack is who did, whose turn it is and in whichever thread" {
	# Both coroutines call in the depths in which main does; the second one goes on in two
	# threads by turns.
	cat >turns.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <ucontext.h>
		#define NO_INLINE __attribute__((noipa))
		static ucontext_t home[3], contexts[2];
		static pthread_barrier_t turn;
		static int who;
		static long works[2], rests, resumes;
		NO_INLINE void work(int by) { works[by]++; }
		NO_INLINE void rest(int k) { rests++; swapcontext(&contexts[k], &home[who]); }
		NO_INLINE void first(void) { for (;;) { work(0); work(0); rest(0); } }
		NO_INLINE void second(void) { for (;;) { work(1); rest(1); } }
		NO_INLINE void resume(int k, int by)
		{
			resumes++;
			who = by;
			swapcontext(&home[by], &contexts[k]);
		}
		NO_INLINE void *by_turns(void *arg)
		{
			for (long i = 0, k = (long)arg; i < 100; i++) {
				if (i % 2 == k) resume(1, (int)k + 1);
				pthread_barrier_wait(&turn);
			}
			return NULL;
		}
		int main(void)
		{
			pthread_t threads[2];
			pthread_barrier_init(&turn, NULL, 2);
			for (int k = 0; k < 2; k++) {
				getcontext(&contexts[k]);
				contexts[k].uc_stack.ss_sp = malloc(65536);
				contexts[k].uc_stack.ss_size = 65536;
				makecontext(&contexts[k], k ? second : first, 0);
			}
			for (int i = 0; i < 200; i++) resume(i % 2, 0);
			for (long k = 0; k < 2; k++) pthread_create(&threads[k], NULL, by_turns, (void *)k);
			for (long k = 0; k < 2; k++) pthread_join(threads[k], NULL);
			printf("first %ld\nsecond %ld\n", works[0], works[1]);
			fprintf(stderr, "%ld %ld\n", rests, resumes);
		}
	END
	gcc -g -O1 -pthread -o turns turns.c
	for how in --fast --traps --summary; do
		"$CPROF" run -q -o x.data $how -t program -- ./turns >works 2>counts
		assert_equal "$(callers x.data work)" "$(sort works)"
		assert_equal "$(callers x.data resume)" "by_turns 100
main 200"
		assert_equal "$("$CPROF" report --json x.data | jq -r '.calls.functions |
			[(.[] | select(.function == "rest").calls), (.[] | select(.function == "resume").calls)] |
			join(" ")')" "$(cat counts)"
	done
	"$CPROF" run -q -o x.data -t program -- ./turns >works 2>counts
	# Of two that rest, and of no more, the end is not known.
	assert_equal "$("$CPROF" report --json x.data | jq '.calls.functions[] | select(.function == "rest").open')" 2
	"$CPROF" export -f folded -o folded x.data
	assert_equal "$(sed 's/ [0-9]*$//' folded | grep -E '(^|;)(work|rest|resume)(;|$)' | sort)" "_start;main;resume
by_turns;resume
first;rest
first;work
second;rest
second;work"
	"$CPROF" run -q -o y.data -t program -- ./turns >works 2>counts
	"$CPROF" merge -o both.data x.data y.data
	assert_equal "$(callers both.data work)" "$(awk '{ print $1, 2 * $2 }' works | sort)"
	"$CPROF" run -q -o under.data --under=second -t program -- ./turns >works 2>counts
	assert_equal "$("$CPROF" report --json under.data | jq -r '[.calls.functions[].function] | sort | join(" ")')" \
		"rest second work"
}

#!/usr/bin/env bats
# Calls without stops: detours see what breakpoints see.

load helpers

# of_both OPTION... -- CMD...: traps.json and fast.json, what either way recorded.
of_both() {
	"$CPROF" run -q -o traps.data --max-rate=0 --fast --traps "$@" >traps.out
	"$CPROF" run -q -o fast.data --max-rate=0 --fast "$@" >fast.out
	diff <(sed 's/^[0-9]* //' traps.out) <(sed 's/^[0-9]* //' fast.out)
	"$CPROF" replay --json traps.data >traps.json
	"$CPROF" replay --json fast.data >fast.json
}

# same OPTION... -- CMD...: both ways make the same trees, and the second one has records.
same() {
	echo "$@"
	of_both "$@"
	python3 "$SOURCES/tests/cli/trees_judge.py" traps.json fast.json
	[ "$("$CPROF" report --json fast.data | jq .overhead.records)" -gt 0 ]
	[ "$("$CPROF" report --json traps.data | jq .overhead.records)" = 0 ]
}

@test "trees of calls by detours are those by breakpoints" {
	same -t program -- "$TRACEES/counted" --depth=6
	same -t program -- "$TRACEES/exceptions" --rounds=3
	same -t program -- "$TRACEES/throws"
}

# Its first calls are the dynamic linker's, before anything of the C library is there, in which
# it is watched whether the program filters its system calls.
@test "where the dynamic linker is traced, too, what pointers lead to is read without stops" {
	needs jq gcc
	cat >leads.c <<-END
		struct node { struct node *next; const char *name; };
		__attribute__((noinline)) int leads(struct node *n) { __asm__ volatile(""); return *n->name; }
		int main(void)
		{
			struct node last = { 0, "last" }, first = { &last, "first" };
			int sum = 0;
			for (int i = 0; i < 20000; i++)
				sum += leads(i % 2 ? &first : &last);
			return sum != 20000 / 2 * ('f' + 'l');
		}
	END
	gcc -O1 -g -o leads leads.c
	"$CPROF" run -q -o rec -t all -a -r --depth=2 --max-rate=0 -- ./leads
	"$CPROF" report --json rec |
		jq -e '.overhead | .records >= 40000 and .call_stops < 20000'
	run bash -c '"$1" replay rec | grep -oE " leads\\(.*\\)" | grep -oE "name=\"[a-z]*\"" | sort | uniq -c | xargs' - "$CPROF"
	assert_output '10000 name=first 10000 name=last'
}

@test "tail calls to where a register or memory says" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	same -t program -- "$TRACEES/tails" --rounds=3
	[ "$("$CPROF" report --json fast.data | jq .overhead.call_stops)" -lt 30 ]
	# A fault of what the jump reads is the program's, at the jump.
	"$CPROF" run -q -o faults.data --max-rate=0 --fast -t program -- "$TRACEES/tails" --mode=faults
	# A function whose end has no room but the next one's beginning, and that, too; and one
	# before what has a breakpoint.
	neighbours
	same -t 'lends,borrows,before,computes' -- ./neighbours
	"$CPROF" report --json fast.data |
		jq -e '.overhead | .fast_functions == 3 and .call_stops > 2999 and .call_stops < 4000'
	same -t lends,before -- ./neighbours
	"$CPROF" report --json fast.data | jq -e '.overhead | .fast_functions == 2 and .call_stops < 1000'
}

neighbours() {
	cat >neighbours.S <<-'END'
		.macro fun name
		.globl \name
		.type \name, @function
		\name:
		.endm
		.macro end name
		.size \name, . - \name
		.endm
		.macro jumps_to_its_ret
			test %edi, %edi
			mov $1, %eax
			je 1f
			imul %edi, %eax
			add $3, %eax
		1:	ret
		.endm
		.text
		fun main
			push %rbx
			mov $1000, %ebx
		1:	mov %ebx, %edi
			and $1, %edi
			call lends
			mov %eax, %edi
			call borrows
			call before
			call computes
			dec %ebx
			jnz 1b
			xor %eax, %eax
			pop %rbx
			ret
		end main
		.p2align 4
		fun lends
			jumps_to_its_ret
		end lends
		fun borrows
			push %rbp
			mov %rsp, %rbp
			sub $16, %rsp
			mov %edi, -4(%rbp)
			mov -4(%rbp), %eax
			leave
			ret
		end borrows
		.p2align 4
		fun before
			jumps_to_its_ret
		end before
		fun computes
			push %rbp
			mov %rsp, %rbp
			lea 1f(%rip), %rdx
			jmp *%rdx
		1:	mov %edi, %eax
			leave
			ret
		end computes
		.p2align 4
		.section .note.GNU-stack, "", @progbits
	END
	gcc -o neighbours neighbours.S
}

@test "stacks of coroutines, signal handlers and forked children" {
	same -t program -- "$TRACEES/siglongjmp" --rounds=1
	for mode in sums moves handlers; do
		same -t program -- "$TRACEES/coroutines" --rounds=1 --mode=$mode
		# Stops are for what is new on a stack.
		"$CPROF" report --json fast.data |
			jq -e '.overhead.call_stops < .calls.events / 10'
	done
	# What a condition accepted in one thread ends in another.
	same -t program --when='depth > 2' -- "$TRACEES/coroutines" --rounds=1 --mode=moves
	same -t 'base,outer,middle,split,leaf,on_the_side' -- "$TRACEES/inherit" --mode=coroutine
	same -t 'base,outer,middle,split,leaf,in_thread' -- "$TRACEES/inherit" --mode=thread
}

@test "coroutines whose trampolines have no unwind data, and code without any in between" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	# `through` calls its argument from code that no walk passes.
	cat >fibers.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define NO_INLINE __attribute__((noipa))
		#define COUNT 20
		void change(void **from, void *to), start(void);
		long through(long (*function)(long), long n);
		__asm__(".text\n.type change,@function\nchange:\n"
			"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
			"mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
			"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
			".size change,.-change\n.type start,@function\nstart:\n"
			"mov %r12,%rdi\ncall *%rbx\nud2\n.size start,.-start\n"
			".type through,@function\nthrough:\npush %rbx\nsub $64,%rsp\nmov %rdi,%rax\n"
			"mov %rsi,%rdi\ncall *%rax\nadd $64,%rsp\npop %rbx\nret\n.size through,.-through\n");
		static void *home, *rests[COUNT];
		static long current, sum, by;
		static char *volatile kept[16];
		NO_INLINE long leaf(long n)
		{
			char *volatile p = malloc(n + 16);
			if (n % 3) free(p);
			else kept[n % 16] = p;
			return sum += n;
		}
		NO_INLINE long inner(long n)
		{
			long had = leaf(n);
			if (n % 5 == 0) change(&rests[current], home);
			return leaf(n + 1) - had;
		}
		NO_INLINE long outer(long n) { return leaf(n) + (by && n % 4 ? through(inner, n) : inner(n)); }
		NO_INLINE void body(long id)
		{
			for (long i = 0;; i++) outer(id + i), inner(i);
		}
		int main(int argc, char **argv)
		{
			by = argc > 1;
			for (current = 0; current < COUNT; current++) {
				void **top = (void **)((char *)aligned_alloc(4096, 16384) + 16384);
				top[-2] = start;
				top[-4] = body;
				top[-5] = (void *)current; /* r12 */
				rests[current] = &top[-8];
			}
			for (int i = 0; i < 800; i++) {
				current = i % COUNT;
				change(&home, rests[current]);
			}
			printf("%ld\n", sum);
			return !argv;
		}
	END
	gcc -O1 -g -o fibers fibers.c
	for how in "" through; do
		# shellcheck disable=SC2086 # a word or none
		same -t 'leaf,inner,outer,body' -- ./fibers $how
		# shellcheck disable=SC2086
		same -t 'leaf,inner' --stack -- ./fibers $how
	done
	for how in --traps --max-rate=0; do
		"$CPROF" run -q --max-rate=0 --allocs $how -o "allocs$how.data" -- ./fibers
		"$CPROF" report --json --traces "allocs$how.data" >"allocs$how.json"
		jq -S '.allocations | del(.held_most_bytes)' "allocs$how.json" >"allocs$how.told"
	done
	diff allocs--traps.told allocs--max-rate=0.told
	[ "$(jq .allocations.allocated.blocks allocs--traps.json)" -gt 5000 ]
	[ "$(jq .overhead.call_stops allocs--max-rate=0.json)" -lt 1000 ]
}

@test "who calls is not looked at again in every process" {
	# The callers are not traced themselves, and one of them is the C library.
	cat >callers.c <<-'END'
		#include <stdlib.h>
		#define NO_INLINE __attribute__((noinline))
		NO_INLINE int leaf(int n)
		{
			volatile int sum = n;

			sum += n * 3;
			return sum + 1;
		}
		NO_INLINE int by_value(const void *a, const void *b)
		{
			volatile int x = *(const int *)a, y = *(const int *)b;

			return x - y;
		}
		#define THREE(n) leaf(n) + leaf((n) + 1) + leaf((n) + 2)
		NO_INLINE int first(int n) { return THREE(n) + THREE(2 * n) + THREE(3 * n); }
		NO_INLINE int second(int n) { return THREE(n) + THREE(4 * n) + first(n); }
		int main(int argc, char **argv)
		{
			int values[] = { 5, 3, 9, 1 }, i;

			for (i = 0; i < argc + 3; i++)
				values[i % 4] += first(i) + second(i);
			qsort(values, 4, sizeof(int), by_value);
			return values[0] == 77 || !argv;
		}
	END
	cc -O1 -g -o callers callers.c
	run_times() {
		"$CPROF" run -q -o "$1.data" --max-rate=0 "$2" -t 'leaf,by_value' -- \
			sh -c "for i in \$(seq $1); do ./callers \$i || exit; done"
		"$CPROF" report --json "$1.data" | jq .overhead.stops
	}
	few=$(run_times 10 --fast)
	many=$(run_times 40 --fast)
	echo "$few stops of 10 processes, $many of 40"
	[ $((many - few)) -lt "$few" ]
	"$CPROF" replay --json 40.data >fast.json
	run_times 40 --traps
	"$CPROF" replay --json 40.data >traps.json
	python3 "$SOURCES/tests/cli/trees_judge.py" traps.json fast.json
}

@test "stacks that records bring are those of stops" {
	# Of who is more than 16 KiB deep a stop brings it.
	cat >deep.c <<-END
		#include <pthread.h>
		#include <string.h>
		#define NO_INLINE __attribute__((noinline))
		NO_INLINE int leaf(int n) { __asm__ volatile(""); return n + 1; }
		NO_INLINE int small(int n) { return n ? small(n - 1) + leaf(n) : leaf(0); }
		NO_INLINE int large(int n)
		{
			char b[4000];
			memset(b, n, sizeof(b));
			__asm__ volatile("" : : "r"(b) : "memory");
			return n ? large(n - 1) + leaf(b[9]) : leaf(0);
		}
		static void *both(void *p) { (void)p; return (void *)(long)(small(5) + large(6)); }
		int main(void)
		{
			pthread_t t;
			void *r;
			pthread_create(&t, NULL, both, NULL);
			pthread_join(t, &r);
			return both(NULL) != r;
		}
	END
	${CC:-cc} -O2 -g -o deep deep.c -pthread
	same --stack -t leaf -- ./deep
	assert_equal "$(jq -c 'select(.event == "enter").stack | index("both") > 0' fast.json |
		uniq -c | xargs)" '26 true'
	same --stack -t program -- "$TRACEES/counted" --depth=4
	same --stack -t program -- "$TRACEES/exceptions" --rounds=1
	same --stack -t program -- "$TRACEES/coroutines" --rounds=1
}

@test "stacks of processes that end before anything of them was read" {
	cat >short.c <<-END
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noinline)) int called(int n) { __asm__ volatile(""); return n + 1; }
		int main(void)
		{
			for (int i = 0; i < 200; i++) {
				pid_t child = fork();
				if (!child)
					_exit(called(0) != 1);
				called(i);
				if (i % 40 == 39)
					while (wait(NULL) > 0)
						;
			}
			return 0;
		}
	END
	${CC:-cc} -O1 -falign-functions=16 -g -o short short.c
	"$CPROF" run -q --fast --stack -t called -o x.data -- ./short
	"$CPROF" replay --json x.data >calls
	assert_equal "$(jq -r 'select(.event == "enter").pid' calls | sort -u | wc -l)" 201
	assert_equal "$(jq -c 'select(.event == "enter").stack[:2]' calls | sort | uniq -c | xargs)" \
		'400 [called,main]'
}

@test "a signal comes while it is looked at who calls: the call is one" {
	cat >signalled.c <<-END
		#include <pthread.h>
		#include <signal.h>
		#include <stdatomic.h>
		#include <stdio.h>
		static atomic_int done, seen;
		__attribute__((noinline)) int called(int n) { __asm__ volatile(""); return n + 1; }
		static void handle(int signal) { (void)signal; seen++; }
		static void *send(void *to)
		{
			while (!done)
				pthread_kill(*(pthread_t *)to, SIGUSR1);
			return NULL;
		}
		#define FOUR called(1); called(2); called(3); called(4);
		#define SIXTY_FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR \\
				   FOUR FOUR FOUR FOUR FOUR FOUR FOUR FOUR
		int main(void)
		{
			pthread_t self = pthread_self(), sender;
			signal(SIGUSR1, handle);
			pthread_create(&sender, NULL, send, &self);
			while (!seen)
				;
			for (int i = 0; i < 3; i++) {
				SIXTY_FOUR
			}
			done = 1;
			return pthread_join(sender, NULL);
		}
	END
	${CC:-cc} -O1 -g -o signalled signalled.c -pthread
	"$CPROF" run -q --stack -t called -o x.data -- ./signalled
	assert_equal "$("$CPROF" replay --json x.data | jq -r .event | sort | uniq -c | xargs)" \
		'192 enter 192 leave'
}

@test "a call that ends in a conditional jump, under breakpoints that nobody serves" {
	cat >branches.c <<-END
		#include <stdio.h>
		#include <unistd.h>
		__attribute__((noinline)) long twice(long n) { __asm__ volatile("" : "+r"(n)); return 2 * n; }
		/* n > 10 ? twice(n) : n + 1 */
		long either(long n);
		__asm__(".text\\n.globl either\\n.type either,@function\\neither:\\n.cfi_startproc\\n"
			"nopl 0x12345678(%rax)\\nnopl 0x12345678(%rax)\\ncmp \$10,%rdi\\n.byte 0x0f,0x8f\\n.long twice - . - 4\\n" /* jg twice */
			"lea 1(%rdi),%rax\\nret\\n.cfi_endproc\\n.size either,.-either\\n");
		int main(int argc, char **argv)
		{
			long wrong = 0, n = 0;
			while (argc > 1 && access(argv[1], F_OK))
				for (int i = 0; i < 1000; i++, n = (n + 1) % 21)
					wrong += either(n) != (n > 10 ? 2 * n : n + 1);
			printf("%ld wrong\\n", wrong);
			return wrong != 0;
		}
	END
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	${CC:-cc} -O2 -g -o branches branches.c
	"$CPROF" functions --json ./branches either | jq -e '.[0].fast'
	./branches stop >said &
	local pid=$! attached
	for _ in 1 2 3 4 5 6; do
		"$CPROF" attach -q -t either,twice -d 60s -o x.data "$pid" 2>/dev/null &
		attached=$!
		until [ "$("$BATS_TEST_DIRNAME/text_of" "$pid" | wc -l)" -gt 9 ]; do kill -0 "$attached"; done
		# shellcheck disable=SC2046 # words
		kill -KILL "$attached" $(pgrep -P "$attached")
		wait "$attached" || true
	done
	"$CPROF" attach -q -s 99 -d 50ms -o x.data "$pid"
	touch stop
	wait "$pid"
	assert_equal "$(<said)" '0 wrong'
}

@test "threads one after the other, each of which fills its ring several times" {
	cat >threads.c <<-END
		#include <pthread.h>
		#include <string.h>
		__attribute__((noinline)) int called(int n) { __asm__ volatile(""); return n + 1; }
		static void *work(void *unused)
		{
			char room[2000];
			memset(room, 0, sizeof(room));
			for (int i = 0; i < 3000; i++) {
				room[i % 2000] += called(i);
				__asm__ volatile("" ::"r"(room) : "memory");
			}
			return unused;
		}
		int main(void)
		{
			pthread_t threads[4];
			for (int round = 0; round < 5; round++) {
				for (int i = 0; i < 4; i++)
					pthread_create(&threads[i], NULL, work, NULL);
				for (int i = 0; i < 4; i++)
					pthread_join(threads[i], NULL);
			}
			return 0;
		}
	END
	${CC:-cc} -O1 -falign-functions=16 -g -pthread -o threads threads.c
	timeout 100 "$CPROF" run -q --fast --stack -t called -o x.data -- ./threads
	"$CPROF" replay --json x.data >calls
	assert_equal "$(jq -r 'select(.event == "leave").tid' calls | sort | uniq -c |
		awk '{ print $1 }' | uniq -c | xargs)" '20 3000'
	assert_equal "$(jq -c 'select(.event == "enter").stack[:2]' calls | sort | uniq -c | xargs)" \
		'60000 [called,work]'
}

@test "a call in which its thread was stopped says so, though it ends by a record" {
	cat >sorts.c <<-END
		#include <stdlib.h>
		__attribute__((noinline)) int compare(const void *a, const void *b)
		{
			return *(const int *)a - *(const int *)b;
		}
		int main(void)
		{
			int numbers[200];
			for (int i = 0; i < 200; i++)
				numbers[i] = i * 7919 % 200;
			qsort(numbers, 200, sizeof(*numbers), compare);
			return numbers[7] != 7;
		}
	END
	${CC:-cc} -O1 -falign-functions=16 -g -o sorts sorts.c
	local options
	for options in '' '-a -r'; do
		# shellcheck disable=SC2086
		"$CPROF" run -q $options -t compare -o x.data -- ./sorts
		"$CPROF" replay --json x.data | jq -c 'select(.event == "leave")' >leaves
		# The first one is looked at: the C library's code is not traced. Others cost what
		# detours do.
		head -n 1 leaves | jq -e '.overhead_ns + .uncertain_ns > 1000'
		tail -n 1 leaves | jq -e '.overhead_ns + (.uncertain_ns // 0) < 500'
	done
}

@test "conditions about what pointers lead to are decided without a stop" {
	cat >nodes.c <<-END
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <pthread.h>
		#include <stddef.h>
		#include <stdlib.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		enum color { RED, GREEN, BLUE };
		struct inner { short k; };
		struct node {
			long n;
			enum color c;
			struct inner in;
			struct node *next;
			signed char s;
		};
		__attribute__((noipa)) long node(struct node *p, int *q)
		{
			(void)q;
			return p ? p->n : -1;
		}
		static void *work(void *p)
		{
			struct node here = { 0 }, *heap = calloc(1, sizeof(*heap));
			int i, at, *far = malloc(sizeof(*far));

			for (i = 0; i < 200; i++) {
				struct node *n = i % 3 ? heap : &here;
				int *q = i % 5 ? &at : far;

				*n = (struct node){ i % 7, i % 3, { (short)(i % 11 - 5) },
						    i % 2 ? n : NULL, (signed char)(i % 13 - 6) };
				*q = i % 4;
				node(i % 97 ? n : NULL, i % 89 ? q : (int *)16);
			}
			return p;
		}
		/* From now on whoever asks the kernel about a page is killed. */
		static void lock_down(void)
		{
			struct sock_filter filter[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					 offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog program = { 4, filter };

			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
				exit(1);
		}
		int main(int argc, char **argv)
		{
			pthread_t t;

			(void)argv;
			pthread_create(&t, NULL, work, NULL);
			pthread_join(t, NULL);
			work(NULL);
			if (argc > 1) {
				lock_down();
				work(NULL);
			}
			return 0;
		}
	END
	${CC:-cc} -O1 -g -o nodes nodes.c -pthread
	local when
	for when in 'p->n > 3' '*q == 2' 'p->c == GREEN' 'p->in.k < -2' '!p->next' \
		'p->s <= -3 && *q != 1' 'p->n & 2'; do
		same --when="$when" -t node -- ./nodes
		# But for the first one told from each place that calls it.
		[ "$("$CPROF" report --json fast.data | jq .overhead.call_stops)" -lt 10 ]
	done
	same --when='p->n > 3' -t node -- ./nodes filtered
}

@test "functions that begin with what does nothing, on another stack" {
	cat >landing.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		volatile int sum;
		int hop(int n);
		__asm__(".globl hop\n.type hop, @function\nhop: endbr64\njmp *where(%rip)\n"
			"nopw 0(%rax,%rax)\nnopw 0(%rax,%rax)\n.size hop, . - hop\n");
		__attribute__((noinline)) int target(int n) { sum += n; return sum & 7; }
		int (*where)(int) = target;
		static void handler(int signal) { sum += hop(signal) + hop(3); }
		int main(void)
		{
			stack_t other = { .ss_size = 65536, .ss_sp = malloc(65536) };
			struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
			sigaltstack(&other, NULL);
			sigaction(SIGUSR1, &action, NULL);
			for (int i = 0; i < 20; i++) {
				sum += hop(i);
				raise(SIGUSR1);
			}
			printf("%d\n", sum);
			return 0;
		}
	END
	gcc -O1 -fcf-protection=full -o landing landing.c
	same -t 'hop,target,handler' -- ./landing
	assert_equal "$("$CPROF" replay --json fast.data | jq -s 'map(select(.event == "enter" and .function == "hop")) | length')" 60
}

@test "sqlite3 computes the same, in the same calls" {
	cat >x.sql <<-END
		create table t(a integer primary key, b text);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
			insert into t select i, hex(i) from n;
		select count(*), sum(a), max(b) from t where b like '%3%';
	END
	same -t 'lib:libsqlite3*' -- sh -c 'exec sqlite3 :memory: <x.sql'
}

@test "modules get calls in blocks, in the order of single ones" {
	for way in blocks calls.single; do
		"$CPROF" run -q -o "$way.data" --fast --max-rate=0 -t program \
			--plugin-dir="$BUILD/tests/modules" --profile="blocks:$way" -- "$TRACEES/counted" --depth=6
	done
	run ! grep -q 'BEFORE\|another' blocks calls.single
	diff <(grep -v ^blocks blocks) <(grep -v ^blocks calls.single)
	[ "$(sed -n 's/^blocks //p' calls.single)" = "0 0" ]
	# nearly all of them
	[ "$(sed -n 's/^blocks \(.*\) .*/\1/p' blocks)" -gt $(($(wc -l <blocks) / 2)) ]
}

@test "jumps that go here and there, and functions that are one window, come in blocks" {
	gcc -O2 -g -fcf-protection=none -o jumps -x c - <<-'END'
		#include <stdio.h>
		#define OWN __attribute__((noinline, noclone))
		static volatile long sum;
		OWN void even(long n) { sum += n; }
		OWN void odd(long n) { sum -= n; }
		void (*const volatile table[2])(long) = { even, odd };
		void (*volatile where)(long) = even;
		OWN void through(long n) { table[n & 1](n); }
		OWN long small(long n) { return 5 * n + 1000000; }
		void hop(long n);
		__asm__(".globl hop\n.type hop, @function\nhop: jmp *where(%rip)\n"
			"nopw 0(%rax,%rax)\n.size hop, . - hop\n");
		int main(void)
		{
			for (long i = 0; i < 3000; i++) {
				where = i % 3 ? even : odd;
				through(i);
				sum += small(i);
				hop(i);
			}
			printf("%ld\n", sum);
			return 0;
		}
	END
	for way in blocks calls.single; do
		"$CPROF" run -q -o "$way.data" --max-rate=0 -t 'even,odd,through,small,hop' \
			--plugin-dir="$BUILD/tests/modules" --profile="blocks:$way" -- ./jumps
	done
	diff <(grep -v ^blocks blocks) <(grep -v ^blocks calls.single)
	assert_equal "$(grep -c 'tail through even' blocks) $(grep -c 'tail through odd' blocks) $(grep -c 'tail hop odd' blocks)" \
		"1500 1500 1000"
	assert_equal "$(grep -Ec ' (enter|leave) small' blocks)" 6000
	# All but what the first calls' stops told.
	[ "$(sed -n 's/^blocks \(.*\) .*/\1/p' blocks)" -gt $(($(wc -l <blocks) - 300)) ]
}

# values_program: calls with values of all kinds that a block can have, and some that it
# can't, told by the program itself where they are addresses.
values_program() {
	gcc -O2 -g -fcf-protection=none -o values -x c - <<'END'
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define OWN __attribute__((noinline, noclone))
enum color { RED, GREEN = 7, BLUE = -3 };
enum flags { A = 1, B = 2, C = 64 };
struct pair { int x, y; };
typedef void callback(void);
struct node {
	struct node *next;
	const char *name;
	int value;
	enum color color;
	struct { short a; char tag[4]; double w; } in;
	unsigned flag : 3, other : 5;
	enum color bits : 4;
	bool yes : 1;
	callback *fn;
	int counts[4];
	unsigned char id[16];
	char label[12];
	union { int i; float f; } u;
	struct pair deep[2];
};
struct mixed { int a; float b; double c; };
static volatile long sink;
OWN long numbers(signed char a, unsigned short b, int c, unsigned d, long e, unsigned long f, bool g,
		 char h, long long i) { sink++; return a + b + c + d + e + (long)f + g + h + i; }
OWN double floats(float a, double b, int c) { sink++; return a * b + c; }
OWN float single(float a) { sink++; return a / 3; }
OWN enum color colors(enum color a, enum flags b) { sink += a; return b & 1 ? RED : a; }
OWN const char *texts(const char *a, char *b, int c) { sink += c; return c & 1 ? a : b; }
OWN void *pointers(void *a, FILE *b, callback *c) { sink += a != NULL; return c ? a : b; }
OWN bool structs(struct pair *a, int b) { sink += b; return a->x == b; }
OWN struct pair by_value(struct pair a) { sink++; return (struct pair){ a.y, a.x }; }
OWN void nothing(void) { sink++; }
OWN char letter(char a) { sink++; return a + 1; }
OWN unsigned __int128 wide(int a) { sink++; return (unsigned __int128)a << 80; }
OWN int visit(struct node *n, int k) { sink++; return n ? n->value + k : k; }
OWN struct node *next(const struct node *n) { sink++; return n ? n->next : NULL; }
OWN struct node whole(struct node n, struct pair *p) { sink++; n.value++, n.label[0] ^= p->x; return n; }
OWN struct mixed mix(struct mixed a, struct pair **p) { sink += p != NULL; a.b += 1; return a; }
OWN long strange(struct node *a, const struct node *b, struct pair (*c)[3]) { sink++; return a == b || (long)c; }

static void fill(struct node *n, int i)
{
	static const char *const labels[] = { "", "label", "twelve chars" };

	*n = (struct node){ .name = i % 7 ? "name" : NULL, .value = i, .color = i & 1 ? GREEN : (enum color)i,
		.in = { (short)i, { (char)i, 1, 2, 3 }, i / 4.0 }, .flag = i & 7, .other = i & 31,
		.bits = i & 2 ? GREEN : BLUE, .yes = i & 4, .fn = i & 8 ? nothing : NULL,
		.counts = { i, i, i, 1 }, .u = { i }, .deep = { { i, 2 }, { 3, i } } };
	memcpy(n->label, labels[(unsigned)i % 3], strlen(labels[(unsigned)i % 3]));
	memset(n->id, i, (unsigned)i % 17);
	n->id[(unsigned)i % 5] = 77;
}

int main(int argc, char **argv)
{
	static struct node nodes[2];
	static char long_text[1000], line[32];
	char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, n = argc > 1 ? atoi(argv[1]) : 100;

	memset(long_text, 'x', sizeof(long_text) - 1);
	munmap(edge + 4096, 4096);
	memset(edge, 'e', 4096);
	for (i = 0; i < n; i++) {
		struct pair pair = { i, -i };
		snprintf(line, sizeof(line), "line \"%d\"\n\xff", i / 3);
		numbers((signed char)i, (unsigned short)-i, -i, (unsigned)-i, 1L << i % 63, ~0ul / (unsigned)(i + 1),
			i & 1, (char)('a' + i % 26), -((long long)i << 40));
		floats((float)i / 7, 1.0 / (i - 50), i);
		single((float)i);
		colors(i % 4 == 0 ? RED : i % 4 == 1 ? GREEN : i % 4 == 2 ? BLUE : (enum color)i, (enum flags)(i % 128));
		texts(i % 5 ? line : NULL, i % 7 ? "" : long_text, i);
		texts(edge + 4090, i % 9 ? (char *)1 : "end", i);
		pointers(i & 1 ? line : NULL, stdout, i % 3 ? nothing : i % 3 == 1 ? (callback *)main : NULL);
		structs(&pair, i);
		by_value(pair);
		nothing();
		letter((char)i);
		wide(i);
		fill(&nodes[0], i);
		fill(&nodes[1], -i);
		nodes[0].next = i % 3 ? &nodes[1] : i % 2 ? &nodes[0] : NULL;
		nodes[1].name = i % 4 ? nodes[1].label : (char *)8;
		visit(i % 11 ? &nodes[i & 1] : NULL, i);
		next(next(&nodes[0]));
		whole(nodes[i & 1], &pair);
		mix((struct mixed){ i, (float)i / 3, -i / 7.0 }, i % 5 ? &(struct pair *){ &pair } : NULL);
		strange(&nodes[0], i % 13 ? &nodes[1] : (struct node *)edge, (struct pair (*)[3])&nodes[1]);
		strange(NULL, &nodes[0], NULL);
		strange((struct node *)(edge + 4090), &nodes[i & 1], (struct pair (*)[3])(edge + 4096));
	}
	return 0;
}
END
}

@test "modules get values of calls in blocks, the same as one by one" {
	values_program
	for way in blocks.values numbers.values.numbers calls.values.single; do
		setarch -R "$CPROF" run -q -o "$way.data" --plugin-dir="$BUILD/tests/modules" \
			--profile="blocks:$way" -- ./values 300
	done
	diff <(grep -av ^blocks blocks.values) <(grep -av ^blocks calls.values.single) >differences ||
		{ head -4 differences; false; }
	diff <(grep -av '^blocks\|^numbers' numbers.values.numbers) <(grep -av ^blocks calls.values.single) \
		>differences || { head -4 differences; false; }
	[ "$(sed -n 's/^blocks //p' calls.values.single)" = "0 0" ]
	[ "$(sed -n 's/^blocks .* //p' blocks.values)" -gt 14000 ]
	[ "$(grep -c ^numbers blocks.values)" = 0 ]
	[ "$(sed -n 's/^blocks .* //p' numbers.values.numbers)" -gt 14000 ]
	[ "$(sed -n 's/^numbers //p' numbers.values.numbers)" -gt 5000 ]
}

# told FILE: events of the program's functions, with their values; what is mapped lies
# elsewhere where there are detours.
told() {
	"$CPROF" replay --json "$1" | jq -c 'select(.image == "values" and (.function | test("^_|^frame_dummy|tm_clones") | not)) |
		select(.function != "fill") | [.event, .function, .depth, ((.args // []) + [.result // empty] |
			map([.name, .type, .value, .text, .cut, .guessed, (.address // "" | .[:5])]))]' |
		sed 's/0x7fff[0-9a-f]*/MAPPED/g'
}

# Calls that longjmp leaves are told by themselves, those that return in blocks: each in its
# turn, also where one thread's ring is full and another's is not.
@test "calls that longjmp leaves, of threads that are interrupted by signals" {
	cat >leaves.c <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
static volatile int stop;
static long done[2];
static __thread jmp_buf back;
__attribute__((noinline, noipa)) void deep(int n)
{
	volatile char room[64];
	room[3] = (char)n;
	if (!n)
		longjmp(back, 5);
	deep(n - 1);
	room[4] = room[3];
}
__attribute__((noinline, noipa)) void turn(void)
{
	if (!setjmp(back))
		deep(3);
}
static void *turns(void *number)
{
	for (; !stop; ++*(long *)number)
		turn();
	return number;
}
static void nothing(int signal) { (void)signal; }
int main(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct timespec long_enough = { 0, 300000000 };
	pthread_t t[2];
	signal(SIGALRM, nothing);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, turns, &done[i]);
	while (nanosleep(&long_enough, &long_enough))
		;
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", done[0] + done[1]);
}
END
	gcc -O2 -g -pthread -o leaves leaves.c
	for _ in 1 2 3 4 5 6 7 8; do
		"$CPROF" run -q -o x.data -t turn,deep -- ./leaves >said
		"$CPROF" report --json x.data >x.json
		# Where there was no place for a detour, stops come too often.
		jq -e '.overhead.disarmed == 0' x.json || continue
		assert_equal "$(jq -c '.calls.functions | map({key: .function, value: [.calls, .open]}) |
			from_entries | [.turn, .deep]' x.json)" "[[$(<said),0],[$((4 * $(<said))),0]]"
	done
}

# As V8 does with its own code. What happens to the copy says nothing about where it is from.
@test "a part of a program that it maps a second time" {
	cat >twice.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
extern char __executable_start[], etext[];
__attribute__((noipa, aligned(4096))) int work(int x) { for (volatile int i = 0; i < 3; i++) x += i; return x * 3; }
__attribute__((noipa, aligned(8192))) int far(int x) { for (volatile int i = 0; i < 3; i++) x -= i; return x * 5; }
int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY), sum = 0;
	uintptr_t at = (uintptr_t)work & ~4095ul;
	char *copy = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)(at - (uintptr_t)__executable_start));
	int (*again)(int) = (int (*)(int))(copy + ((uintptr_t)work - at));
	void *lib;
	lib = dlopen("libresolv.so.2", RTLD_NOW);
	for (int i = 0; i < 5; i++)
		sum += work(i) + far(i);
	sum += again(1);
	printf("%d %d\n", sum, lib != NULL);
	munmap(copy, 4096);
	mmap(copy, 4096, PROT_READ | PROT_EXEC | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	lib = dlopen("libutil.so.1", RTLD_NOW);
	for (int i = 0; i < 5; i++)
		sum += work(i) + far(i);
	return 0;
}
END
	gcc -O1 -g -o twice twice.c
	"$CPROF" run -q -o x.data -t work,far -- ./twice 2>said
	assert_equal "$("$CPROF" report --json x.data | jq -c '.calls.functions | map([.function, .calls]) | sort')" \
		'[["far",10],["work",10]]'
	assert_equal "$(wc -l <said): $(cat said)" \
		"1: cprof: warning: a part of $PWD/twice is mapped a second time: calls there may not be traced"
}

# Behind jumped()'s return stand bytes that make a jump there lead to below zero, which is at
# the other end of the address space, where a gap is that nothing can be mapped into.
@test "a place that can't be costs a function its detour, and no other" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	cat >below.c <<'END'
__asm__(".globl jumped, next; .type jumped, @function; .type next, @function\n"
	"jumped: mov %edi, %eax; .rept 12; lea (%rax), %rax; .endr; test %edi, %edi; js 1f\n"
	".rept 12; lea (%rax), %rax; .endr; 1: ret; .size jumped, . - jumped\n"
	"next: nop; nop; nop; jmp 1f; nop; nop; 1: ret; .size next, . - next\n");
extern int jumped(int);
extern void next(void);
__attribute__((noinline, noipa)) int work(int i) { for (volatile int k = 0; k < 2; k++) i += k; return i * 3; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++) {
		sum += work(jumped(i));
		next();
	}
	return sum == 0;
}
END
	gcc -O1 -g -no-pie -o below below.c
	"$CPROF" run -q -o x.data -t work,jumped -- ./below
	run "$CPROF" report --json x.data
	jq -e '[.calls.functions[].calls] == [1000, 1000] and .overhead.fast_functions >= 1 and
		.overhead.records >= 1990' <<<"$output"
	refute_output --partial "without stops"
}

@test "values of calls by detours, in blocks, are those that breakpoints tell" {
	values_program
	setarch -R "$CPROF" run -q -t 'program,-main' -a -r -o detours.data -- ./values 400
	setarch -R "$CPROF" run -q -t 'program,-main' -a -r --traps -o traps.data -- ./values 400
	told detours.data >detours
	told traps.data >traps
	[ "$(wc -l <traps)" = $((400 * 40)) ]
	diff detours traps >differences || { head -4 differences | cut -c1-600; false; }
	"$CPROF" merge -o merged.data detours.data
	told merged.data | cmp detours
}

@test "where there is no room the program waits, or what is lost is said and nothing made up" {
	cat >burst.lua <<-END
		local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end
		io.open("ready", "w"):close()
		repeat local go = io.open("go") until go
		print(f(24))
		io.open("finished", "w"):close()
	END
	for how in wait drop; do
		rm -f ready go finished
		"$CPROF" run -q -o "$how.data" --fast --on-full="$how" -t program -- lua5.4 burst.lua 3>&- &
		recorder=$!
		until_true test -e ready
		# nobody reads, until the rings are long full
		[ "$how" = wait ] || kill -STOP "$recorder"
		touch go
		until_true test -e finished
		[ "$how" = wait ] || kill -CONT "$recorder"
		wait "$recorder"
		"$CPROF" report --json "$how.data" >"$how.json"
		"$CPROF" replay --json "$how.data" >"$how.calls"
	done
	[ "$(jq .overhead.records_lost wait.json)" = 0 ]
	[ "$(jq .overhead.records_lost drop.json)" -gt 0 ]
	# What was counted is the least that it was, and says so; of the other it is not.
	jq -e '[.calls.lower_bound, .calls.functions[].lower_bound] | all' drop.json
	jq -e '[.calls.lower_bound, .calls.functions[].lower_bound] | any | not' wait.json
	run ! grep -q '"lost":true' wait.calls
	grep -q '"lost":true' drop.calls
	# what is open where something is missing ends there: were it open to the end, many
	# calls would have lasted as long as the program
	[ "$(jq -s '[.[] | select(.lost)] | length' drop.calls)" -gt 1 ]
	run -125 "$CPROF" run --fast --traps --on-full=drop -t program -- true
	run -125 "$CPROF" run --fast --on-full=never -t program -- true
}

# A module's bad moment, a machine without a CPU for who reads: the threads would believe for a
# second that somebody does.
@test "nothing is lost while the controller is busy with something else for seconds" {
	gcc -O2 -pthread -o burst -x c - <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
__attribute__((noinline, noclone)) int slow(int a) { __asm__ volatile("nopw 0(%%rax,%%rax)" : "+r"(a)); return a; }
__attribute__((noinline, noclone)) int called(int a) { __asm__ volatile("nopw 0(%%rax,%%rax)" : "+r"(a)); return a + 1; }
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
static volatile int started;
static void *calls(void *unused)
{
	double begin = seconds();
	int i, sum = called(0);

	(void)unused;
	started = 1;
	while (seconds() < begin + 1.5) /* longer than who waits believes without being told */
		;
	for (i = 1; i < 2000000; i++)
		sum = called(sum);
	printf("%d\n", sum);
	return NULL;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, calls, NULL);
	while (!started)
		;
	slow(0);
	pthread_join(thread, NULL);
	return 0;
}
END
	run -0 "$CPROF" run -o burst.data --fast -t called,slow --plugin-dir="$MODULES" --profile=computes -- ./burst
	assert_line 'cprof: computes: called 2000000 times'
	assert_equal "$("$CPROF" report --json burst.data | jq -c '[.overhead.records_lost, (.calls.functions[] | [.function, .calls])]')" \
		'[0,["slow",1],["called",2000000]]'
}

@test "a condition that one function has no names for is told of the others" {
	gcc -O1 -g -o named -x c - <<'END'
__attribute__((noinline, noclone)) int one(int flags) { __asm__ volatile("" : "+r"(flags)); return flags; }
__attribute__((noinline, noclone)) int two(int other) { __asm__ volatile("" : "+r"(other)); return other; }
int main(void)
{
	int i, sum = 0;

	for (i = 0; i < 100; i++)
		sum += one(i) + two(i);
	return sum == 1;
}
END
	run --separate-stderr "$CPROF" run -q -o named.data --when='flags & 8' -t one,two -a -- ./named
	assert_equal "$stderr" 'cprof: warning: the condition could be told of all but 100 calls: there is no argument flags'
	assert_equal "$("$CPROF" report --json named.data | jq -c '[.calls.functions[] | [.function, .calls]]')" '[["one",48]]'
	run --separate-stderr "$CPROF" run -q -o named.data --when='other / 0' -t two -a -- ./named
	[[ $stderr == *'the condition could be told of none of '* ]]
}

@test "cprof's own code in forked processes is nothing to warn of" {
	gcc -O1 -o forked -x c - <<'END'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline, noclone)) int called(int a) { __asm__ volatile("" : "+r"(a)); return a + 1; }
int main(void)
{
	int i, status, sum = 0;

	for (i = 0; i < 3; i++) {
		if (!fork())
			_exit(called(i) != i + 1);
		wait(&status);
		sum += called(i) + status;
	}
	return sum != 6;
}
END
	run --separate-stderr "$CPROF" run -q -o forked.data -t called -- ./forked
	assert_success
	assert_equal "$stderr" ''
	assert_equal "$("$CPROF" report --json forked.data | jq -c '[.calls.functions[] | [.function, .calls]]')" '[["called",6]]'
}

# An end of one byte that is jumped to, with the next function right behind it: the jump leads to
# where its bytes say, here 335 MB below the library.
@test "rings are where no jump can lead to" {
	cat >pair.s <<-'END'
			.globl	pair, next
			.type	pair, @function
			.type	next, @function
			.p2align 4
		pair:	mov	%edi, %eax
			add	$1, %eax
			test	%edi, %edi
			je	1f
			js	1f
			add	$2, %eax
		1:	ret
			.size	pair, . - pair
		next:	.byte	0x48, 0x8d, 0x05, 0xec, 0, 0, 0	# lea 0xec(%rip), %rax
			ret
			.size	next, . - next
			.section .note.GNU-stack,"",@progbits
	END
	gcc -shared -o libpair.so pair.s
	gcc -o pair -x c - -x none ./libpair.so <<-'END'
		int pair(int);
		void *next(void);
		int main(void)
		{
			int i, n = 0;

			for (i = -5; i < 1000; i++)
				n += pair(i);
			return next() == 0 || n != 502488;
		}
	END
	"$CPROF" run -q -o pair.data -t pair --max-rate=0 -- ./pair
	assert_equal "$("$CPROF" report --json pair.data | jq -c '[.calls.functions[] | [.function, .calls]]')" '[["pair",1005]]'
	run "$CPROF" report pair.data
	assert_output --partial '1 function, 1 by detours'
	# That of who calls, which was not known at first.
	[ "$("$CPROF" report --json pair.data | jq .overhead.call_stops)" -le 2 ]
}

@test "a program that limits its address space has what it allows itself" {
	gcc -O1 -pthread -o limited -x c - <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/resource.h>
		__attribute__((noinline)) long work(long x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
		int main(void)
		{
			struct rlimit limit = { 200 << 20, 200 << 20 };
			long i, sum = 0;
			char *block;
			setrlimit(RLIMIT_AS, &limit);
			for (i = 0; i < 1000; i++)
				sum += work(i);
			block = malloc(150 << 20);
			if (block)
				memset(block, 1, 150 << 20);
			printf("%s %ld\n", block ? "all" : "none", sum);
			return 0;
		}
	END
	for options in '-t work' '-t work --traps' --allocs '-c --count --image=limited'; do
		# shellcheck disable=SC2086 # several words
		run "$CPROF" run -q -o limited.data $options -- ./limited
		assert_output 'all 500500'
	done
}

# More than are mapped at first, in threads and in children of theirs; and more than there are.
@test "each of many threads has a ring, and what those do that have none is said to be lost" {
	gcc -O1 -pthread -o many -x c - <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static pthread_barrier_t all;
		__attribute__((noinline)) long work(long x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
		static void *run(void *sum)
		{
			long i, *to = sum;
			for (i = 0; i < 100; i++)
				*to += work(i);
			pthread_barrier_wait(&all);
			for (i = 0; i < 100; i++)
				*to += work(i);
			pthread_barrier_wait(&all);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			int n = atoi(argv[1]), children = atoi(argv[2]), i, status, bad = 0;
			pthread_t threads[n];
			long sum[n + 1];
			pthread_barrier_init(&all, NULL, (unsigned)n + 1);
			for (i = 0; i <= n; i++)
				sum[i] = 0;
			for (i = 0; i < n; i++)
				pthread_create(&threads[i], NULL, run, &sum[i]);
			pthread_barrier_wait(&all);
			for (i = 0; i < children; i++)
				if (!fork()) {
					for (i = 0; i < 200; i++)
						sum[n] += work(i);
					_exit(sum[n] != 20100);
				}
			pthread_barrier_wait(&all);
			for (i = 0; i < n; i++) {
				pthread_join(threads[i], NULL);
				bad |= sum[i] != 10100;
			}
			while (wait(&status) > 0)
				bad |= status;
			return argc != 3 || bad;
		}
	END
	calls() {
		"$CPROF" report --json many.data | jq -c '[.calls.functions[] | .calls]'
	}
	"$CPROF" run -q -o many.data -t work --max-rate=0 -- ./many 60 20
	assert_equal "$(calls)" '[16000]'
	run "$CPROF" report many.data
	refute_output --partial 'found no room'
	"$CPROF" run -q -o many.data -t work --max-rate=0 -- ./many 530 0
	assert_equal "$(calls)" '[102000]' # of 106,000
	run "$CPROF" report many.data
	assert_output --partial '8,000 events of calls found no room'
}

# With nothing between them, each one's last byte is right before the next one's first: what
# stands for one is partly made of what stands for the other.
@test "functions side by side, as gcc -Os has them, and in assembly" {
	needs gcc python3
	cat >make.py <<-'END'
		import random, sys
		random.seed(int(sys.argv[1]))
		count, forms = 60, ("return 0;", "return x;", "return {g}(x, y);", "if (x) return y; return {g}(x, y);", "return {g}(x, y) + 1;",
			"return x + y;", "if (x < 0) return {g}(y, x); return x;", "return x ? 1 : y;", "if (!x) return 0; return {g}(x - 1, y) + y;",
			"while (y > x) {{ x++; if (x == 7) return {g}(x, y); }} return x;")
		print("#include <stdio.h>\nlong f0(long x, long y) { return x - y; }")
		for i in range(1, count):
		    print("__attribute__((noipa)) long f%d(long x, long y) { %s }" % (i, random.choice(forms).format(g="f%d" % random.randrange(i))))
		print("#ifndef FOR\n#define FOR 1\n#endif\n#include <signal.h>\n#include <sys/time.h>\nstatic volatile long ticks;\n"
		      "static void tick(int n) { ticks += 1 + (f3(n, 2) == 77); }\n"
		      "int main(void) { unsigned long s, first = 0, rounds = 0, bad = 0; signal(SIGALRM, tick);\n"
		      "setitimer(ITIMER_REAL, &(struct itimerval){ { 0, FOR > 1 ? 500 : 0 }, { 0, FOR > 1 ? 500 : 0 } }, 0);\n"
		      "do { s = 0; for (int r = 0; r < 4; r++) {")
		for i in range(count):
		    print("s = s * 31 + f%d(r & 3, r & 7); s = s * 3 + f%d(r - 15, 3);" % (i, i))
		print('} first = rounds++ ? first : s; bad += s != first; } while (ticks + 1 < FOR); printf("%lu %lu\\n", s, bad); }')
	END
	cat >side.c <<-'END'
		#include <stdio.h>
		int b1(int), b2(int), b3(int), b5(int), b6(int);
		int main(void) { long s = 0; for (int i = 0; i < 50; i++) s += b1(i % 3) + b2(i) + b3(i) + b5(i % 2) + b6(i); printf("%ld\n", s); }
	END
	cat >side.s <<-'END'
		.macro begins name
		.globl \name
		.type \name, @function
		\name:
		.endm
		.text
		begins b1
		mov %edi,%eax; test %edi,%edi; jne 1f; add $9,%eax
		1: ret
		.size b1,.-b1
		begins b2
		cmp $3,%edi; jle b3; jmp b4
		.size b2,.-b2
		begins b3
		mov %edi,%eax; add $4,%eax; ret
		.size b3,.-b3
		begins b4
		lea 7(%rdi),%eax; ret
		.size b4,.-b4
		# A jump around a prefix, as C libraries had it, right before where a call ends.
		begins b5
		test %rdi,%rdi; je 1f; .byte 0xf0
		1: incq -8(%rsp); mov %rdi,%rax; ret
		.size b5,.-b5
		# A loop whose head is where a detour begins, behind what jumps land on.
		begins b6
		endbr64
		1: sub $3,%edi; jg 1b; mov %edi,%eax; ret
		.size b6,.-b6
		.section .note.GNU-stack,"",@progbits
	END
	gcc -g -O1 -no-pie -o side side.c side.s
	local program how
	# Signals find a thread anywhere in a detour; what it returns to may be in the middle of a jump.
	for program in 1 2 3 4; do
		python3 make.py "$program" >timed.c
		gcc -O0 -g -DFOR=200 -o timed timed.c
		./timed >alone
		"$CPROF" run -q -o x.data --max-rate=0 -t 'f[0-9]*' -- ./timed >out
		cmp alone out
	done
	for program in 5 16 20 side; do
		[ "$program" = side ] || { python3 make.py "$program" >side.c && gcc -Os -g -o "$program" side.c; }
		"./$program" >alone
		for how in --traps --detours; do
			"$CPROF" run -q -o x.data --max-rate=0 ${how/--detours/-q} -t 'f[0-9]*,b[1-6]*' -- "./$program" >out
			cmp alone out
			"$CPROF" report --json x.data | jq -S '.calls.functions | map([.function, .calls]) | sort' >told"$how"
		done
		cmp told--traps told--detours
	done
}

# many: libmany.so with 80,000 functions, f0 and so on.
many() {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	awk 'BEGIN {
		print ".text"
		for (i = 0; i < 80000; i++)
			printf ".globl f%d\n.type f%d,@function\nf%d: mov %%edi,%%eax\n test %%edi,%%edi\n" \
				" jne 1f\n add $5,%%eax\n nopl 8(%%rax)\n ret\n1: lea %d(%%rdi),%%eax\n" \
				" nopl 8(%%rax)\n ret\n.size f%d,.-f%d\n", i, i, i, i, i, i
		print ".section .note.GNU-stack,\"\",@progbits"
	}' >many.s
	"${CC:-cc}" -shared -o libmany.so many.s
}

# What is made for a library may be more than fits on the way to the tracer at once, and than
# can be looked through again for each.
@test "a library of 80,000 functions is traced without stops" {
	many
	cat >calls.c <<-'END'
		#include <stdio.h>
		int f7(int), f79999(int);
		int main(void)
		{
			long n = 0;
			for (int i = 0; i < 1000; i++)
				n += f7(i) + f79999(i);
			printf("%ld\n", n);
			return 0;
		}
	END
	"${CC:-cc}" -O1 -o calls calls.c -L. -lmany -Wl,-rpath,"$PWD"
	./calls >alone
	TERM=xterm script -qec "'$CPROF' run -o x.data -t 'lib:libmany*' -- ./calls >traced" /dev/null </dev/null >told
	cmp alone traced
	# A terminal hears of it from the beginning, and counts each function once.
	tr '\r' '\n' <told | sed -n 's/^.*cprof: //p' | grep -E '^(reading|preparing)' >lines
	assert_equal "$(head -n 1 lines)" 'reading symbols of libmany.so'
	sed -n 's/^preparing \([0-9,]*\) of [0-9,]* functions of libmany.so$/\1/p' lines | tr -d , | sort -n -c
	assert_equal "$(sed '1d; s/^preparing [0-9,]* of [0-9,]* functions of //' lines | sort -u | grep -v '^libmany.so$')" ''
	"$CPROF" report --json x.data >x.json
	assert_equal "$(jq -c '.calls.functions | map([.function, .calls]) | map(select(.[0] |
		test("^f[0-9]"))) | sort' x.json)" '[["f7",1000],["f79999",1000]]'
	jq -e '.overhead.call_stops < 30' x.json
}

# has_opened: asks the program to end, again for when it is held by then.
has_opened() {
	kill "$pid"
	grep -q '^opened' out
}

# Until all of a library is worked out the program is held, for seconds.
@test "a program that is asked to end does not wait for all of its code to be worked out" {
	many
	cat >asked.c <<-'END'
		#include <dlfcn.h>
		#include <signal.h>
		#include <stdio.h>
		#include <unistd.h>
		#include <time.h>
		static volatile sig_atomic_t came;
		static void on_term(int number) { came = number; }
		__attribute__((noinline)) static void *opens(void)
		{
			void *library = dlopen("./libmany.so", RTLD_NOW);
			__asm__ volatile("" : "+r"(library));
			return library;
		}
		int main(void)
		{
			struct timespec begun, now;
			void *library;
			int (*f)(int);
			long n = 0;

			signal(SIGTERM, on_term);
			puts("opens");
			fflush(stdout);
			clock_gettime(CLOCK_MONOTONIC, &begun);
			library = opens();
			clock_gettime(CLOCK_MONOTONIC, &now);
			f = library ? (int (*)(int))dlsym(library, "f7") : NULL;
			printf("opened, %s\n%ld ns\n", came ? "asked" : "not asked",
			       (now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec - begun.tv_nsec);
			fflush(stdout);
			while (f && access("stop", F_OK))
				n += f(usleep(1000));
			return n < 0;
		}
	END
	"${CC:-cc}" -O1 -o asked asked.c
	start "$CPROF" run -v -o x.data -t 'lib:libmany*,opens' -- ./asked
	until_true grep -q opens out
	until_true has_opened
	grep -qx 'opened, asked' out
	# Nothing of it was placed until then; it is now.
	assert_equal "$(grep -c 'libmany.so: .* functions with detours' err)" 0
	until_true grep -q 'libmany.so: .* functions with detours' err
	touch stop
	wait "$pid"
	"$CPROF" report --json x.data |
		jq -e '.calls.functions[] | select(.function == "f7") | .calls > 0'
	# That it was held is no time of the call that it was held in.
	[ "$("$CPROF" report --json x.data | jq '.calls.functions[] | select(.function == "opens") | .total_ns')" -lt \
		"$(($(sed -n 's/ ns$//p' out) / 2))" ]
}

# has_ended_calls: cprof has; its child ./calls is asked to end, again for when it is held by then.
has_ended_calls() {
	kill $(pgrep -P "$pid" -x calls) 2>/dev/null
	! kill -0 "$pid" 2>/dev/null
}

@test "a program that ends before its functions are placed is not said to have none" {
	many
	printf 'int f7(int); int main(void) { return f7(0) - f7(0); }\n' >calls.c
	"${CC:-cc}" -o calls calls.c -L. -lmany -Wl,-rpath,"$PWD"
	start "$CPROF" run -o x.data -t 'lib:libmany*,nosuch' -- ./calls
	until_true has_ended_calls
	grep -q 'prepared, before all of the functions that SPEC means were traced' err
	grep -Eq 'ended while code was prepared, at [0-9,]+ of [0-9,]+ functions of .*libmany.so' err
	grep -q "matches 'nosuch' in what was looked at" err
	refute grep -q 'no function was there' err
	"$CPROF" report --json x.data | jq -e '.overhead.placing_cut == 1'
}

@test "code of a program's own, wherever in reach it is, leaves room for detours" {
	cat >sprinkled.c <<-'END'
		#include <stdint.h>
		#include <stdio.h>
		#include <sys/mman.h>
		#include <unistd.h>
		__attribute__((noinline)) long work(long n) { __asm__ volatile(""); return n + 1; }
		int main(void)
		{
			intptr_t at = (intptr_t)work & -4096;
			long i, n = 0;

			for (i = -40; i < 40; i++)
				if (i < -1 || i > 1)
					mmap((void *)(at + i * (INT64_C(100) << 20)), 65536,
					     PROT_READ | PROT_EXEC,
					     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			puts("ready");
			fflush(stdout);
			for (;;) {
				n = work(n);
				usleep(1000);
			}
		}
	END
	"${CC:-cc}" -g -O1 -o sprinkled sprinkled.c
	start ./sprinkled
	until_true grep -q ready out
	"$CPROF" attach -q -d 1 -o x.data -t work "$pid"
	"$CPROF" report --json x.data | jq -e '.overhead | .records > 100 and .call_stops < 10'
}

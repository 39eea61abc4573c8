#!/usr/bin/env bats
# cprof cover of instructions that fail: what follows them was not reached, and the
# program sees the signals that it would see without cprof. gdb judges the lines.

load helpers

lines_of() { sed -n 's/^DA://p' "$1"; }

@test "cover: what follows a fault was not reached, gdb says so, too" {
	local how
	gcc -O0 -g -o faults "$SOURCES/tests/cli/cover_faults.c"
	for how in crash assert divide; do
		gdb -nx -q -batch -x "$SOURCES/tests/cli/cover_faults_gdb.py" --args \
			./faults "$how" >gdb.log 2>&1
		"$CPROF" cover -q --lcov=x -o "$how.data" -- ./faults "$how" >out 2>err || true
		diff judged <(lines_of x) || { cat gdb.log err; false; }
		mv x "$how"
	done
	# Behind the first fault of each function, and behind the crash.
	grep -qx "DA:26,0" crash
	[ "$(grep -c '^DA:.*,0$' crash)" -gt 20 ]
}

@test "cover: what follows a fault is counted by itself from then on" {
	gcc -O0 -g -o faults "$SOURCES/tests/cli/cover_faults.c"
	"$CPROF" cover -q --count --lcov=x -- ./faults >out
	# second_time() came behind its fault the first time, straight() never.
	cat >expected <<-'END'
		24,1
		25,1
		26,0
		27,0
		51,2
		52,2
		53,1
		54,1
		55,1
	END
	diff expected <(lines_of x | grep -E '^(2[4-7]|5[1-5]),')
}

# Each fault is mended by its handler, by another thread's memory protection or by a
# jump; the program prints what it saw.
SEEN='#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
extern char failing[], failed[];
static __thread long faults;
static char *page;
static void handler(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	char *pc = (char *)uc->uc_mcontext.gregs[REG_RIP];
	if (sig != SIGSEGV || si->si_code != SEGV_ACCERR || si->si_addr != page + 5 ||
	    pc != failing)
		_exit(99);
	faults++;
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)failed;
}
static __attribute__((noinline)) int touch(int n)
{
	n += 3;
	__asm__ volatile(".globl failing, failed\nfailing: incb 5(%0)\nfailed:" ::"r"(page)
			 : "memory");
	n *= 2;
	n -= 1;
	return n;
}
static void *work(void *arg)
{
	int sum = 0;
	for (long i = 0; i < (long)arg; i++)
		sum += touch(1);
	return (void *)(faults * 1000 + sum % 1000);
}
int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	long n = atol(argv[1]);
	pthread_t t[4];
	void *r;
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)n);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	for (int i = 0; i < 3; i++) {
		fflush(stdout);
		if (!fork()) {
			printf("%ld\n", (long)work((void *)n));
			return 0;
		}
		wait(NULL);
	}
	return argc > 2;
}
'

@test "cover: a program that lives on faults sees what it would see, and is told of once" {
	printf '%s' "$SEEN" >seen.c
	gcc -O0 -g -pthread -o seen seen.c
	./seen "$(long_or 100000 2000)" >native
	separately "$CPROF" cover -v -v --lcov=x -- ./seen "$(long_or 100000 2000)"
	[ "$status" = 0 ]
	diff native <(echo "$output")
	# Its handler goes on behind the instruction: all of touch() was reached.
	[ "$(grep -c 'cut behind a fault' <<<"$stderr")" = 1 ]
	run ! grep -x 'DA:.*,0' <(sed -n '/^DA:2[3-9]/p; /^DA:3[01]/p' x)
}

@test "merge: a block that a fault cut in one recording alone" {
	gcc -O0 -g -o faults "$SOURCES/tests/cli/cover_faults.c"
	local how all=()
	for how in return crash trap assert divide; do
		"$CPROF" cover -q --lcov="$how" -o "$how.data" -- ./faults "$how" >out 2>err || true
		all=("$how.data" "${all[@]}")
	done
	"$CPROF" merge -o merged.data "${all[@]}"
	"$CPROF" merge -o again.data merged.data return.data crash.data
	"$CPROF" export -f lcov -o x merged.data
	"$CPROF" export -f lcov -o y again.data
	cmp x y
	# A line was reached where one of them reached it.
	cat return crash trap assert divide | sed -n 's/^DA://p' | sort -t, -k1,1n -k2,2nr |
		sort -t, -k1,1n -u >expected
	diff expected <(lines_of x)
}

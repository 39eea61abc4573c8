/* SPDX-License-Identifier: MIT
 *
 * The program whose calls of d_* are seen without stops: it counts them itself, checks
 * each result, and looks at its stack in handlers of signals.
 *
 *	detour_program MODE THREADS	the board is descriptor DETOUR_BOARD_FD
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "detour_board.h"

static struct detour_board *board;
static const char *mode;

#define TRACED static __attribute__((noinline, used, section("detoured")))
extern char __start_detoured[], __stop_detoured[];

struct counts {
	uint64_t calls;
	jmp_buf back;
};

TRACED uint64_t d_tiny(struct counts *c, uint64_t x)
{
	c->calls++;
	return x + 1;
}

TRACED uint64_t d_fib(struct counts *c, uint64_t n)
{
	c->calls++;
	return n < 2 ? n : d_fib(c, n - 1) + d_fib(c, n - 2);
}

TRACED uint64_t d_choose(struct counts *c, uint64_t x)
{
	c->calls++;
	switch (x % 7) {
	case 0:
		return x * 3;
	case 1:
		return d_tiny(c, x);
	case 2:
		return x ^ 0x5a5a;
	case 3:
		return d_tiny(c, x * 2) + 5;
	case 4:
		return x / 3;
	case 5:
		return ~x;
	default:
		return 0;
	}
}

#ifndef __OPTIMIZE__
#define d_float u_float /* its end may have no room for a jump */
#endif
TRACED double d_float(struct counts *c, double x, uint64_t n)
{
	double sum = 0;

#ifdef __OPTIMIZE__
	c->calls++;
#else
	(void)c;
#endif
	while (n--)
		sum += x / (double)(n + 1);
	return sum;
}

TRACED void d_jump(struct counts *c, uint64_t depth)
{
	c->calls++;
	if (!depth)
		longjmp(c->back, 1);
	else if (c->calls)
		d_jump(c, depth - 1);
}

static void check(uint64_t got, uint64_t want)
{
	if (got != want)
		board->wrong++;
}

static void one_round(struct counts *c, uint64_t n)
{
	static const uint64_t fib[] = { 0, 1, 1, 2, 3, 5, 8, 13, 21 };
	uint64_t x = n % 64;

	check(d_fib(c, n % 9), fib[n % 9]);
	check(d_tiny(c, n), n + 1);
	check(d_choose(c, x), x % 7 == 0   ? x * 3
			      : x % 7 == 1 ? x + 1
			      : x % 7 == 2 ? x ^ 0x5a5a
			      : x % 7 == 3 ? x * 2 + 6
			      : x % 7 == 4 ? x / 3
			      : x % 7 == 5 ? ~x
					   : 0);
	check((uint64_t)d_float(c, 12, 2), 18);
	if (!setjmp(c->back))
		d_jump(c, n % 5);
}

static int rests; /* between rounds */

static void *work(void *arg)
{
	struct counts c = { 0 };
	uint64_t n;

	(void)arg;
	for (n = 0; (!board->limit || n < board->limit) && !board->stop; n++) {
		one_round(&c, n);
		if (rests)
			poll(NULL, 0, 1);
		if (rests || n % 256 == 0)
			board->rounds += rests ? 1 : 256;
	}
	board->calls += c.calls;
	return NULL;
}

/* ---- handlers ---- */

static struct {
	uint64_t start, end;
} texts[64];
static unsigned text_count;

static int add_texts(struct dl_phdr_info *info, size_t size, void *ctx)
{
	unsigned i;

	(void)size;
	(void)ctx;
	for (i = 0; i < info->dlpi_phnum && text_count < 64; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		texts[text_count].start = info->dlpi_addr + p->p_vaddr;
		texts[text_count++].end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
		if (!board->text) {
			board->text = info->dlpi_addr + p->p_vaddr;
			board->text_end = board->text + p->p_memsz;
			board->bias = info->dlpi_addr;
		}
	}
	return 0;
}

static int is_text(uint64_t pc)
{
	unsigned i;

	for (i = 0; i < text_count; i++)
		if (pc >= texts[i].start && pc < texts[i].end)
			return 1;
	return 0;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	void *frames[128];
	int n = backtrace(frames, 128), i, all = 1;
	const ucontext_t *u = context;
	uint64_t pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
	int traced = pc >= (uint64_t)__start_detoured && pc < (uint64_t)__stop_detoured;

	(void)signal;
	(void)info;
	for (i = 0; i < n; i++)
		all &= is_text((uint64_t)frames[i]);
	/* The handler, its frame, d_*, one_round(), work(), two of the C library's. */
	board->cut += (traced && n < 7) || !all;
	board->strange += !is_text(pc);
	board->signals++;
}

static void start_signals(void)
{
	const struct itimerval each = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	void *frames[4];

	backtrace(frames, 4); /* loads what it needs */
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &each, NULL);
}

static atomic_int storm_over;

static void *send_signals(void *arg)
{
	pthread_t to = *(pthread_t *)arg;

	while (!storm_over)
		pthread_kill(to, SIGPROF);
	return NULL;
}

/* As many signals as there can be. */
static void run_storm(void)
{
	pthread_t self = pthread_self(), sender;
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	void *frames[4];

	backtrace(frames, 4);
	sigaction(SIGPROF, &action, NULL);
	pthread_create(&sender, NULL, send_signals, &self);
	work(NULL);
	storm_over = 1;
	pthread_join(sender, NULL);
}

/* ---- ways to go ---- */

static void wait_for(uint32_t stage)
{
	const struct timespec nap = { 0, 200000 };

	board->ready = stage;
	while (board->go < stage)
		nanosleep(&nap, NULL);
}

static void run_threads(int count)
{
	pthread_t threads[512];
	int i;

	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void run_forks(int count)
{
	struct counts c = { 0 };
	int i, status;

	for (i = 0; i < count; i++) {
		pid_t pid;

		one_round(&c, (uint64_t)i);
		pid = fork();
		if (!pid) {
			run_threads(i % 3);
			_exit(0);
		}
		one_round(&c, (uint64_t)i);
		waitpid(pid, &status, 0);
		check((uint64_t)status, 0);
	}
	board->calls += c.calls;
}

/* A filter that lets everything pass. */
static void filter_calls(void)
{
	struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog all = { 1, &pass };

	check((uint64_t)prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L), 0);
	check((uint64_t)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all), 0);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 0;

	mode = argv[1];
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, DETOUR_BOARD_FD, 0);
	if (board == MAP_FAILED)
		return 2;
	dl_iterate_phdr(add_texts, NULL);
	if (!strcmp(mode, "signals"))
		start_signals();
	rests = !strcmp(mode, "rest");
	wait_for(1);
	if (!strcmp(mode, "sandbox"))
		filter_calls();
	if (!strcmp(mode, "forks"))
		run_forks(threads);
	else if (!strcmp(mode, "storm"))
		run_storm();
	else
		run_threads(threads);
	if (!strcmp(mode, "exec")) {
		execl("/proc/self/exe", argv[0], "work", "0", (char *)NULL);
		return 3;
	}
	wait_for(9);
	return board->wrong != 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Threads that stand at the end of known chains of calls: each function notes
 * its name when it is entered, and before it blocks a thread prints
 *
 *	stack TID KIND leaf ... outermost
 *
 * with the program's own functions only (what libc puts between them, or below
 * the leaf, is not listed). The expected frames come from the program. It is
 * built in many ways: -O0, -O2, static, stripped, musl ...; --mode=KIND begins
 * only that thread; --depth=N for the deep one.
 */
#include <alloca.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "tracee.h"

#define MAX_DEPTH 12000
#define ALTERNATE_SIZE 65536

static __thread const char **chain;
static __thread volatile int chain_length;
static __thread bool alternate_spins;
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int never[2];
static atomic_bool stop;
static atomic_long standing;
static volatile int sink;

#define ENTER() \
	do { \
		chain[chain_length] = __func__; \
		chain_length++; \
		__asm__ volatile("" ::: "memory"); \
	} while (0)
/* After the last call, so that it is never a tail call. */
#define LEAVE() \
	do { \
		__asm__ volatile("" ::: "memory"); \
		chain_length--; \
	} while (0)

static void print_chain(const char *kind)
{
	char head[64];
	int n = snprintf(head, sizeof(head), "stack %d %s", (int)tracee_tid(), kind);

	pthread_mutex_lock(&print_lock);
	(void)!write(STDOUT_FILENO, head, (size_t)n);
	for (int i = chain_length - 1; i >= 0; i--) {
		n = snprintf(head, sizeof(head), " %s", chain[i]);
		(void)!write(STDOUT_FILENO, head, (size_t)n);
	}
	(void)!write(STDOUT_FILENO, "\n", 1);
	pthread_mutex_unlock(&print_lock);
	standing++;
}

static NOIPA void leaf_read(void)
{
	char c;

	ENTER();
	print_chain("read");
	CHECK(read(never[0], &c, 1) == 0, "read: %s", strerror(errno));
	LEAVE();
}

static NOIPA void leaf_cond(void)
{
	ENTER();
	print_chain("cond");
	pthread_mutex_lock(&mutex);
	while (!stop)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	LEAVE();
}

static NOIPA void leaf_sem(void)
{
	ENTER();
	print_chain("sem");
	CHECK(sem_wait(&sem) == 0, "sem_wait: %s", strerror(errno));
	LEAVE();
}

static NOIPA void leaf_poll(const char *kind)
{
	struct pollfd p = { never[0], POLLIN, 0 };

	ENTER();
	print_chain(kind);
	CHECK(poll(&p, 1, -1) == 1, "poll: %s", strerror(errno));
	LEAVE();
}

static NOIPA void leaf_spin(void)
{
	ENTER();
	print_chain("spin");
	while (!stop)
		sink++;
	LEAVE();
}

/* --- what stands between a thread's start and its leaf --- */

static NOIPA void plain_three(void (*leaf)(void))
{
	ENTER();
	leaf();
	LEAVE();
}

static NOIPA int plain_two(void (*leaf)(void), int x)
{
	char frame[300];

	ENTER();
	memset(frame, x, sizeof(frame));
	plain_three(leaf);
	LEAVE();
	return frame[x & 0xff];
}

static NOIPA int plain_one(void (*leaf)(void))
{
	int n;

	ENTER();
	n = plain_two(leaf, 1) + 1;
	LEAVE();
	return n;
}

/* Enough live values for every callee-saved register, the frame pointer's too. */
static NOIPA long registers(long a, long b, long c, long d, long e, long f)
{
	long g = a * b, h = c * d, i = e * f, j = a ^ d, k = b ^ e, l = c ^ f;

	ENTER();
	leaf_poll("registers");
	LEAVE();
	return g + h * i + j - k * l + a + b + c + d + e + f;
}

static NOIPA void variable_frame(size_t n)
{
	char *p = alloca(n);

	ENTER();
	memset(p, 1, n);
	registers(1, 2, 3, 4, 5, 6);
	sink += p[n - 1];
	LEAVE();
}

static NOIPA void aligned_frame(size_t n)
{
	char line[64] __attribute__((aligned(128)));

	ENTER();
	memset(line, (int)n, sizeof(line));
	variable_frame(n);
	sink += line[3];
	LEAVE();
}

static NOIPA void big_frame(int n)
{
	char big[40000];

	ENTER();
	memset(big, n, sizeof(big));
	aligned_frame((size_t)n + 100);
	sink += big[n];
	LEAVE();
}

static NOIPA int compare(const void *a, const void *b)
{
	ENTER();
	if (!stop)
		leaf_poll("qsort");
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

static NOIPA void sorter(void)
{
	int numbers[] = { 2, 1 };

	ENTER();
	qsort(numbers, 2, sizeof(int), compare);
	LEAVE();
}

static NOIPA void handler(int sig)
{
	ENTER();
	sink += sig;
	leaf_poll("signal");
	LEAVE();
}

static NOIPA void raiser(void)
{
	ENTER();
	pthread_kill(pthread_self(), SIGUSR1);
	LEAVE();
}

static NOIPA void alternate_handler(int sig)
{
	ENTER();
	sink += sig;
	if (alternate_spins)
		leaf_spin();
	else
		leaf_poll("alternate");
	LEAVE();
}

/* Far above the stack that the handler uses. */
static NOIPA int climb(int n)
{
	int r;

	ENTER();
	if (n > 1)
		r = climb(n - 1) + 1;
	else
		r = pthread_kill(pthread_self(), SIGUSR2);
	LEAVE();
	return r;
}

static NOIPA void alternate(void)
{
	stack_t stack = { .ss_sp = malloc(ALTERNATE_SIZE), .ss_size = ALTERNATE_SIZE };

	ENTER();
	TRY(sigaltstack(&stack, NULL));
	climb(20);
	stack.ss_flags = SS_DISABLE;
	TRY(sigaltstack(&stack, NULL));
	free(stack.ss_sp);
	LEAVE();
}

static NOIPA int deep(long n)
{
	int r;

	ENTER();
	if (n > 1)
		r = deep(n - 1) + 1;
	else
		leaf_poll("deep"), r = 0;
	LEAVE();
	return r;
}

static NOIPA void *run_read(void *arg)
{
	chain = arg;
	ENTER();
	plain_one(leaf_read);
	LEAVE();
	return NULL;
}

static NOIPA void *run_cond(void *arg)
{
	chain = arg;
	ENTER();
	plain_one(leaf_cond);
	LEAVE();
	return NULL;
}

static NOIPA void *run_sem(void *arg)
{
	chain = arg;
	ENTER();
	plain_one(leaf_sem);
	LEAVE();
	return NULL;
}

static NOIPA void *run_spin(void *arg)
{
	chain = arg;
	ENTER();
	plain_one(leaf_spin);
	LEAVE();
	return NULL;
}

static NOIPA void *run_frames(void *arg)
{
	chain = arg;
	ENTER();
	big_frame(50);
	LEAVE();
	return NULL;
}

static NOIPA void *run_qsort(void *arg)
{
	chain = arg;
	ENTER();
	sorter();
	LEAVE();
	return NULL;
}

static NOIPA void *run_signal(void *arg)
{
	chain = arg;
	ENTER();
	raiser();
	LEAVE();
	return NULL;
}

static NOIPA void *run_alternate(void *arg)
{
	chain = arg;
	ENTER();
	alternate();
	LEAVE();
	return NULL;
}

static NOIPA void *run_alternate_spin(void *arg)
{
	chain = arg;
	alternate_spins = true;
	ENTER();
	alternate();
	LEAVE();
	return NULL;
}

static NOIPA void *run_deep(void *arg)
{
	chain = arg;
	ENTER();
	deep(opt.depth);
	LEAVE();
	return NULL;
}

static const struct {
	const char *kind;
	void *(*run)(void *);
} kinds[] = {
	{ "read", run_read },
	{ "cond", run_cond },
	{ "sem", run_sem },
	{ "spin", run_spin },
	{ "frames", run_frames },
	{ "qsort", run_qsort },
	{ "signal", run_signal },
	{ "deep", run_deep },
	{ "alternate", run_alternate },
	{ "alternate_spin", run_alternate_spin },
};

#define KINDS ((long)(sizeof(kinds) / sizeof(kinds[0])))

int main(int argc, char **argv)
{
	struct sigaction on_stack = { .sa_handler = alternate_handler, .sa_flags = SA_ONSTACK };
	pthread_t threads[KINDS];
	long begun = 0;

	tracee_begin("known_stack", argc, argv, (struct tracee_options){ .ms = 50, .depth = 200 });
	CHECK(opt.depth < MAX_DEPTH - 10, "too deep");
	signal(SIGUSR1, handler);
	sigaction(SIGUSR2, &on_stack, NULL);
	sem_init(&sem, 0, 0);
	TRY(pipe2(never, O_CLOEXEC));
	for (long i = 0; i < KINDS; i++) {
		if (opt.mode && strcmp(opt.mode, kinds[i].kind))
			continue;
		threads[begun++] = tracee_thread_of((size_t)opt.depth * 512 + 262144, kinds[i].run,
						    calloc(MAX_DEPTH, sizeof(char *)));
	}
	while (standing < begun)
		sched_yield();
	tracee_wait();
	stop = true;
	close(never[1]);
	sem_post(&sem);
	pthread_mutex_lock(&mutex);
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	for (long i = 0; i < begun; i++)
		pthread_join(threads[i], NULL);
	return tracee_ok("%ld chains of calls", begun);
}

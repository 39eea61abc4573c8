/* SPDX-License-Identifier: MIT
 *
 * How often its loops go round is its argument: what is executed how often follows from
 * that. What else it does, its first argument's letters say.
 */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sink;
static volatile sig_atomic_t alarms, lost;
static char *page;

__attribute__((noipa)) static unsigned loop(unsigned n)
{
	unsigned i, s = 0;

	for (i = 0; i < n; i++) {
		if (i % 3 == 0) /* directions */
			s += i; /* third */
		else if (i & 1)
			s ^= i; /* odd */
		else
			s -= 1; /* even */
		if (s & 4)
			s++;
	}
	return s;
}

/* Blocks long enough for jumps. */
__attribute__((noipa)) static unsigned hot(unsigned n)
{
	unsigned i = 0, s = 0;

	do {
		s = s * 3 + i; /* hot */
		i = i + 1 + (s & 0);
	} while (i != n);
	return s;
}

static void *thread(void *n)
{
	sink += loop(*(unsigned *)n);
	return NULL;
}

static void on_alarm(int signal)
{
	void *frames[64];

	(void)signal;
	alarms++; /* alarm */
	if (backtrace(frames, 64) < 5)
		lost++;
}

static sigjmp_buf back;

/* Lets in who is to come again, and leads away who is not. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (info->si_addr == NULL)
		siglongjmp(back, 1);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

__attribute__((noipa)) static int touch(volatile int *p)
{
	return *p + 1; /* touched */
}

static void fault(unsigned n)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	unsigned i;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	for (i = 0; i < n; i++) {
		mprotect(page, 4096, i & 2 ? PROT_NONE : PROT_READ);
		if (!sigsetjmp(back, 1))
			sink += (unsigned)touch(i & 1 ? (int *)(void *)page : NULL);
		else
			sink++; /* led away */
	}
}

static void tick(int microseconds)
{
	struct itimerval every = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &every, NULL);
}

static void interrupted(unsigned n)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	void *frames[4];

	backtrace(frames, 4); /* loads what it needs */
	sigaction(SIGALRM, &action, NULL);
	tick(300);
	while (alarms < 20)
		sink += loop(n); /* interrupted */
	tick(0);
}

static void spread(unsigned n, const char *self)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (!fork()) {
		sink += loop(n);
		_exit(0);
	}
	if (!vfork()) {
		execl(self, self, "", text, (char *)NULL);
		_exit(1);
	}
	sink += loop(n);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 30, i;
	pthread_t threads[8];

	if (strchr(how, 't')) {
		for (i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, thread, &n);
		for (i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	if (strchr(how, 'i'))
		interrupted(n);
	if (strchr(how, 'f'))
		fault(n);
	if (strchr(how, 's'))
		spread(n, argv[0]);
	if (strchr(how, 'h')) {
		sink += hot(n);
		n = 1;
	}
	while (strchr(how, 'u') && access(argv[3], F_OK))
		sink += loop(n);
	sink += loop(n);
	if (strchr(how, 'k'))
		kill(getpid(), SIGKILL);
	printf("%d %d\n", (int)alarms, (int)lost);
	return 0;
}

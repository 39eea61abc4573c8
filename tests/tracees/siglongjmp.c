/* SPDX-License-Identifier: MIT
 *
 * Leaving handlers by siglongjmp, from faults (a null pointer, a guard page, a
 * division by zero, an illegal instruction) and from raised signals, on the
 * normal and the alternate stack, in several threads; mask and count checked.
 */
#include <setjmp.h>
#include <sys/mman.h>

#include "tracee.h"

static __thread sigjmp_buf back;
static __thread long caught;
static char *guard;

static void handler(int sig)
{
	caught++;
	siglongjmp(back, sig);
}

static NOIPA void fault(int kind, int depth)
{
	volatile char frame[256];

	frame[0] = (char)depth;
	if (depth > 0) {
		fault(kind, depth - 1);
		frame[1] = frame[0];
		return;
	}
	switch (kind) {
	case 0:
		*(volatile char *)guard = 1;
		break;
	case 1:
		raise(SIGUSR1);
		break;
	case 2:
#if defined(__x86_64__)
		__asm__ volatile("xorl %%ecx, %%ecx\n\tcltd\n\tidivl %%ecx" ::
					 : "eax", "ecx", "edx");
#else
		raise(SIGFPE);
#endif
		break;
	case 3:
#if defined(__x86_64__)
		__asm__ volatile("ud2");
#else
		raise(SIGILL);
#endif
		break;
	}
}

static void *jumper(void *arg)
{
	static const int signals[] = { SIGSEGV, SIGUSR1, SIGFPE, SIGILL };
	stack_t alt = { .ss_sp = malloc(65536), .ss_size = 65536 };
	sigset_t mask;

	(void)arg;
	sigaltstack(&alt, NULL);
	for (volatile long i = 0; i < opt.size; i++) {
		int kind = (int)(i % 4);
		int sig = sigsetjmp(back, 1);

		if (!sig) {
			fault(kind, (int)(i % 30));
			tracee_fail("fault %d did not happen", kind);
		}
		CHECK(sig == signals[kind], "signal %d, not %d", sig, signals[kind]);
		pthread_sigmask(SIG_SETMASK, NULL, &mask);
		for (int s = 1; s < 32; s++)
			CHECK(sigismember(&mask, s) == 0, "signal %d left blocked", s);
	}
	CHECK(caught == opt.size, "%ld of %ld signals", caught, opt.size);
	alt.ss_flags = SS_DISABLE;
	sigaltstack(&alt, NULL);
	free(alt.ss_sp);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction on_alt = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	struct sigaction plain = { .sa_handler = handler };

	tracee_begin("siglongjmp", argc, argv,
		     (struct tracee_options){ .rounds = 5, .threads = 4, .size = 400 });
	guard = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &on_alt, NULL);
	sigaction(SIGUSR1, &plain, NULL);
	sigaction(SIGFPE, &plain, NULL);
	sigaction(SIGILL, &on_alt, NULL);
	while (tracee_more()) {
		pthread_t threads[TRACEE_THREADS];

		for (long i = 0; i < opt.threads; i++)
			threads[i] = tracee_thread(jumper, NULL);
		for (long i = 0; i < opt.threads; i++)
			pthread_join(threads[i], NULL);
	}
	return tracee_ok("every fault caught once, every mask back");
}

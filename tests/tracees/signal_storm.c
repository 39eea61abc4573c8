/* SPDX-License-Identifier: MIT
 *
 * Queued signals to threads and to the process: not one lost, doubled or out of
 * order, each with its value and sender; on an alternate stack; handlers with
 * masks; a blocked signal stays pending until it is let in. Standard signals
 * sent one at a time arrive exactly once.
 */
#include <stdatomic.h>
#include <ucontext.h>

#include "tracee.h"

enum { TO_THREAD, TO_PROCESS, BLOCKED, PLAIN, KINDS };

struct target {
	pthread_t thread;
	_Atomic pid_t tid;
	atomic_long got, sum;
	long next;
	char alt[32768];
};

static struct target targets[TRACEE_THREADS];
static atomic_long process_got, process_sum, plain_got;
static atomic_bool stop;
static __thread struct target *self;

static int number(int kind)
{
	return kind == PLAIN ? SIGUSR1 : SIGRTMIN + 2 + kind;
}

static void check_frame(siginfo_t *info, void *context)
{
	char here;
	sigset_t mask;

	CHECK(&here >= self->alt && &here < self->alt + sizeof(self->alt),
	      "handler not on the alternate stack");
	CHECK(info->si_pid == getpid(), "si_pid %d", (int)info->si_pid);
	CHECK(((ucontext_t *)context)->uc_stack.ss_sp == self->alt, "uc_stack is wrong");
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	CHECK(sigismember(&mask, SIGUSR2), "handler's mask is wrong");
}

static void to_thread(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	check_frame(info, context);
	CHECK(info->si_code == SI_QUEUE, "signal %d: si_code %d", sig, info->si_code);
	CHECK(info->si_value.sival_int == self->next, "signal %d: value %d, not %ld", sig,
	      info->si_value.sival_int, self->next);
	self->next++;
	self->sum += info->si_value.sival_int;
	self->got++; /* last: it is what check_counts() waits for */
	errno = saved;
}

static void to_process(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	check_frame(info, context);
	process_sum += info->si_value.sival_int;
	process_got++;
}

static void plain(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	check_frame(info, context);
	CHECK(info->si_code == SI_TKILL, "si_code %d of a plain signal", info->si_code);
	plain_got++;
}

static void *receiver(void *arg)
{
	stack_t stack = { 0 };
	uint32_t x = 1;

	self = arg;
	stack.ss_sp = self->alt;
	stack.ss_size = sizeof(self->alt);
	TRY(sigaltstack(&stack, NULL));
	atomic_store(&self->tid, tracee_tid());
	/* Some are computing and some are blocked when it comes. */
	while (!stop) {
		if ((self - targets) % 2)
			x = tracee_mix(x, 200);
		else
			usleep(200);
	}
	return NULL;
}

static void send_one(int sig, struct target *target, int value)
{
	union sigval v = { .sival_int = value };
	int err;

	do {
		err = target			   ? pthread_sigqueue(target->thread, sig, v)
		      : sigqueue(getpid(), sig, v) ? errno
						   : 0;
		if (err == EAGAIN)
			sched_yield();
	} while (err == EAGAIN);
	CHECK(!err, "sending: %s", strerror(err));
}

static long sent, plain_sent;

static void one_round(void)
{
	for (long i = 0; i < opt.size; i++, sent++) {
		for (long t = 0; t < opt.threads; t++)
			send_one(number(TO_THREAD), &targets[t], (int)sent);
		send_one(number(TO_PROCESS), NULL, (int)sent);
		send_one(number(BLOCKED), NULL, (int)sent);
		pthread_kill(targets[i % opt.threads].thread, number(PLAIN));
		plain_sent++;
		while (plain_got < plain_sent)
			sched_yield();
	}
}

/* What was sent while it was blocked comes out in order, all of it. */
static void drain(long from)
{
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number(BLOCKED));
	for (long i = from; i < sent; i++) {
		struct timespec soon = { 5, 0 };
		int sig = sigtimedwait(&set, &info, &soon);

		CHECK(sig == number(BLOCKED), "blocked signal %ld: %s", i, strerror(errno));
		CHECK(info.si_value.sival_int == i, "blocked signal %ld has value %d", i,
		      info.si_value.sival_int);
	}
}

static void check_counts(void)
{
	long sum = sent * (sent - 1) / 2;

	while (process_got < sent)
		sched_yield();
	CHECK(process_got == sent && process_sum == sum, "process: %ld of %ld signals",
	      (long)process_got, sent);
	for (long t = 0; t < opt.threads; t++) {
		while (targets[t].got < sent)
			sched_yield();
		CHECK(targets[t].got == sent && targets[t].sum == sum,
		      "thread %ld: %ld of %ld signals", t, (long)targets[t].got, sent);
	}
	CHECK(plain_got == plain_sent, "%ld of %ld plain signals", (long)plain_got, plain_sent);
}

static void install(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

	action.sa_sigaction = handler;
	sigaddset(&action.sa_mask, SIGUSR2);
	TRY(sigaction(sig, &action, NULL));
}

int main(int argc, char **argv)
{
	sigset_t set;

	tracee_begin("signal_storm", argc, argv,
		     (struct tracee_options){ .rounds = 10, .threads = 4, .size = 50 });
	install(number(TO_THREAD), to_thread);
	install(number(TO_PROCESS), to_process);
	install(number(PLAIN), plain);
	sigemptyset(&set);
	sigaddset(&set, number(BLOCKED));
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (long t = 0; t < opt.threads; t++)
		targets[t].thread = tracee_thread(receiver, &targets[t]);
	for (long t = 0; t < opt.threads; t++)
		while (!atomic_load(&targets[t].tid))
			sched_yield();
	/* The main thread takes none of them, it has no alternate stack. */
	sigaddset(&set, number(TO_PROCESS));
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (tracee_more()) {
		long from = sent;

		one_round();
		drain(from);
		check_counts();
	}
	stop = true;
	for (long t = 0; t < opt.threads; t++)
		pthread_join(targets[t].thread, NULL);
	check_counts();
	return tracee_ok("every signal once, in order, on its stack, with its value");
}

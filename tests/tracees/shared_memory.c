/* SPDX-License-Identifier: MIT
 *
 * Processes that share their memory and are no threads (CLONE_VM without
 * CLONE_THREAD), all there before anybody attaches, all in the same functions. Each says
 * by its status whether it came to its end, and how many rounds of calls it made.
 */
#include <sched.h>
#include <sys/prctl.h>

#include "tracee.h"

#define CHILDREN 3
#define STACK 65536
#define CALLS 100

static char stacks[CHILDREN][STACK] __attribute__((aligned(64)));
static volatile int stop, readied[CHILDREN];
static volatile long made[CHILDREN + 1];

NOIPA static long shared_work(long a, long b)
{
	return a * b + 1;
}

NOIPA static void shared_round(int self)
{
	const struct timespec nap = { 0, 500000 };
	long i, sum = 0;

	for (i = 0; i < CALLS; i++)
		sum += shared_work(i, self);
	CHECK(sum == CALLS + self * (CALLS * (CALLS - 1) / 2), "wrong results");
	made[self]++;
	nanosleep(&nap, NULL);
}

static int child(void *arg)
{
	int self = (int)(intptr_t)arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	readied[self - 1] = 1;
	while (!stop)
		shared_round(self);
	_exit(40 + self);
}

int main(int argc, char **argv)
{
	pid_t pids[CHILDREN];
	int i, status;

	tracee_begin("shared_memory", argc, argv, (struct tracee_options){ .rounds = 20 });
	for (i = 0; i < CHILDREN; i++)
		TRY(pids[i] = clone(child, stacks[i] + STACK, CLONE_VM | SIGCHLD,
				    (void *)(intptr_t)(i + 1)));
	for (i = 0; i < CHILDREN; i++)
		while (!readied[i])
			sched_yield();
	while (tracee_more())
		shared_round(0);
	stop = 1;
	for (i = 0; i < CHILDREN; i++) {
		status = tracee_reap(pids[i]);
		CHECK(status == (41 + i) << 8, "child %d: status 0x%x", i, (unsigned)status);
		CHECK(made[i + 1], "child %d did nothing", i);
	}
	return tracee_ok("all came to their ends");
}

/* SPDX-License-Identifier: MIT
 *
 * Coroutines on stacks of their own, switched with swapcontext from a
 * scheduler, from each other and from deep frames; each adds to its own sum,
 * in two threads at once.
 */
#include <ucontext.h>

#include "tracee.h"

#define STACK 32768
#define COUNT 50

struct coroutine {
	ucontext_t context, *home;
	long id, sum, steps;
	bool done;
	char *stack;
};

static NOIPA void yield_deep(struct coroutine *c, int depth)
{
	volatile char frame[40];

	frame[depth % 40] = (char)depth;
	if (depth)
		yield_deep(c, depth - 1);
	else
		swapcontext(&c->context, c->home);
	CHECK(frame[depth % 40] == (char)depth, "coroutine %ld: a frame was overwritten", c->id);
}

static void body(unsigned low, unsigned high)
{
	struct coroutine *c = (struct coroutine *)((uintptr_t)high << 32 | low);

	for (long i = 0; i < c->steps; i++) {
		c->sum += c->id * i;
		yield_deep(c, (int)((c->id + i) % 25));
	}
	c->done = true;
}

static void begin(struct coroutine *c, long id, ucontext_t *home)
{
	c->id = id;
	c->home = home;
	c->steps = 20 + id;
	c->stack = malloc(STACK);
	CHECK(c->stack, "no memory");
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = c->stack;
	c->context.uc_stack.ss_size = STACK;
	c->context.uc_link = home;
	makecontext(&c->context, (void (*)(void))body, 2, (unsigned)(uintptr_t)c,
		    (unsigned)((uintptr_t)c >> 32));
}

static void *scheduler(void *arg)
{
	struct coroutine *all = calloc(COUNT, sizeof(*all));
	ucontext_t home;
	long left = COUNT;

	(void)arg;
	CHECK(all, "no memory");
	for (long i = 0; i < COUNT; i++)
		begin(&all[i], i, &home);
	while (left)
		for (long i = 0; i < COUNT; i++) {
			if (all[i].done)
				continue;
			swapcontext(&home, &all[i].context);
			left -= all[i].done;
		}
	for (long i = 0; i < COUNT; i++) {
		CHECK(all[i].sum == i * all[i].steps * (all[i].steps - 1) / 2,
		      "coroutine %ld: sum %ld", i, all[i].sum);
		free(all[i].stack);
	}
	free(all);
	return NULL;
}

int main(int argc, char **argv)
{
	tracee_begin("coroutines", argc, argv, (struct tracee_options){ .rounds = 15 });
	while (tracee_more()) {
		pthread_t other = tracee_thread(scheduler, NULL);

		scheduler(NULL);
		pthread_join(other, NULL);
	}
	return tracee_ok("%d coroutines, every sum", COUNT);
}

/* SPDX-License-Identifier: MIT
 *
 * Coroutines on stacks of their own, switched with swapcontext from a
 * scheduler, from each other and from deep frames; each adds to its own sum,
 * in two threads at once.
 *
 *	--mode=moves	their stacks share memory: it is cut into other sizes again and
 *			again, and who rests there may be given up; two threads take turns,
 *			and go on with what the other one began
 *	--mode=handlers	signal handlers on alternate stacks, one within the other, on a
 *			thread's own stack and on a coroutine's
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

/* ---- stacks that change ---- */

#define PLACES 4
#define PLACE (32 * 1024)
#define SPLITS 4
#define STEPS 600

struct walker {
	ucontext_t context, *home;
	int left;
	bool begun, done;
};

static struct place {
	int splits; /* so many stacks share it */
	struct walker walkers[SPLITS];
} places[PLACES];
static char *memory;
static pthread_barrier_t turn;
static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static NOIPA long leaf(long n)
{
	volatile long x = n;

	return x + 1;
}

static NOIPA long go_down(struct walker *w, int depth)
{
	volatile char frame[200];
	long sum = leaf(depth);

	frame[depth] = (char)depth;
	if (depth)
		sum += go_down(w, depth - 1);
	else
		swapcontext(&w->context, w->home);
	return sum + leaf(frame[depth]);
}

static void walk(unsigned low, unsigned high)
{
	struct walker *w = (struct walker *)((uintptr_t)high << 32 | low);

	while (w->left--)
		go_down(w, (int)any(12));
	w->done = true;
	swapcontext(&w->context, w->home);
}

static NOIPA void walk_on(struct place *place, int number)
{
	struct walker *w = &place->walkers[number];
	size_t size = PLACE / (size_t)place->splits;
	ucontext_t home;

	if (!w->begun) {
		*w = (struct walker){ .left = 1 + (int)any(6), .begun = true };
		getcontext(&w->context);
		w->context.uc_stack.ss_sp =
			memory + (place - places) * PLACE + size * (size_t)number;
		w->context.uc_stack.ss_size = size;
		w->context.uc_link = NULL;
		makecontext(&w->context, (void (*)(void))walk, 2, (unsigned)(uintptr_t)w,
			    (unsigned)((uintptr_t)w >> 32));
	}
	w->home = &home;
	swapcontext(&home, &w->context);
	if (w->done)
		w->begun = false;
}

/* Others get the place: who rests there is given up. */
static NOIPA void cut(struct place *place)
{
	memset(place, 0, sizeof(*place));
	place->splits = 1 << any(3);
}

static void *take_turns(void *arg)
{
	long i;

	for (i = 0; i < STEPS; i++) {
		if (i % 2 == (long)(intptr_t)arg) {
			struct place *place = &places[any(PLACES)];

			if (!place->splits || !any(25))
				cut(place);
			walk_on(place, (int)any((uint32_t)place->splits));
		}
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void move(void)
{
	pthread_t other;

	seed = 7;
	memset(places, 0, sizeof(places));
	memory = aligned_alloc(4096, PLACES * PLACE);
	CHECK(memory, "no memory");
	pthread_barrier_init(&turn, NULL, 2);
	other = tracee_thread(take_turns, (void *)1);
	take_turns(NULL);
	pthread_join(other, NULL);
	free(memory);
}

/* ---- handlers ---- */

static volatile long handled;

static NOIPA void in_handler(int depth)
{
	handled += leaf(depth) != 0;
	if (depth % 3 == 1)
		raise(SIGUSR2);
	if (depth)
		in_handler(depth - 1);
}

static void first(int signal)
{
	in_handler(signal == SIGUSR1 ? 5 : 2);
}

static void second(int signal)
{
	handled += leaf(signal) != 0;
}

static NOIPA void interrupted(int depth)
{
	if (depth)
		interrupted(depth - 1);
	else
		raise(SIGUSR1);
	handled += leaf(depth) != 0;
}

static void aside(void)
{
	interrupted(3);
}

static void handle(void)
{
	static char stack[65536], alternate[65536];
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction action = { .sa_handler = first, .sa_flags = SA_ONSTACK };
	ucontext_t home, context;
	int i;

	CHECK(!sigaltstack(&ss, NULL), "sigaltstack: %m");
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = second;
	sigaction(SIGUSR2, &action, NULL);
	handled = 0;
	for (i = 0; i < 300; i++)
		interrupted(i % 7);
	for (i = 0; i < 20; i++) {
		getcontext(&context);
		context.uc_stack.ss_sp = stack;
		context.uc_stack.ss_size = sizeof(stack);
		context.uc_link = &home;
		makecontext(&context, aside, 0);
		swapcontext(&home, &context);
	}
	/* Each handler 6 levels and 2 more signals. */
	CHECK(handled == 320 * (6 + 2) + 1197 + 20 * 4, "%ld handled", handled);
}

int main(int argc, char **argv)
{
	tracee_begin("coroutines", argc, argv,
		     (struct tracee_options){ .rounds = 15, .mode = "sums" });
	while (tracee_more()) {
		if (!strcmp(opt.mode, "moves")) {
			move();
			continue;
		}
		if (!strcmp(opt.mode, "handlers")) {
			handle();
			continue;
		}
		pthread_t other = tracee_thread(scheduler, NULL);

		scheduler(NULL);
		pthread_join(other, NULL);
	}
	return tracee_ok("%d coroutines, every sum", COUNT);
}

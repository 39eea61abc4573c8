/* SPDX-License-Identifier: MIT
 *
 * A program that says what it does (cprof/trace.h): frames with nested spans in
 * the main thread, jobs that it hands to two workers, a scheduler of two fibers
 * in a fourth thread, counters, instants. Its line says how many of each there
 * were.
 */
#include <cprof/trace.h>
#include <ucontext.h>

#include "tracee.h"

#define WORKERS 2
#define QUEUE 8
#define STACK 65536
#define DISHES 3 /* spans of a fiber */

static long spans, jobs, instants, counters, switches; /* announced */

static void count(long *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

static NOIPA void compute(long n)
{
	volatile long sum __attribute__((unused)) = 0;

	for (long i = 0; i < n * 400; i++)
		sum += i;
}

/* ---- jobs ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t ids[QUEUE];
	long first, last;
	bool over;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void hand_over(void)
{
	CPROF_TRACE_BEGIN_FUNC_SCOPE();

	count(&spans);
	pthread_mutex_lock(&queue.lock);
	while (queue.last - queue.first == QUEUE)
		pthread_cond_wait(&queue.changed, &queue.lock);
	queue.ids[queue.last++ % QUEUE] = cprof_trace_start("job", "jobs", NULL);
	count(&jobs);
	cprof_trace_counter("queued", "jobs", queue.last - queue.first);
	count(&counters);
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	CPROF_TRACE_END_FUNC_SCOPE();
}

static bool take(uint64_t *id)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.first == queue.last && !queue.over)
		pthread_cond_wait(&queue.changed, &queue.lock);
	bool got = queue.first != queue.last;

	if (got)
		*id = queue.ids[queue.first++ % QUEUE];
	if (got) {
		cprof_trace_counter("queued", "jobs", queue.last - queue.first);
		count(&counters);
	}
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	return got;
}

static void *work(void *name)
{
	uint64_t id;

	cprof_trace_thread_name(name);
	while (take(&id)) {
		uint64_t span = cprof_trace_begin("work", "jobs", name);

		compute(40);
		cprof_trace_end(span);
		count(&spans);
		cprof_trace_finish(id);
	}
	return NULL;
}

/* ---- fibers ---- */

static ucontext_t fibers[3]; /* the first is the thread itself */

static void change(uint32_t from, uint32_t to)
{
	cprof_trace_fiber_switch(from, to);
	count(&switches);
	swapcontext(&fibers[from], &fibers[to]);
}

/* Goes to the other fiber with a span open, and ends it when it is back. */
static void cook(int self)
{
	for (int i = 0; i < DISHES; i++) {
		uint64_t meal = cprof_trace_begin(self == 1 ? "cook" : "bake", "kitchen", NULL);
		uint64_t step = cprof_trace_begin("prepare", "kitchen", NULL);

		compute(10);
		cprof_trace_end(step);
		change((uint32_t)self, 3 - (uint32_t)self);
		compute(10);
		cprof_trace_end(meal);
		count(&spans);
		count(&spans);
	}
	change((uint32_t)self, 0);
}

static void *kitchen(void *unused)
{
	static char stacks[2][STACK] __attribute__((aligned(16)));

	(void)unused;
	cprof_trace_thread_name("kitchen");
	cprof_trace_fiber_name(1, "cook");
	cprof_trace_fiber_name(2, "baker");
	for (int i = 1; i <= 2; i++) {
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = stacks[i - 1];
		fibers[i].uc_stack.ss_size = STACK;
		makecontext(&fibers[i], (void (*)(void))cook, 1, i);
	}
	uint64_t day = cprof_trace_begin("day", "kitchen", NULL);

	change(0, 1); /* 1 and 2 take turns; 1 is through first */
	change(0, 2);
	cprof_trace_end(day);
	count(&spans);
	return NULL;
}

/* ---- frames ---- */

static NOIPA void update(void)
{
	CPROF_TRACE_BEGIN_FUNC_SCOPE();

	count(&spans);
	compute(20);
	hand_over();
	CPROF_TRACE_END_FUNC_SCOPE();
}

static NOIPA void draw(long frame)
{
	CPROF_TRACE_BEGIN_FUNC_SCOPE();

	count(&spans);
	for (long i = 0; i <= frame % 3; i++) {
		CPROF_TRACE_BEGIN_LOCAL_SCOPE(layer);

		compute(15);
		CPROF_TRACE_END_LOCAL_SCOPE(layer);
		count(&spans);
	}
	CPROF_TRACE_END_FUNC_SCOPE();
}

static void one_frame(void)
{
	uint64_t span = cprof_trace_begin("frame", "frames", NULL);

	count(&spans);
	update();
	draw(tracee_round);
	if (tracee_round % 4 == 0) {
		cprof_trace_instant("flip", "frames", NULL);
		count(&instants);
	}
	cprof_trace_end(span);
}

int main(int argc, char **argv)
{
	static char names[WORKERS][12] = { "worker A", "worker B" };
	pthread_t workers[WORKERS], cooks;

	tracee_begin("timeline", argc, argv, (struct tracee_options){ .rounds = 12 });
	CHECK(!pthread_create(&cooks, NULL, kitchen, NULL), "no thread");
	for (int i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&workers[i], NULL, work, names[i]), "no thread");
	while (tracee_more())
		one_frame();
	pthread_mutex_lock(&queue.lock);
	queue.over = true;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	pthread_join(cooks, NULL);
	CHECK(queue.first == queue.last, "jobs are left");
	return tracee_ok("spans %ld jobs %ld instants %ld counters %ld switches %ld", spans, jobs,
			 instants, counters, switches);
}

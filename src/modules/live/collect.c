/* SPDX-License-Identifier: MIT
 *
 * What the live view shows. Two threads: the session's, which walks stacks and keeps them as
 * addresses, those that are alike once in a second; and one of the profiler's own, which
 * names addresses (that may take long, when debug information is read for the first time) and
 * adds the stacks up by function, caller and line.
 *
 *   events ──► batch of this second ──► names, sums ──► tick: somebody looks
 */
#include "modules/live/collect.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/runtime.h"
#include "base/text.h"
#include "base/thread.h"
#include "modules/live/calls.h"
#include "modules/live/collector.h"
#include "modules/live/heap.h"
#include "modules/settings.h"

/* After a second's end: until then its last samples have come. */
#define LATE_NS (100 * CP_NS_PER_MS)

/* ---- events ---- */

static void on_sample(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	cprof_sample sample;

	(void)context;
	if (cprof_current_sample(&sample))
		collector_stack(p, &(struct collected){ .kind = CP_LIVE_TIME,
							.ts_ns = sample.timestamp_ns,
							.ip = ip,
							.events = 1,
							.weight = sample.weight_ns,
							.lasted = p->wants.mode ==
								  CPROF_SAMPLE_MODE_REAL });
}

static void on_thread_started(cprof_profiler *p, uintptr_t tid)
{
	collector_thread(p, cprof_thread_from_tid((int32_t)tid));
}

/* Also of a thread that lives on under another name. */
static void rename_thread(cprof_profiler *p, cprof_thread *t, bool ended)
{
	uint32_t number = collector_thread(p, t);

	if (number == CP_LIVE_ALL)
		return;
	cp_live_lock(p->sums);
	collector_names(t, &p->sums->threads.items[number]);
	p->sums->threads.items[number].ended = ended;
	cp_live_unlock(p->sums);
}

static void on_thread_exited(cprof_profiler *p, uintptr_t tid)
{
	cprof_thread *t = cprof_thread_from_tid((int32_t)tid);

	rename_thread(p, t, true);
	collector_calls_forget(p, t);
}

static void on_thread_name(cprof_profiler *p, uintptr_t tid, const char *name)
{
	(void)name;
	rename_thread(p, cprof_thread_from_tid((int32_t)tid), false);
}

static void add_cost(cprof_profiler *p)
{
	struct cp_live_cost cost = { .at_ns = cp_now() };
	cprof_call_statistics calls;
	cprof_allocation_statistics a;
	cprof_overhead o;

	cprof_get_overhead(&o);
	cprof_get_call_statistics(&calls);
	cprof_get_allocation_statistics(&a);
	cost.own_cpu_ns = o.tracer_cpu_ns + o.controller_cpu_ns;
	cost.stops = o.stops;
	cost.stopped_ns = o.stopped_ns;
	cost.samples = o.samples;
	cost.lost = o.lost;
	cost.calls_lost = calls.records_lost;
	cost.disarmed = p->disarmed;
	cost.paused_ns = a.paused_ns;
	cost.watched_ns = a.watched_ns;
	cp_live_lock(p->sums);
	cp_live_add_cost(p->sums, &cost);
	cp_live_unlock(p->sums);
}

/* ---- names ---- */

/* The frames of a place, as they are told. */
struct naming {
	cprof_profiler *p;
	const char *image;
	size_t count;
};

static void add_symbol(const cprof_symbol *symbol, void *data)
{
	struct cp_live_frame frame = { .line = symbol->line };
	struct naming *n = data;

	cp_live_lock(n->p->sums);
	frame.function = cp_live_function(n->p->sums, symbol->name, n->image, symbol->file);
	cp_live_unlock(n->p->sums);
	if (frame.function == CP_LIVE_NONE || !cp_vec_push(&n->p->frames, frame))
		n->p->failed = true;
	else
		n->count++;
}

static void name_place(cprof_profiler *p, const cprof_place *place, struct span *ret)
{
	struct naming n = { .p = p, .image = place->image ? place->image : "" };

	ret->first = p->frames.count;
	cprof_place_symbolize(place, add_symbol, &n);
	ret->count = n.count;
}

/* The frames of a place; NULL without memory. */
static const struct span *frames_of(cprof_profiler *p, const cprof_place *place)
{
	uint32_t number;
	bool fresh;

	if (!cp_intern(&p->places, place, sizeof(*place), &number, &fresh) ||
	    (number >= p->span_capacity &&
	     !cp_vec_grow((void **)&p->spans_of_places, &p->span_capacity, number + 1,
			  sizeof(*p->spans_of_places))))
		return NULL;
	if (fresh)
		name_place(p, place, &p->spans_of_places[number]);
	return &p->spans_of_places[number];
}

/* ---- the namer ---- */

/* The stack of a batch, with names, into p->whole. */
static bool expand(cprof_profiler *p, const struct batch *b, uint32_t stack)
{
	const uint32_t *places;
	size_t n = cprof_stacks_places(b->stacks, stack, &places), i, k;
	const struct span *span;

	p->whole.count = 0;
	for (i = 0; i < n; i++) {
		span = frames_of(p, cprof_stacks_place(b->stacks, places[i]));
		for (k = 0; span && k < span->count; k++)
			if (!cp_vec_push(&p->whole, p->frames.items[span->first + k]))
				return false;
		if (!span)
			return false;
	}
	return true;
}

/* Who takes memory: not the C library's function that does it, nor what a language has in
 * between, but who called those; if all are that, the outermost. */
static size_t count_runtime(cprof_profiler *p)
{
	const struct cp_live_function *f;
	size_t n = 0;

	cp_live_lock(p->sums);
	for (; n + 1 < p->whole.count; n++) {
		f = &p->sums->functions.items[p->whole.items[n].function];
		if (!cp_file_is_runtime(f->image) && !cp_name_is_runtime(f->name))
			break;
	}
	cp_live_unlock(p->sums);
	return n;
}

static void add_edges(cprof_profiler *p, const struct batch *b)
{
	struct edge edge;
	size_t i;

	cp_live_lock(p->sums);
	for (i = 0; i < b->edges.count; i++) {
		memcpy(&edge, b->edges.items[i].bytes, sizeof(edge));
		cp_live_add_calls(p->sums, edge.thread, b->second, edge.caller, edge.callee,
				  &b->amounts.items[i]);
	}
	cp_live_unlock(p->sums);
}

static void add_batch(cprof_profiler *p, const struct batch *b)
{
	const cprof_tally_row *row;
	struct stack_key key;
	size_t i, skip;

	add_edges(p, b);
	for (i = 0; (row = cprof_tally_row_at(b->weights, i)); i++) {
		memcpy(&key, row->key, sizeof(key));
		if (!expand(p, b, (uint32_t)key.stack)) {
			p->failed = true;
			return;
		}
		skip = key.kind == CP_LIVE_BYTES ? count_runtime(p) : 0;
		cp_live_lock(p->sums);
		cp_live_add(p->sums, (enum cp_live_kind)key.kind, key.thread,
			    b->second - key.before, p->whole.items + skip, p->whole.count - skip,
			    row->count, row->sum);
		cp_live_unlock(p->sums);
	}
}

/* Adds up all that there is. */
static void add_batches(cprof_profiler *p)
{
	struct batch *b, *next;

	pthread_mutex_lock(&p->lock);
	b = p->oldest;
	p->oldest = p->newest = NULL;
	pthread_mutex_unlock(&p->lock);
	for (; b; b = next) {
		next = b->next;
		add_batch(p, b);
		collector_batch_destroy(b);
	}
}

/* Waits for the next tick; false: it is the last one. */
static bool wait_for_tick(cprof_profiler *p)
{
	uint64_t at = cp_live_second_end(p->sums, cp_live_second(p->sums, cp_now())) + LATE_NS;
	const struct timespec until = { .tv_sec = (time_t)(at / CP_NS_PER_S),
					.tv_nsec = (long)(at % CP_NS_PER_S) };
	bool ends;

	pthread_mutex_lock(&p->lock);
	while (!p->ends &&
	       pthread_cond_clockwait(&p->ended, &p->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	ends = p->ends;
	pthread_mutex_unlock(&p->lock);
	return !ends;
}

static void *name_all(void *data)
{
	cprof_profiler *p = data;
	bool more;

	do {
		more = wait_for_tick(p);
		add_batches(p);
		cp_live_lock(p->sums);
		(more ? cp_live_advance : cp_live_finish)(p->sums, cp_now());
		cp_live_unlock(p->sums);
		if (p->wants.tick)
			p->wants.tick(p->wants.data);
	} while (more);
	return NULL;
}

/* ---- start and end ---- */

static void on_initialized(cprof_profiler *p)
{
	cp_live_lock(p->sums);
	cp_live_begin(p->sums, cp_now());
	cp_live_unlock(p->sums);
	add_cost(p);
	p->names = !cp_thread_start(&p->namer, name_all, p);
	if (!p->names)
		cprof_profiler_fail(p->handle, "cannot start a thread for the view");
}

static void end_namer(cprof_profiler *p)
{
	if (!p->names)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_signal(&p->ended);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->namer, NULL);
	p->names = false;
}

static void on_shutdown(cprof_profiler *p)
{
	add_cost(p);
	end_namer(p);
	if (p->failed)
		cprof_profiler_fail(p->handle, "the view lacks memory");
}

static void cleanup(cprof_profiler *p)
{
	struct batch *next;

	end_namer(p);
	for (; p->oldest; p->oldest = next) {
		next = p->oldest->next;
		collector_batch_destroy(p->oldest);
	}
	cp_map_free(&p->threads);
	cp_interner_free(&p->places);
	cp_vec_free(&p->frames);
	cp_vec_free(&p->whole);
	free(p->spans_of_places);
	collector_calls_free(p);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->ended);
	free(p);
}

bool cp_module_live_start(struct cp_live *sums, const struct cp_live_wants *wants)
{
	cprof_profiler *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	p->sums = sums;
	p->wants = *wants;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->ended, NULL);
	p->handle = cprof_profiler_create(p);
	if (!p->handle) {
		cleanup(p);
		return false;
	}
	cprof_profiler_set_cleanup_callback(p->handle, cleanup);
	cprof_profiler_set_runtime_initialized_callback(p->handle, on_initialized);
	cprof_profiler_set_runtime_shutdown_end_callback(p->handle, on_shutdown);
	cprof_profiler_set_thread_started_callback(p->handle, on_thread_started);
	cprof_profiler_set_thread_exited_callback(p->handle, on_thread_exited);
	cprof_profiler_set_thread_name_callback(p->handle, on_thread_name);
	cprof_profiler_set_heartbeat_callback(p->handle, add_cost);
	cprof_profiler_set_sample_hit_callback(p->handle, on_sample);
	return (!wants->mode || settings_sample(p->handle, true, &p->wants.mode, &p->wants.hz)) &&
	       (!wants->trace || collector_calls_start(p)) &&
	       (!wants->allocations || collector_heap_start(p));
}

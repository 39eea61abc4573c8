/* SPDX-License-Identifier: MIT */
#include "live/live.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"

#define THREADS_MOST 4096 /* that have sums of their own, lest a server's threads fill memory */

/* As they are interned: no padding. */
struct group {
	uint32_t kind, what, thread;
};

struct key {
	uint32_t group, a, b;
};

void cp_live_begin(struct cp_live *l, uint64_t start_ns)
{
	uint64_t rest = CP_NS_PER_S - start_ns % CP_NS_PER_S;

	l->start_ns = start_ns;
	l->first_ns = rest < CP_NS_PER_S / 2 ? rest + CP_NS_PER_S : rest;
}

void cp_live_init(struct cp_live *l, uint64_t start_ns)
{
	*l = (struct cp_live){ 0 };
	cp_live_begin(l, start_ns);
	pthread_mutex_init(&l->lock, NULL);
	l->failed = !cp_vec_push(&l->threads, (struct cp_live_thread){ 0 });
}

void cp_live_deinit(struct cp_live *l)
{
	cp_interner_free(&l->groups);
	cp_interner_free(&l->keys);
	cp_interner_free(&l->names);
	cp_interner_free(&l->files);
	cp_vec_free(&l->first);
	cp_vec_free(&l->sums);
	cp_vec_free(&l->functions);
	cp_vec_free(&l->threads);
	cp_vec_free(&l->costs);
	pthread_mutex_destroy(&l->lock);
}

void cp_live_lock(struct cp_live *l)
{
	pthread_mutex_lock(&l->lock);
}

void cp_live_unlock(struct cp_live *l)
{
	pthread_mutex_unlock(&l->lock);
}

/* ---- numbers ---- */

static const char *intern_file(struct cp_live *l, const char *file)
{
	uint32_t number;

	if (!file || !cp_intern(&l->files, file, strlen(file), &number, NULL))
		return NULL;
	return l->files.items[number].bytes;
}

uint32_t cp_live_function(struct cp_live *l, const char *name, const char *image, const char *file)
{
	struct cp_live_function f = { .file = intern_file(l, file) };
	struct cp_buf key = { 0 };
	uint32_t number;
	bool fresh, good;

	cp_buf_add(&key, name, strlen(name) + 1);
	cp_buf_str(&key, image);
	good = !key.failed && cp_intern(&l->names, key.bytes, key.size, &number, &fresh);
	cp_buf_free(&key);
	if (!good || (fresh && !cp_vec_push(&l->functions, f))) {
		l->failed = true;
		return CP_LIVE_NONE;
	}
	if (fresh) {
		l->functions.items[number].name = l->names.items[number].bytes;
		l->functions.items[number].image =
			l->functions.items[number].name + strlen(name) + 1;
	}
	if (!l->functions.items[number].file)
		l->functions.items[number].file = f.file;
	return number;
}

uint32_t cp_live_thread(struct cp_live *l, int32_t pid, int32_t tid)
{
	const struct cp_live_thread thread = { .pid = pid, .tid = tid };

	if (cp_vec_push(&l->threads, thread))
		return (uint32_t)(l->threads.count - 1);
	l->failed = true;
	return CP_LIVE_ALL;
}

uint32_t cp_live_second(const struct cp_live *l, uint64_t ns)
{
	uint64_t second = l->start_ns + l->first_ns;

	return ns < second ? 0 : (uint32_t)((ns - second) / CP_NS_PER_S) + 1;
}

uint64_t cp_live_second_end(const struct cp_live *l, uint32_t second)
{
	return l->start_ns + l->first_ns + second * CP_NS_PER_S;
}

/* ---- adding ---- */

static uint32_t group_of(struct cp_live *l, enum cp_live_kind kind, enum cp_live_what what,
			 uint32_t thread)
{
	const struct group group = { kind, what, thread };
	uint32_t number;
	bool fresh;

	if (!cp_intern(&l->groups, &group, sizeof(group), &number, &fresh) ||
	    (fresh && !cp_vec_push(&l->first, CP_LIVE_NONE))) {
		l->failed = true;
		return CP_LIVE_NONE;
	}
	return number;
}

static struct cp_live_sum *sum_of(struct cp_live *l, uint32_t group, uint32_t a, uint32_t b)
{
	const struct key key = { group, a, b };
	struct cp_live_sum sum = { .a = a, .b = b };
	uint32_t number;
	bool fresh;

	if (group == CP_LIVE_NONE)
		return NULL;
	sum.next = l->first.items[group];
	if (!cp_intern(&l->keys, &key, sizeof(key), &number, &fresh) ||
	    (fresh && !cp_vec_push(&l->sums, sum))) {
		l->failed = true;
		return NULL;
	}
	if (fresh)
		l->first.items[group] = number;
	return &l->sums.items[number];
}

static void add_amount(struct cp_live_amount *to, const struct cp_live_amount *more)
{
	to->count += more->count;
	to->self += more->self;
	to->total += more->total;
}

static void add(struct cp_live_sum *sum, uint32_t second, const struct cp_live_amount *amount)
{
	struct cp_live_slot *slot = &sum->slots[second % CP_LIVE_SLOTS];

	add_amount(&sum->all, amount);
	if (slot->second > second)
		return; /* told so late that its place was taken */
	if (slot->second < second)
		*slot = (struct cp_live_slot){ .second = second };
	add_amount(&slot->amount, amount);
}

/* The part of an event that a sum has of it. */
struct part {
	uint32_t second;
	uint64_t events, weight;
};

/* An event counts once, however often it comes by; what is its leaf's counts there. */
static void add_part(struct cp_live *l, struct cp_live_sum *sum, const struct part *part, bool leaf)
{
	struct cp_live_amount amount = { 0 };

	if (!sum)
		return;
	if (leaf)
		amount.self = part->weight;
	if (sum->stamp != l->stamp) {
		amount.count = part->events;
		amount.total = part->weight;
	}
	sum->stamp = l->stamp;
	add(sum, part->second, &amount);
}

static void add_stack(struct cp_live *l, enum cp_live_kind kind, uint32_t thread,
		      const struct part *part, const struct cp_live_frame *frames, size_t count)
{
	uint32_t functions = group_of(l, kind, CP_LIVE_FUNCTION, thread),
		 callers = group_of(l, kind, CP_LIVE_CALLER, thread),
		 lines = group_of(l, kind, CP_LIVE_LINE, thread);
	size_t i;

	l->stamp++;
	add_part(l, sum_of(l, group_of(l, kind, CP_LIVE_THREAD, thread), 0, 0), part, true);
	for (i = 0; i < count; i++) {
		uint32_t f = frames[i].function;

		add_part(l, sum_of(l, functions, f, 0), part, !i);
		if (frames[i].line)
			add_part(l, sum_of(l, lines, f, frames[i].line), part, !i);
		if (i)
			add_part(l, sum_of(l, callers, f, frames[i - 1].function), part, i == 1);
	}
}

void cp_live_add(struct cp_live *l, enum cp_live_kind kind, uint32_t thread, uint32_t second,
		 const struct cp_live_frame *frames, size_t count, uint64_t events, uint64_t weight)
{
	const struct part part = { second, events, weight };

	add_stack(l, kind, CP_LIVE_ALL, &part, frames, count);
	if (thread != CP_LIVE_ALL && thread < THREADS_MOST)
		add_stack(l, kind, thread, &part, frames, count);
}

static void add_calls(struct cp_live *l, uint32_t thread, uint32_t second, uint32_t caller,
		      uint32_t callee, const struct cp_live_amount *amount)
{
	const struct {
		enum cp_live_what what;
		uint32_t a, b;
	} places[] = { { CP_LIVE_THREAD, 0, 0 },
		       { CP_LIVE_FUNCTION, callee, 0 },
		       { CP_LIVE_CALLER, caller, callee } };
	size_t i, n = caller == CP_LIVE_NONE ? 2 : 3;

	for (i = 0; i < n; i++) {
		struct cp_live_sum *sum =
			sum_of(l, group_of(l, CP_LIVE_CALLS, places[i].what, thread), places[i].a,
			       places[i].b);

		if (sum)
			add(sum, second, amount);
	}
}

void cp_live_add_calls(struct cp_live *l, uint32_t thread, uint32_t second, uint32_t caller,
		       uint32_t callee, const struct cp_live_amount *amount)
{
	add_calls(l, CP_LIVE_ALL, second, caller, callee, amount);
	if (thread != CP_LIVE_ALL && thread < THREADS_MOST)
		add_calls(l, thread, second, caller, callee, amount);
}

void cp_live_add_cost(struct cp_live *l, const struct cp_live_cost *cost)
{
	size_t kept = CP_LIVE_SECONDS + 1;

	/* The first one stays: all is counted from there. */
	if (l->costs.count > kept) {
		memmove(l->costs.items + 1, l->costs.items + 2,
			(l->costs.count - 2) * sizeof(*l->costs.items));
		l->costs.count--;
	}
	l->failed |= !cp_vec_push(&l->costs, *cost);
}

void cp_live_advance(struct cp_live *l, uint64_t now_ns)
{
	l->elapsed_ns = now_ns > l->start_ns ? now_ns - l->start_ns : 0;
	l->seconds = cp_live_second(l, now_ns);
}

void cp_live_finish(struct cp_live *l, uint64_t now_ns)
{
	cp_live_advance(l, now_ns);
	if (l->seconds || !l->elapsed_ns)
		return;
	l->first_ns = l->elapsed_ns;
	l->seconds = 1;
}

/* ---- looking ---- */

#define COPY(to, from, list) \
	(cp_vec_reserve(&(to)->list, (from)->list.count) && \
	 ((from)->list.count ? memcpy((to)->list.items, (from)->list.items, \
				      (from)->list.count * sizeof(*(from)->list.items)) \
			     : NULL, \
	  (to)->list.count = (from)->list.count, true))

static bool copy(struct cp_live *to, const struct cp_live *from)
{
	uint32_t number;
	size_t i;

	for (i = 0; i < from->groups.count; i++)
		if (!cp_intern(&to->groups, from->groups.items[i].bytes, from->groups.items[i].size,
			       &number, NULL))
			return false;
	to->threads.count = 0;
	return COPY(to, from, first) && COPY(to, from, sums) && COPY(to, from, functions) &&
	       COPY(to, from, threads) && COPY(to, from, costs);
}

void cp_live_freeze(struct cp_live *frozen, struct cp_live *l)
{
	cp_live_init(frozen, l->start_ns);
	cp_live_lock(l);
	frozen->seconds = l->seconds;
	frozen->elapsed_ns = l->elapsed_ns;
	frozen->failed = !copy(frozen, l);
	cp_live_unlock(l);
}

uint32_t cp_live_last_seconds(const struct cp_live *l)
{
	return l->seconds < CP_LIVE_SECONDS ? l->seconds : CP_LIVE_SECONDS;
}

uint64_t cp_live_last_ns(const struct cp_live *l)
{
	uint32_t seconds = cp_live_last_seconds(l);

	if (!seconds || seconds < l->seconds)
		return seconds * CP_NS_PER_S;
	return l->first_ns + (seconds - 1) * CP_NS_PER_S;
}

struct cp_live_amount cp_live_last(const struct cp_live *l, const struct cp_live_sum *sum)
{
	uint32_t from = l->seconds - cp_live_last_seconds(l), i;
	struct cp_live_amount amount = { 0 };

	for (i = 0; i < CP_LIVE_SLOTS; i++)
		if (sum->slots[i].second >= from && sum->slots[i].second < l->seconds)
			add_amount(&amount, &sum->slots[i].amount);
	return amount;
}

const struct cp_live_sum *cp_live_next(struct cp_live *l, enum cp_live_kind kind,
				       enum cp_live_what what, uint32_t thread,
				       const struct cp_live_sum *sum)
{
	uint32_t group = sum ? 0 : group_of(l, kind, what, thread);
	uint32_t number = sum			  ? sum->next
			  : group != CP_LIVE_NONE ? l->first.items[group]
						  : CP_LIVE_NONE;

	return number == CP_LIVE_NONE ? NULL : &l->sums.items[number];
}

struct cp_live_cost cp_live_cost(const struct cp_live *l, bool last)
{
	const struct cp_live_cost *a, *b;
	size_t n = l->costs.count;

	if (n < 2)
		return (struct cp_live_cost){ 0 };
	b = &l->costs.items[n - 1];
	a = last && n > CP_LIVE_SECONDS ? &l->costs.items[n - 1 - CP_LIVE_SECONDS]
					: &l->costs.items[0];
	return (struct cp_live_cost){ .at_ns = b->at_ns - a->at_ns,
				      .own_cpu_ns = b->own_cpu_ns - a->own_cpu_ns,
				      .stops = b->stops - a->stops,
				      .stopped_ns = b->stopped_ns - a->stopped_ns,
				      .samples = b->samples - a->samples,
				      .lost = b->lost - a->lost,
				      .calls_lost = b->calls_lost - a->calls_lost,
				      .disarmed = b->disarmed,
				      .paused_ns = b->paused_ns - a->paused_ns,
				      .watched_ns = b->watched_ns - a->watched_ns };
}

/* SPDX-License-Identifier: MIT
 *
 * Records of detours, of all threads in one order of time, into calls.
 *
 *     ring of thread 1 ─┐
 *     ring of thread 2 ─┼─ the earliest ─► as if it was a hit ─► calls.c
 *     ring of thread 3 ─┘
 *
 * Most go another way, ring by ring (blocks.c): what is in order here is the rest.
 *
 * An event of the tracer comes after all that was recorded before it. Its own thread
 * stood still then, and the event says how far it had come.
 */
#include "engine/calls/records.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/calls/blocks.h"
#include "engine/calls/calls.h"
#include "engine/calls/disarmed.h"
#include "engine/calls/reading.h"
#include "engine/calls/told.h"
#include "engine/probes/rings.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/valued.h"
#include "engine/target/process.h"
#include "engine/target/state.h"

#define ALIVE_NS CP_NS_PER_S /* how long the program believes that somebody reads */
#define ANCHOR_NS (CP_NS_PER_S / 10) /* between anchors of the clock, at first */
#define VALUE_NS 4.0 /* that a record's word takes at most, with what it points to, */
#define STACK_NS 2e3 /* and a copy of the stack */
#define HURRY 2048 /* records between two looks: at 20 ns each, in a twentieth of a millisecond */
/* While rings are nearly empty. Who reads what has just been written takes that line of the caches
 * from who writes the next record there: to do that all the time made calls twice as long. */
#define NAP_NS 50000
#define FLUSH 4096 /* records after which there is room for as many */

/* ---- time ---- */

static struct engine_tick now_tick(void)
{
	struct engine_tick best = { 0 };
	uint64_t before, after, width = UINT64_MAX;
	int i;

	for (i = 0; i < 4; i++) {
		before = cp_arch_time_stamp();
		uint64_t ns = cp_now();

		after = cp_arch_time_stamp();
		if (after - before >= width)
			continue;
		width = after - before;
		best = (struct engine_tick){ before + width / 2, ns };
	}
	return best;
}

/* The clock is measured over all of the session: it gets better with each anchor. */
static void set_clock(struct engine_clock *clock)
{
	struct engine_tick now = now_tick();

	if (!clock->first.ticks) {
		struct engine_tick first = now;

		while (now.ns - first.ns < CP_NS_PER_MS)
			now = now_tick();
		clock->first = first;
	}
	clock->last = now;
	clock->ns_per_tick =
		(double)(now.ns - clock->first.ns) / (double)(now.ticks - clock->first.ticks);
	clock->ns_shifted =
		(uint64_t)(clock->ns_per_tick * (double)(UINT64_C(1) << ENGINE_CLOCK_SHIFT));
	clock->alive_ticks = (uint64_t)((double)ALIVE_NS / clock->ns_per_tick);
}

/* ---- as if it was a hit ---- */

/* Counts an entry. What a call costs is less than by breakpoints: limits that nobody
 * asked for are not for it, nor those of what is seen in pieces. */
static void count_entry(cprof_session *s, const struct engine_ring *ring, uint32_t number)
{
	struct engine_traced *t = s->calls->traced.items[number];
	struct cp_event_disarmed e = {
		.e = { .ts_ns = ring->next_ns, .pid = s->current.process->pid, .tid = ring->tid },
		.group = number,
	};

	if (!s->calls->rate_said || !t->max_rate || t->disarmed || engine_role_pauses(s, t))
		return;
	if (!t->second_entries || ring->next_ns - t->second_ns >= CP_NS_PER_S) {
		t->second_ns = ring->next_ns;
		t->second_entries = 0;
	}
	e.rate = ++t->second_entries;
	if (e.rate <= t->max_rate)
		return;
	engine_blocks_tell_all(s);
	engine_on_disarmed(s, &e);
}

void engine_records_took(const cprof_session *s, cprof_thread *t, const struct engine_site *site,
			 const struct cp_record *r)
{
	const struct engine_price *price = &s->calls->price;
	struct cp_taken *taken = &t->account.taken;

	if (!price->whole_ps)
		return;
	taken->range += VALUE_NS * r->value_words + (r->stack_size ? STACK_NS : 0);
	if (site->kind != ENGINE_SITE_ENTRY)
		engine_price_take(price, 2, taken);
}

/* The record as a hit of one site; `words` moves behind the site's values. */
static void tell_site(cprof_session *s, struct engine_ring *ring, const struct cp_record *r,
		      uint32_t number, struct engine_words *words)
{
	struct engine_told told;

	if (!engine_told_fill(s, ring, r, number, words, &told))
		return;
	engine_calls_deliver(s, &told.hit);
	engine_records_took(s, s->current.thread, &s->calls->sites.items[number], r);
	if (s->calls->sites.items[number].kind == ENGINE_SITE_ENTRY)
		count_entry(s, ring, s->calls->sites.items[number].traced);
}

/* How long a stop held the thread, of which no further stop told: up to now, or to some time
 * before. */
static void end_hold(cprof_thread *t, uint64_t now_ns)
{
	double most = now_ns > t->held_ns ? (double)(now_ns - t->held_ns) : 0;

	if (!t->held_ns)
		return;
	t->held_ns = 0;
	t->account.lost_ns += (uint64_t)(t->held_straight ? most : most / 2);
	cp_doubt_add_range(&t->account.doubt, t->held_straight ? 0 : most);
}

static void tell(cprof_session *s, struct engine_ring *ring, const struct cp_record *r)
{
	struct engine_calls *c = s->calls;
	cprof_thread *t = cprof_thread_from_tid(ring->tid);
	struct engine_words words = { .record = r };
	struct engine_again now = { .sp = r->sp, .site = r->site };

	engine_blocks_tell(s, ring);
	if (r->kind == CP_RECORD_CANCEL) {
		engine_ring_cancel(ring);
		return;
	}
	if (r->kind == CP_RECORD_LOST) {
		c->records_lost += r->lost;
		/* Which of the open calls are over is not known. */
		c->now_ns = ring->next_ns;
		s->current =
			(struct engine_current){ .process = t ? t->process : NULL, .thread = t };
		if (t && t->process->shadow)
			cp_shadow_thread_exit(t->process->shadow, t->tid, CP_CALL_LOST);
		if (t)
			engine_roles_lost(t->process, ring->next_ns, ring->next_ns);
		ring->lost_ns = ring->next_ns;
		c->has_current = false;
		s->current = (struct engine_current){ 0 };
		return;
	}
	if (!t || r->site >= c->sites.count)
		return;
	now.call = engine_site_mark(&c->sites.items[r->site], r->values, r->value_words);
	if (engine_ring_told(ring, &now))
		return;
	c->records++;
	if (ring->lost_ns) {
		engine_roles_lost(t->process, ring->lost_ns, ring->next_ns);
		ring->lost_ns = 0;
	}
	end_hold(t, ring->next_ns);
	s->current = (struct engine_current){ .process = t->process, .thread = t };
	tell_site(s, ring, r, r->site, &words);
	if (c->sites.items[r->site].also)
		tell_site(s, ring, r, c->sites.items[r->site].also, &words);
	s->current = (struct engine_current){ 0 };
}

/* ---- in order ---- */

/* Has the ring another record? */
static bool look(const struct engine_clock *clock, struct engine_ring *ring)
{
	if (ring->has_next || !ring->records.ring)
		return ring->has_next;
	ring->before = ring->records;
	ring->has_next = cp_records_next(&ring->records, clock->last.ticks, &ring->next);
	if (!ring->has_next)
		return false;
	ring->next_ns = engine_clock_ns(clock, ring->next.time);
	if (ring->next_ns <= ring->last_ns) /* the clock was set meanwhile */
		ring->next_ns = ring->last_ns + 1;
	return true;
}

/* The next one will be read again. */
static void put_back(struct engine_ring *ring)
{
	if (ring->has_next)
		ring->records = ring->before;
	ring->has_next = false;
}

/* Room for what was told. */
static void release(struct engine_ring *ring)
{
	if (!ring->records.ring)
		return;
	put_back(ring);
	cp_records_release(&ring->records);
}

static void pass(struct engine_ring *ring)
{
	ring->has_next = false;
	ring->last_ns = ring->next_ns;
	if (++ring->told % FLUSH == 0)
		release(ring);
}

static void tell_next(cprof_session *s, struct engine_ring *ring)
{
	struct cp_record record = ring->next;

	ring->has_next = false;
	tell(s, ring, &record);
	pass(ring);
}

static bool is_within(const struct engine_ring *ring, const struct engine_reach *reach)
{
	return ring->next_ns <= reach->until_ns && ring->records.position <= reach->position;
}

/* The ring's next records, as long as they go into blocks. How many they were. */
static size_t take_blocks(cprof_session *s, struct engine_ring *ring,
			  const struct engine_reach *reach)
{
	struct engine_blocks b;

	if (!ring->records.ring || !engine_blocks_begin(s, ring, &b))
		return 0;
	put_back(ring);
	return engine_blocks_take(&b, reach);
}

static size_t take_all_blocks(cprof_session *s, const struct engine_reach *reach)
{
	struct engine_reach left = *reach;
	struct engine_rings **rings;
	uint32_t i;

	cp_vec_for_each(&s->calls->rings, rings)
		for (i = 0; i < (*rings)->used; i++)
			left.most -= take_blocks(s, &(*rings)->items[i], &left);
	return reach->most - left.most;
}

/* As many as a family takes by the thousand, from the one that was looked at. How many. */
static size_t take_run(cprof_session *s, struct engine_ring *ring, const struct engine_reach *reach)
{
	const struct engine_calls *c = s->calls;
	const struct engine_family *f;
	uint32_t traced;

	if (ring->next.kind != CP_RECORD_SITE || ring->next.site >= c->sites.count)
		return 0;
	traced = c->sites.items[ring->next.site].traced;
	f = traced < c->traced.count ? s->families[c->traced.items[traced]->family] : NULL;
	return f && f->run ? f->run(s, ring, reach) : 0;
}

/* The next record, which was looked at, and those behind it up to `reach` that are told
 * together. How many they were. */
static size_t tell_some(cprof_session *s, struct engine_ring *ring,
			const struct engine_reach *reach)
{
	size_t n = take_run(s, ring, reach);

	if (n)
		return n;
	tell_next(s, ring);
	return 1;
}

/* The ring with the earliest record, and the time of the next best. */
static struct engine_ring *earliest(cprof_session *s, uint64_t *until_ns)
{
	struct engine_ring *best = NULL;
	struct engine_rings **rings;
	uint32_t i;

	cp_vec_for_each(&s->calls->rings, rings) {
		for (i = 0; i < (*rings)->used; i++) {
			struct engine_ring *ring = &(*rings)->items[i];

			if (!look(&s->calls->clock, ring) || ring->next_ns > *until_ns)
				continue;
			if (!best) {
				best = ring;
			} else if (ring->next_ns < best->next_ns) {
				*until_ns = best->next_ns;
				best = ring;
			} else {
				*until_ns = ring->next_ns;
			}
		}
	}
	return best;
}

static void release_all(cprof_session *s)
{
	struct engine_rings **rings;
	uint32_t i;

	cp_vec_for_each(&s->calls->rings, rings)
		for (i = 0; i < (*rings)->used; i++)
			release(&(*rings)->items[i]);
}

size_t engine_records_take(cprof_session *s, uint64_t until_ns, size_t most)
{
	struct engine_reach reach = { until_ns, UINT64_MAX, most };
	struct engine_ring *ring;
	size_t told = 0;
	uint64_t until;
	bool blocks;

	if (!s->calls || !s->calls->rings.count)
		return 0;
	set_clock(&s->calls->clock);
	blocks = engine_blocks_wanted(s);
	if (blocks)
		told = take_all_blocks(s, &reach);
	while (told < most) {
		until = until_ns;
		ring = earliest(s, &until);
		if (!ring)
			break;
		do {
			told += tell_some(s, ring,
					  &(struct engine_reach){ until, UINT64_MAX, most - told });
			reach.most = most > told ? most - told : 0;
			if (blocks && reach.most)
				told += take_blocks(s, ring, &reach);
		} while (told < most && look(&s->calls->clock, ring) && ring->next_ns <= until);
	}
	if (told)
		release_all(s);
	return told;
}

/* ---- threads ---- */

/* All that a thread recorded up to a position of its ring, whatever the time. */
static void take_own(cprof_session *s, struct engine_ring *ring, uint64_t position)
{
	const struct engine_reach reach = { UINT64_MAX, position, SIZE_MAX };
	bool blocks = engine_blocks_wanted(s);

	if (!ring)
		return;
	if (blocks)
		take_blocks(s, ring, &reach);
	while (look(&s->calls->clock, ring) && is_within(ring, &reach)) {
		tell_some(s, ring, &reach);
		if (blocks)
			take_blocks(s, ring, &reach);
	}
	release(ring);
	engine_blocks_tell(s, ring);
}

void engine_records_make_room(cprof_session *s, const struct cp_event_hit *full)
{
	const cprof_process *p = engine_process(s, full->e.pid);
	struct engine_ring *ring = p ? engine_ring_of(p, full->e.tid) : NULL;
	uint64_t half;

	if (!ring || !ring->records.ring || !engine_blocks_wanted(s))
		return;
	half = UINT64_C(1) << (ring->records.log - 1);
	if (full->records <= half || full->records - half <= ring->records.position)
		return;
	/* Up to the first that is told by itself: what is, has its turn among all threads'. */
	take_blocks(s, ring, &(struct engine_reach){ UINT64_MAX, full->records - half, SIZE_MAX });
	release(ring);
	engine_blocks_tell(s, ring);
}

void engine_records_before(cprof_session *s, const struct cp_event *e)
{
	const cprof_process *p = engine_process(s, e->pid);

	if (!s->calls || !s->calls->rings.count)
		return;
	engine_records_take(s, e->ts_ns, SIZE_MAX);
	if (!p) /* it begins with this */
		engine_blocks_tell_all(s);
	else if (e->type == CP_EVENT_HIT || e->type == CP_EVENT_FULL)
		take_own(s, engine_ring_of(p, e->tid), ((const struct cp_event_hit *)e)->records);
	else if (e->type == CP_EVENT_THREAD_EXIT)
		take_own(s, engine_ring_of(p, e->tid), UINT64_MAX);
	else if (e->type != CP_EVENT_SAMPLE && e->type != CP_EVENT_REPEAT &&
		 e->type != CP_EVENT_SIGNAL)
		engine_blocks_tell_all(s);
}

static void beat(const cprof_session *s, struct engine_ring *ring, uint64_t until)
{
	if (!ring->records.ring)
		return;
	cp_records_read(&ring->records, until);
	if (!engine_rings_wait(s) && until)
		return;
	/* Who waits does so in a stop, and takes no time from who reads. */
	__atomic_store_n(&ring->records.ring->asks, 1, __ATOMIC_RELAXED);
	cp_records_wait(&ring->records, until);
}

/* The tracer may say so for us for as long, while we are busy with something else: from the
 * first ring on. */
static void note_beat(cprof_session *s, bool last)
{
	s->link.shared->beat_ticks = s->calls->clock.alive_ticks;
	s->link.shared->beat_ns = last ? 0 : cp_now();
}

void engine_records_ring(cprof_session *s, const struct cp_event_hit *e)
{
	cprof_process *p = s->current.process;
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;
	struct engine_ring *ring;

	if (!rings || e->target >= rings->count)
		return;
	ring = &rings->items[e->target];
	engine_blocks_tell(s, ring);
	engine_valued_release(ring);
	*ring = (struct engine_ring){ .tid = e->e.tid, .sp = e->sp };
	cp_records_follow(&ring->records,
			  rings->memory + e->target * cp_detour_ring_size(rings->code.log),
			  rings->code.log);
	ring->records.in_pieces = engine_roles_pausing(s) && !engine_rings_wait(s);
	if (e->target >= rings->used)
		rings->used = (uint32_t)e->target + 1;
	engine_calls_held(s->current.thread, e, true);
	set_clock(&s->calls->clock);
	beat(s, ring, cp_arch_time_stamp() + s->calls->clock.alive_ticks);
	note_beat(s, false);
}

void engine_records_end(cprof_process *p, int32_t tid)
{
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;
	uint32_t i;

	for (i = 0; rings && i < rings->used; i++) {
		struct engine_ring *ring = &rings->items[i];
		const cprof_thread *t = ring->tid ? cprof_thread_from_tid(ring->tid) : NULL;

		if (tid ? ring->tid != tid : !t || t->process != p)
			continue;
		engine_blocks_tell(p->session, ring);
		engine_valued_release(ring);
		if (ring->records.ring)
			p->session->calls->records_lost += cp_records_untold(&ring->records);
		ring->tid = 0;
		ring->records.ring = NULL; /* from now on it may be another thread's */
		ring->has_next = false;
		ring->own = (struct cp_shadow_own){ 0 };
	}
}

void engine_records_beat(cprof_session *s, bool last)
{
	struct engine_clock *clock = s->calls ? &s->calls->clock : NULL;
	struct engine_rings **rings;
	uint64_t until;
	uint32_t i;

	if (!s->calls || !s->calls->rings.count)
		return;
	set_clock(clock);
	engine_blocks_tell_all(s);
	until = last ? 0 : clock->last.ticks + clock->alive_ticks;
	note_beat(s, last);
	cp_vec_for_each(&s->calls->rings, rings) {
		struct cp_detour_ring *zero = (void *)(*rings)->memory;

		engine_rings_settle(s, *rings, until != 0);
		__atomic_store_n(&zero->wait_until, until, __ATOMIC_RELAXED);
		engine_reading_check(s, *rings);
		for (i = 0; i < (*rings)->used; i++)
			beat(s, &(*rings)->items[i], until);
	}
}

/* More than an eighth of it? */
static bool is_filled(const struct cp_records *r)
{
	uint64_t head = r->ring ? __atomic_load_n(&r->ring->head, __ATOMIC_RELAXED) : 0;

	return head > r->position && (head - r->position) >> (r->log - 3);
}

static bool any_is_filled(const struct engine_calls *c)
{
	struct engine_rings **rings;
	uint32_t i;

	cp_vec_for_each(&c->rings, rings)
		for (i = 0; i < (*rings)->used; i++)
			if (is_filled(&(*rings)->items[i].records))
				return true;
	return false;
}

bool engine_records_hurry(cprof_session *s, uint64_t *ns_ret)
{
	struct engine_calls *c = s->calls;
	uint64_t before = c ? c->records_seen : 0;

	if (!c)
		return false;
	c->records_seen = c->records;
	if (c->records - before < HURRY)
		return false;
	*ns_ret = any_is_filled(c) ? 0 : NAP_NS;
	return true;
}

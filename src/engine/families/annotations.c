/* SPDX-License-Identifier: MIT */
#include "engine/families/annotations.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/families/fibers.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/memory.h"
#include "engine/target/process.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "probe/trace_ring.h"
#include "tracer/restore.h"

#define STRING_MAX 4096 /* bytes; longer ones are cut, with an ellipsis */
#define STRING_FIRST 128 /* most are shorter */
#define STRINGS_MAX 65536 /* of a process; then they are read again */
#define ROOTS_MAX 16 /* of an image */
#define RINGS_MAX 4096 /* of a process */
#define STRANGERS_MAX 4096
#define READS_MAX 256 /* chunks of a ring in a row at a poll */
#define READS_ALL_MAX 65536 /* before what is left is lost: as many as the largest ring has */
#define POLL_MIN_NS CP_NS_PER_MS
#define POLL_MAX_NS (20 * CP_NS_PER_MS)

struct ring {
	struct cp_trace_ring r;
	const cprof_image *image;
	uint64_t told_lost;
	unsigned settled; /* ENGINE_END_*: read to its end when that was about to come */
};

struct rings {
	CP_VEC(struct ring) rings;
	struct cp_map strings; /* address -> char *, owned */
	struct cp_map tids; /* thread as the program knows it -> tid */
	/* Threads that are not known, with the place in the tracer's ring up to which
	 * their births may be told. */
	struct cp_map strangers;
};

struct annotations {
	CP_VEC(cprof_process *) live; /* processes that have rings */
	uint64_t next_ns, maps_ns;
	cprof_annotation_statistics statistics;
};

static struct annotations *state_of(const cprof_session *s)
{
	return s->own[ENGINE_FAMILY_ANNOTATIONS];
}

/* What is known of the process's rings; NULL: it has none. */
static struct rings *rings_of(const cprof_process *p)
{
	return p->own[ENGINE_FAMILY_ANNOTATIONS];
}

bool engine_annotations_wanted(const cprof_session *s)
{
	return state_of(s) != NULL;
}

/* ---- strings ---- */

static void forget_strings(struct rings *rings)
{
	uint64_t address, string;
	size_t cursor = 0;

	while (cp_map_next(&rings->strings, &cursor, &address, &string))
		free((char *)(uintptr_t)string);
	cp_map_clear(&rings->strings);
}

/* How many of `n` bytes of a longer text to keep: none of half a character. */
static size_t whole_characters(const char *bytes, size_t n)
{
	uint32_t character;
	size_t i;

	for (i = 1; i < 4 && i <= n; i++)
		if (((unsigned char)bytes[n - i] & 0xc0) == 0xc0)
			return cp_utf8_decode(bytes + n - i, i, &character) ? n : n - i;
	return n;
}

static char *read_string(cprof_process *p, uint64_t address)
{
	char bytes[STRING_MAX + 8], *text;
	size_t n = p->memory.read(p->memory.ctx, address, bytes, STRING_FIRST);

	if (n == STRING_FIRST && !memchr(bytes, 0, n))
		n += p->memory.read(p->memory.ctx, address + n, bytes + n, STRING_MAX - n);
	if (n && !memchr(bytes, 0, n))
		strcpy(bytes + whole_characters(bytes, n), "…");
	if (n)
		return strdup(bytes);
	return asprintf(&text, "<unreadable 0x%" PRIx64 ">", address) < 0 ? NULL : text;
}

/* The string at a pointer of the program's; lives until the cache is emptied. */
static const char *string_at(cprof_process *p, const char *there)
{
	struct rings *rings = rings_of(p);
	uint64_t address = (uintptr_t)there, *known;
	char *text;

	if (!address)
		return NULL;
	known = cp_map_get(&rings->strings, address);
	if (known)
		return (const char *)(uintptr_t)*known;
	text = read_string(p, address);
	if (text && !cp_map_put(&rings->strings, address, (uintptr_t)text)) {
		free(text);
		text = NULL;
	}
	return text;
}

/* ---- whose event it is ---- */

static cprof_thread *thread_of(cprof_process *p, uint32_t number)
{
	uint64_t *known = cp_map_get(&rings_of(p)->tids, number), tid, value;
	cprof_thread *t = cprof_thread_from_tid((int32_t)(known ? *known : number));
	size_t cursor = 0;

	if (t && t->process == p && t->ns_tid == (int32_t)number)
		return t;
	while (p->ns_pid != p->pid && cp_map_next(&p->session->by_tid, &cursor, &tid, &value)) {
		t = (cprof_thread *)(uintptr_t)value;
		if (t->process != p || t->ns_tid != (int32_t)number)
			continue;
		cp_map_put(&rings_of(p)->tids, number, tid);
		return t;
	}
	return NULL;
}

/* May the news of an unknown thread's birth still be in the tracer's ring? */
static bool may_come(cprof_process *p, uint32_t number)
{
	struct cp_map *strangers = &rings_of(p)->strangers;
	const struct cp_link_shared *shared = p->session->link.shared;
	uint64_t *until = cp_map_get(strangers, number);

	if (until)
		return shared->tail < *until;
	if (strangers->count >= STRANGERS_MAX)
		cp_map_clear(strangers);
	return cp_map_put(strangers, number, shared->head) && shared->tail < shared->head;
}

/* ---- raising ---- */

void engine_annotations_raise(cprof_process *p, cprof_thread *t, const cprof_trace_event *e)
{
	cprof_session *s = p->session;
	struct engine_current before = s->current;
	const char *name = NULL, *category = NULL, *object = NULL;

	s->current = (struct engine_current){ .process = p, .thread = t };
	if (e->type == CPROF_TRACE_EVENT_FIBER_SWITCH) {
		state_of(s)->statistics.switches++;
		engine_raise(s, annotation, e, name, category, object);
		engine_raise(s, fiber_switch, (uintptr_t)(t ? (uint32_t)t->tid : e->thread_id),
			     e->u.fiber.from_fiber, e->u.fiber.to_fiber);
	} else {
		if (rings_of(p)->strings.count >= STRINGS_MAX)
			forget_strings(rings_of(p));
		name = string_at(p, e->u.span.name);
		category = string_at(p, e->u.span.category);
		object = string_at(p, e->u.span.object);
		engine_raise(s, annotation, e, name, category, object);
	}
	s->current = before;
}

struct reading {
	cprof_process *process;
	bool last;
};

static bool take(void *ctx, const cprof_trace_event *event)
{
	struct reading *reading = ctx;
	cprof_process *p = reading->process;
	cprof_annotation_statistics *statistics = &state_of(p->session)->statistics;
	cprof_thread *t = thread_of(p, event->thread_id);

	if (!t && !reading->last && may_come(p, event->thread_id))
		return false;
	if (event->type > CPROF_TRACE_EVENT_FIBER_NAME) {
		statistics->unknown++;
		return true;
	}
	statistics->events++;
	if (event->type == CPROF_TRACE_EVENT_FIBER_SWITCH)
		engine_fibers_announced(p);
	engine_annotations_raise(p, t, event);
	return true;
}

static void tell_lost(cprof_process *p, struct ring *ring)
{
	cprof_trace_event e = {
		.type = CPROF_TRACE_EVENT_LOST,
		.thread_id = (uint32_t)p->ns_pid,
		.timestamp = cp_now(),
	};
	uint64_t lost = ring->r.lost - ring->told_lost;

	if (!lost)
		return;
	ring->told_lost = ring->r.lost;
	state_of(p->session)->statistics.lost += lost;
	e.u.span.value = (int64_t)lost;
	engine_annotations_raise(p, thread_of(p, e.thread_id), &e);
}

/* ---- reading ---- */

static void switch_on(cprof_process *p, uint64_t root)
{
	struct cp_request rq = { .type = CP_REQUEST_ANNOTATE, .pid = p->pid, .address = root };
	struct cp_answer answer = { .errnum = ESRCH };

	cp_error_free(cp_link_call(&p->session->link, &rq, &answer, NULL));
	if (answer.errnum)
		cp_debug("annotations of %d at %" PRIx64 ": %s", p->pid, root,
			 strerror(answer.errnum));
}

/* Chunks in a row that are read of a ring, or of `all` that it can hold. */
static unsigned reads_of(const struct ring *ring, bool all)
{
	unsigned held = ring->r.capacity / CP_TRACE_RING_CHUNK + 1;

	if (!all || held < READS_MAX)
		return READS_MAX;
	return held < READS_ALL_MAX ? held : READS_ALL_MAX;
}

/* Reads a ring; how many events there were. */
static uint64_t read_ring(cprof_process *p, struct ring *ring, bool all, bool last,
			  enum cp_trace_ring_state *state_ret)
{
	struct reading reading = { p, last };
	uint64_t from = ring->r.cursor;
	bool begun = ring->r.begun;
	enum cp_trace_ring_state state;
	unsigned n = 0;

	do
		state = cp_trace_ring_read(&ring->r, &p->memory, p->ns_pid, last, take, &reading);
	while (state == CP_TRACE_RING_MORE && ++n < reads_of(ring, all));
	if (state_ret)
		*state_ret = state;
	tell_lost(p, ring);
	return begun ? ring->r.cursor - from : 0;
}

void engine_annotations_read(cprof_process *p, bool last)
{
	size_t i;

	for (i = 0; rings_of(p) && i < rings_of(p)->rings.count && engine_open_memory(p); i++)
		read_ring(p, &rings_of(p)->rings.items[i], true, last, NULL);
}

static void settle(cprof_process *p, unsigned end, bool last)
{
	enum cp_trace_ring_state state;
	struct ring *ring;

	if (!rings_of(p))
		return;
	cp_vec_for_each(&rings_of(p)->rings, ring) {
		state = CP_TRACE_RING_BROKEN;
		if (engine_open_memory(p))
			read_ring(p, ring, true, last, &state);
		ring->settled &= ~end;
		ring->settled |= state == CP_TRACE_RING_BROKEN ? 0 : end;
	}
}

/* The ring's memory goes. Events that were seen there and can't be read any more are
 * counted as lost; that there may be some that were not seen is said. */
static void end_ring(cprof_process *p, struct ring *ring, unsigned end)
{
	cp_trace_ring_give_up(&ring->r);
	tell_lost(p, ring);
	if (ring->settled & end || !(ring->r.own || (ring->r.begun && !ring->r.floor)))
		return;
	state_of(p->session)->statistics.unread++;
	engine_warn(p->session,
		    "%s without being seen before: annotations right before that may be missing, "
		    "and are not counted",
		    end == ENGINE_END_EXEC     ? "a program executed another one"
		    : end == ENGINE_END_UNLOAD ? "a library was unmapped"
					       : "a process ended");
}

static void end(cprof_process *p, unsigned end)
{
	struct ring *ring;

	if (rings_of(p))
		cp_vec_for_each(&rings_of(p)->rings, ring)
			end_ring(p, ring, end);
}

/* The time in which a ring is a quarter full, as fast as it was filled last. */
static uint64_t poll_after(const struct ring *ring, uint64_t events, uint64_t ns)
{
	uint64_t after = POLL_MAX_NS;

	if (events)
		after = (uint64_t)((double)ring->r.capacity / 4 * (double)ns / (double)events);
	return after < POLL_MIN_NS ? POLL_MIN_NS : after < POLL_MAX_NS ? after : POLL_MAX_NS;
}

static uint64_t poll_process(cprof_process *p, uint64_t since_ns)
{
	uint64_t after = POLL_MAX_NS, wanted, events;
	size_t i;

	for (i = 0; i < rings_of(p)->rings.count && engine_open_memory(p); i++) {
		struct ring *ring = &rings_of(p)->rings.items[i];

		events = read_ring(p, ring, false, false, NULL);
		wanted = poll_after(ring, events, since_ns);
		after = wanted < after ? wanted : after;
		if (!ring->r.switched_on && !p->session->ended)
			switch_on(p, ring->r.root); /* the program has cleared the bit, too */
	}
	return after;
}

/* Without a hook in the dynamic linker, libraries show in the mappings only. */
static void look_at_maps(cprof_session *s, uint64_t now)
{
	struct annotations *a = state_of(s);
	size_t i;

	if (now - a->maps_ns < CP_NS_PER_S)
		return;
	a->maps_ns = now;
	for (i = 0; i < s->processes.count; i++)
		if (engine_process(s, s->processes.items[i]->pid) == s->processes.items[i])
			engine_refresh_maps(s->processes.items[i], now, false);
}

static void poll_rings(cprof_session *s, uint64_t now)
{
	struct annotations *a = state_of(s);
	static const uint64_t first_ns = POLL_MAX_NS;
	uint64_t after = first_ns, wanted, since;
	size_t i;

	if (!a || now < a->next_ns)
		return;
	since = a->next_ns && now - a->next_ns < CP_NS_PER_S ? now - a->next_ns + POLL_MIN_NS
							     : first_ns;
	for (i = 0; i < a->live.count; i++) {
		wanted = poll_process(a->live.items[i], since);
		after = wanted < after ? wanted : after;
	}
	look_at_maps(s, now);
	a->next_ns = cp_now() + after;
}

static int wait_for_rings(const cprof_session *s, int ms)
{
	uint64_t now;
	int due;

	if (!state_of(s) || !state_of(s)->live.count)
		return ms;
	now = cp_now();
	due = state_of(s)->next_ns > now
		      ? (int)((state_of(s)->next_ns - now + CP_NS_PER_MS - 1) / CP_NS_PER_MS)
		      : 0;
	return due < ms ? due : ms;
}

/* ---- which rings there are ---- */

static bool make_rings(cprof_process *p)
{
	struct rings *rings = rings_of(p) ? NULL : calloc(1, sizeof(*rings));

	if (rings && cp_vec_push(&state_of(p->session)->live, p))
		p->own[ENGINE_FAMILY_ANNOTATIONS] = rings;
	else
		free(rings);
	return rings_of(p) != NULL;
}

static void add_ring(cprof_process *p, const cprof_image *image, uint64_t root, bool forked)
{
	struct ring ring = { .image = image };
	const struct ring *other;

	if (!engine_open_memory(p) || !make_rings(p) || rings_of(p)->rings.count >= RINGS_MAX)
		return;
	cp_vec_for_each(&rings_of(p)->rings, other)
		if (other->r.root == root)
			return;
	if (!cp_trace_ring_init(&ring.r, &p->memory, root, forked) ||
	    !cp_vec_push(&rings_of(p)->rings, ring)) {
		cp_debug("%s: no annotations at %" PRIx64, image->assembly->path, root);
		return;
	}
	state_of(p->session)->statistics.rings++;
	switch_on(p, root);
}

static void drop_unmapped(cprof_process *p)
{
	size_t i = 0;

	while (rings_of(p) && i < rings_of(p)->rings.count) {
		struct ring *ring = &rings_of(p)->rings.items[i];

		if (ring->image->mapped) {
			i++;
			continue;
		}
		end_ring(p, ring, ENGINE_END_UNLOAD);
		*ring = rings_of(p)->rings.items[--rings_of(p)->rings.count];
		forget_strings(rings_of(p));
	}
}

static void look(cprof_process *p)
{
	struct cp_vaddr roots[ROOTS_MAX];
	size_t i, n, count;

	if (!state_of(p->session))
		return;
	drop_unmapped(p);
	for (i = 0; i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];

		if (!image->mapped && image->noted && rings_of(p))
			forget_strings(rings_of(p)); /* another library may come in its place */
		if (!image->mapped || image->noted || !image->assembly->image) {
			image->noted &= image->mapped;
			continue;
		}
		image->noted = true;
		count = cp_image_trace_roots(image->assembly->image, roots, ROOTS_MAX);
		for (n = 0; n < count; n++)
			add_ring(p, image, roots[n].v + image->bias, false);
	}
}

static void inherit(cprof_process *p, const cprof_process *parent)
{
	const struct ring *ring;
	cprof_image *image;

	if (!rings_of(parent))
		return;
	cp_vec_for_each(&rings_of(parent)->rings, ring) {
		const cprof_image *from = ring->image;

		image = engine_image_inherit(p, from);
		if (!image)
			return;
		image->mapped = image->noted = true;
		add_ring(p, image, ring->r.root, true);
	}
}

static void forget(cprof_process *p)
{
	struct annotations *a = state_of(p->session);
	struct rings *rings = rings_of(p);
	size_t i;

	if (!rings)
		return;
	for (i = 0; i < a->live.count; i++)
		if (a->live.items[i] == p)
			a->live.items[i--] = a->live.items[--a->live.count];
	forget_strings(rings);
	cp_map_free(&rings->strings);
	cp_map_free(&rings->tids);
	cp_map_free(&rings->strangers);
	cp_vec_free(&rings->rings);
	free(rings);
	p->own[ENGINE_FAMILY_ANNOTATIONS] = NULL;
}

static void read_last(cprof_session *s)
{
	size_t i;

	for (i = 0; state_of(s) && i < state_of(s)->live.count; i++) {
		settle(state_of(s)->live.items[i], ENGINE_END_EXIT, true);
		end(state_of(s)->live.items[i], ENGINE_END_EXIT);
	}
}

static void restore(cprof_session *s)
{
	struct annotations *a = state_of(s);
	const struct ring *ring;
	size_t i;

	for (i = 0; a && i < a->live.count; i++)
		cp_vec_for_each(&rings_of(a->live.items[i])->rings, ring)
			cp_restore_annotations(a->live.items[i]->pid, ring->r.root);
}

static void free_annotations(cprof_session *s)
{
	struct annotations *a = state_of(s);
	size_t i;

	if (!a)
		return;
	for (i = 0; i < s->processes.count; i++)
		forget(s->processes.items[i]);
	cp_vec_free(&a->live);
	free(a);
	s->own[ENGINE_FAMILY_ANNOTATIONS] = NULL;
}

/* ---- the family ---- */

/* A thread calls execve: rings are read before the memory is replaced. */
static void on_exec(cprof_session *s, const struct engine_hit *hit)
{
	(void)hit;
	settle(s->current.process, ENGINE_END_EXEC, false);
}

static void end_thread(cprof_thread *t)
{
	engine_annotations_read(t->process, false);
}

static const struct engine_watch watches[] = {
	{ "execve", 0, CP_SITE_ENTRY | CP_SITE_HOLD, 0 },
	{ "execveat", 0, CP_SITE_ENTRY | CP_SITE_HOLD, 0 },
	{ "fexecve", 0, CP_SITE_ENTRY | CP_SITE_HOLD, 0 },
};

const struct engine_family engine_annotations_family = {
	.name = "annotations",
	.breakpoints = true,
	.enabled = engine_annotations_wanted,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.hit = on_exec,
	.mapped = look,
	.forked = inherit,
	.thread_ended = end_thread,
	.ends = settle,
	.end = end,
	.forget = forget,
	.poll = poll_rings,
	.wait = wait_for_rings,
	.last = read_last,
	.restore = restore,
	.free = free_annotations,
};

/* ---- the API ---- */

bool cprof_profiler_enable_annotations(void)
{
	cprof_session *s = cprof_session_current();

	if (!engine_may_ask(s))
		return false;
	if (!state_of(s) && engine_calls_get(s)) /* for the dynamic linker's hook */
		s->own[ENGINE_FAMILY_ANNOTATIONS] = calloc(1, sizeof(struct annotations));
	return state_of(s) != NULL;
}

void cprof_get_annotation_statistics(cprof_annotation_statistics *ret)
{
	cprof_session *s = cprof_session_current();

	*ret = s && state_of(s) ? state_of(s)->statistics : (cprof_annotation_statistics){ 0 };
}

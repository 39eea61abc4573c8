/* SPDX-License-Identifier: MIT
 *
 * What the detours of a thread may read besides registers.
 *
 *     its own stack, from sp to where what the thread keeps begins:
 *         of the first thread   where the kernel put the program's arguments
 *         of others             the thread pointer, as glibc and musl place it
 *     the program's own image, which nobody unmaps, and its arguments
 *     other pages, when the kernel was asked about each, if no filter minds that, no
 *     page may be another thread's to serve, and no device is mapped, which may take it
 *     for more than reading
 *
 * /proc/pid/maps joins neighbours, so where a mapping ends says nothing. Who may not read
 * what its records need, or is deeper than a record has room for, stops at its calls, and
 * all is read from outside then. Who does the latter more often than calls by breakpoints
 * may come (--max-rate) has its stacks cut off instead.
 */
#include "engine/calls/reading.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/calls/stacks.h"
#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "engine/target/images.h"
#include "engine/target/state.h"

/* ---- whom ---- */

static bool is_filtered(const cprof_thread *t)
{
	char path[64], line[128];
	int mode = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)t->process->pid, (int)t->tid);
	CP_FCLOSE FILE *status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	return mode > 0;
}

/* Does it have a descriptor by which faults are served? */
static bool serves_faults(const cprof_process *p)
{
	char path[64], to[32];
	struct dirent *entry;
	bool serves = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)p->pid);
	dir = opendir(path);
	while (dir && !serves && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, to, sizeof(to) - 1);

		to[n < 0 ? 0 : n] = 0;
		serves = strstr(to, "[userfaultfd]");
	}
	if (dir)
		closedir(dir);
	return serves;
}

/* Would a filter that the program installs be seen? */
static bool is_watched(const cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const struct engine_plans *plans = p->images.items[i]->assembly->plans;
		const struct engine_own *own = plans ? &plans->own[ENGINE_FAMILY_PROBING] : NULL;

		/* data: it has no such functions (families/probing.c). */
		if (p->images.items[i]->armed && own && (own->sites.count || own->data))
			return !(p->session->disarmed >> ENGINE_FAMILY_PROBING & 1);
	}
	return false;
}

static bool is_device(const char *path)
{
	return !strncmp(path, "/sys/", 5) ||
	       (!strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) != 0 &&
		strncmp(path, "/dev/zero", 9) != 0);
}

/* Notes the ranges of the program's image that can be read; true: a device is mapped, or
 * nothing is known. */
static bool look_at_mappings(const cprof_process *p, struct cp_records_memory *ret, unsigned *n)
{
	struct cp_mapping *maps;
	struct cp_error *err;
	const char *program = NULL;
	bool device = false;
	size_t count, i;

	for (i = 0; i < p->images.count; i++)
		if (engine_is_program(p->images.items[i]))
			program = p->images.items[i]->assembly->path;
	err = cp_mappings_parse(p->maps.bytes, p->maps.size, &maps, &count);
	if (err) {
		cp_error_free(err);
		return true;
	}
	for (i = 0; i < count; i++) {
		const struct cp_mapping *m = &maps[i];

		device |= is_device(m->path);
		if (!program || strcmp(m->path, program) != 0 || !m->readable)
			continue;
		if (*n && ret->known[*n - 1].end == m->start)
			ret->known[*n - 1].end = m->end;
		else if (*n < CP_DETOUR_KNOWN)
			ret->known[(*n)++] = (struct cp_detour_range){ m->start, m->end };
	}
	cp_mappings_free(maps, count);
	return device;
}

/* ---- rings ---- */

static void set_own_low(const struct engine_ring *ring, uint64_t low)
{
	__atomic_store_n(&ring->records.ring->own_low, low, __ATOMIC_RELAXED);
}

/* Who can't bring what is wanted counts as on another stack than its own. */
static void limit(const struct engine_calls *c, struct engine_ring *ring)
{
	struct cp_detour_ring *of = ring->records.ring;
	uint64_t own = __atomic_load_n(&of->own_low, __ATOMIC_RELAXED), low = own;

	if ((c->reaches && !of->may_probe) || (c->walks && !of->stack_end))
		low = UINT64_MAX;
	else if (c->walks == ENGINE_WALKS_ALL && !ring->cuts)
		low = of->stack_end > CP_DETOUR_STACK_MAX ? of->stack_end - CP_DETOUR_STACK_MAX
							  : UINT64_MAX;
	if (low > own)
		set_own_low(ring, low);
	cp_records_forget_stacks(&ring->records); /* they were learnt for less */
	ring->walks = c->walks;
	ring->reaches = c->reaches;
}

/* What the thread may read, from now on. */
static void describe(cprof_thread *t, struct engine_ring *ring, uint64_t self, bool probes)
{
	struct cp_records_memory memory = { .self = self };
	unsigned known = 0;

	memory.stack_end = engine_thread_stack_end(t, ring->base);
	memory.stack_low = memory.stack_end ? t->stack_low : 0;
	probes = !look_at_mappings(t->process, &memory, &known) && probes && !is_filtered(t);
	ring->unwatched = probes && !is_watched(t->process);
	memory.may_probe = probes && !ring->unwatched;
	/* Arguments and environment. */
	if (memory.stack_end && t->stack_end > memory.stack_end && known < CP_DETOUR_KNOWN &&
	    t->tid == t->process->pid)
		memory.known[known] = (struct cp_detour_range){ memory.stack_end, t->stack_end };
	cp_records_set_memory(&ring->records, &memory);
}

static uint64_t ring_base(const struct engine_rings *rings, uint64_t number)
{
	return rings->base + number * cp_detour_ring_size(rings->code.log);
}

void engine_reading_begin(cprof_thread *t, const struct cp_event_hit *e)
{
	struct engine_detours *detours = t->process->detours;
	struct engine_rings *rings = detours ? detours->rings : NULL;
	struct engine_ring *ring;

	if (!rings || e->target >= rings->count || !rings->items[e->target].records.ring)
		return;
	ring = &rings->items[e->target];
	ring->cuts = false;
	ring->deep = 0;
	ring->base = e->caller;
	if (!detours->looked)
		detours->silent |= serves_faults(t->process);
	detours->looked = true;
	describe(t, ring, ring_base(rings, e->target),
		 !detours->silent && !(e->e.flags & CP_HIT_DISPATCHES));
	limit(t->process->session->calls, ring);
}

/* Calls of the dynamic linker come before the C library is there. */
void engine_reading_watched(cprof_process *p)
{
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;
	uint32_t i;

	for (i = 0; rings && !p->detours->silent && i < rings->used; i++) {
		struct engine_ring *ring = &rings->items[i];
		cprof_thread *t =
			ring->unwatched && ring->tid ? cprof_thread_from_tid(ring->tid) : NULL;

		if (!t || t->process != p || !ring->records.ring)
			continue;
		describe(t, ring, ring_base(rings, i), true);
		engine_ring_stack(t);
		limit(p->session->calls, ring);
	}
}

void engine_reading_stopped(const cprof_session *s, const struct cp_event_hit *e)
{
	struct engine_ring *ring = engine_ring_of(s->current.process, e->e.tid);
	const cprof_thread *t = s->current.thread;
	uint64_t low;

	if (!ring || !ring->records.ring || ring->cuts || !s->calls->rate_globbed)
		return;
	low = __atomic_load_n(&ring->records.ring->own_low, __ATOMIC_RELAXED);
	if (low == UINT64_MAX || e->sp >= low || e->sp < t->stack_low)
		return;
	if (!ring->deep || e->e.ts_ns - ring->deep_ns >= CP_NS_PER_S) {
		ring->deep_ns = e->e.ts_ns;
		ring->deep = 0;
	}
	if (++ring->deep <= s->calls->rate_globbed)
		return;
	ring->cuts = true;
	set_own_low(ring, t->stack_low);
}

void engine_reading_forbid(cprof_process *p)
{
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;
	uint32_t i;

	if (!rings)
		return;
	p->detours->silent = true;
	for (i = 0; i < rings->used; i++) {
		if (!rings->items[i].records.ring)
			continue;
		__atomic_store_n(&rings->items[i].records.ring->may_probe, 0, __ATOMIC_SEQ_CST);
		limit(p->session->calls, &rings->items[i]);
	}
}

void engine_reading_check(const cprof_session *s, struct engine_rings *rings)
{
	const struct engine_calls *c = s->calls;
	uint32_t i;

	for (i = 0; i < rings->used; i++)
		if (rings->items[i].records.ring &&
		    (rings->items[i].walks != c->walks || rings->items[i].reaches != c->reaches))
			limit(c, &rings->items[i]);
}

/* SPDX-License-Identifier: MIT
 *
 * On which stack a hit was, and who called there.
 *
 *	outside of the thread's own stack    the chain of callers says which
 *	on it                                its own calls, unless the tracer sent the
 *	                                     stack along (tracer/hits/opens.c):
 *
 *	chain                                then it is
 *	    rises to where the thread began      on the thread's own: said to the tracer,
 *	                                         which does not ask again
 *	    ends before that, or leads down      on a coroutine's or a signal handler's,
 *	                                         which lies in a frame of the thread's own;
 *	                                         from then on all hits of the process bring
 *	                                         their stack
 *	    can't be followed so far             not known
 */
#include "engine/calls/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/frames/snapshot.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "engine/target/tasks.h"

#define CHAIN_MAX 4096
#define MAIN_STACK_MAX (UINT64_C(1) << 30)
/* Between where a thread begins and the return address of the first function, at most. */
#define BORN_ROOM 16u
#define START_ROOM 32u
#define START_STACK 28 /* field of /proc/PID/stat (proc_pid_stat(5)), from 1 */
/* A place above all stacks: told to the tracer where stacks lie on the thread's own. */
#define NOWHERE UINT64_MAX

/* ---- the thread's own ---- */

void engine_calls_set_stack(cprof_thread *t, uint64_t low, uint64_t end)
{
	struct cp_link_shared *shared = t->process->session->link.shared;

	t->stack_low = low;
	t->stack_end = end;
	if (t->slot >= CP_LINK_SLOTS)
		return;
	low = t->process->stacks_within ? NOWHERE : low;
	atomic_store_explicit(&shared->stack_end[t->slot], end, memory_order_relaxed);
	atomic_store_explicit(&shared->stack_low[t->slot], low, memory_order_relaxed);
}

static uint64_t main_stack_room(const cprof_process *p)
{
	struct rlimit limit;

	if (prlimit(p->pid, RLIMIT_STACK, NULL, &limit) || limit.rlim_cur > MAIN_STACK_MAX)
		return MAIN_STACK_MAX;
	return limit.rlim_cur;
}

/* An address on the thread's own stack: where it was born, where it sleeps, or
 * where it was seen first. */
static uint64_t on_stack(cprof_thread *t, uint64_t sp)
{
	const struct cp_link_shared *shared = t->process->session->link.shared;
	uint64_t born = 0, slept;

	if (t->slot < CP_LINK_SLOTS)
		born = atomic_load_explicit(&shared->stack_end[t->slot], memory_order_relaxed);
	if (born)
		return t->born_sp = born - 64;
	slept = engine_thread_sleeps_at(t);
	return slept ? slept : sp;
}

/* Finds the thread's own stack: the kernel names that of the first thread; the
 * mapping of another one's is its room. */
static void find_stack(cprof_thread *t, uint64_t sp)
{
	cprof_process *p = t->process;
	/* A process that was forked by a thread runs on with that thread's stack. */
	bool first = t->tid == p->pid && !(p->parent && sp);
	uint64_t within = first ? 0 : on_stack(t, sp);
	struct cp_mapping *maps;
	struct cp_error *err;
	size_t count, i;

	if (!first && !within) /* the thread is gone, and its slot another one's */
		return;
	err = cp_mappings_parse(p->maps.bytes, p->maps.size, &maps, &count);
	if (err) {
		cp_error_free(err);
		return;
	}
	for (i = 0; i < count && !t->stack_end; i++) {
		const struct cp_mapping *m = &maps[i];

		if (within ? within >= m->start && within < m->end : !strcmp(m->path, "[stack]"))
			engine_calls_set_stack(t, within ? m->start : m->end - main_stack_room(p),
					       m->end);
	}
	cp_mappings_free(maps, count);
}

void engine_calls_stack(cprof_thread *t)
{
	if (!t)
		return;
	t->stack_low = t->stack_end = t->root_sp = 0;
	t->root_asked = false;
	find_stack(t, 0);
}

void engine_thread_stack(cprof_thread *t)
{
	uint64_t born = on_stack(t, 0);

	if (t->stack_end)
		return;
	engine_maps_look(t->process);
	find_stack(t, t->process->parent ? born : 0);
}

static bool on_own_stack(cprof_thread *t, const struct cp_event_hit *e)
{
	t->slot = e->slot;
	if (!t->stack_end)
		find_stack(t, e->sp);
	if (!t->stack_end) { /* a new thread's stack may be mapped since */
		engine_maps_look(t->process);
		find_stack(t, e->sp);
	}
	if (!t->stack_end) /* unknown: all addresses count as on it */
		engine_calls_set_stack(t, 1, UINT64_MAX);
	return e->sp >= t->stack_low && e->sp < t->stack_end;
}

/* ---- the chain ---- */

/* Finds where the callers' return addresses are, by a walk of the copied stack. */
static enum cp_unwind_end find_chain(cprof_session *s, const struct cp_event_hit *e,
				     struct cp_shadow_at *at)
{
	struct engine_calls *c = s->calls;
	enum cp_unwind_end end = CP_UNWIND_END_NO_INFO;
	size_t count = 0, i;

	c->chain.count = 0;
	if (!cp_vec_reserve(&c->chain, CHAIN_MAX))
		return end;
	at->chain = c->chain.items;
	if (!s->current.walkable || !engine_walk(s, NULL, false, &count, &end))
		return end;
	for (i = 0; i < count && c->chain.count < CHAIN_MAX; i++) {
		uint64_t sp = s->frames[i].cfa.v - cp_arch_host()->ret_size;

		if (s->frames[i].flags & CP_FRAME_GUESSED || !s->frames[i].cfa.v) {
			end = i + 1 < count ? CP_UNWIND_END_NO_INFO : end;
			break;
		}
		if (i || sp != e->sp) /* not the call's own return address */
			c->chain.items[c->chain.count++] = sp;
	}
	at->chain_count = c->chain.count;
	return end;
}

/* Where the kernel put the program's arguments; 0: not known. */
static uint64_t start_of_program(const cprof_process *p)
{
	char word[24];

	return cp_file_stat_field(engine_living_task(p), START_STACK, word, sizeof(word))
		       ? strtoull(word, NULL, 10)
		       : 0;
}

/* Finds where chains of callers on the thread's own stack lead to. */
static void find_root(cprof_thread *t)
{
	uint64_t start;

	if (t->root_sp || t->root_asked)
		return;
	t->root_asked = true;
	start = t->stack_end == UINT64_MAX ? 0 : start_of_program(t->process);
	if (start >= t->stack_low && start < t->stack_end)
		t->root_sp = start - START_ROOM;
	else if (t->born_sp)
		t->root_sp = t->born_sp - BORN_ROOM;
}

enum place { OWN, WITHIN, UNKNOWN };

static bool rises(const struct cp_shadow_at *at)
{
	uint64_t last = at->sp;
	size_t i;

	for (i = 0; i < at->chain_count; last = at->chain[i++])
		if (at->chain[i] <= last)
			return false;
	return true;
}

/* On which stack a hit is that seems to be on the thread's own; `end`: why its chain of
 * callers ends. */
static enum place find_place(cprof_thread *t, const struct cp_shadow_at *at, enum cp_unwind_end end)
{
	uint64_t last = at->chain_count ? at->chain[at->chain_count - 1] : at->sp;
	bool root = end == CP_UNWIND_END_ROOT;

	find_root(t);
	if (!rises(at))
		return WITHIN;
	if (root && !t->root_sp && last < t->stack_end)
		t->root_sp = last - BORN_ROOM;
	if (t->root_sp && last >= t->root_sp)
		return OWN;
	if (root && t->root_sp)
		return WITHIN;
	return cp_shadow_is_called_by_own(t->process->shadow, at) ? OWN : UNKNOWN;
}

/* From now on all hits of the process bring their stack. */
static void note_stacks_within(cprof_process *p)
{
	uint64_t key, value;
	size_t cursor = 0;

	if (p->stacks_within)
		return;
	p->stacks_within = true;
	cp_debug("%d: stacks lie within frames of other stacks", p->pid);
	while (cp_map_next(&p->session->by_tid, &cursor, &key, &value)) {
		cprof_thread *t = (cprof_thread *)(uintptr_t)value;

		if (t->process == p && t->stack_end)
			engine_calls_set_stack(t, t->stack_low, t->stack_end);
	}
}

static void say_placed(const cprof_session *s, const struct cp_event_hit *e, bool own)
{
	struct cp_link_shared *shared = s->link.shared;
	uint64_t place = cp_hit_place(e);

	if (own)
		atomic_store_explicit(&shared->places[place % CP_LINK_PLACES], place,
				      memory_order_relaxed);
	if (e->slot < CP_LINK_SLOTS)
		atomic_store_explicit(&shared->placed_ns[e->slot], e->e.ts_ns,
				      memory_order_relaxed);
}

struct cp_shadow_at engine_calls_where(cprof_session *s, const struct cp_event_hit *e)
{
	struct cp_shadow_at at = { .tid = e->e.tid, .sp = e->sp };
	cprof_thread *t = s->current.thread;
	enum cp_unwind_end end;

	if (!on_own_stack(t, e)) {
		find_chain(s, e, &at);
		return at;
	}
	if (!(e->e.flags & CP_HIT_FOREIGN_STACK))
		return at;
	end = find_chain(s, e, &at);
	switch (find_place(t, &at, end)) {
	case OWN:
		say_placed(s, e, true);
		break;
	case WITHIN:
		note_stacks_within(t->process);
		at.within = true;
		return at;
	case UNKNOWN:
		say_placed(s, e, false);
		at.unsure = true;
		at.within = t->process->stacks_within;
		if (at.within)
			return at;
		break;
	}
	at.chain = NULL;
	at.chain_count = 0;
	return at;
}

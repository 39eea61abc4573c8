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
#include "engine/calls/other_stacks.h"
#include "engine/frames/snapshot.h"
#include "engine/probes/callers.h"
#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "engine/target/tasks.h"
#include "probe/shadow_fork.h"

#define CHAIN_MAX 4096
#define MAIN_STACK_MAX (UINT64_C(1) << 30)
/* Between where a thread begins and the return address of the first function, at most. */
#define BORN_ROOM 16u
#define START_ROOM 32u
/* What a C library's own functions take there, at most: nobody's stack fits in between. */
#define START_FRAMES 256u
#define START_STACK 28 /* field of /proc/PID/stat (proc_pid_stat(5)), from 1 */
/* A place above all stacks: told to the tracer where stacks lie on the thread's own. */
#define NOWHERE UINT64_MAX

/* ---- the thread's own ---- */

static void set_stack(cprof_thread *t, uint64_t low, uint64_t end)
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

/* An address on the own stack of a thread that was there before us: where it sleeps, or
 * where it was seen first. */
static uint64_t seen_at(const cprof_thread *t, uint64_t sp)
{
	uint64_t slept = engine_thread_sleeps_at(t);

	return slept ? slept : sp;
}

static bool lies_in(const struct cp_mapping *m, uint64_t address)
{
	return address >= m->start && address < m->end;
}

/* Sets the thread's own stack to the mapping of `within`, which the stack pointer of a
 * fork has to lie in, too; 0: to what the kernel calls the stack. */
static void set_to_mapping(cprof_thread *t, const struct cp_mapping *maps, size_t count,
			   uint64_t within)
{
	const cprof_process *p = t->process;
	uint64_t forked = t->tid == p->pid ? p->life.fork_sp : 0;
	size_t i;

	for (i = 0; i < count && !t->stack_end; i++) {
		const struct cp_mapping *m = &maps[i];

		if (within && lies_in(m, within) && (!forked || lies_in(m, forked)))
			set_stack(t, m->start, m->end);
		else if (!within && !strcmp(m->path, "[stack]"))
			set_stack(t, m->end - main_stack_room(p), m->end);
	}
}

/* Where the kernel put the program's arguments; 0: not known. */
static uint64_t start_of_program(const cprof_process *p)
{
	char word[24];

	return cp_file_stat_field(engine_living_task(p), START_STACK, word, sizeof(word))
		       ? strtoull(word, NULL, 10)
		       : 0;
}

/* On the stack of the program's first thread, chains of callers lead to its arguments. The
 * kernel tells where they are as long as the program lives. */
static void find_start(cprof_thread *t)
{
	uint64_t start;

	if (t->root_sp || !t->stack_end || t->stack_end == UINT64_MAX)
		return;
	start = start_of_program(t->process);
	if (start >= t->stack_low && start < t->stack_end)
		t->root_sp = start - START_ROOM;
}

/* Finds the thread's own stack: the kernel names that of the first thread; the
 * mapping of another one's is its room. */
static void find_stack(cprof_thread *t, uint64_t sp)
{
	const cprof_process *p = t->process;
	bool first = t->tid == p->pid;
	uint64_t within = first || t->born_sp ? t->born_sp : seen_at(t, sp);
	struct cp_mapping *maps;
	struct cp_error *err;
	size_t count;

	if (!first && !within) /* the thread is gone */
		return;
	err = cp_mappings_parse(p->maps.bytes, p->maps.size, &maps, &count);
	if (err) {
		cp_error_free(err);
		return;
	}
	set_to_mapping(t, maps, count, within);
	/* Who forked is not known, and was on none of the threads' stacks. That of the first
	 * thread may not be its own: what is elsewhere is judged by its callers. */
	if (first && !t->stack_end) {
		t->born_sp = 0;
		set_to_mapping(t, maps, count, 0);
	}
	cp_mappings_free(maps, count);
	find_start(t); /* now: calls may be read when the program is gone */
}

/* ---- births ---- */

/* The next thread of the process; NULL: no more. */
static cprof_thread *next_thread(const cprof_process *p, size_t *cursor)
{
	uint64_t key, value;

	while (cp_map_next(&p->session->by_tid, cursor, &key, &value)) {
		cprof_thread *t = (cprof_thread *)(uintptr_t)value;

		if (t->process == p)
			return t;
	}
	return NULL;
}

const cprof_thread *engine_calls_at_home(const cprof_process *p, uint64_t sp)
{
	const cprof_thread *t;
	size_t cursor = 0;

	while ((t = next_thread(p, &cursor)))
		if (t->stack_end && t->stack_end != UINT64_MAX && sp >= t->stack_low &&
		    sp < t->stack_end)
			return t;
	return NULL;
}

/* The thread that forked at `sp`: who was on its own stack there, who was on another one by
 * the calls that are open on that, or the only one; NULL: not known. */
static const cprof_thread *who_forked(const cprof_process *parent, uint64_t sp)
{
	const cprof_thread *by = engine_calls_at_home(parent, sp), *only;
	int32_t tid = !by && parent->shadow ? cp_shadow_who(parent->shadow, sp) : 0;
	size_t cursor = 0;

	if (tid)
		by = cprof_thread_from_tid(tid);
	if (by && by->process == parent)
		return by;
	only = next_thread(parent, &cursor);
	return next_thread(parent, &cursor) ? NULL : only;
}

/* Where the thread was born that may have forked at `sp`: that lies in the same mapping,
 * if it did. */
static uint64_t born_above(const cprof_process *parent, uint64_t sp)
{
	const cprof_thread *t;
	uint64_t next = 0;
	size_t cursor = 0;

	while ((t = next_thread(parent, &cursor)))
		if (t->born_sp >= sp && (!next || t->born_sp < next))
			next = t->born_sp;
	return next;
}

/* The first thread of a forked process has the stack of who forked it. Where that one was
 * on another stack, so is this one, and wherever it is by now says nothing. */
static void inherit_stack(cprof_thread *t, const cprof_process *parent)
{
	uint64_t sp = t->process->life.fork_sp;
	const cprof_thread *by = who_forked(parent, sp);

	t->process->stacks_within = parent->stacks_within;
	t->born_sp = by ? by->born_sp : born_above(parent, sp);
	if (!by || !by->stack_end || by->stack_end == UINT64_MAX)
		return;
	set_stack(t, by->stack_low, by->stack_end);
	t->root_sp = by->root_sp;
}

void engine_calls_born(cprof_thread *t, uint64_t sp, const cprof_process *parent)
{
	if (parent && t->process->life.fork_sp)
		inherit_stack(t, parent);
	else
		t->born_sp = sp;
}

void engine_calls_stack(cprof_thread *t)
{
	if (!t)
		return;
	t->stack_low = t->stack_end = t->born_sp = t->root_sp = 0;
	t->root_asked = false;
	find_stack(t, 0);
}

void engine_thread_stack(cprof_thread *t)
{
	if (t->stack_end)
		return;
	engine_maps_look(t->process);
	find_stack(t, 0);
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
		set_stack(t, 1, UINT64_MAX);
	return e->sp >= t->stack_low && e->sp < t->stack_end;
}

/* ---- the chain ---- */

static uint64_t pointer_of(const struct cp_frame *frame, uint64_t otherwise)
{
	unsigned sp = cp_arch_host()->sp;

	return frame->regs.known >> sp & 1 ? frame->regs.r[sp] : otherwise;
}

/* Finds where the callers' return addresses are, by a walk of the copied stack, and why that
 * ended. How many of the session's frames it has. */
static size_t find_chain(cprof_session *s, const struct cp_event_hit *e, struct cp_shadow_at *at,
			 enum cp_unwind_end *end_ret)
{
	struct engine_calls *c = s->calls;
	enum cp_unwind_end end = CP_UNWIND_END_NO_INFO;
	uint64_t last = 0;
	size_t count = 0, i;

	*end_ret = end;
	c->chain.count = 0;
	c->chain_falls = c->chain_open = false;
	if (!cp_vec_reserve(&c->chain, CHAIN_MAX))
		return 0;
	at->chain = c->chain.items;
	if (!s->current.walkable || !engine_walk(s, NULL, false, &count, &end))
		return 0;
	for (i = 0; i < count && c->chain.count < CHAIN_MAX; i++) {
		uint64_t sp = s->frames[i].cfa.v - cp_arch_host()->ret_size;

		c->chain_open = !(s->frames[i].flags & CP_FRAME_GUESSED) && !s->frames[i].cfa.v;
		/* Whom a signal interrupted is where its stack pointer was. */
		c->chain_falls |= pointer_of(&s->frames[i], last) < last;
		last = pointer_of(&s->frames[i], last);
		if (s->frames[i].flags & CP_FRAME_GUESSED || !s->frames[i].cfa.v) {
			end = i + 1 < count ? CP_UNWIND_END_NO_INFO : end;
			break;
		}
		if (i || sp != e->sp) /* not the call's own return address */
			c->chain.items[c->chain.count++] = sp;
	}
	at->chain_count = c->chain.count;
	*end_ret = end;
	return count;
}

/* Finds where chains of callers on the thread's own stack lead to. */
static void find_root(cprof_thread *t)
{
	if (t->root_sp || t->root_asked)
		return;
	t->root_asked = true;
	find_start(t);
	if (!t->root_sp && t->born_sp)
		t->root_sp = t->born_sp - BORN_ROOM;
}

/* Of the arguments that the kernel put there, a walk needs none. */
#define START_WORDS 64u

uint64_t engine_thread_stack_end(cprof_thread *t, uint64_t pointer)
{
	uint64_t start;

	if (!t->stack_end || t->stack_end == UINT64_MAX)
		return 0;
	start = start_of_program(t->process);
	if (start >= t->stack_low && start < t->stack_end)
		return start + START_WORDS < t->stack_end ? start + START_WORDS : t->stack_end;
	return pointer > t->stack_low && pointer < t->stack_end ? pointer & ~UINT64_C(15) : 0;
}

/* A C library without call frame information (musl): the outermost frame is of who calls
 * the thread's function, and how large it is, is not known. So near to where the thread began
 * it is that: at the first look at one, or any at the first of a program, whose start the
 * kernel tells. */
static void learn_root(cprof_thread *t, const struct cp_shadow_at *at)
{
	uint64_t last = at->chain_count ? at->chain[at->chain_count - 1] : 0;

	if (last && last < t->root_sp && t->root_sp - last < START_FRAMES)
		t->root_sp = last - BORN_ROOM;
}

enum place { OWN, WITHIN, UNKNOWN };

/* On which stack a hit is that seems to be on the thread's own; `end`: why its chain of
 * callers ends. */
static enum place find_place(cprof_thread *t, const struct cp_shadow_at *at, enum cp_unwind_end end)
{
	const struct engine_calls *c = t->process->session->calls;
	uint64_t last = at->chain_count ? at->chain[at->chain_count - 1] : at->sp;
	bool root = end == CP_UNWIND_END_ROOT, first = !t->root_asked;

	find_root(t);
	if (first && c->chain_open && !c->chain_falls)
		learn_root(t, at);
	if (c->chain_falls)
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
	cprof_thread *t;
	size_t cursor = 0;

	if (p->stacks_within)
		return;
	p->stacks_within = true;
	p->session->calls->stacks_within = true;
	cp_debug("%d: stacks lie within frames of other stacks", p->pid);
	while ((t = next_thread(p, &cursor)))
		if (t->stack_end) {
			set_stack(t, t->stack_low, t->stack_end);
			engine_ring_stack(t);
		}
}

static void say_placed(const cprof_session *s, const struct cp_event_hit *e, bool own)
{
	struct cp_link_shared *shared = s->link.shared;
	uint64_t place = cp_hit_place(e);

	if (e->e.flags & (CP_HIT_RECORD | CP_HIT_STAYS)) {
		s->current.thread->blind |= !own;
		engine_callers_looked_at(s->current.process, e->caller, e->sp, own);
	}
	if (own)
		atomic_store_explicit(&shared->places[place % CP_LINK_PLACES], place,
				      memory_order_relaxed);
	if (e->slot < CP_LINK_SLOTS)
		atomic_store_explicit(&shared->placed_ns[e->slot], e->e.ts_ns,
				      memory_order_relaxed);
}

/* A record is made where it is known which stack that is; who stops brings what tells it. */
static struct cp_shadow_at on_other_stack(cprof_session *s, const struct cp_event_hit *e)
{
	struct cp_shadow_at at = { .tid = e->e.tid, .sp = e->sp };
	bool recorded = s->current.hit && s->current.hit->recorded;
	enum cp_unwind_end end;
	size_t frames;

	if (recorded && !(e->e.flags & CP_HIT_FOREIGN_STACK) &&
	    engine_stack_know(s->current.process, &at))
		return at;
	frames = find_chain(s, e, &at, &end);
	engine_stack_learn(s->current.thread, e, frames, end, &at);
	return at;
}

struct cp_shadow_at engine_calls_where(cprof_session *s, const struct cp_event_hit *e)
{
	struct cp_shadow_at at = { .tid = e->e.tid, .sp = e->sp };
	cprof_thread *t = s->current.thread;
	enum cp_unwind_end end;

	if (!on_own_stack(t, e))
		return on_other_stack(s, e);
	if (!(e->e.flags & CP_HIT_FOREIGN_STACK)) {
		at.unsure = t->blind;
		return at;
	}
	find_chain(s, e, &at, &end);
	switch (find_place(t, &at, end)) {
	case OWN:
		say_placed(s, e, true);
		at.placed = true;
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

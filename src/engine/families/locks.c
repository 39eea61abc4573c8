/* SPDX-License-Identifier: MIT
 *
 * Locks that threads wait for. A free lock costs nothing, for it is taken without a
 * call: the breakpoints are where a thread goes when the lock is not free.
 *
 *     pthread_mutex_lock:
 *         lock cmpxchg %edx,(%rdi) ── it was free ──► ret
 *         jne slow
 *         ...
 *     slow: call __lll_lock_wait ──►  entry: contention │ ret: acquired
 *
 * glibc does not export that function, and has no name for it when it is
 * stripped. Then pthread_mutex_lock is decoded up to that call: the first
 * direct one behind the branch behind the first lock cmpxchg. What glibc locks
 * for itself (arenas, streams) waits in __lll_lock_wait_private. Rust's std
 * has its own, Mutex::lock_contended.
 *
 * pthread_mutex_timedlock and pthread_mutex_clocklock do the same, but their slow path
 * is in them: these stop at each call, and the mutex tells whether it is contended.
 * They jump to code that they share: that is watched instead. What
 * pthread_mutex_trylock does is never a wait.
 *
 * The words of the mutex are copied at the stop, and are untrusted. Not seen:
 * robust mutexes and those that inherit priorities, reader-writer locks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/calls/calls.h"
#include "engine/probes/objects.h"
#include "engine/probes/own.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "image/image.h"

#define FUNCTIONS_MAX 0x200u
#define WAITS_MAX 65536 /* at once; further ones are not told */
#define LOOKED_AHEAD 16 /* instructions up to the call */
#define HOPS 2 /* tail calls that are followed */

/* Kinds of sites. */
enum { LOCK, LOCKED };

/* A function in which threads wait for the lock that is its first argument. */
struct lock_function {
	uint64_t address; /* link-time */
	const char *type; /* of the lock; static */
	bool owned; /* the lock says who holds it: pthread_mutex_t */
	bool timed; /* called for locks that are free, too; may give up */
};

/* What is known of an ELF object (engine_own.data). */
struct lock_plan {
	uint64_t lock; /* pthread_mutex_lock, link-time; 0: none */
};

/* A thread in a function that waits. */
struct wait {
	const cprof_process *process;
	int32_t tid, owner;
	uint64_t sp, lock, begin_ns;
	const char *type;
	bool timed, told;
};

struct locks {
	bool looked; /* any image was looked into */
	const char *why; /* static: why there are none; NULL: there is no such library */
	struct cp_map by_site; /* number of a site -> function */
	CP_VEC(struct lock_function) functions; /* of all images */
	CP_VEC(struct wait) waits;
	struct cp_fetch fetch;
	const cprof_function *taker; /* a function that waits, once one was seen */
	/* the event being delivered */
	const struct wait *current;
	uint64_t now_ns;
	char *variable; /* owned; of `named` in `named_in` */
	uint64_t named;
	const cprof_process *named_in;
};

/* ---- wanted ---- */

static struct locks *locks_of(const cprof_session *s)
{
	return s->own[ENGINE_FAMILY_LOCKS];
}

static bool is_enabled(const cprof_session *s)
{
	return locks_of(s) != NULL;
}

bool cprof_profiler_enable_monitors(void)
{
	cprof_session *s = cprof_session_current();

	if (!engine_may_ask(s) || !engine_calls_get(s))
		return false;
	if (!locks_of(s))
		s->own[ENGINE_FAMILY_LOCKS] = calloc(1, sizeof(struct locks));
	return locks_of(s) != NULL;
}

static void free_locks(cprof_session *s)
{
	struct locks *l = locks_of(s);

	if (!l)
		return;
	cp_map_free(&l->by_site);
	cp_vec_free(&l->functions);
	cp_vec_free(&l->waits);
	free(l->variable);
	free(l);
	s->own[ENGINE_FAMILY_LOCKS] = NULL;
}

static void explain(cprof_session *s)
{
	const struct locks *l = locks_of(s);

	if (l && l->looked && !l->functions.count)
		engine_warn(s, "locks of %s can't be watched: %s",
			    s->command && *s->command ? s->command[0] : "the program",
			    l->why ? l->why : "no C library was found that has them");
}

/* ---- sites ---- */

struct planner {
	struct locks *locks;
	struct engine_calls *calls;
	cprof_assembly *assembly;
	struct engine_plans *plans;
	struct engine_own *own;
	struct cp_reader file;
};

static struct cp_probe_function *function_at(const struct planner *p, uint64_t address)
{
	struct cp_probe_function *f = cp_probe_functions_find(&p->plans->functions, address);

	return f && f->address == address ? f : NULL;
}

static bool decode(const struct planner *p, uint64_t address, struct cp_insn *ret)
{
	uint8_t code[16];
	size_t size = p->file.read(p->file.ctx, address, code, sizeof(code));

	return cp_decode(p->calls->decoder, code, size, address, ret);
}

/* The function in which pthread_mutex_lock waits; 0: not found. */
static uint64_t find_slow_path(const struct planner *p, uint64_t lock)
{
	const struct cp_probe_function *f = function_at(p, lock);
	uint64_t at = lock, end = f ? f->address + f->size : lock;
	bool taken = false;
	struct cp_insn insn;
	unsigned i;

	for (; at < end && decode(p, at, &insn); at += insn.size) {
		taken |= insn.compares;
		if (taken && insn.flow == CP_FLOW_BRANCH)
			break;
	}
	if (at >= end || insn.flow != CP_FLOW_BRANCH || !taken)
		return 0;
	at = insn.target;
	for (i = 0; i < LOOKED_AHEAD && decode(p, at, &insn); i++, at += insn.size) {
		if (insn.flow == CP_FLOW_CALL)
			return function_at(p, insn.target) ? insn.target : 0;
		if (insn.flow != CP_FLOW_ON)
			return 0;
	}
	return 0;
}

/* Adds a site of the function that is added to `functions` next. */
static bool add_site(struct planner *p, struct engine_numbers *sites, uint64_t address,
		     uint8_t what)
{
	struct engine_site like = { .family = ENGINE_FAMILY_LOCKS,
				    .what = what,
				    .list = { .site_flags = CP_SITE_REGS | CP_SITE_STACK } };
	uint32_t number;

	if (what == LOCK) {
		like.list.site_flags |= CP_SITE_ENTRY;
		like.list.fetches = &p->locks->fetch;
		like.list.fetch_count = 1;
	} else {
		like.list.site_flags |= CP_SITE_EXIT;
	}
	number = engine_own_site(p->calls, p->assembly, address, &like);
	return number && cp_vec_push(sites, number - 1) &&
	       cp_map_put(&p->locks->by_site, number - 1, p->locks->functions.count);
}

static bool plan_at(struct planner *p, uint64_t address, const struct lock_function *like,
		    unsigned hops);

/* Does the function take locks itself? */
static bool takes(const struct planner *p, const struct cp_probe_function *f)
{
	struct cp_insn insn = { 0 };
	uint64_t at = f->address;

	for (; at < f->address + f->size && decode(p, at, &insn); at += insn.size)
		if (insn.compares)
			return true;
	return false;
}

/* Plans the functions that `plan` ends in by tail calls, instead of their caller.
 * False: there is none. */
static bool plan_behind(struct planner *p, const struct cp_probe_plan *plan,
			const struct lock_function *like, unsigned hops)
{
	struct cp_insn insn;
	bool any = false;
	size_t i;

	for (i = 0; i < plan->sites.count; i++) {
		const struct cp_probe_site *site = &plan->sites.items[i];

		if (site->kind == CP_PROBE_SITE_TAIL && decode(p, site->address, &insn) &&
		    insn.flow == CP_FLOW_JUMP && function_at(p, insn.target))
			any |= plan_at(p, insn.target, like, hops - 1);
	}
	return any;
}

static bool plan_sites(struct planner *p, const struct cp_probe_plan *plan,
		       const struct lock_function *f)
{
	uint32_t number = (uint32_t)p->locks->functions.count;
	struct engine_numbers sites = { 0 };
	bool ok = add_site(p, &sites, f->address, LOCK);
	size_t i;

	for (i = 1; ok && i < plan->sites.count; i++)
		if (plan->sites.items[i].kind == CP_PROBE_SITE_RETURN)
			ok = add_site(p, &sites, plan->sites.items[i].address, LOCKED);
	ok = ok && sites.count > 1 && cp_vec_push(&p->locks->functions, *f);
	for (i = 0; ok && i < sites.count; i++)
		ok = engine_own_add(p->own, sites.items[i], number, 1);
	cp_vec_free(&sites);
	return ok;
}

static bool is_watched(const struct planner *p, uint64_t address)
{
	size_t i;

	for (i = 0; i < p->own->sites.count; i++)
		if (p->calls->sites.items[p->own->sites.items[i]].address == address)
			return true;
	return false;
}

/* Plans the function at `address`. False: it can't be watched. */
static bool plan_at(struct planner *p, uint64_t address, const struct lock_function *like,
		    unsigned hops)
{
	struct lock_function made = *like;
	struct cp_probe_function *f = function_at(p, address);
	struct cp_probe_plan plan = { 0 };
	struct cp_error *err;
	bool ok;

	if (is_watched(p, address))
		return true;
	if (!f || p->locks->functions.count >= FUNCTIONS_MAX)
		return false;
	err = cp_probe_plan_function(p->calls->decoder, &p->file, &p->plans->functions, f, &plan);
	cp_error_free(err);
	made.address = address;
	ok = !err && plan.why == CP_PROBE_FULL &&
	     ((hops && !takes(p, f) && plan_behind(p, &plan, like, hops)) ||
	      plan_sites(p, &plan, &made));
	cp_debug("%s: %s at %" PRIx64 " is%s watched", p->assembly->path, like->type, address,
		 ok ? "" : " not");
	cp_probe_plan_free(&plan);
	return ok;
}

enum { MUTEX_LOCK, WAIT, PRIVATE, TIMED, CLOCK, ROUTINES };
static const char *const routines[ROUTINES] = {
	[MUTEX_LOCK] = "pthread_mutex_lock",   [WAIT] = "__lll_lock_wait",
	[PRIVATE] = "__lll_lock_wait_private", [TIMED] = "pthread_mutex_timedlock",
	[CLOCK] = "pthread_mutex_clocklock",
};

static bool is_rust(const char *linkage_name)
{
	const char *at = strstr(linkage_name, "14lock_contended");

	return at && at - linkage_name >= 6 && !strncmp(at - 6, "5Mutex", 6) &&
	       strstr(linkage_name, "5futex");
}

static void find_names(struct planner *p, uint64_t *at)
{
	static const struct lock_function rust = { .type = "std::sync::Mutex" };
	const struct cp_symbol *symbols;
	struct cp_error *err;
	size_t count, i, n;

	err = cp_image_symbols(p->assembly->image, &symbols, &count);
	cp_error_free(err);
	for (i = 0; !err && i < count; i++) {
		const char *name = symbols[i].name;
		size_t length = strcspn(name, "@"); /* before a version */

		if (symbols[i].kind != CP_SYMBOL_FUNCTION)
			continue;
		if (*name == '_' && is_rust(name) && engine_plans_read(p->assembly, p->plans))
			plan_at(p, symbols[i].start.v, &rust, 0);
		for (n = 0; n < ROUTINES; n++)
			if (length == strlen(routines[n]) && !strncmp(name, routines[n], length))
				at[n] = symbols[i].start.v;
	}
}

static void find_functions(struct planner *p)
{
	static const struct lock_function mutex = { .type = "pthread_mutex_t", .owned = true },
					  inner = { .type = "lock of the C library" },
					  timed = { .type = "pthread_mutex_t",
						    .owned = true,
						    .timed = true };
	uint64_t at[ROUTINES] = { 0 };
	bool found = false;

	find_names(p, at);
	if (!at[MUTEX_LOCK] || !engine_plans_read(p->assembly, p->plans))
		return;
	if (!at[WAIT])
		at[WAIT] = find_slow_path(p, at[MUTEX_LOCK]);
	found = at[WAIT] && plan_at(p, at[WAIT], &mutex, 0);
	if (!found) {
		p->locks->why = "where pthread_mutex_lock waits could not be found";
		return;
	}
	*(struct lock_plan *)p->own->data = (struct lock_plan){ at[MUTEX_LOCK] };
	if (at[PRIVATE])
		plan_at(p, at[PRIVATE], &inner, 0);
	if (at[TIMED])
		plan_at(p, at[TIMED], &timed, HOPS);
	if (at[CLOCK])
		plan_at(p, at[CLOCK], &timed, HOPS);
}

static void plan(cprof_image *image, struct engine_own *own)
{
	struct locks *l = locks_of(image->process->session);
	struct planner p = {
		.locks = l,
		.calls = image->process->session->calls,
		.assembly = image->assembly,
		.plans = image->assembly->plans,
		.own = own,
		.file = cp_probe_file_reader(image->assembly->image),
	};

	own->data = calloc(1, sizeof(struct lock_plan));
	if (!own->data)
		return;
	l->looked = true;
	l->fetch = (struct cp_fetch){ .from = cp_arch_host()->args[0], .size = 12 };
	find_functions(&p);
}

/* ---- waits ---- */

static struct wait *find_wait(struct locks *l, const cprof_process *p, int32_t tid, uint64_t sp)
{
	size_t i;

	for (i = l->waits.count; i--;) {
		struct wait *w = &l->waits.items[i];

		if (w->process == p && w->tid == tid && w->sp == sp)
			return w;
	}
	return NULL;
}

/* Is the wait inside another one of the thread for the same lock? One of the functions
 * may call another. */
static bool is_inner(const struct locks *l, const struct wait *w)
{
	size_t i;

	for (i = 0; i < l->waits.count; i++) {
		const struct wait *outer = &l->waits.items[i];

		if (outer->process == w->process && outer->tid == w->tid &&
		    outer->lock == w->lock && outer->sp > w->sp)
			return true;
	}
	return false;
}

static void forget_waits(cprof_process *p, int32_t tid)
{
	struct locks *l = locks_of(p->session);
	size_t i;

	for (i = l ? l->waits.count : 0; i--;)
		if (l->waits.items[i].process == p && (!tid || l->waits.items[i].tid == tid))
			cp_vec_remove(&l->waits, i);
	if (l && !tid && l->named_in == p)
		l->named_in = NULL;
}

/* ---- events ---- */

/* The words of a pthread_mutex_t: lock, count, owner. False: can't be read. */
static bool read_mutex(const struct engine_hit *hit, uint32_t *lock_ret, int32_t *owner_ret)
{
	struct cp_fetched block;
	const uint8_t *bytes;
	uint32_t words[3];
	size_t at = 0;

	if (!cp_fetched_next(hit->fetched, hit->event->fetched_size, &at, &block, &bytes) ||
	    block.size < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	*lock_ret = words[0];
	*owner_ret = (int32_t)words[2];
	return true;
}

/* The tid of the process's thread whose number in its own namespace is `ns_tid`; 0:
 * none. */
static int32_t thread_of(const cprof_process *p, int32_t ns_tid)
{
	const cprof_thread *t = cprof_thread_from_tid(ns_tid);
	uint64_t key, value;
	size_t cursor = 0;

	if (ns_tid <= 0)
		return 0;
	if (t && t->process == p && t->ns_tid == ns_tid)
		return t->tid;
	while (p->pid != p->ns_pid && cp_map_next(&p->session->by_tid, &cursor, &key, &value)) {
		t = (const cprof_thread *)(uintptr_t)value;
		if (t->process == p && t->ns_tid == ns_tid)
			return t->tid;
	}
	return 0;
}

/* Names the static variable that the lock is, or is in. */
static void name_lock(struct locks *l, const cprof_process *p, uint64_t lock)
{
	uint64_t offset;
	size_t i;

	if (l->named == lock && l->named_in == p)
		return;
	free(cp_steal(l->variable));
	l->named = lock;
	l->named_in = p;
	for (i = 0; i < p->images.count && !l->variable; i++) {
		const cprof_image *image = p->images.items[i];
		CP_FREE char *name = NULL;

		if (!image->mapped || !image->assembly->image || lock < image->bias)
			continue;
		name = cp_image_variable_at(image->assembly->image,
					    (struct cp_vaddr){ lock - image->bias }, &offset);
		if (name && !offset)
			l->variable = cp_steal(name);
		else if (name && asprintf(&l->variable, "%s+%#" PRIx64, name, offset) < 0)
			l->variable = NULL;
	}
}

enum told { CONTENTION, FAILED, ACQUIRED };

static void tell(cprof_session *s, const struct engine_hit *hit, const struct wait *w,
		 enum told what)
{
	const cprof_object object = { .address = w->lock, .type_name = w->type };
	struct locks *l = locks_of(s);

	engine_calls_reach(s, hit->event, hit->event->sp);
	name_lock(l, s->current.process, w->lock);
	l->current = w;
	l->now_ns = what == CONTENTION ? w->begin_ns : hit->event->e.ts_ns;
	s->calls->events++;
	switch (what) {
	case CONTENTION:
		engine_raise(s, monitor_contention, &object);
		break;
	case FAILED:
		engine_raise(s, monitor_failed, &object);
		break;
	case ACQUIRED:
		engine_raise(s, monitor_acquired, &object);
		break;
	}
	l->current = NULL;
}

static uint64_t mutex_lock_of(const cprof_image *image)
{
	const struct lock_plan *plan = image->assembly->plans->own[ENGINE_FAMILY_LOCKS].data;

	return plan->lock;
}

static void on_lock(cprof_session *s, const struct engine_hit *hit, const struct lock_function *f)
{
	struct locks *l = locks_of(s);
	const struct cp_event_hit *e = hit->event;
	cprof_process *p = s->current.process;
	struct wait w = {
		.process = p,
		.tid = e->e.tid,
		.sp = e->sp,
		.lock = hit->regs.r[cp_arch_host()->args[0]],
		.begin_ns = e->e.ts_ns,
		.type = f->type,
		.timed = f->timed,
		.told = !f->timed,
	}, *left = find_wait(l, p, w.tid, w.sp);
	uint32_t lock = 0;
	int32_t owner = 0;

	if (!l->taker && hit->image)
		l->taker = engine_function_at(s, hit->image,
					      f->owned ? mutex_lock_of(hit->image) : f->address);
	if (left) /* the wait there was left by a jump */
		cp_vec_remove(&l->waits, (size_t)(left - l->waits.items));
	if (is_inner(l, &w))
		return;
	if (f->owned && read_mutex(hit, &lock, &owner)) {
		w.owner = thread_of(p, owner);
		w.told |= lock && owner != s->current.thread->ns_tid;
	}
	if (l->waits.count >= WAITS_MAX || !cp_vec_push(&l->waits, w))
		return;
	if (w.told)
		tell(s, hit, &w, CONTENTION);
}

static void on_locked(cprof_session *s, const struct engine_hit *hit)
{
	struct locks *l = locks_of(s);
	const struct cp_event_hit *e = hit->event;
	struct wait *found = find_wait(l, s->current.process, e->e.tid, e->sp), w;
	int result;

	if (!found)
		return; /* the wait began before it could be seen */
	w = *found;
	cp_vec_remove(&l->waits, (size_t)(found - l->waits.items));
	result = w.timed ? (int)hit->regs.r[cp_arch_host()->result] : 0;
	/* Contended after all: somebody took the lock right after the stop at the
	 * entry. */
	if (!w.told && result == ETIMEDOUT)
		tell(s, hit, &w, CONTENTION);
	else if (!w.told)
		return;
	tell(s, hit, &w, result && result != EOWNERDEAD ? FAILED : ACQUIRED);
}

static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	struct locks *l = locks_of(s);
	const uint64_t *number = cp_map_get(&l->by_site, hit->site);

	if (!number || *number >= l->functions.count || !hit->regs.known || !s->current.thread)
		return;
	if (hit->what == LOCK)
		on_lock(s, hit, &l->functions.items[*number]);
	else
		on_locked(s, hit);
}

bool cprof_current_contention(cprof_contention *ret)
{
	const cprof_session *s = cprof_session_current();
	const struct locks *l = s ? locks_of(s) : NULL;

	if (!l || !l->current)
		return false;
	*ret = (cprof_contention){
		.owner = l->current->owner,
		.begin_ns = l->current->begin_ns,
		.waited_ns = l->now_ns - l->current->begin_ns,
		.variable = l->variable,
	};
	return true;
}

static const cprof_function *on_disarmed(cprof_session *s)
{
	struct locks *l = locks_of(s);

	l->waits.count = 0;
	return l->taker;
}

const struct engine_family engine_locks_family = {
	.name = "locks",
	.breakpoints = true,
	.enabled = is_enabled,
	.anywhere = true,
	.plan = plan,
	.tells = true,
	.hit = on_hit,
	.things = "locks",
	.done = "waited for",
	.disarmed = on_disarmed,
	.exited = forget_waits,
	.explain = explain,
	.free = free_locks,
};

/* SPDX-License-Identifier: MIT
 *
 * Locks that threads wait for. One that is free costs nothing, for it is taken
 * without a call: the breakpoints are where a thread goes when it is not.
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
 * pthread_mutex_timedlock and pthread_mutex_clocklock do the same, but their
 * slow path is in them: these stop at each call, and the mutex tells whether
 * it is contended. They share their code, which they jump to: so that is
 * watched, and not they. What pthread_mutex_trylock does is never a wait.
 *
 * The words of the mutex are copied at the stop, and are untrusted. Not seen:
 * robust mutexes and those that inherit priorities, reader-writer locks.
 */
#include "engine/locks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/throws.h"
#include "image/image.h"

#define GROUP_LOCKS 0xfffffd00u /* and more */
#define FUNCTIONS_MAX 0x200u
#define WAITS_MAX 65536 /* at once; more: they are not told */
#define LOOKED_AHEAD 16 /* instructions up to the call */
#define HOPS 2 /* tail calls that are followed */

/* A thread in a function that waits. */
struct wait {
	const cprof_process *process;
	int32_t tid, owner;
	uint64_t sp, lock, begin_ns;
	const char *type;
	bool timed, told;
};

struct engine_locks {
	bool disarmed, looked; /* looked: into any image */
	uint32_t count; /* functions found */
	const char *why; /* static: why there are none; NULL: there is no such library */
	struct cp_map by_site; /* number of a site -> function */
	CP_VEC(struct engine_lock_function) functions; /* of all images */
	CP_VEC(struct wait) waits;
	struct cp_fetch fetch;
	const cprof_function *taker; /* a function that waits in one, once it was seen */
	/* the event being delivered */
	const struct wait *current;
	uint64_t now_ns;
	char *variable; /* owned; of `named` in `named_in` */
	uint64_t named;
	const cprof_process *named_in;
};

/* ---- wanted ---- */

bool engine_locks_wanted(const cprof_session *s)
{
	return s->calls && s->calls->locks;
}

bool cprof_profiler_enable_monitors(void)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = engine_may_ask(s) ? engine_calls_get(s) : NULL;

	if (c && !c->locks)
		c->locks = calloc(1, sizeof(*c->locks));
	return c && c->locks;
}

void engine_locks_free(struct engine_calls *c)
{
	struct engine_locks *l = c->locks;

	if (!l)
		return;
	cp_map_free(&l->by_site);
	cp_vec_free(&l->functions);
	cp_vec_free(&l->waits);
	free(l->variable);
	free(l);
	c->locks = NULL;
}

void engine_lock_plan_free(struct engine_lock_plan *plan)
{
	if (plan)
		cp_vec_free(&plan->functions);
	free(plan);
}

void engine_locks_warn(cprof_session *s)
{
	const struct engine_locks *l = s->calls->locks;

	if (l && l->looked && !l->count)
		engine_warn(s, "locks of %s can't be watched: %s",
			    s->command && *s->command ? s->command[0] : "the program",
			    l->why ? l->why : "no C library was found that has them");
}

/* ---- sites ---- */

struct planner {
	struct engine_calls *calls;
	cprof_assembly *assembly;
	struct engine_plans *plans;
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

/* Where pthread_mutex_lock waits; 0: not found. */
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

static bool add_site(struct planner *p, struct engine_lock_function *f, uint64_t address,
		     enum engine_site_kind kind)
{
	struct engine_locks *l = p->calls->locks;
	uint32_t number = engine_plan_address(p->calls, p->assembly, address, kind);

	if (!number)
		return false;
	if (kind == ENGINE_SITE_LOCK) {
		f->first_site = number - 1;
		p->calls->sites.items[number - 1].list =
			(struct cp_capture_list){ .fetches = &l->fetch, .fetch_count = 1 };
	}
	f->site_count++;
	return cp_map_put(&l->by_site, number - 1, l->functions.count);
}

static bool plan_at(struct planner *p, uint64_t address, const struct engine_lock_function *like,
		    unsigned hops);

/* True when it takes locks itself. */
static bool takes(const struct planner *p, const struct cp_probe_function *f)
{
	struct cp_insn insn = { 0 };
	uint64_t at = f->address;

	for (; at < f->address + f->size && decode(p, at, &insn); at += insn.size)
		if (insn.compares)
			return true;
	return false;
}

/* It ends in others that do what it is for: these are taken instead. */
static bool plan_behind(struct planner *p, const struct cp_probe_plan *plan,
			const struct engine_lock_function *like, unsigned hops)
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
		       struct engine_lock_function *f)
{
	struct engine_lock_plan *own = p->plans->locks;
	struct engine_locks *l = p->calls->locks;
	bool ok = add_site(p, f, f->address, ENGINE_SITE_LOCK);
	size_t i;

	for (i = 1; ok && i < plan->sites.count; i++)
		if (plan->sites.items[i].kind == CP_PROBE_SITE_RETURN)
			ok = add_site(p, f, plan->sites.items[i].address, ENGINE_SITE_LOCKED);
	f->number = l->count;
	if (!ok || f->site_count < 2 || !cp_vec_push(&l->functions, *f) ||
	    !cp_vec_push(&own->functions, *f))
		return false;
	l->count++;
	return true;
}

/* True when it is watched. */
static bool plan_at(struct planner *p, uint64_t address, const struct engine_lock_function *like,
		    unsigned hops)
{
	struct engine_lock_function made = *like;
	const struct engine_lock_function *other;
	struct cp_probe_function *f = function_at(p, address);
	struct cp_probe_plan plan = { 0 };
	struct cp_error *err;
	bool ok;

	cp_vec_for_each(&p->plans->locks->functions, other)
		if (other->address == address)
			return true;
	if (!f || p->calls->locks->count >= FUNCTIONS_MAX)
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

enum { LOCK, WAIT, PRIVATE, TIMED, CLOCK, ROUTINES };
static const char *const routines[ROUTINES] = {
	[LOCK] = "pthread_mutex_lock",	       [WAIT] = "__lll_lock_wait",
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
	static const struct engine_lock_function rust = { .type = "std::sync::Mutex" };
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
	static const struct engine_lock_function mutex = { .type = "pthread_mutex_t",
							   .owned = true },
						 inner = { .type = "lock of the C library" },
						 timed = { .type = "pthread_mutex_t",
							   .owned = true,
							   .timed = true };
	uint64_t at[ROUTINES] = { 0 };
	bool found = false;

	find_names(p, at);
	if (!at[LOCK] || !engine_plans_read(p->assembly, p->plans))
		return;
	if (!at[WAIT])
		at[WAIT] = find_slow_path(p, at[LOCK]);
	found = at[WAIT] && plan_at(p, at[WAIT], &mutex, 0);
	if (!found) {
		p->calls->locks->why = "where pthread_mutex_lock waits could not be found";
		return;
	}
	p->plans->locks->lock = at[LOCK];
	if (at[PRIVATE])
		plan_at(p, at[PRIVATE], &inner, 0);
	if (at[TIMED])
		plan_at(p, at[TIMED], &timed, HOPS);
	if (at[CLOCK])
		plan_at(p, at[CLOCK], &timed, HOPS);
}

const struct engine_lock_plan *engine_locks_plan(cprof_image *image)
{
	cprof_session *s = image->process->session;
	struct engine_calls *c = s->calls;
	struct planner p = { .calls = c, .assembly = image->assembly };

	if (!engine_locks_wanted(s) || c->locks->disarmed)
		return NULL;
	p.plans = engine_plans_of(image->assembly);
	if (!p.plans || !engine_decoder(c))
		return NULL;
	if (p.plans->locks)
		return p.plans->locks;
	p.plans->locks = calloc(1, sizeof(*p.plans->locks));
	if (!p.plans->locks)
		return NULL;
	c->locks->looked = true;
	c->locks->fetch = (struct cp_fetch){ .from = cp_arch_host()->args[0], .size = 12 };
	p.file = cp_probe_file_reader(image->assembly->image);
	find_functions(&p);
	return p.plans->locks;
}

struct cp_site_group engine_locks_group(const struct engine_calls *c,
					const struct engine_lock_function *f)
{
	return (struct cp_site_group){ .id = GROUP_LOCKS + f->number, .max_rate = c->rate_globbed };
}

/* ---- waits ---- */

static struct wait *find_wait(struct engine_locks *l, const cprof_process *p, int32_t tid,
			      uint64_t sp)
{
	size_t i;

	for (i = l->waits.count; i--;) {
		struct wait *w = &l->waits.items[i];

		if (w->process == p && w->tid == tid && w->sp == sp)
			return w;
	}
	return NULL;
}

static void remove_wait(struct engine_locks *l, size_t i)
{
	memmove(&l->waits.items[i], &l->waits.items[i + 1],
		(l->waits.count - i - 1) * sizeof(*l->waits.items));
	l->waits.count--;
}

/* One of the functions calls another one, for the same lock. */
static bool is_inner(const struct engine_locks *l, const struct wait *w)
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

void engine_locks_exit(cprof_process *p, int32_t tid)
{
	struct engine_locks *l = p->session->calls ? p->session->calls->locks : NULL;
	size_t i;

	for (i = l ? l->waits.count : 0; i--;)
		if (l->waits.items[i].process == p && (!tid || l->waits.items[i].tid == tid))
			remove_wait(l, i);
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

/* The thread of the process that calls itself so; 0: none. */
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
static void name_lock(struct engine_locks *l, const cprof_process *p, uint64_t lock)
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
	struct engine_locks *l = s->calls->locks;

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

static void on_lock(cprof_session *s, const struct engine_hit *hit,
		    const struct engine_lock_function *f)
{
	struct engine_locks *l = s->calls->locks;
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
					      f->owned ? hit->image->assembly->plans->locks->lock
						       : f->address);
	if (left) /* by a jump */
		remove_wait(l, (size_t)(left - l->waits.items));
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
	struct engine_locks *l = s->calls->locks;
	const struct cp_event_hit *e = hit->event;
	struct wait *found = find_wait(l, s->current.process, e->e.tid, e->sp), w;
	int result;

	if (!found)
		return; /* it waited before we looked */
	w = *found;
	remove_wait(l, (size_t)(found - l->waits.items));
	result = w.timed ? (int)hit->regs.r[0] : 0;
	/* Somebody took it right after we had looked. */
	if (!w.told && result == ETIMEDOUT)
		tell(s, hit, &w, CONTENTION);
	else if (!w.told)
		return;
	tell(s, hit, &w, result && result != EOWNERDEAD ? FAILED : ACQUIRED);
}

void engine_on_lock(cprof_session *s, const struct engine_hit *hit)
{
	struct engine_locks *l = s->calls->locks;
	const uint64_t *number = l ? cp_map_get(&l->by_site, hit->site) : NULL;

	if (!number || *number >= l->functions.count || l->disarmed || !hit->regs.known ||
	    !s->current.thread)
		return;
	if (s->calls->sites.items[hit->site].kind == ENGINE_SITE_LOCK)
		on_lock(s, hit, &l->functions.items[*number]);
	else
		on_locked(s, hit);
}

bool cprof_current_contention(cprof_contention *ret)
{
	const cprof_session *s = cprof_session_current();
	const struct engine_locks *l = s && s->calls ? s->calls->locks : NULL;

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

bool engine_locks_disarmed(cprof_session *s, const struct cp_event_disarmed *e)
{
	struct engine_locks *l = s->calls->locks;
	struct cp_answer answer;
	uint32_t i;

	if (e->group < GROUP_LOCKS || e->group >= GROUP_LOCKS + FUNCTIONS_MAX)
		return false;
	if (!l || l->disarmed)
		return true;
	l->disarmed = true;
	l->waits.count = 0;
	for (i = 0; i < l->count; i++) {
		struct cp_request rq = { .type = CP_REQUEST_DISARM_GROUP,
					 .first = GROUP_LOCKS + i };

		cp_error_free(cp_link_call(&s->link, &rq, &answer, NULL));
	}
	s->current.thread = cprof_thread_from_tid(e->e.tid);
	if (l->taker)
		engine_calls_raise_disarmed(s, l->taker, e->rate, e->e.ts_ns);
	if (e->rate)
		engine_warn(
			s,
			"locks were waited for more than %u times a second: those that followed "
			"are not told (--max-rate)",
			s->calls->rate_globbed);
	else
		engine_warn(s, "locks waited for in a signal handler left its thread no time for "
			       "anything else: those that followed are not told");
	return true;
}

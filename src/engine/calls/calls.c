/* SPDX-License-Identifier: MIT
 *
 * Hits into calls: what the tracer saw at a breakpoint goes through the
 * process's shadow stack, and what that makes of it is raised as method_*
 * events, those of frames that are gone before the one that shows it.
 */
#include "engine/calls/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/calls/account.h"
#include "engine/calls/by_return.h"
#include "engine/calls/context.h"
#include "engine/calls/invoke.h"
#include "engine/calls/reading.h"
#include "engine/calls/stacks.h"
#include "engine/calls/told.h"
#include "engine/calls/unwound.h"
#include "engine/probes/added.h"
#include "engine/probes/arm.h"
#include "engine/probes/fetches.h"
#include "engine/probes/hide.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/pushed.h"
#include "engine/probes/rings.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/stubs.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/live.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

/* Flag of a call: it was made by code that is not traced. */
#define CALL_INVOKED 0x100u
/* Flag of a call of a library function that was seen where it was made. Its stub may
 * follow, whose address is the function's in a program at a fixed place. */
#define CALL_AT_ONCE 0x200u
#define CALL_UNKNOWN 0x800u /* its condition could not be evaluated */

/* ---- the event's pieces ---- */

/* `size` bytes at *offset of the event, or NULL; moves *offset behind them. */
static const uint8_t *piece(const struct cp_event_hit *e, size_t *offset, uint32_t size)
{
	const uint8_t *at = (const uint8_t *)e + *offset;

	if (!size || size > e->e.size || *offset > e->e.size - size)
		return NULL;
	*offset += cp_align8(size);
	return at;
}

static void open_hit(cprof_session *s, const struct cp_event_hit *e, struct engine_hit *ret)
{
	const struct cp_arch *arch = cp_arch_host();
	struct engine_capture *capture = &s->current.capture;
	size_t offset = sizeof(*e);
	const uint8_t *regs = piece(e, &offset, e->regs_size);
	const uint8_t *vector = piece(e, &offset, e->vector_size);

	*ret = (struct engine_hit){ .event = e, .site = e->site };
	if (regs && e->regs_size == arch->nregs * sizeof(uint64_t)) {
		memcpy(ret->regs.r, regs, e->regs_size);
		ret->regs.known = (UINT64_C(1) << arch->nregs) - 1;
	}
	if (vector && e->vector_size == sizeof(*ret->vector))
		ret->vector = (const struct cp_hit_vector *)(const void *)vector;
	ret->fetched = piece(e, &offset, e->fetched_size);
	ret->stack = piece(e, &offset, e->stack_size);
	*capture = (struct engine_capture){
		.regs = ret->regs,
		.pc = e->pc,
		.ts_ns = e->e.ts_ns,
		.stack_base = e->stack_base,
		.stack = ret->stack,
		.stack_size = ret->stack ? e->stack_size : 0,
		.slot = e->slot,
	};
	if (!capture->regs.known) {
		capture->regs.known = UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
		capture->regs.r[arch->sp] = e->sp;
	}
	capture->regs.r[arch->pc] = e->pc;
	/* At a call instruction, walks begin as before the call. */
	if (e->e.flags & CP_HIT_CALLS)
		capture->regs.r[arch->sp] = e->sp + arch->ret_size;
}

/* Takes breakpoints out of what was fetched: pointers lead into text, too. */
static void hide_in_fetched(const cprof_process *p, const struct engine_hit *hit)
{
	struct cp_fetched block;
	const uint8_t *bytes;
	size_t at = 0;

	while (cp_fetched_next(hit->fetched, hit->event->fetched_size, &at, &block, &bytes))
		engine_hide_breakpoints(p, block.address,
					(uint8_t *)(uintptr_t)bytes, /* in our own memory */
					block.size);
}

/* The image whose site was hit. Of a planned site, the pc tells the image's bias. */
static const cprof_image *image_of_hit(cprof_process *p, const struct engine_site *site,
				       const struct cp_event_hit *e)
{
	const struct engine_text *text = engine_find_text(p, e->pc);
	uint64_t bias = e->pc - site->address;
	size_t i;

	if (!text && engine_refresh_maps(p, e->e.ts_ns, true))
		text = engine_find_text(p, e->pc);
	/* A record may be made before the next instruction that does something. */
	if (!site->address || e->e.flags & CP_HIT_RECORD || (text && text->image->bias == bias))
		return text ? text->image : NULL;
	for (i = 0; i < p->images.count; i++) {
		const cprof_image *image = p->images.items[i];

		if (image->bias == bias && e->pc >= image->start && e->pc < image->end)
			return image;
	}
	return NULL;
}

static void note_time(cprof_thread *t, uint64_t ts_ns)
{
	if (t->told_ns == ts_ns)
		return;
	t->before_ns = t->told_ns;
	t->told_ns = ts_ns;
}

static void note_stop(cprof_thread *t, const struct cp_event_hit *e)
{
	note_time(t, e->e.ts_ns);
	engine_account(t, e);
}

void engine_calls_held(cprof_thread *t, const struct cp_event_hit *e, bool straight)
{
	engine_account(t, e);
	t->held_ns = e->e.ts_ns;
	t->held_straight = straight;
}

/* ---- raising ---- */

void engine_calls_set_current(struct engine_calls *c, const struct cp_call *call)
{
	c->has_current = true;
	c->inherited_from = call->flags & CP_CALL_INHERITED ? call->entered_tid : 0;
	c->current = (cprof_call){
		.timestamp_ns = c->now_ns,
		.enter_ns = call->enter_ns,
		.cfa = (call->sp & ~(uint64_t)CP_SHADOW_STUB) + cp_arch_host()->ret_size,
		.depth = call->depth,
		.process_exit = c->exiting,
		.stack = call->stack,
	};
}

static struct engine_context context_of(cprof_session *s, const struct cp_call *call, bool leave)
{
	return (struct engine_context){
		.session = s,
		.signature = s->calls->traced.items[call->function]->signature,
		.arena = s->calls->arena,
		.traced = s->calls->traced.items[call->function],
		.hit = s->current.hit,
		.entry = leave ? call->data : NULL,
		.call = call,
		.enter_ns = call->enter_ns,
		.now_ns = s->calls->now_ns,
		.leave = leave,
	};
}

static void raise_enter(cprof_session *s, const struct cp_call *call, unsigned flags)
{
	struct engine_context x = context_of(s, call, false);
	cprof_call_context *handle = NULL;

	if (!(flags & CPROF_CALL_INSTRUMENTATION_ENTER) || !call->subject)
		return;
	engine_calls_set_current(s->calls, call);
	s->calls->events++;
	if (flags & CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT || engine_fetches(x.traced))
		handle = engine_live_begin(s, ENGINE_LIVE_CONTEXT, &x);
	engine_raise(s, method_enter, call->subject, handle);
	engine_live_end(s, handle);
	cp_value_arena_reset(s->calls->arena);
}

static void raise_leave(cprof_session *s, const struct cp_call *call, unsigned flags)
{
	struct engine_context x = context_of(s, call, true);
	cprof_call_context *handle = NULL;

	if (!(flags & CPROF_CALL_INSTRUMENTATION_LEAVE))
		return;
	s->calls->events++;
	if (flags & CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT || engine_fetches(x.traced))
		handle = engine_live_begin(s, ENGINE_LIVE_CONTEXT, &x);
	engine_raise(s, method_leave, call->subject, handle);
	engine_live_end(s, handle);
	cp_value_arena_reset(s->calls->arena);
}

static void raise_tail_call(cprof_session *s, const struct cp_call *call, unsigned flags)
{
	const struct engine_hit *hit = s->current.hit;
	const cprof_function *target = NULL;
	const struct engine_text *text = NULL;
	uint64_t at = 0;
	bool arrived = hit && s->calls->sites.items[hit->site].kind == ENGINE_SITE_ENTRY;

	if (!(flags & CPROF_CALL_INSTRUMENTATION_TAIL_CALL))
		return;
	if (hit) /* at an entry: the call ran on into the function that begins there */
		at = arrived ? hit->event->pc : hit->event->target;
	target = hit ? engine_library_function(s, hit) : NULL;
	if (at && !target)
		text = engine_find_text(s->current.process, at);
	if (text)
		target = engine_function_at(s, text->image, at - text->image->bias);
	s->calls->events++;
	engine_raise(s, method_tail_call, call->subject, target);
}

/* What detours took of the call's time: of those inside, and between its own entry and exit,
 * if records tell of those. */
static struct cp_taken taken_since(const cprof_session *s, const struct cp_taken *now,
				   const struct cp_call *call)
{
	const struct engine_hit *hit = s->current.hit;
	double within = hit && hit->recorded ? s->calls->price.within_ps / 1e3 : 0;

	return (struct cp_taken){ now->ns - call->account.taken.ns,
				  now->range - call->account.taken.range + CP_TAKEN_MOST * within };
}

/* Sets how much of the time since the entry cprof's stops took. Where that is not known
 * well enough: what is certain, and how much more it may have been, twice as far as to what
 * is likely. */
static void set_overhead(const cprof_session *s, const struct cp_call *call, cprof_call *ret)
{
	double lasted = (double)(ret->timestamp_ns - ret->enter_ns), own, doubt, slack, most;
	const cprof_thread *t = s->current.thread;
	struct cp_taken taken;

	if (!t || t->tid != call->tid || t->account.lost_ns < call->account.lost_ns) {
		ret->uncertain_ns = (uint64_t)lasted;
		return;
	}
	taken = taken_since(s, &t->account.taken, call);
	own = lasted - (double)(t->account.lost_ns - call->account.lost_ns) - taken.ns -
	      taken.range / 2;
	slack = cp_slack_since(&t->account.doubt, &call->account.doubt) + taken.range / 2;
	most = own + slack > 0 ? own + slack : 0;
	own = own > 0 ? own : 0;
	doubt = cp_doubt_since(&t->account.doubt, &call->account.doubt) + taken.range / 4;
	if (t->account.lost_ns != call->account.lost_ns &&
	    own < (double)s->link.shared->stats.slow_stop_ns && doubt < own / 8)
		doubt = own / 8; /* one stop may have been slow, unseen */
	if (2 * doubt > ENGINE_PLAIN_DOUBT * own || slack > ENGINE_PLAIN_DOUBT * own) {
		slack = most - own > doubt ? most - own : doubt;
		own = most;
		ret->uncertain_ns = (uint64_t)(2 * slack) + 1;
		own = own < CP_TIME_FINEST ? CP_TIME_FINEST : own;
	}
	ret->overhead_ns = own < lasted ? (uint64_t)(lasted - own) : 0;
}

/* CPU time of the call so far; 0: not asked for, or not known. */
static uint64_t cpu_time(const cprof_session *s, const struct cp_call *call)
{
	const cprof_thread *t = s->current.thread;

	if (!t || t->tid != call->tid || !call->account.run_ns ||
	    t->account.run_ns < call->account.run_ns)
		return 0;
	return t->account.run_ns - call->account.run_ns;
}

/* The exception that unwinds the call; NULL: none is known. */
static const cprof_object *unwinds(cprof_session *s, const struct cp_call *call)
{
	const cprof_object *object = NULL;

	engine_each_family(s, f, unwinds)
		object = object ? object : f->unwinds(s, call);
	return object;
}

static void raise_unwound(cprof_session *s, const struct cp_call *call, unsigned flags)
{
	struct engine_calls *c = s->calls;

	if (!(flags & CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE))
		return;
	c->events++;
	if (c->current.unsure && !c->unsure_warned)
		engine_warn(s,
			    "process %d: where calls seemed to have been left, the stack could "
			    "not be walked: they may have been at rest while a coroutine ran",
			    s->current.process->pid);
	c->unsure_warned |= c->current.unsure;
	engine_raise(s, method_exception_leave, call->subject,
		     c->exiting || c->current.lost ? NULL : unwinds(s, call));
}

/* A call ended (cp_call_end_fn). */
static void on_end(void *ctx, const struct cp_call *call, enum cp_call_end how)
{
	cprof_process *p = ctx;
	cprof_session *s = p->session;
	struct engine_calls *c = s->calls;
	unsigned flags = c->traced.items[call->function]->flags;

	if (c->exiting) /* all open calls end: the event is no thread's own */
		s->current.thread = cprof_thread_from_tid(call->tid);
	engine_calls_set_current(s->calls, call);
	s->calls->current.unsure = how == CP_CALL_UNSURE;
	s->calls->current.lost = how == CP_CALL_LOST;
	set_overhead(s, call, &s->calls->current);
	if (how == CP_CALL_UNWOUND || how == CP_CALL_UNSURE)
		engine_unwound_doubt(s, call, &s->calls->current);
	s->calls->current.cpu_ns = cpu_time(s, call);
	if (c->traced.items[call->function]->family && !c->exiting)
		engine_role_ended(s, call, how);
	if (call->flags & CP_CALL_HIDDEN && !(call->flags & CALL_UNKNOWN) &&
	    flags != ENGINE_TRACED_ROLE && (how == CP_CALL_RETURNED || how == CP_CALL_TAIL_CALLED))
		c->rejected_condition++;
	if (call->flags & CP_CALL_HIDDEN || !call->subject)
		how = CP_CALL_ENDED;
	switch (how) {
	case CP_CALL_RETURNED:
		raise_leave(s, call, flags);
		break;
	case CP_CALL_TAIL_CALLED:
		raise_tail_call(s, call, flags);
		break;
	case CP_CALL_UNWOUND:
	case CP_CALL_UNSURE:
	case CP_CALL_LOST:
		raise_unwound(s, call, flags);
		break;
	case CP_CALL_ENDED:
		break;
	}
	if (how != CP_CALL_ENDED && call->flags & CALL_INVOKED)
		engine_raise(s, method_end_invoke, call->subject);
	free(call->data);
}

bool engine_calls_shadow(cprof_process *p)
{
	if (!p->shadow)
		p->shadow = cp_shadow_create(on_end, p, (uint32_t)p->pid << 16);
	return p->shadow;
}

/* ---- hits ---- */

/* Code that runs on into the next function, or jumps there, enters it with its own
 * return address: ends that call, and answers it. */
static struct cp_call end_by_running_on(cprof_process *p, const struct cp_shadow_at *at,
					const struct cp_event_hit *e, uint32_t number)
{
	const struct cp_call *open = cp_shadow_find(p->shadow, at->sp);
	struct cp_call ended = { 0 };

	if (open && open->flags & CP_CALL_BY_RETURN && open->function != number && e->caller &&
	    open->caller == e->caller) {
		ended = *open;
		cp_shadow_leave(p->shadow, at, CP_SHADOW_ANY, CP_CALL_TAIL_CALLED);
	}
	return ended;
}

/* The first entry of a function traced for ONCE: its call has no place among the open
 * ones, since no other stop will tell of it. */
static void on_first_entry(cprof_session *s, const struct engine_hit *hit, uint32_t number)
{
	struct cp_call call = {
		.function = number,
		.tid = hit->event->e.tid,
		.sp = hit->event->sp,
		.caller = hit->event->caller,
		.enter_ns = hit->event->e.ts_ns,
	};

	if (s->calls->condition && engine_condition_refuses(s, hit, &call.flags, CALL_UNKNOWN))
		return;
	if (hit->image)
		call.subject = engine_traced_function(s, hit->image, number);
	s->calls->entering = &call;
	raise_enter(s, &call, s->calls->traced.items[number]->flags);
	s->calls->entering = NULL;
}

/* A loop's head may be where its function begins: who jumps there from inside of it, where
 * its call is the innermost one, goes round, and calls nothing. */
static bool goes_round(cprof_session *s, const struct cp_shadow_at *at,
		       const struct engine_hit *hit, uint32_t number)
{
	struct engine_calls *c = s->calls;

	if (!c->traced.items[number]->loops || !hit->event->caller ||
	    !cp_shadow_goes_on(s->current.process->shadow, at, number, hit->event->caller))
		return false;
	c->rejected_inside++;
	if (hit->recorded)
		engine_price_take(&c->price, 1, &s->current.thread->account.taken);
	return true;
}

static bool is_stub(const struct engine_traced *t, uint32_t site)
{
	return site == t->first_site && !(t->function->flags & CP_PROBE_SLOT);
}

/* Is `call` the stub of a call that was seen where it was made a moment ago? */
static bool was_seen(const cprof_process *p, uint64_t sp, const struct cp_call *call)
{
	const struct cp_call *open = cp_shadow_find(p->shadow, sp);

	return open && open->flags & CALL_AT_ONCE && open->function == call->function &&
	       open->caller == call->caller;
}

/* Does who is told of the leave want what was captured at the entry? */
static bool keeps_entry(const cprof_session *s, const struct engine_traced *t)
{
	if (s->introspection && t->flags & CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT)
		return true;
	return engine_fetches(t) && t->flags & CPROF_CALL_INSTRUMENTATION_LEAVE &&
	       (t->fetching->entry || t->fetching->late);
}

static void on_entry(cprof_session *s, struct cp_shadow_at *at, const struct engine_hit *hit)
{
	struct engine_calls *c = s->calls;
	const struct cp_event_hit *e = hit->event;
	uint32_t number = c->sites.items[hit->site].traced;
	const struct engine_traced *t = c->traced.items[number];
	cprof_process *p = s->current.process;
	struct cp_call call = {
		.function = number,
		.caller = e->caller,
		.enter_ns = e->e.ts_ns,
		.account = s->current.thread->account,
		.flags = t->by_return ? CP_CALL_BY_RETURN : 0,
	}, ended = { 0 }, *entered;

	if (t->flags & CPROF_CALL_INSTRUMENTATION_ONCE) {
		on_first_entry(s, hit, number);
		return;
	}
	if (goes_round(s, at, hit, number))
		return;
	if (c->by_return && !(e->e.flags & CP_HIT_CALLS))
		ended = end_by_running_on(p, at, e, number);
	if (t->function->kind == CP_PROBE_PLT) {
		at->sp |= CP_SHADOW_STUB;
		if (!is_stub(t, hit->site))
			call.flags |= CALL_AT_ONCE;
		else if (was_seen(p, at->sp, &call))
			return;
	}
	if (t->family && engine_role_entered(s, hit, &call, &ended))
		return;
	if (!engine_traced_by_others(t)) {
		call.flags |= CP_CALL_HIDDEN;
	} else if (c->condition && !(e->e.flags & CP_HIT_DECIDED) &&
		   engine_condition_refuses(s, hit, &call.flags, CALL_UNKNOWN)) {
		call.flags |= CP_CALL_HIDDEN;
	} else if (keeps_entry(s, t)) {
		call.data = engine_entry_keep(hit);
	}
	c->told += e->e.flags & CP_HIT_DECIDED ? 1 : 0;
	if (hit->image)
		call.subject = engine_traced_function(s, hit->image, number);
	if (!(call.flags & CP_CALL_HIDDEN) && call.subject && engine_tells_invokes(s) &&
	    engine_invoked(s, e->caller))
		call.flags |= CALL_INVOKED;
	at->pushed = engine_pushed_at(p, c->traced.items[number], at, e->caller);
	entered = cp_shadow_enter(p->shadow, at, &call);
	at->pushed = 0;
	c->entering = entered;
	if (entered && entered->flags & CALL_INVOKED) {
		engine_calls_set_current(c, entered);
		engine_raise(s, method_begin_invoke, entered->subject);
	}
	if (!entered)
		free(call.data);
	else if (!(entered->flags & CP_CALL_HIDDEN))
		raise_enter(s, entered, t->flags);
	c->entering = NULL;
	if (e->e.flags & CP_HIT_WANTS_RETURN && e->caller)
		engine_arm_return(p, t->return_site, e->caller);
}

/* May profilers that are told of the hit walk its stack? Only where a stack was asked
 * for: one may come along just to tell which stack it is. */
static bool is_walkable(const cprof_session *s, const struct engine_hit *hit)
{
	const struct engine_site *site = &s->calls->sites.items[hit->site];
	const struct engine_traced *t = s->calls->traced.items[site->traced];
	bool asked = engine_role_captures(s, t, site->kind) & CP_SITE_STACK;

	if (site->kind == ENGINE_SITE_ENTRY)
		asked |= t->flags & CPROF_CALL_INSTRUMENTATION_STACK;
	return s->current.capture.held || (hit->stack && asked);
}

static void on_call_event(cprof_session *s, const struct engine_hit *hit)
{
	struct engine_calls *c = s->calls;
	struct cp_shadow *shadow = s->current.process->shadow;
	struct cp_shadow_at at = engine_calls_where(s, hit->event);
	const struct engine_site *site =
		&c->sites.items[hit->site]; /* now: the line above may plan */

	s->current.walkable = is_walkable(s, hit);
	if (c->by_return)
		engine_calls_end_by_return(s, &at, hit);
	switch ((enum engine_site_kind)site->kind) {
	case ENGINE_SITE_ENTRY:
		on_entry(s, &at, hit);
		break;
	/* The open call at that stack pointer leaves, whichever function the site is
	 * planned for: in assembly, functions share code. */
	case ENGINE_SITE_EXIT:
		c->unmatched += !cp_shadow_leave(shadow, &at, CP_SHADOW_ANY, CP_CALL_RETURNED);
		break;
	case ENGINE_SITE_TAIL:
		c->unmatched += !cp_shadow_leave(shadow, &at, CP_SHADOW_ANY, CP_CALL_TAIL_CALLED);
		break;
	case ENGINE_SITE_RETURN: /* engine_calls_end_by_return() did it */
	case ENGINE_SITE_OWN:
		break;
	}
	c->has_current = false;
}

/* Where the hit is, also by a stack that profilers are not to be shown. */
static struct cp_shadow_at where(cprof_session *s, const struct cp_event_hit *e)
{
	bool walkable = s->current.walkable;
	struct cp_shadow_at at;

	s->current.walkable |= s->current.hit && s->current.hit->stack;
	at = engine_calls_where(s, e);
	s->current.walkable = walkable;
	return at;
}

void engine_calls_reach(cprof_session *s, const struct cp_event_hit *e, uint64_t sp)
{
	struct cp_shadow *shadow = s->current.process->shadow;
	struct cp_shadow_at at = where(s, e);
	const struct cp_call *top;

	s->calls->reached = true;
	cp_shadow_reach(shadow, &at, sp);
	s->calls->reached = false;
	top = cp_shadow_top(shadow, e->e.tid);
	engine_calls_set_current(s->calls,
				 &(struct cp_call){
					 .sp = sp,
					 .enter_ns = e->e.ts_ns,
					 .depth = top ? top->depth + !(top->flags & CP_CALL_HIDDEN)
						      : 0 });
}

/* A hit at a site of a family's own. */
static void on_own(cprof_session *s, const struct engine_site *site, const struct cp_event_hit *e)
{
	const struct engine_family *f = s->families[site->family];
	struct engine_calls *c = s->calls;
	struct engine_hit hit;

	if (f->tells && !engine_calls_shadow(s->current.process))
		return;
	open_hit(s, e, &hit);
	hit.what = site->what;
	if (f->tells) {
		c->now_ns = e->e.ts_ns;
		note_stop(s->current.thread, e);
		hit.image = image_of_hit(s->current.process, site, e);
		s->current.hit = &hit;
		s->current.walkable = hit.stack != NULL;
	} else {
		c->hooks++;
	}
	if (f->hit && !(s->disarmed >> site->family & 1))
		f->hit(s, &hit);
	s->current.hit = NULL;
	c->has_current &= !f->tells;
}

uint64_t engine_target_of(struct engine_calls *c, const struct engine_site *site, uint64_t pc,
			  const struct cp_regs *regs, const struct cp_reader *memory)
{
	uint8_t slot[CP_SLOT_SIZE];
	struct cp_step step;

	if (site->kind != ENGINE_SITE_TAIL ||
	    !cp_step_prepare(c->decoder, site->code, site->size, pc, pc, slot, &step))
		return 0;
	if (step.flow != CP_FLOW_JUMP_INDIRECT)
		return step.target;
	return cp_step_destination(&step, regs, 0, memory);
}

void engine_calls_deliver(cprof_session *s, const struct engine_hit *hit)
{
	struct engine_calls *c = s->calls;
	const struct engine_site site = c->sites.items[hit->site];

	if (!engine_calls_shadow(s->current.process))
		return;
	c->now_ns = hit->event->e.ts_ns;
	note_time(s->current.thread, c->now_ns);
	s->current.hit = hit;
	if (!c->traced.items[site.traced]->disarmed) {
		s->current.capture.held = engine_holds(s, c->traced.items[site.traced], &site);
		s->current.walkable = hit->stack || s->current.capture.held;
		on_call_event(s, hit);
	} else {
		c->late++;
		if (site.kind == ENGINE_SITE_RETURN)
			engine_calls_return_late(s, hit);
	}
	s->current.hit = NULL;
}

/* A hit in the place of a record, which may be of two sites. */
static void deliver_record(cprof_session *s, const struct engine_hit *hit)
{
	const struct cp_reader *memory = &s->current.process->memory;
	uint32_t numbers[2] = { hit->site, s->calls->sites.items[hit->site].also };
	struct cp_event_hit e = *hit->event;
	struct engine_told told;
	struct engine_hit one;
	size_t i;

	for (i = 0; i < 2 && (!i || numbers[i]); i++) {
		const struct engine_site *site = &s->calls->sites.items[numbers[i]];

		one = *hit;
		one.event = &e;
		one.recorded = true;
		e.site = one.site = numbers[i];
		if (hit->image)
			e.pc = site->address + hit->image->bias;
		if (!site->judged)
			e.e.flags |= CP_HIT_DECIDED;
		e.target = engine_target_of(s->calls, site, e.pc, &hit->regs, memory);
		if (site->kind == ENGINE_SITE_TAIL)
			e.e.flags |= CP_HIT_TAKEN;
		else
			e.target = hit->regs.r[cp_arch_host()->args[0]];
		engine_told_fetch(s, &one, &told);
		engine_calls_deliver(s, &one);
	}
}

/* A thread stopped in the place of a record, certainly until `now_ns`, and goes on with what
 * it does. */
static void note_hold(cprof_thread *t, const struct cp_event_hit *e, uint64_t now_ns)
{
	if (now_ns > e->e.ts_ns)
		t->account.lost_ns += now_ns - e->e.ts_ns;
	t->held_ns = now_ns;
	t->held_straight = false;
}

/* A signal's handler may have run before it happened, and then it comes again. */
static bool is_news(const cprof_session *s, const struct engine_site *site,
		    const struct engine_hit *hit)
{
	const struct cp_event_hit *e = hit->event;
	struct engine_ring *ring = engine_ring_of(s->current.process, e->e.tid);
	const uint64_t words[] = { e->caller, hit->regs.r[cp_arch_host()->args[0]] };
	const struct engine_again now = { e->sp, engine_site_mark(site, words, 2), e->site };

	return !ring || !engine_ring_told(ring, &now);
}

void engine_on_hit(cprof_session *s, const struct cp_event_hit *e)
{
	uint64_t now_ns = e->e.flags & CP_HIT_STAYS ? cp_now() : e->e.ts_ns;
	struct engine_calls *c = s->calls;
	struct engine_site site;
	struct engine_hit hit;

	if (!c || e->e.size < sizeof(*e) || e->site >= c->sites.count)
		return;
	site = c->sites.items[e->site];
	if (site.kind == ENGINE_SITE_OWN) {
		on_own(s, &site, e);
		return;
	}
	open_hit(s, e, &hit);
	note_stop(s->current.thread, e);
	hit.image = image_of_hit(s->current.process, &site, e);
	hide_in_fetched(s->current.process, &hit);
	if (e->e.flags & CP_HIT_RECORD) {
		if (is_news(s, &site, &hit))
			deliver_record(s, &hit);
		note_hold(s->current.thread, e, now_ns);
		engine_reading_stopped(s, e);
	} else {
		engine_calls_deliver(s, &hit);
		if (e->e.flags & CP_HIT_STAYS)
			note_hold(s->current.thread, e, now_ns);
	}
}

void engine_calls_place(cprof_session *s, const struct cp_event_hit *e)
{
	struct engine_hit hit;

	if (!s->calls || e->e.size < sizeof(*e) || !engine_calls_shadow(s->current.process))
		return;
	open_hit(s, e, &hit);
	s->current.hit = &hit;
	s->current.walkable = hit.stack != NULL;
	engine_calls_where(s, e);
	s->current.hit = NULL;
}

void engine_calls_exit(cprof_process *p, int32_t tid, uint64_t ts_ns)
{
	struct engine_calls *c = p->session->calls;

	engine_each_family(p->session, f, exited)
		f->exited(p, tid);
	if (!c || !p->shadow)
		return;
	c->now_ns = ts_ns;
	c->exiting = true;
	cp_shadow_thread_exit(p->shadow, tid, CP_CALL_UNWOUND);
	c->exiting = c->has_current = false;
}

void engine_calls_end(cprof_session *s)
{
	size_t i;

	for (i = 0; s->calls && i < s->processes.count; i++)
		if (s->processes.items[i]->shadow)
			cp_shadow_thread_exit(s->processes.items[i]->shadow, 0, CP_CALL_ENDED);
	if (s->calls)
		s->calls->has_current = false;
}

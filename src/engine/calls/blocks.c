/* SPDX-License-Identifier: MIT
 *
 * Records of detours into calls by the thousand (method_block). Nearly all say no more
 * than that a thread entered a function below all of its open calls, or left the innermost
 * one, on its own stack: for these the shadow stack needs to look nowhere else
 * (probe/shadow_plain.c), and what was looked up of a site or of a caller is good for the
 * next million.
 *
 *     record ─► plain? ─► shadow stack ─► the thread's block ─► method_block
 *                 └ no ─► the block so far is told, then the way of hits (records.c)
 *
 * What goes the way of hits: whatever ends other calls too, or ends one whose time stops
 * have lengthened; what began that way ends that way, so that a block can be understood
 * without it. Signal handlers, main, start routines; roles, limits that were asked for;
 * values that have no form (probes/valued.c). Blocks of two threads say nothing of
 * each other, so that the threads' records need not be put in order.
 */
#include "engine/calls/blocks.h"

#include <string.h>

#include "base/clock.h"
#include "engine/calls/calls.h"
#include "engine/calls/invoke.h"
#include "engine/probes/detours.h"
#include "engine/probes/objects.h"
#include "engine/probes/pushed.h"
#include "engine/probes/sites.h"
#include "engine/probes/stubs.h"
#include "engine/probes/valued.h"
#include "engine/probes/valued_site.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "link/records_plain.h"

/* Flag of a call: its enter is in a block. */
#define CALL_IN_BLOCK 0x400u
#define BLOCK_MAX 512 /* they are read where they were written: in the caches */
#define BATCH 256 /* records after which there is room for new ones */
#define TIME_UNIT 8 /* ns, in which recordings have the times of blocks: ends fit beginnings then */
#define ALWAYS_INLINE __attribute__((always_inline)) static inline
#define CALLS \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE | \
	 CPROF_CALL_INSTRUMENTATION_TAIL_CALL | CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE)
#define VALUES (CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT | CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT)

/* ---- who wants blocks ---- */

bool engine_blocks_wanted(const cprof_session *s)
{
	const struct cprof_profiler_desc *p;
	bool any = false;

	if (!s->calls || s->calls->cpu_time || engine_tells_invokes(s))
		return false;
	for (p = s->profilers; p; p = p->next) {
		if (p->method_block)
			any = true;
		else if (p->method_enter || p->method_leave || p->method_tail_call)
			return false;
	}
	return any;
}

void engine_blocks_tell(cprof_session *s, struct engine_ring *ring)
{
	const struct engine_current outer = s->current;
	cprof_thread *t = ring->block.count ? cprof_thread_from_tid(ring->tid) : NULL;

	if (t) {
		s->current = (struct engine_current){ .process = t->process, .thread = t };
		engine_raise(s, method_block, t, ring->block.items, ring->block.count);
		s->current = outer;
	}
	ring->block.count = 0;
	engine_valued_clear(ring); /* texts of records that went the way of hits, too */
}

void engine_blocks_tell_all(cprof_session *s)
{
	struct engine_rings **rings;
	uint32_t i;

	if (!s->calls)
		return;
	cp_vec_for_each(&s->calls->rings, rings)
		for (i = 0; i < (*rings)->used; i++)
			engine_blocks_tell(s, &(*rings)->items[i]);
}

/* ---- what is known of sites ---- */

static bool is_start(const cprof_function *f)
{
	return !strcmp(f->linkage_name, "main") || !strcmp(f->linkage_name, "_start");
}

/* What a jump to `address` leads to; false: code that nothing was looked up of yet. */
static bool find_target(cprof_session *s, const cprof_process *p, uint64_t address,
			const cprof_function **ret)
{
	const struct engine_text *text = address ? engine_find_text(p, address) : NULL;

	*ret = NULL;
	if (text && !text->image->assembly->image)
		return false;
	if (text)
		*ret = engine_function_at(s, text->image, address - text->image->bias);
	return true;
}

/* Where a tail call leads to, or that its records say it. False: neither. */
static bool look_at_jump(cprof_session *s, const cprof_process *p, cprof_image *image,
			 const struct engine_site *site, struct engine_plain_site *ret)
{
	uint64_t pc = site->address + image->bias;
	uint8_t slot[CP_SLOT_SIZE];
	struct cp_step step;

	ret->target = engine_library_called(s, image, site);
	ret->jumps = !ret->target && site->jumps;
	if (ret->target || ret->jumps)
		return true;
	return cp_step_prepare(s->calls->decoder, site->code, site->size, pc, pc, slot, &step) &&
	       step.flow != CP_FLOW_JUMP_INDIRECT && find_target(s, p, step.target, &ret->target);
}

/* The second site of a record that has two. */
static bool ends_plainly(const struct engine_calls *c, const struct engine_site *site)
{
	const struct engine_site *also = &c->sites.items[site->also];

	return site->kind == ENGINE_SITE_ENTRY && !also->also && also->traced == site->traced &&
	       (also->kind == ENGINE_SITE_EXIT || also->kind == ENGINE_SITE_TAIL) &&
	       !site->valued && !also->valued;
}

static struct engine_plain_site look_at(cprof_session *s, cprof_process *p, uint32_t number)
{
	const struct engine_calls *c = s->calls;
	struct engine_site *site = &s->calls->sites.items[number];
	struct engine_plain_site ret = { .traced = site->traced,
					 .also = site->also,
					 .pushed = ENGINE_PUSHED_MOST,
					 .what = ENGINE_PLAIN_NOT };
	const struct engine_traced *t =
		site->traced < c->traced.count ? c->traced.items[site->traced] : NULL;
	cprof_image *image = t ? engine_detours_image(p, site->traced) : NULL;
	bool valued;

	if (!image || (site->also && !ends_plainly(c, site)) || t->disarmed || t->family ||
	    t->by_return || (t->flags & ~VALUES) != CALLS || t->function->kind == CP_PROBE_PLT ||
	    (c->rate_said && t->max_rate))
		return ret;
	ret.function = engine_traced_function(s, image, site->traced);
	ret.loops = t->loops;
	valued = site->valued && site->kind != ENGINE_SITE_TAIL;
	ret.valued = valued ? engine_valued_of(p, site) : NULL;
	if (!ret.function || (valued && !ret.valued))
		return ret;
	s->calls->told += site->kind == ENGINE_SITE_ENTRY && !site->judged; /* its detour decides */
	if (site->kind == ENGINE_SITE_ENTRY && !is_start(ret.function))
		ret.what = site->also ? ENGINE_PLAIN_BOTH : ENGINE_PLAIN_ENTER;
	else if (site->kind == ENGINE_SITE_EXIT)
		ret.what = ENGINE_PLAIN_LEAVE;
	else if (site->kind == ENGINE_SITE_TAIL && look_at_jump(s, p, image, site, &ret))
		ret.what = ENGINE_PLAIN_TAIL;
	return ret;
}

static const struct engine_plain_site *site_of(const struct engine_blocks *b, uint32_t number)
{
	struct engine_detours *d = b->thread->process->detours;
	struct engine_plain_site *site = &d->plain.items[number];

	if (site->what == ENGINE_PLAIN_UNKNOWN)
		*site = look_at(b->session, b->thread->process, number);
	return site;
}

/* Room for what is known of sites, and nothing that may be another way by now. */
static bool refresh(const cprof_session *s, struct engine_detours *d)
{
	size_t count = s->calls->sites.count;

	if (d->changes == s->calls->changes + 1 && d->plain.count == count)
		return true;
	if (!d->callers)
		d->callers = calloc(ENGINE_PLAIN_CALLERS, sizeof(*d->callers));
	if (!d->targets)
		d->targets = calloc(ENGINE_PLAIN_TARGETS, sizeof(*d->targets));
	if (!d->callers || !d->targets || !cp_vec_reserve(&d->plain, count))
		return false;
	d->plain.count = count;
	memset(d->plain.items, 0, count * sizeof(*d->plain.items));
	memset(d->callers, 0, ENGINE_PLAIN_CALLERS * sizeof(*d->callers));
	memset(d->targets, 0, ENGINE_PLAIN_TARGETS * sizeof(*d->targets));
	d->changes = s->calls->changes + 1; /* never 0 */
	return true;
}

/* Where what is known of an address is, of so many. */
static inline size_t place_of(uint64_t address, size_t places)
{
	return (address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % places;
}

/* Is it traced code, or code of an image, that makes the call? */
static bool find_caller(const struct engine_blocks *b, const struct cp_call *outer, uint64_t caller,
			const cprof_image **from_ret)
{
	const cprof_function *f = outer ? outer->subject : NULL;
	cprof_process *p = b->thread->process;
	struct engine_plain_caller *known;

	if (f && caller - 1 - f->start < f->size)
		return true;
	known = &p->detours->callers[place_of(caller, ENGINE_PLAIN_CALLERS)];
	if (known->address != caller) {
		const cprof_image *image = NULL;

		if (!caller || !engine_invoked_by_code(p, caller, &image))
			return false;
		*known = (struct engine_plain_caller){ caller, image };
	}
	*from_ret = known->image;
	return true;
}

/* What a call that ends jumps to, by the word of its record that says it; false: that was not
 * looked up yet. */
static bool target_of(const struct engine_blocks *b, const struct engine_plain_site *site,
		      const struct cp_record_plain *r, unsigned word, const cprof_function **ret)
{
	uint64_t address = site->jumps && word < r->words ? r->values[word] : 0;
	struct engine_plain_target *known;

	*ret = site->target;
	if (!site->jumps)
		return true;
	known = &b->thread->process->detours->targets[place_of(address, ENGINE_PLAIN_TARGETS)];
	if (known->address != address || !address) {
		if (!find_target(b->session, b->thread->process, address, ret))
			return false;
		*known = (struct engine_plain_target){ address, *ret };
	}
	*ret = known->function;
	return true;
}

/* ---- records ---- */

bool engine_blocks_begin(cprof_session *s, struct engine_ring *ring, struct engine_blocks *ret)
{
	cprof_thread *t = ring->tid ? cprof_thread_from_tid(ring->tid) : NULL;
	size_t i;

	if (!t || t->blind || t->held_ns || !t->process->detours || t->process->stacks_within ||
	    !t->stack_end || t->stack_end == UINT64_MAX)
		return false;
	for (i = 0; i < CP_ARRAY_SIZE(ring->again); i++)
		if (ring->again[i].sp)
			return false;
	*ret = (struct engine_blocks){ s, ring, t };
	return engine_calls_shadow(t->process) && refresh(s, t->process->detours) &&
	       cp_vec_reserve(&ring->block, BLOCK_MAX) &&
	       cp_shadow_own(t->process->shadow, t->tid, &ring->own);
}

/* What a record has besides. */
struct besides {
	const struct engine_plain_site *site;
	struct engine_valued_told told; /* its values */
	uint64_t sp, ts_ns;
};

/* Without values. There is room for one. It is filled in where it stays: a copy would read in
 * one what was written in pieces a moment before. */
static inline cprof_call_event *add_event(struct engine_ring *ring, uint64_t ts_ns, uint8_t kind)
{
	cprof_call_event *e = &ring->block.items[ring->block.count++];

	e->timestamp_ns = ts_ns - ts_ns % TIME_UNIT;
	e->kind = kind;
	e->values = e->form = e->result_form = NULL;
	e->numbers = NULL;
	e->value_count = 0;
	return e;
}

static inline cprof_call_event *add_valued(const struct engine_blocks *b, const struct besides *r,
					   uint8_t kind)
{
	cprof_call_event *e = add_event(b->ring, r->ts_ns, kind);

	if (!r->site->valued)
		return e;
	e->values = r->told.values;
	e->numbers = r->told.numbers;
	e->value_count = r->site->valued->form->count;
	e->form = r->site->valued->form->values;
	return e;
}

static inline void set_enter(cprof_call_event *e, const cprof_function *f, uint64_t caller,
			     const cprof_image *from)
{
	e->function = f;
	e->enter_ns = e->timestamp_ns;
	e->caller = caller;
	e->from = from;
	e->target = NULL;
}

static inline void set_leave(cprof_call_event *e, const cprof_function *f, uint64_t enter_ns,
			     const cprof_function *target)
{
	e->function = f;
	e->enter_ns = enter_ns;
	e->caller = 0;
	e->from = NULL;
	e->target = target;
}

/* A call that is made by code as it should be, and not by the start of a thread. */
static inline bool is_made_plainly(const struct engine_blocks *b, const struct cp_call *outer,
				   uint64_t sp, uint64_t caller, const cprof_image **from_ret)
{
	return find_caller(b, outer, caller, from_ret) &&
	       ((outer && !(outer->flags & CP_CALL_HIDDEN)) ||
		!engine_starts_thread(b->thread, sp));
}

/* How much it has there is looked at where it might matter. */
static bool look_at_pushed(const struct engine_blocks *b, const struct engine_plain_site *site)
{
	struct engine_traced *t = b->session->calls->traced.items[site->traced];

	if (site->pushed != ENGINE_PUSHED_MOST)
		return false;
	((struct engine_plain_site *)(uintptr_t)site)->pushed = engine_traced_pushed(t);
	return true;
}

static inline bool enters_plainly(const struct engine_blocks *b,
				  const struct engine_plain_site *site, const struct cp_call *outer,
				  uint64_t sp)
{
	const struct cp_shadow_own *own = &b->ring->own;

	return cp_shadow_enters_plainly(own, outer, sp, site->pushed) ||
	       (look_at_pushed(b, site) && cp_shadow_enters_plainly(own, outer, sp, site->pushed));
}

static inline bool enter(const struct engine_blocks *b, const struct besides *r, uint64_t caller)
{
	const struct engine_plain_site *site = r->site;
	const struct cp_call *outer = cp_shadow_innermost(&b->ring->own);
	const cprof_thread *t = b->thread;
	const cprof_image *from = NULL;
	struct cp_call *call;
	cprof_call_event *e;

	if (!is_made_plainly(b, outer, r->sp, caller, &from) ||
	    !enters_plainly(b, site, outer, r->sp))
		return false;
	call = cp_shadow_enter_plain(&b->ring->own, r->sp, 0);
	if (!call)
		return false;
	call->function = site->traced;
	call->caller = caller;
	call->subject = site->function;
	call->enter_ns = r->ts_ns;
	call->account = t->account;
	call->flags |= CALL_IN_BLOCK;
	e = add_valued(b, r, CPROF_CALL_ENTER);
	set_enter(e, site->function, caller, from);
	e->depth = call->depth;
	return true;
}

static inline bool leave(const struct engine_blocks *b, const struct besides *r,
			 const struct cp_record_plain *record)
{
	const cprof_function *target;
	const struct cp_call *call = cp_shadow_leaves_plainly(&b->ring->own, r->sp);
	bool tail = r->site->what == ENGINE_PLAIN_TAIL;
	cprof_call_event *e;

	if (!call || !(call->flags & CALL_IN_BLOCK) || call->flags & CP_CALL_INHERITED ||
	    call->account.lost_ns != b->thread->account.lost_ns ||
	    !target_of(b, r->site, record, 0, &target))
		return false;
	e = add_valued(b, r, tail ? CPROF_CALL_TAIL_CALL : CPROF_CALL_LEAVE);
	set_leave(e, call->subject, call->enter_ns, target);
	e->depth = call->depth;
	cp_shadow_leave_plain(&b->ring->own, tail);
	engine_price_take(&b->session->calls->price, 2, &b->thread->account.taken);
	return true;
}

/* The values of a record, and room for it; false: it goes the way of hits. */
static bool take_values(const struct engine_blocks *b, const struct cp_record_plain *r,
			struct besides *to)
{
	const struct engine_valued *valued = to->site->valued;
	struct engine_ring *ring = b->ring;

	if (ring->block.count == BLOCK_MAX || (valued && !engine_valued_fits(ring, valued, r)))
		engine_blocks_tell(b->session, ring);
	return !valued || engine_valued_read(b->session, b->thread->process, ring, valued, r,
					     to->sp, &to->told);
}

/* A call that ends where it begins is entered and left, which the shadow stack need not know
 * of. False: it is not as plain as that, and nothing was done. */
static bool pass(const struct engine_blocks *b, const struct besides *enters, uint64_t caller,
		 const struct engine_plain_site *end, const cprof_function *target)
{
	struct cp_shadow_own *own = &b->ring->own;
	const struct cp_call *outer = cp_shadow_innermost(own);
	bool tail = end->what == ENGINE_PLAIN_TAIL;
	const cprof_image *from = NULL;
	cprof_call_event *e;

	if (!enters_plainly(b, enters->site, outer, enters->sp) ||
	    !is_made_plainly(b, outer, enters->sp, caller, &from))
		return false;
	if (b->ring->block.count + 2 > BLOCK_MAX)
		engine_blocks_tell(b->session, b->ring);
	e = add_event(b->ring, enters->ts_ns, tail ? CPROF_CALL_ENTER : CPROF_CALL_LEAF);
	set_enter(e, enters->site->function, caller, from);
	e->depth = cp_shadow_depth_within(outer);
	if (tail) {
		e = add_event(b->ring, enters->ts_ns, CPROF_CALL_TAIL_CALL);
		set_leave(e, enters->site->function, enters->ts_ns, target);
		e->depth = e[-1].depth;
	}
	cp_shadow_pass_plain(own, enters->sp, tail);
	engine_price_take(&b->session->calls->price, 2, &b->thread->account.taken);
	return true;
}

/* A function whose entry is its end: behind the caller and the first argument stands where it
 * jumps to. */
static bool take_both(const struct engine_blocks *b, const struct besides *to,
		      const struct cp_record_plain *r)
{
	const struct engine_plain_site *end = site_of(b, to->site->also);
	const cprof_function *target;

	return (end->what == ENGINE_PLAIN_LEAVE || end->what == ENGINE_PLAIN_TAIL) &&
	       target_of(b, end, r, 2, &target) &&
	       pass(b, to, r->words ? r->values[0] : 0, end, target);
}

/* Another round of a loop whose head is where its function begins is no call. */
static bool goes_round(const struct engine_blocks *b, const struct besides *r,
		       const struct cp_record_plain *record)
{
	const struct cp_call *call = cp_shadow_leaves_plainly(&b->ring->own, r->sp);
	uint64_t caller = record->words ? record->values[0] : 0;

	if (!call || call->function != r->site->traced || call->caller != caller || !caller)
		return false;
	b->session->calls->rejected_inside++;
	engine_price_take(&b->session->calls->price, 1, &b->thread->account.taken);
	return true;
}

/* False: it goes the way of hits, and nothing was done. */
static bool take(const struct engine_blocks *b, const struct cp_record_plain *r, uint64_t ts_ns)
{
	struct besides to = { .sp = engine_blocks_sp(b->thread, r->sp),
			      .ts_ns = ts_ns - ts_ns % TIME_UNIT };
	bool taken;

	if (!to.sp || r->site >= b->session->calls->sites.count)
		return false;
	if (to.ts_ns < b->thread->told_ns) /* it would be before what was before it */
		return false;
	to.site = site_of(b, r->site);
	if (to.site->what == ENGINE_PLAIN_BOTH)
		return take_both(b, &to, r);
	if (to.site->loops && to.site->what == ENGINE_PLAIN_ENTER && goes_round(b, &to, r))
		return true;
	if (to.site->what == ENGINE_PLAIN_NOT || !take_values(b, r, &to))
		return false;
	taken = to.site->what == ENGINE_PLAIN_ENTER ? enter(b, &to, r->words ? r->values[0] : 0)
						    : leave(b, &to, r);
	if (!taken && to.site->valued)
		engine_valued_drop(b->ring, to.site->valued);
	return taken;
}

/* Records that are being taken, where the program wrote them. */
struct taking {
	const struct engine_blocks *b;
	const struct engine_reach *reach;
	const struct engine_plain_site *sites;
	size_t site_count;
	struct engine_clock clock;
	struct cp_records at; /* a copy */
	uint64_t position, last_ns; /* behind what was taken, and when that was */
	/* Records in turn, each where it was read: to copy one takes longer than to read it. */
	struct cp_record_plain of[4];
	struct cp_record_plain *last; /* that was taken */
	struct cp_record_plain *first; /* that is not */
	struct cp_record_plain *free[2]; /* what may come behind it */
	bool looked; /* at what is behind `first`: then that is in free[0] if it is plain */
	enum cp_record_peeked behind;
	/* The last call that nothing happened in: the next one is often another of the same. */
	struct {
		uint64_t low_sp, sp, caller;
		uint32_t enters, leaves; /* sites */
		bool known; /* with what is around it now */
		const cprof_image *from;
	} again;
};

/* When a record was written, after the thread's last one; false: that is out of reach. */
static inline bool time_within(const struct taking *t, const struct cp_record_plain *r,
			       uint64_t last_ns, uint64_t *ns_ret)
{
	uint64_t ns = engine_clock_ns(&t->clock, r->time);

	*ns_ret = ns > last_ns ? ns : last_ns + 1; /* the clock was set meanwhile */
	return *ns_ret <= t->reach->until_ns && r->end <= t->reach->position;
}

ALWAYS_INLINE enum cp_record_peeked peek(struct taking *t, uint64_t position,
					 struct cp_record_plain *ret)
{
	return cp_records_peek(&t->at, position, t->clock.last.ticks, ret);
}

/* The one behind it, of which *is_one_ret says whether it is plain. False: it says that this
 * one is not so. */
ALWAYS_INLINE bool peek_behind(struct taking *t, const struct cp_record_plain *r,
			       struct cp_record_plain *ret, bool *is_one_ret)
{
	enum cp_record_peeked what = peek(t, r->end, ret);

	*is_one_ret = what == CP_PEEKED_PLAIN;
	return what != CP_PEEKED_CANCEL;
}

/* The same of the first that is not taken, at which a search for its call's end has looked. */
ALWAYS_INLINE bool peek_first_behind(struct taking *t, bool *is_one_ret)
{
	if (!t->looked)
		return peek_behind(t, t->first, t->free[0], is_one_ret);
	*is_one_ret = t->behind == CP_PEEKED_PLAIN;
	return t->behind != CP_PEEKED_CANCEL;
}

/* Both records of a call that nothing happens in. */
struct leaf {
	const struct cp_record_plain *begins, *ends;
	const struct engine_plain_site *enters, *leaves;
	uint64_t caller;
};

static inline bool tells_values(const struct engine_plain_site *site)
{
	return site->valued && !site->valued->numbers;
}

/* False: `ends` is not the same call's end, or they have values that are no numbers. */
static inline bool find_leaf(const struct taking *t, struct leaf *ret)
{
	const struct cp_record_plain *begins = ret->begins, *ends = ret->ends;

	if (begins->sp != ends->sp || begins->site >= t->site_count || ends->site >= t->site_count)
		return false;
	ret->enters = &t->sites[begins->site];
	ret->leaves = &t->sites[ends->site];
	return ret->enters->what == ENGINE_PLAIN_ENTER && ret->leaves->what == ENGINE_PLAIN_LEAVE &&
	       ret->enters->traced == ret->leaves->traced && !tells_values(ret->enters) &&
	       !tells_values(ret->leaves);
}

/* Is it another call of the same, made and entered as plainly as the last one? */
static inline bool is_again(const struct taking *t, const struct leaf *l)
{
	return t->again.known && l->begins->sp == t->again.low_sp &&
	       l->ends->sp == t->again.low_sp && l->begins->site == t->again.enters &&
	       l->ends->site == t->again.leaves && l->caller == t->again.caller;
}

/* The numbers of its arguments, and behind them those of its result; false: they go the way of
 * hits. */
static inline bool read_numbers(const struct taking *t, const struct leaf *l, uint64_t sp,
				const uint64_t **ret)
{
	const struct engine_valued_two both = { l->enters->valued, l->leaves->valued, l->begins,
						l->ends };
	cprof_session *s = t->b->session;

	if (!engine_valued_two_fit(t->b->ring, &both))
		engine_blocks_tell(s, t->b->ring);
	return engine_valued_read_two(s, t->b->thread->process, t->b->ring, &both, sp, ret);
}

static inline void set_numbers(cprof_call_event *e, const struct leaf *l, const uint64_t *numbers)
{
	e->numbers = numbers;
	if (l->enters->valued) {
		e->form = l->enters->valued->form->values;
		e->value_count = l->enters->valued->form->count;
	}
	if (l->leaves->valued)
		e->result_form = l->leaves->valued->form->values;
}

/* Is it made and entered as it should be? Then what is known of it is good for the next one. */
static inline bool look_at_leaf(struct taking *t, const struct leaf *l, const struct cp_call *outer)
{
	uint64_t sp = engine_blocks_sp(t->b->thread, l->begins->sp);

	t->again.known = false;
	t->again.from = NULL;
	if (!sp || !enters_plainly(t->b, l->enters, outer, sp) ||
	    !is_made_plainly(t->b, outer, sp, l->caller, &t->again.from))
		return false;
	t->again.known = true;
	t->again.low_sp = l->begins->sp;
	t->again.sp = sp;
	t->again.enters = l->begins->site;
	t->again.leaves = l->ends->site;
	t->again.caller = l->caller;
	return true;
}

/* An event of a call that nothing happens in, of which the shadow stack need not know. False:
 * it is not as plain as that, and nothing was done. */
static inline bool add_leaf(struct taking *t, const struct leaf *l, const struct cp_call *outer,
			    uint64_t ns, uint64_t end_ns)
{
	bool valued = l->enters->valued || l->leaves->valued;
	struct engine_ring *ring = t->b->ring;
	const uint64_t *numbers = NULL;
	cprof_call_event *e;

	if (ring->block.count == BLOCK_MAX)
		engine_blocks_tell(t->b->session, ring);
	if (valued && !read_numbers(t, l, t->again.sp, &numbers))
		return false;
	e = add_event(ring, end_ns, CPROF_CALL_LEAF);
	set_enter(e, l->enters->function, l->caller, t->again.from);
	e->enter_ns = ns - ns % TIME_UNIT;
	e->depth = cp_shadow_depth_within(outer);
	if (valued)
		set_numbers(e, l, numbers);
	return true;
}

/* A call that nothing happens in: both records, and when they were written. False: it is not as
 * plain as that, and nothing was done. *goes_on_ret: is a plain one behind it? */
static inline bool take_leaf(struct taking *t, const struct cp_call *outer, bool *goes_on_ret)
{
	const struct cp_record_plain *begins = t->first;
	struct cp_record_plain *const ends = t->free[0], *const next = t->free[1];
	struct leaf leaf = { begins, ends, NULL, NULL, begins->words ? begins->values[0] : 0 };
	uint64_t ns, end_ns;

	t->behind = peek(t, begins->end, ends);
	t->looked = true;
	if (t->behind != CP_PEEKED_PLAIN || !find_leaf(t, &leaf) ||
	    !peek_behind(t, ends, next, goes_on_ret) || !time_within(t, begins, t->last_ns, &ns) ||
	    !time_within(t, ends, ns, &end_ns) || ns - ns % TIME_UNIT < t->b->thread->told_ns ||
	    (!is_again(t, &leaf) && !look_at_leaf(t, &leaf, outer)) ||
	    !add_leaf(t, &leaf, outer, ns, end_ns))
		return false;
	t->free[0] = t->last;
	t->free[1] = t->first;
	t->last_ns = end_ns;
	t->last = ends;
	t->first = next;
	t->looked = false;
	return true;
}

static inline bool is_enter(const struct taking *t, const struct cp_record_plain *r)
{
	return r->site < t->site_count && t->sites[r->site].what == ENGINE_PLAIN_ENTER;
}

/* Calls that nothing happens in, one behind the other: what is around them is looked at once.
 * About half of all calls. How many records were taken, two for each; `most`: about. *is_one: is
 * the first that was not taken a plain one? */
static size_t take_leaves(struct taking *t, bool *is_one, size_t most)
{
	const struct cp_call *outer = cp_shadow_innermost(&t->b->ring->own);
	bool goes_on = true;
	size_t n = 0;

	t->looked = false;
	if (!is_enter(t, t->first))
		return 0;
	t->again.known = false;
	while (goes_on && n < most) {
		if (!take_leaf(t, outer, &goes_on)) {
			goes_on = true;
			break;
		}
		n += 2;
	}
	*is_one = goes_on;
	if (!n)
		return 0;
	t->position = t->last->end;
	cp_shadow_pass_plain(&t->b->ring->own, engine_blocks_sp(t->b->thread, t->last->sp), false);
	engine_price_take(&t->b->session->calls->price, (double)n, &t->b->thread->account.taken);
	return n;
}

/* Up to the first that goes the way of hits, or about `most`. How many were taken. */
static size_t take_some(struct taking *t, size_t most)
{
	bool is_one = peek(t, t->position, t->first) == CP_PEEKED_PLAIN, more;
	struct cp_record_plain *taken;
	uint64_t ns;
	size_t n = 0;

	while (is_one && n < most) {
		n += take_leaves(t, &is_one, most - n);
		if (!is_one || n >= most || !peek_first_behind(t, &more) ||
		    !time_within(t, t->first, t->last_ns, &ns) || !take(t->b, t->first, ns))
			break;
		taken = t->first;
		t->first = t->free[0];
		t->free[0] = t->last;
		t->last = taken;
		t->last_ns = ns;
		t->position = taken->end;
		is_one = more;
		n++;
	}
	return n;
}

static void note_last(const struct engine_blocks *b, const struct cp_record_plain *r)
{
	const struct engine_site *site = &b->session->calls->sites.items[r->site];

	b->ring->last = (struct engine_again){ r->sp, engine_site_mark(site, r->values, r->words),
					       r->site };
}

size_t engine_blocks_take(const struct engine_blocks *b, const struct engine_reach *reach)
{
	struct engine_calls *c = b->session->calls;
	struct cp_records *records = &b->ring->records;
	struct taking t = { .b = b,
			    .reach = reach,
			    .sites = b->thread->process->detours->plain.items,
			    .site_count = b->thread->process->detours->plain.count,
			    .clock = c->clock,
			    .last_ns = b->ring->last_ns };
	size_t n, all = 0;

	t.last = &t.of[0];
	t.first = &t.of[1];
	t.free[0] = &t.of[2];
	t.free[1] = &t.of[3];
	do {
		t.at = cp_records_copy(records);
		t.position = records->position;
		n = take_some(&t, reach->most - all < BATCH ? reach->most - all : BATCH);
		if (!n)
			break;
		note_last(b, t.last);
		cp_records_pass(records, &t.at, t.position);
		cp_records_release(records);
		all += n;
	} while (n >= BATCH);
	b->ring->last_ns = t.last_ns;
	c->events += all;
	c->records += all;
	return all;
}

/* SPDX-License-Identifier: MIT
 *
 * A stack that is no thread's own is known by where chains of callers on it end, its root,
 * and how far down a thread was seen there:
 *
 *	root ──┐ the outermost call's return address
 *	       │  here threads record, and whoever is below
 *	       │  another one is called by that
 *	low  ──┘ the innermost place that a walk came from
 *
 * The memory may be another stack's one day. That begins with a call from code that is not
 * traced, a trampoline, at a place of its own: who is called from where nobody is known to
 * call from, at that place, stops (probes/callers.c), and the walk of its stack shows
 * another root, or is from below what is known. What overlaps with it is forgotten.
 *
 * Trampolines are often assembly without unwind data, where a walk ends too; but such code may
 * also call back in the middle of a stack. Then there are calls right above such a root:
 * with the first one that is seen no root is taken for one that way any more.
 *
 * A stack belongs to the thread that was on it last, whose ring has it in its table. When
 * another one comes there, it stops: so what two threads did on a stack is in order.
 */
#include "engine/calls/other_stacks.h"

#include "engine/probes/callers.h"
#include "engine/probes/rings.h"
#include "engine/target/state.h"
#include "link/link.h"

/* Below who is entered there is room for what its detour saves, and on the same stack. */
#define BELOW 128u
/* A frame with more than that may have another stack in it. */
#define FRAME_MAX 16384u
/* Calls so near above what only seems to be a root are on the same stack. */
#define ABOVE 4096u
#define MOAT 65536u /* what a frame has at most, but for rare ones */
#define STACKS_MAX 65536u
#define UNLEARNT 16u /* after so many in vain, threads don't wait for it */
#define WORD 8u

static bool on_own(const cprof_thread *t, uint64_t sp)
{
	return sp >= t->stack_low && sp < t->stack_end;
}

/* Where chains of callers end. */
struct root {
	uint64_t at, pc; /* 0: not known; of who is there */
	bool interrupts, likely, cut; /* as in struct engine_stack and struct cp_shadow_at */
	bool wide; /* in one of the frames there another stack may lie */
};

static struct root find_root(const cprof_thread *t, const struct cp_event_hit *e, size_t frames,
			     enum cp_unwind_end end)
{
	const struct cp_frame *frame = t->process->session->frames;
	struct root root = { .cut = end != CP_UNWIND_END_ROOT };
	uint64_t last = e->sp, sp;
	size_t i;

	for (i = 0; i < frames && !root.interrupts; i++, frame++) {
		sp = frame->cfa.v - cp_arch_host()->ret_size;
		root.pc = frame->pc.v;
		root.interrupts = frame->flags & CP_FRAME_SIGNAL || (i && on_own(t, sp));
		/* The outermost one may have none. */
		if (root.interrupts ||
		    (!frame->cfa.v && i + 1 == frames && !(frame->flags & CP_FRAME_GUESSED)))
			continue;
		if (frame->flags & CP_FRAME_GUESSED || sp < last)
			return root;
		root.wide |= sp - last > FRAME_MAX;
		last = sp;
	}
	root.likely = root.cut && !root.interrupts;
	if (!root.likely || (end == CP_UNWIND_END_NO_INFO && frames > 1 && !root.wide))
		root.at = last;
	return root;
}

/* ---- which are known ---- */

/* The number of the first whose root is not below an address. */
static size_t first_from(const struct engine_detours *d, uint64_t address)
{
	return cp_vec_partition(&d->stacks, stack, stack->root < address);
}

static const struct engine_stack *stack_at(const cprof_process *p, uint64_t sp)
{
	const struct engine_detours *d = p->detours;
	size_t i = d ? first_from(d, sp) : 0;

	return d && i < d->stacks.count && d->stacks.items[i].low <= sp ? &d->stacks.items[i]
									: NULL;
}

bool engine_stack_know(const cprof_process *p, struct cp_shadow_at *at)
{
	const struct engine_stack *known = stack_at(p, at->sp);

	if (!known)
		return false;
	at->root = known->root;
	at->interrupts = known->interrupts;
	at->chain = NULL;
	at->chain_count = 0;
	return true;
}

static uint64_t with_high(uint64_t high, uint64_t sp)
{
	return high << CP_RECORD_SP_BITS | (sp & ((UINT64_C(1) << CP_RECORD_SP_BITS) - 1));
}

bool engine_stack_whole(const cprof_process *p, uint64_t low, uint64_t *sp_ret)
{
	const struct engine_detours *d = p->detours;
	unsigned i;

	for (i = 0; d && i < d->stack_highs; i++) {
		*sp_ret = with_high(d->stack_high[i], low);
		if (stack_at(p, *sp_ret))
			return true;
	}
	return false;
}

/* Do the low bits of its addresses say which stack they are of? */
static bool is_told_apart(const cprof_thread *t, uint64_t low, uint64_t root)
{
	struct engine_detours *d = t->process->detours;
	uint64_t high = root >> CP_RECORD_SP_BITS, first, last;
	bool known = false;
	size_t at;
	unsigned i;

	if (low >> CP_RECORD_SP_BITS != high)
		return false;
	first = with_high(t->stack_end >> CP_RECORD_SP_BITS, low);
	last = with_high(t->stack_end >> CP_RECORD_SP_BITS, root);
	if (t->stack_end == UINT64_MAX || (first < t->stack_end && last >= t->stack_low))
		return false;
	for (i = 0; i < d->stack_highs; i++) {
		known |= d->stack_high[i] == high;
		first = with_high(d->stack_high[i], low);
		at = first_from(d, first);
		if (d->stack_high[i] != high && at < d->stacks.count &&
		    d->stacks.items[at].low <= with_high(d->stack_high[i], root))
			return false;
	}
	if (!known && d->stack_highs == CP_ARRAY_SIZE(d->stack_high))
		return false;
	if (!known)
		d->stack_high[d->stack_highs++] = high;
	return true;
}

static struct cp_records *records_of(const cprof_process *p, int32_t tid)
{
	struct engine_ring *ring = engine_ring_of(p, tid);

	return ring && ring->records.ring ? &ring->records : NULL;
}

static void forget(const cprof_process *p, const struct engine_stack *stack)
{
	struct cp_records *records = records_of(p, stack->tid);

	if (records)
		cp_records_forget_stack(records, stack->low, stack->root + WORD);
}

static void drop_likely(const cprof_process *p)
{
	struct engine_detours *d = p->detours;
	size_t i, kept = 0;

	for (i = 0; i < d->stacks.count; i++) {
		if (d->stacks.items[i].likely)
			forget(p, &d->stacks.items[i]);
		else
			d->stacks.items[kept++] = d->stacks.items[i];
	}
	d->stacks.count = kept;
	d->likely_deny = true;
}

/* May a root that only seems to be one be taken for it? With this stack there may be calls
 * behind such a one: then no longer. */
static bool check_likely(const cprof_process *p, uint64_t low, const struct root *root)
{
	struct engine_detours *d = p->detours;
	size_t below = first_from(d, low - ABOVE);
	bool within = below < d->stacks.count && d->stacks.items[below].root < low &&
		      d->stacks.items[below].likely;

	if (within && !d->likely_deny)
		drop_likely(p);
	return !root->likely || !d->likely_deny;
}

/* Forgets what lies there, but for the one of that root. */
static void make_way(const cprof_process *p, uint64_t low, uint64_t root)
{
	struct engine_detours *d = p->detours;
	size_t i = first_from(d, low), kept = i, from = i;

	for (; i < d->stacks.count && d->stacks.items[i].low <= root; i++) {
		if (d->stacks.items[i].root == root)
			d->stacks.items[kept++] = d->stacks.items[i];
		else
			forget(p, &d->stacks.items[i]);
	}
	if (kept == i || from == i)
		return;
	memmove(&d->stacks.items[kept], &d->stacks.items[i],
		(d->stacks.count - i) * sizeof(d->stacks.items[0]));
	d->stacks.count -= i - kept;
}

/* Right below what is known of a stack that grows, others may have been: a call that goes down
 * there stops, and the next one on them, which tells if they still are. */
static void doubt_below(const cprof_process *p, uint64_t low)
{
	struct engine_detours *d = p->detours;
	uint64_t from = low > MOAT ? low - MOAT : 0;
	size_t i;

	for (i = first_from(d, from); i < d->stacks.count && d->stacks.items[i].root < low; i++) {
		forget(p, &d->stacks.items[i]);
		d->stacks.items[i].tid = 0;
	}
}

/* The one of that root, new if need be; NULL: there is no room. */
static struct engine_stack *stack_of(struct engine_detours *d, uint64_t low, uint64_t root)
{
	size_t i = first_from(d, root);

	if (i < d->stacks.count && d->stacks.items[i].root == root)
		return &d->stacks.items[i];
	if (d->stacks.count >= STACKS_MAX ||
	    !cp_vec_insert(&d->stacks, i, (struct engine_stack){ .low = low, .root = root }))
		return NULL;
	return &d->stacks.items[i];
}

/* May the thread record there? What is wanted of a call has to be in its record; a walk from a
 * signal's handler goes on elsewhere. */
static bool may_record(const struct engine_calls *c, const struct engine_ring *ring,
		       const struct engine_stack *stack)
{
	return (!c->walks || !stack->interrupts) && (!c->reaches || ring->records.ring->may_probe);
}

static uint64_t part_end(uint64_t address)
{
	return (address | (CP_DETOUR_PART - 1)) + 1;
}

/* It records on [low, end) of the stack, as far as copies reach. */
static void record_on(const struct engine_calls *c, struct engine_ring *ring,
		      const struct engine_stack *stack, uint64_t low, uint64_t end)
{
	uint64_t top = stack->root + WORD;

	low = part_end(low) - CP_DETOUR_PART;
	low = low > stack->low ? low : stack->low;
	if (c->walks && top - low > CP_DETOUR_STACK_MAX)
		low = top - CP_DETOUR_STACK_MAX;
	cp_records_know_stack(&ring->records, low, end < top ? end : top, top);
}

/* The stack, with what is new; `ring` may be NULL. NULL: it can't be one that is known. */
static const struct engine_stack *learn(cprof_thread *t, struct engine_ring *ring, uint64_t low,
					const struct root *root)
{
	const struct engine_calls *c = t->process->session->calls;
	struct engine_detours *d = t->process->detours;
	struct engine_stack *stack;
	uint64_t end;

	if (!root->at || !is_told_apart(t, low, root->at) || !check_likely(t->process, low, root))
		return NULL;
	make_way(t->process, low, root->at);
	stack = root->wide ? NULL : stack_of(d, low, root->at);
	if (!stack)
		return NULL;
	if (low < stack->low || stack->tid != t->tid)
		doubt_below(t->process, low < stack->low ? low : stack->low);
	end = part_end(stack->low);
	if (stack->tid != t->tid) {
		forget(t->process, stack);
		end = stack->root + WORD;
	} else if (low >= stack->low) { /* its part was another stack's meanwhile */
		end = part_end(low);
	}
	stack->tid = t->tid;
	stack->pc = root->pc;
	stack->interrupts = root->interrupts;
	stack->likely = root->likely;
	stack->low = low < stack->low ? low : stack->low;
	if (ring && may_record(c, ring, stack))
		record_on(c, ring, stack, low, end);
	else if (ring && ++ring->unlearnt >= UNLEARNT)
		cp_records_know_none(&ring->records);
	return stack;
}

/* The stack that is known where the walk ended, or right above, if it ended in the middle of
 * that: in code that no walk passes. A stack that begins there has the trampoline that the other
 * one had. NULL: it did not. */
static const struct engine_stack *ends_within(const cprof_process *p, uint64_t sp,
					      const struct root *root)
{
	const struct engine_detours *d = p->detours;
	uint64_t last = root->at ? root->at : sp;
	size_t i = first_from(d, sp);
	const struct engine_stack *known = i < d->stacks.count ? &d->stacks.items[i] : NULL;

	if (!known || root->wide || (root->at && !root->likely) || known->root <= last ||
	    known->low > last + ABOVE || (root->at && known->likely && root->pc == known->pc))
		return NULL;
	return known;
}

void engine_stack_learn(cprof_thread *t, const struct cp_event_hit *e, size_t frames,
			enum cp_unwind_end end, struct cp_shadow_at *at)
{
	uint64_t low = (e->sp - BELOW) & ~(uint64_t)(WORD - 1);
	struct root root = find_root(t, e, frames, end);
	const struct engine_stack *known;
	struct engine_ring *ring;

	if (t->process->stacks_within || t->blind || !engine_detours_of(t->process))
		return;
	ring = engine_ring_of(t->process, t->tid);
	ring = ring && ring->records.ring ? ring : NULL;
	known = ends_within(t->process, e->sp, &root);
	if (known) {
		root = (struct root){ known->root, known->pc, known->interrupts, known->likely };
		at->chain = NULL;
		at->chain_count = 0;
	}
	known = learn(t, ring, low, &root);
	if (known || root.wide) {
		at->root = root.at;
		at->interrupts = root.interrupts;
		at->cut = root.cut;
	} else if (ring && ++ring->unlearnt >= UNLEARNT) {
		cp_records_know_none(&ring->records);
	}
	if (known && ring && e->e.flags & CP_HIT_RECORD && e->caller)
		engine_callers_on_other(t->process, e->caller, e->sp);
}

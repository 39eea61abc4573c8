/* SPDX-License-Identifier: MIT
 *
 * Where a thread may be on its way through a detour:
 *
 *     window ─► [hop's jump] ─► [stubs] ─► code ◄─► what is done when its ring is full
 *
 * Jumps change nothing but the pc, so who stands at one of them is at the window yet. The
 * rest says arch/detour.h.
 */
#include "tracer/memory/detours.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "link/code.h"
#include "tracer/known/again.h"
#include "tracer/known/regs.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/space.h"

#define JUMPS 5 /* in a row, at most */

struct code_batch {
	unsigned users; /* spaces */
	struct cp_detour_rings rings;
	struct cp_code_detour *detours; /* owned; by address */
	size_t count;
	uint8_t *sources; /* owned; of detours */
	struct cp_code_counting *countings; /* the same */
	size_t counting_count;
};

/* ---- batches ---- */

static int by_place(const void *a, const void *b)
{
	const struct cp_code_detour *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Without the records that it has not. */
static const struct cp_detour *source_of(const struct code_batch *b, const struct cp_code_detour *d)
{
	return (const void *)(b->sources + d->source);
}

/* The rest is judged when code is made of it. */
static bool detour_ok(const struct code_batch *b, const struct cp_code_detour *d, uint64_t size)
{
	const uint64_t least = offsetof(struct cp_detour, records);
	const struct cp_detour *of;

	if (!d->size || d->size > CP_DETOUR_CODE_MAX || d->source % 8 || size < least ||
	    d->source > size - least)
		return false;
	of = source_of(b, d);
	return of->size && of->size <= CP_DETOUR_WINDOW && of->record_count <= CP_DETOUR_RECORDS &&
	       cp_code_source_size(of) <= size - d->source;
}

static int by_code(const void *a, const void *b)
{
	const struct cp_code_counting *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool counting_ok(const struct cp_code_counting *c)
{
	return c->bytes && c->bytes <= CP_DETOUR_CODE_MAX && c->size &&
	       c->size <= CP_DETOUR_WINDOW && c->count_count && c->count_count <= CP_DETOUR_COUNTS;
}

static bool all_ok(const struct code_batch *b, uint64_t size)
{
	const struct cp_code_detour *d = b->detours;
	const struct cp_code_counting *c = b->countings;
	size_t i;

	for (i = 0; i < b->count; i++)
		if (!detour_ok(b, &d[i], size) || (i && d[i].at - d[i - 1].at < d[i - 1].size))
			return false;
	for (i = 0; i < b->counting_count; i++)
		if (!counting_ok(&c[i]) || (i && c[i].at - c[i - 1].at < c[i - 1].bytes))
			return false;
	return b->rings.log >= CP_DETOUR_LOG_MIN && b->rings.log <= CP_DETOUR_LOG_MAX;
}

struct code_batch *detours_create(const struct cp_code_batch *head, const void *detours)
{
	struct code_batch *b = calloc(1, sizeof(*b));
	size_t size = head->detour_count * sizeof(*b->detours),
	       counting_size = head->counting_count * sizeof(*b->countings);

	if (!b)
		return NULL;
	*b = (struct code_batch){ .users = 1,
				  .rings = head->rings,
				  .detours = malloc(size + 1),
				  .count = head->detour_count,
				  .sources = malloc(head->source_size + 1),
				  .countings = malloc(counting_size + 1),
				  .counting_count = head->counting_count };
	if (b->detours && b->sources && b->countings) {
		memcpy(b->detours, detours, size);
		memcpy(b->sources, (const uint8_t *)detours + size, head->source_size);
		memcpy(b->countings, (const uint8_t *)detours + size + head->source_size,
		       counting_size);
		qsort(b->detours, b->count, sizeof(*b->detours), by_place);
		qsort(b->countings, b->counting_count, sizeof(*b->countings), by_code);
		if (all_ok(b, head->source_size))
			return b;
	}
	detours_release(b);
	return NULL;
}

void detours_release(struct code_batch *batch)
{
	if (!batch || --batch->users)
		return;
	free(batch->detours);
	free(batch->sources);
	free(batch->countings);
	free(batch);
}

/* ---- those of a space ---- */

static const struct chunk *chunk_at(const struct space *space, uint64_t at)
{
	const struct chunk *c;

	cp_vec_for_each(&space->chunks, c)
		if (at - c->address < c->size)
			return c;
	return NULL;
}

bool detours_in_chunks(const struct space *space, uint64_t at, uint64_t size)
{
	while (size) {
		const struct chunk *c = chunk_at(space, at);
		uint64_t here = c ? c->address + c->size - at : 0;

		if (!c)
			return false;
		here = here < size ? here : size;
		at += here;
		size -= here;
	}
	return true;
}

bool detours_fit(const struct space *space, const struct code_batch *batch)
{
	size_t i;

	if (!space->rings || batch->rings.zero != space->rings->zero ||
	    batch->rings.log != space->rings->log ||
	    (batch->rings.slow ? !detours_in_chunks(space, batch->rings.slow, CP_DETOUR_SLOW_MAX)
			       : batch->count))
		return false;
	for (i = 0; i < batch->count; i++)
		if (!detours_in_chunks(space, batch->detours[i].at, batch->detours[i].size))
			return false;
	for (i = 0; i < batch->counting_count; i++)
		if (!detours_in_chunks(space, batch->countings[i].at, batch->countings[i].bytes))
			return false;
	return true;
}

bool detours_keep(struct space *space, struct code_batch *batch)
{
	return cp_vec_push(&space->code, batch);
}

bool detours_share(struct space *to, const struct space *from)
{
	struct code_batch **b;
	const struct chunk *c;

	cp_vec_for_each(&from->chunks, c)
		if (!cp_vec_push(&to->chunks, *c))
			return false;
	cp_vec_for_each(&from->code, b) {
		if (!cp_vec_push(&to->code, *b))
			return false;
		(*b)->users++;
	}
	to->rings = from->rings;
	/* The parent may have got more since it forked. */
	to->rings_mapped = from->rings_mapped <= RINGS_FIRST ? from->rings_mapped
							     : rings_mapped(from->rings, to->pid);
	if (to->rings)
		to->rings->users++;
	return true;
}

void detours_forget(struct space *space)
{
	struct code_batch **b;

	cp_vec_for_each(&space->code, b)
		detours_release(*b);
	cp_vec_free(&space->code);
	cp_vec_free(&space->chunks);
	rings_release(space->rings);
	space->rings = NULL;
	space->rings_mapped = 0;
}

/* Is all of it for code there, or itself there? */
static bool is_of_range(const struct code_batch *b, uint64_t start, uint64_t size)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		if (source_of(b, &b->detours[i])->pc - start >= size &&
		    b->detours[i].at - start >= size)
			return false;
	for (i = 0; i < b->counting_count; i++)
		if (b->countings[i].pc - start >= size && b->countings[i].at - start >= size)
			return false;
	return true;
}

void detours_forget_range(struct space *space, uint64_t start, uint64_t size)
{
	size_t i, n = 0;

	for (i = 0; i < space->code.count; i++) {
		if (is_of_range(space->code.items[i], start, size))
			detours_release(space->code.items[i]);
		else
			space->code.items[n++] = space->code.items[i];
	}
	space->code.count = n;
}

/* ---- out of it ---- */

static const struct cp_code_detour *find(const struct space *space, uint64_t pc,
					 const struct cp_detour **ret,
					 const struct cp_detour_rings **rings_ret)
{
	struct code_batch **b;

	cp_vec_for_each(&space->code, b) {
		size_t low = 0, high = (*b)->count;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if ((*b)->detours[middle].at <= pc)
				low = middle + 1;
			else
				high = middle;
		}
		if (!low || pc - (*b)->detours[low - 1].at >= (*b)->detours[low - 1].size)
			continue;
		*rings_ret = &(*b)->rings;
		*ret = source_of(*b, &(*b)->detours[low - 1]);
		return &(*b)->detours[low - 1];
	}
	return NULL;
}

static const struct cp_code_counting *find_counting(const struct space *space, uint64_t pc,
						    const struct cp_detour_rings **rings_ret)
{
	struct code_batch **b;

	cp_vec_for_each(&space->code, b) {
		size_t low = 0, high = (*b)->counting_count;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if ((*b)->countings[middle].at <= pc)
				low = middle + 1;
			else
				high = middle;
		}
		if (!low || pc - (*b)->countings[low - 1].at >= (*b)->countings[low - 1].bytes)
			continue;
		*rings_ret = &(*b)->rings;
		return &(*b)->countings[low - 1];
	}
	return NULL;
}

bool detours_record_there(const struct space *space, uint64_t pc)
{
	const struct cp_detour_rings *rings;

	return detours_in_chunks(space, pc, 1) && !find_counting(space, pc, &rings);
}

/* The window of the detour whose code begins at `at`; 0: none does. */
static uint64_t window_of_code(const struct space *space, uint64_t at)
{
	const struct cp_detour_rings *rings;
	const struct cp_detour *of;
	const struct cp_code_detour *d = find(space, at, &of, &rings);
	const struct cp_code_counting *c = d ? NULL : find_counting(space, at, &rings);

	if (d)
		return d->at == at ? of->pc : 0;
	return c && c->at == at ? c->pc : 0;
}

/* The address of the window by way of which a thread came to a jump at `pc`; 0: there is
 * none of ours. */
static uint64_t window_of_jump(const struct space *space, uint64_t pc)
{
	const struct site *site = space_site(space, pc);
	uint8_t code[CP_DETOUR_FILLED];
	uint64_t window = 0;
	int i;

	if (!(site && site->flags & CP_SITE_HOP) && !chunk_at(space, pc))
		return 0;
	for (i = 0; i < JUMPS && pc && !window; i++) {
		memset(code, 0, sizeof(code));
		if (!space_read(space, pc, code, sizeof(code)) &&
		    !space_read(space, pc, code, CP_DETOUR_JUMP))
			return 0;
		pc = cp_detour_jump_target(code, pc);
		window = pc ? window_of_code(space, pc) : 0;
	}
	return window;
}

/* Who is in none that records. */
static bool leave_counting(const struct space *space, struct cp_regs *regs, uint64_t *flags,
			   const struct cp_reader *memory, struct detours_left *ret)
{
	const uint8_t pc = cp_arch_host()->pc;
	const struct cp_detour_rings *rings;
	const struct cp_code_counting *c = find_counting(space, regs->r[pc], &rings);
	struct cp_detour d;
	uint64_t window;

	if (c) {
		cp_code_of_counting(c, &d);
		return cp_detour_leave(cp_arch_host(), &d, c->at, rings, regs, flags, memory,
				       &ret->record);
	}
	window = window_of_jump(space, regs->r[pc]);
	if (window)
		regs->r[pc] = window;
	return window;
}

bool detours_leave(const struct space *space, struct cp_regs *regs, uint64_t *flags,
		   struct detours_left *ret)
{
	const struct cp_reader memory = { space_reader, (void *)(uintptr_t)space };
	const struct cp_arch *arch = cp_arch_host();
	const struct cp_detour_rings *rings = NULL;
	struct cp_regs now = *regs;
	const struct cp_code_detour *d;
	struct code_batch **b;
	const struct site *site;
	uint64_t slot;

	*ret = (struct detours_left){ 0 };
	if (!space->code.count)
		return false;
	site = space_slot_site(space, regs->r[arch->pc], &slot);
	if (site && site->flags & SITE_DETOURS) {
		now.r[arch->pc] = site->address;
		if (!(site->flags & (CP_SITE_RING | CP_SITE_FOREIGN))) {
			*regs = now;
			return true;
		}
	}
	cp_vec_for_each(&space->code, b)
		if ((*b)->rings.slow &&
		    cp_detour_leave_slow(arch, &(*b)->rings, &now, &memory, &ret->slow))
			break;
	d = find(space, now.r[arch->pc], &ret->detour, &rings);
	if (d ? !cp_detour_leave(arch, ret->detour, d->at, rings, &now, flags, &memory,
				 &ret->record)
	      : !leave_counting(space, &now, flags, &memory, ret))
		return false;
	*regs = now;
	return true;
}

uint64_t detours_behind_fault(const struct space *space, uint64_t pc)
{
	struct code_batch **b;
	uint64_t to;

	cp_vec_for_each(&space->code, b) {
		to = (*b)->rings.slow ? cp_detour_fault(cp_arch_host(), &(*b)->rings, pc) : 0;
		if (to)
			return to;
	}
	return 0;
}

bool detours_end_copy(const struct thread *t, void *prstatus)
{
	const struct cp_detour_rings *rings = NULL;
	struct cp_detour_ring *ring = rings_of(t);
	const struct cp_detour *of = NULL;
	const struct cp_code_detour *d;
	struct cp_regs regs;

	cp_arch_regs_from_prstatus(prstatus, &regs);
	d = ring ? find(t->process->space, regs.r[cp_arch_host()->pc], &of, &rings) : NULL;
	if (!d || !cp_detour_stack_fault(cp_arch_host(), of, d->at, rings, &regs, ring))
		return false;
	cp_arch_regs_to_prstatus(&regs, prstatus);
	return true;
}

bool detours_hide(const struct space *space, void *prstatus)
{
	uint64_t flags = cp_arch_flags(prstatus);
	struct detours_left left;
	struct cp_regs regs;

	if (!space->code.count)
		return false;
	cp_arch_regs_from_prstatus(prstatus, &regs);
	if (!detours_leave(space, &regs, &flags, &left))
		return false;
	cp_arch_regs_to_prstatus(&regs, prstatus);
	cp_arch_set_flags(prstatus, flags);
	return true;
}

/* The registers that the place follows from are the program's. */
static void make_void(struct cp_detour_ring *ring, unsigned log, const struct cp_detour_left *left)
{
	if (left->stage == CP_DETOUR_RESERVED && left->index < UINT32_C(1) << log &&
	    left->index % CP_DETOUR_UNIT == 0)
		cp_detour_void(ring, left);
}

/* What it counted for the instruction that it comes to again. */
static void count_down(const struct space *space, const struct detours_left *left)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(left->record.counted); i++)
		if (left->record.counted[i] && space->rings)
			rings_count_down(space->rings, left->record.counted[i]);
}

void detours_settle(const struct thread *t, const struct detours_left *left)
{
	struct cp_detour_ring *ring = rings_of(t);

	count_down(t->process->space, left);
	if (!ring)
		return;
	make_void(ring, t->rings->log, &left->slow);
	make_void(ring, t->rings->log, &left->record);
	if (left->record.stage == CP_DETOUR_COMMITTED)
		cp_detour_cancel(ring, t->rings->log, cp_arch_time_stamp() << 16);
}

/* The instruction that was counted failed: it was come to, whether its handler goes back
 * there or not. If it does, a breakpoint stands there by then (families/cuts.c), whose hit
 * was told. */
static bool has_failed(struct thread *t, const struct detours_left *left, const struct cp_regs *r)
{
	siginfo_t si;

	if (!left->record.counted[0] || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) ||
	    si.si_code <= 0 ||
	    (si.si_signo != SIGSEGV && si.si_signo != SIGBUS && si.si_signo != SIGILL &&
	     si.si_signo != SIGFPE))
		return false;
	again_expect_changed(t, r);
	return true;
}

/* A fault of an instruction that was moved is one of where it was. */
static void correct_fault(const struct thread *t, uint64_t was, uint64_t pc)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) || si.si_code <= 0 ||
	    (si.si_signo != SIGILL && si.si_signo != SIGFPE) || (uintptr_t)si.si_addr != was)
		return;
	si.si_addr = (void *)(uintptr_t)pc;
	ptrace(PTRACE_SETSIGINFO, t->tid, 0, &si);
}

/* What was told of it already, will come again once its handler has returned: as a stop,
 * or, because its place is known by then, as a record. */
static void expect_again(struct thread *t, const struct cp_regs *regs)
{
	struct cp_detour_ring *ring = rings_of(t);

	if (regs->r[cp_arch_host()->pc] != t->foreign_pc ||
	    regs->r[cp_arch_host()->sp] != t->foreign_sp || (ring && ring->head != t->foreign_head))
		return;
	t->foreign_pc = 0;
	if (ring) {
		/* A reader that is behind must not take it for one of the record before. */
		cp_detour_come_again(ring, t->rings->log, cp_arch_time_stamp() << 16);
		return;
	}
	again_expect(t, regs);
}

/* The block that the record was about is not gone yet. */
static void count_again(const struct space *space, const struct detours_left *left,
			const struct cp_regs *regs)
{
	const struct cp_detour_record *r = detours_record_at(left, regs->r[cp_arch_host()->pc]);

	if (left->record.stage != CP_DETOUR_NOTHING && r && cp_detour_counts_down(r) &&
	    space->rings)
		rings_choose(space->rings, regs->r[r->block.address]);
}

bool detours_lead_out(struct thread *t)
{
	return detours_lead_out_unless(t, NULL, NULL);
}

bool detours_lead_out_unless(struct thread *t, bool (*bad)(const void *ctx, uint64_t pc),
			     const void *ctx)
{
	const struct space *space = t->process->space;
	uint64_t prstatus[PRSTATUS_MAX / 8], flags, was;
	const uint8_t pc = cp_arch_host()->pc;
	struct detours_left left;
	struct cp_regs regs;

	if (!space->code.count || !regs_read(t->tid, prstatus))
		return false;
	cp_arch_regs_from_prstatus(prstatus, &regs);
	flags = cp_arch_flags(prstatus);
	was = regs.r[pc];
	if (!detours_leave(space, &regs, &flags, &left) || (bad && bad(ctx, regs.r[pc])))
		return false;
	cp_arch_regs_to_prstatus(&regs, prstatus);
	cp_arch_set_flags(prstatus, flags);
	if (!regs_write(t->tid, prstatus))
		return false;
	if (!has_failed(t, &left, &regs))
		detours_settle(t, &left);
	count_again(space, &left, &regs);
	correct_fault(t, was, regs.r[pc]);
	expect_again(t, &regs);
	return true;
}

const struct cp_detour_record *detours_record_at(const struct detours_left *left, uint64_t pc)
{
	const struct cp_detour *d = left->detour;
	unsigned r;

	for (r = 0; d && r < d->record_count; r++)
		if (d->records[r].before == pc - d->pc)
			return &d->records[r];
	return NULL;
}

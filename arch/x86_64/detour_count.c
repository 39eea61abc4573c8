/* SPDX-License-Identifier: MIT
 *
 *     lea -128(%rsp),%rsp         the red zone
 *     push rax; lahf; seto al
 *     lock incq number
 *     add $127,%al; sahf; pop rax; lea 128(%rsp),%rsp
 *     the instruction
 *
 * and of a conditional jump with counts on its ways:
 *
 *     jcc taken
 *     count; jmp on               who stands here has the flags with which it would pass
 *     taken: count; jmp X         ... would jump: both stand for the jump itself
 */
#include "arch/x86_64/detour_count.h"

#include <string.h>

#include "arch/x86_64/detour_frame.h"
#include "arch/x86_64/detour_ring.h"

static void put_count(struct cp_x86_emit *e, uint32_t number)
{
	uint32_t *counted = &e->now.counted[e->now.counted[0] ? 1 : 0];

	e->bad |= number > INT32_MAX || e->now.counted[1];
	PUT(e, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp),%rsp */
	e->now.pushed += CP_X86_RED_ZONE;
	cp_x86_push(e, "\x50", &e->now.saved[CP_X86_RAX]);
	PUT(e, "\x9f"); /* lahf */
	PUT(e, "\x0f\x90\xc0"); /* seto %al */
	e->now.flags_at = CP_X86_FLAGS_IN_RAX;
	PUT32(e, "\xf0\x48\xff\x04\x25", number); /* lock incq number */
	*counted = number;
	PUT(e, "\x04\x7f"); /* add $0x7f,%al: overflows where al is 1 */
	e->now.flags_at = CP_X86_FLAGS_IN_AH;
	PUT(e, "\x9e"); /* sahf */
	e->now.flags_at = CP_X86_FLAGS_LIVE;
	cp_x86_pop(e, "\x58", &e->now.saved[CP_X86_RAX]);
	PUT(e, "\x48\x8d\xa4\x24\x80\x00\x00\x00"); /* lea 128(%rsp),%rsp */
	e->now.pushed -= CP_X86_RED_ZONE;
}

/* The number to be counted that way; 0: none. */
static uint32_t number_of(const struct cp_detour *d, size_t before, enum cp_detour_way way)
{
	unsigned i;

	for (i = 0; i < d->count_count; i++)
		if (d->counts[i].before == before && d->counts[i].way == way)
			return d->counts[i].at;
	return 0;
}

struct branch {
	uint32_t number; /* of the way that it takes */
	size_t taken; /* its jump to there */
	uint64_t target;
	struct cp_x86_place at; /* as things were there */
};

static void put_branch(struct cp_x86_emit *e, const struct cp_detour *d, size_t at,
		       struct branch *ret)
{
	uint32_t passed = number_of(d, at, CP_DETOUR_PASSED);
	uint8_t jcc[2] = { 0x0f };
	struct cp_x86_insn insn;
	struct cp_insn flow;

	if (!cp_x86_take_apart(d->code + at, d->size - at, &insn)) {
		e->bad = true;
		return;
	}
	cp_x86_flow(&insn, d->code + at, e->now.pc, &flow);
	e->bad |= insn.map == CP_X86_ONE ? insn.opcode >> 4 != 7
					 : insn.map != CP_X86_0F || insn.opcode >> 4 != 8;
	jcc[1] = (uint8_t)(0x80 | (insn.opcode & 15));
	*ret = (struct branch){ .number = number_of(d, at, CP_DETOUR_TAKEN),
				.target = flow.target,
				.at = e->now };
	ret->taken = cp_x86_put_forward(e, jcc, sizeof(jcc));
	if (passed)
		put_count(e, passed);
	e->now.pc += flow.size;
}

static void put_taken(struct cp_x86_emit *e, const struct branch *b)
{
	e->now = b->at;
	cp_x86_land(e, b->taken);
	if (b->number)
		put_count(e, b->number);
	cp_x86_put_to(e, "\xe9", 1, b->target);
}

static bool is_counted_branch(const struct cp_detour *d, size_t at)
{
	return number_of(d, at, CP_DETOUR_TAKEN) || number_of(d, at, CP_DETOUR_PASSED);
}

/* Counts that were before no instruction, or stand there twice, would be lost. */
static bool all_done(const struct cp_detour *d, uint32_t begun)
{
	unsigned i, k;

	for (i = 0; i < d->count_count; i++) {
		if (!d->counts[i].at || !(begun >> d->counts[i].before & 1))
			return false;
		for (k = 0; k < i; k++)
			if (d->counts[k].before == d->counts[i].before &&
			    d->counts[k].way == d->counts[i].way)
				return false;
	}
	return true;
}

void cp_x86_counting(struct cp_x86_emit *e, const struct cp_detour *d,
		     uint64_t at_ret[CP_DETOUR_WINDOW])
{
	struct branch branches[CP_DETOUR_COUNTS];
	unsigned count = 0, i;
	bool goes_on = true;
	uint32_t begun = 0, number;
	size_t at = 0;

	e->bad |= d->record_count || d->count_count > CP_DETOUR_COUNTS || d->size > sizeof(d->code);
	e->now = (struct cp_x86_place){ .pc = d->pc };
	while (at < d->size && !e->bad) {
		begun |= UINT32_C(1) << at;
		if (at_ret)
			at_ret[at] = e->at + e->size;
		number = number_of(d, at, CP_DETOUR_ANY_WAY);
		if (number)
			put_count(e, number);
		if (is_counted_branch(d, at) && count < CP_DETOUR_COUNTS)
			put_branch(e, d, at, &branches[count++]);
		else
			goes_on = cp_x86_put_moved(e, d->code + at, d->size - at);
		memset(e->now.counted, 0, sizeof(e->now.counted));
		at = (size_t)(e->now.pc - d->pc);
		/* Nothing of the window is reached behind what doesn't go on. */
		e->bad |= at > d->size || (!goes_on && at != d->size);
	}
	if (goes_on && !e->bad)
		cp_x86_put_to(e, "\xe9", 1, e->now.pc);
	e->bad |= e->bad || !all_done(d, begun);
	for (i = 0; i < count && !e->bad; i++)
		put_taken(e, &branches[i]);
}

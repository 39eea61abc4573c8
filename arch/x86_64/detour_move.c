/* SPDX-License-Identifier: MIT
 *
 * Instructions of the program in the code of a detour. What a breakpoint's slot does
 * (step.c) serves here, too, without the jump at its end:
 *
 *     others       instruction, displacement recomputed
 *     jcc X        jcc X
 *     call X, *M   lea -8(%rsp),%rsp; movl low,(%rsp); movl high,4(%rsp); jmp X, *M
 *     loop, jrcxz  loop 1f; jmp 2f; 1: jmp X; 2:
 *
 * A call pushes the address in the program, where its callee returns to: the detour
 * ends with it.
 */
#include "arch/x86_64/detour_move.h"

#include <string.h>

#include "arch/x86_64/step.h"

#define NEAR_JUMP 5
#define CALL_LEA 5 /* offsets in a call's slot */
#define CALL_LOW 12
#define CALL_JUMP 20

void cp_x86_put(struct cp_x86_emit *e, const void *bytes, size_t size)
{
	if (e->mark)
		e->mark(e->ctx, e->size, &e->now);
	e->now.stopped = false;
	if (e->size + size > e->room) {
		e->bad = true;
		return;
	}
	if (e->code)
		memcpy(e->code + e->size, bytes, size);
	e->size += size;
}

void cp_x86_put32(struct cp_x86_emit *e, const void *bytes, size_t size, uint32_t last)
{
	uint8_t all[16];

	memcpy(all, bytes, size);
	memcpy(all + size, &last, 4);
	cp_x86_put(e, all, size + 4);
}

void cp_x86_put_to(struct cp_x86_emit *e, const void *bytes, size_t size, uint64_t target)
{
	int64_t distance = (int64_t)(target - (e->at + e->size + size + 4));

	e->bad |= (int32_t)distance != distance;
	cp_x86_put32(e, bytes, size, (uint32_t)distance);
}

size_t cp_x86_put_forward(struct cp_x86_emit *e, const void *bytes, size_t size)
{
	cp_x86_put32(e, bytes, size, 0);
	return e->size;
}

void cp_x86_land(struct cp_x86_emit *e, size_t forward)
{
	uint32_t distance = (uint32_t)(e->size - forward);

	if (e->code && !e->bad)
		memcpy(e->code + forward - 4, &distance, 4);
}

void cp_x86_fill(struct cp_x86_emit *e, size_t offset)
{
	e->bad |= e->size > offset || offset > e->room;
	if (e->bad)
		return;
	if (e->code)
		memset(e->code + e->size, 0xcc, offset - e->size);
	e->size = offset;
}

/* Pieces of a slot that cp_x86_step_prepare() made for here. */
static void put_call(struct cp_x86_emit *e, const uint8_t *slot, size_t size)
{
	cp_x86_put(e, slot, CALL_LEA);
	/* What it pushes is below sp again when it is taken back. */
	e->now.pushed += 8;
	cp_x86_put(e, slot + CALL_LEA, CALL_LOW - CALL_LEA);
	cp_x86_put(e, slot + CALL_LOW, CALL_JUMP - CALL_LOW);
	cp_x86_put(e, slot + CALL_JUMP, size - CALL_JUMP);
	e->now.pushed -= 8;
}

static void put_counted(struct cp_x86_emit *e, const struct cp_x86_insn *insn, uint64_t next,
			uint64_t target)
{
	uint8_t loop[] = { 0x67, insn->opcode, 2 };
	size_t skip = insn->addrsize ? 0 : 1;

	cp_x86_put(e, loop + skip, sizeof(loop) - skip);
	e->now.pc = next;
	e->now.record_at = CP_X86_NO_RECORD;
	e->now.counted[0] = 0;
	cp_x86_put(e, "\xeb\x05", 2);
	e->now.pc = target;
	cp_x86_put_to(e, "\xe9", 1, target);
}

static bool is_counted(const struct cp_x86_insn *insn, const struct cp_step *step)
{
	return step->flow == CP_FLOW_BRANCH && insn->map == CP_X86_ONE && insn->opcode >> 4 == 0xe;
}

bool cp_x86_put_moved(struct cp_x86_emit *e, const uint8_t *code, size_t size)
{
	uint64_t pc = e->now.pc;
	uint8_t slot[CP_SLOT_SIZE];
	struct cp_x86_insn insn;
	struct cp_step step;

	/* Who waits in a system call would be seen to do so here. */
	if (!cp_x86_take_apart(code, size, &insn) ||
	    !cp_x86_step_prepare(code, size, pc, e->at + e->size, slot, &step) ||
	    step.flow == CP_FLOW_SYSCALL) {
		e->bad = true;
		return false;
	}
	if (is_counted(&insn, &step)) {
		put_counted(e, &insn, step.resume, step.target);
	} else if (step.flow == CP_FLOW_CALL || step.flow == CP_FLOW_CALL_INDIRECT) {
		put_call(e, slot, step.slot_size);
		e->now.pc = step.resume;
		return false;
	} else {
		cp_x86_put(e, slot, step.done ? step.done : step.slot_size);
	}
	e->now.pc = step.resume;
	return step.flow == CP_FLOW_ON || step.flow == CP_FLOW_BRANCH;
}

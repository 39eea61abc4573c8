/* SPDX-License-Identifier: MIT
 *
 * Displaced execution on x86-64. What a slot holds, with the offsets at which
 * a thread can be between two instructions:
 *
 *     others        0 instruction                    n jmp next
 *     syscall       0 syscall          2 lea next,%rcx  9 jmp next
 *     ret           0 ret
 *     jmp X         0 jmp X
 *     jcc X         0 jcc X                          6 jmp next
 *     loop, jrcxz   0 loop .+5         n jmp next    n+5 jmp X
 *     jmp *M        0 jmp *M
 *     call X, *M    0 lea -8(%rsp),%rsp   5 movl low,(%rsp)
 *                  12 movl high,4(%rsp)  20 jmp X, *M
 *
 * A call is made of instructions that leave the flags alone, and pushes the
 * address behind the call, not behind the slot: the program (its unwinder, its
 * profiler) may look at it. Nothing is written but the eight bytes that the
 * call writes. A user-mode shadow stack (CET) would not know of that push;
 * threads that run with one can't have breakpoints on calls.
 *
 * syscall leaves the next instruction's address in rcx, which lea puts right.
 * A restart (rip -= 2) finds the syscall again, a new thread continues in the
 * slot as its creator does.
 *
 * Displacements relative to rip are recomputed; all jumps are relative, so
 * slots have to be within 2 GiB of where they lead.
 */
#include "arch/x86_64/step.h"

#include <elf.h>
#include <string.h>

#include "arch/x86_64/insn.h"
#include "arch/x86_64/sigcall.h"

enum { RCX = 2, RSP = 7, RIP = 16, NONE = 0xff };

#define NEAR_JUMP 5
#define PUSHED 20 /* offset in a call's slot where the return address is in place */

/* Conditions beyond the sixteen of jcc: E0 to E3 with counters of 64 bits,
 * then the same with 32. */
#define COUNTED 16
#define COUNTED_32 20

struct slot {
	uint64_t addr;
	uint8_t *code;
	size_t size;
	bool far; /* something was out of reach */
};

static void put(struct slot *s, const void *bytes, size_t size)
{
	memcpy(s->code + s->size, bytes, size);
	s->size += size;
}

static void put_rel32(struct slot *s, uint64_t target)
{
	int64_t distance = (int64_t)(target - (s->addr + s->size + 4));
	int32_t rel = (int32_t)distance;

	s->far |= rel != distance;
	put(s, &rel, 4);
}

static void put_jump(struct slot *s, uint64_t target)
{
	put(s, "\xe9", 1);
	put_rel32(s, target);
}

/* The instruction itself, its displacement adjusted if relative to rip. */
static void put_copy(struct slot *s, const struct cp_x86_insn *insn, const uint8_t *code,
		     uint64_t next)
{
	uint64_t here = s->addr + s->size + insn->size;
	uint8_t *copy = s->code + s->size;
	int64_t distance;
	int32_t disp;

	put(s, code, insn->size);
	if (!cp_x86_rip_relative(insn))
		return;
	memcpy(&disp, code + insn->disp_at, 4);
	distance = (int64_t)(next + (uint64_t)(int64_t)disp - here);
	disp = (int32_t)distance;
	s->far |= disp != distance;
	memcpy(copy + insn->disp_at, &disp, 4);
}

/* ---- calls ---- */

static void put_push(struct slot *s, uint64_t value)
{
	put(s, "\x48\x8d\x64\x24\xf8", 5); /* lea -8(%rsp),%rsp */
	put(s, "\xc7\x04\x24", 3); /* movl $low,(%rsp) */
	put(s, &value, 4);
	put(s, "\xc7\x44\x24\x04", 4); /* movl $high,4(%rsp) */
	put(s, (const uint8_t *)&value + 4, 4);
}

/* jmp *disp32(%rsp,...): the operand of a call, seen from eight bytes below. */
static bool put_jump_by_rsp(struct slot *s, const struct cp_x86_insn *insn, const uint8_t *code,
			    int32_t disp)
{
	uint8_t ff4[] = { 0xff, 0xa4 }; /* /4, mod 2, rm 4 */

	/* The operand lies where the call writes its return address, after it was read. */
	if (disp > -16 && disp < 0)
		return false;
	if (__builtin_add_overflow(disp, 8, &disp))
		return false;
	put(s, code, insn->opcode_at); /* prefixes */
	put(s, ff4, 2);
	put(s, code + insn->modrm_at + 1, 1); /* SIB */
	put(s, &disp, 4);
	return true;
}

static bool put_call_indirect(struct slot *s, const struct cp_x86_insn *insn, const uint8_t *code,
			      uint64_t next)
{
	struct cp_x86_operand to;
	size_t at;

	cp_x86_operand(insn, code, &to);
	put_push(s, next);
	if (to.base == RSP)
		return to.memory && !insn->addrsize && put_jump_by_rsp(s, insn, code, to.disp);
	at = s->size;
	put_copy(s, insn, code, next);
	s->code[at + insn->modrm_at] ^= 6 << 3; /* from /2, call, to /4, jmp */
	return true;
}

/* ---- the others ---- */

static void put_counted(struct slot *s, const struct cp_x86_insn *insn, uint64_t next,
			struct cp_step *step)
{
	static const uint8_t prefix[] = { 0x67 };
	uint8_t branch[] = { insn->opcode, NEAR_JUMP };

	if (insn->addrsize)
		put(s, prefix, 1);
	put(s, branch, 2);
	step->done = (uint8_t)s->size;
	put_jump(s, next);
	put_jump(s, step->target);
	step->condition = (uint8_t)((insn->addrsize ? COUNTED_32 : COUNTED) + (insn->opcode & 3));
}

static bool put_branch(struct slot *s, const struct cp_x86_insn *insn, uint64_t next,
		       struct cp_step *step)
{
	uint8_t jcc[2] = { 0x0f, (uint8_t)(0x80 | (insn->opcode & 15)) };

	if (insn->map == CP_X86_ONE && insn->opcode == 0xc7)
		return false; /* xbegin */
	if (insn->map == CP_X86_ONE && insn->opcode >> 4 == 0xe) {
		put_counted(s, insn, next, step);
		return true;
	}
	put(s, jcc, 2);
	put_rel32(s, step->target);
	step->done = (uint8_t)s->size;
	step->condition = insn->opcode & 15;
	put_jump(s, next);
	return true;
}

static bool put_syscall(struct slot *s, const struct cp_x86_insn *insn, uint64_t next,
			struct cp_step *step)
{
	/* No prefixes: their bytes would be left out by a restart. */
	if (insn->map != CP_X86_0F || insn->opcode != 0x05 || insn->size != 2)
		return false;
	put(s, "\x0f\x05", 2);
	step->done = 2;
	put(s, "\x48\x8d\x0d", 3); /* lea next(%rip),%rcx */
	put_rel32(s, next);
	put_jump(s, next);
	return true;
}

static void put_on(struct slot *s, const struct cp_x86_insn *insn, const uint8_t *code,
		   uint64_t next, struct cp_step *step)
{
	put_copy(s, insn, code, next);
	step->done = (uint8_t)s->size;
	put_jump(s, next);
}

/* Far jumps, calls and returns change the code segment; with 66 the address
 * has 16 bits. */
static bool is_plain_transfer(const struct cp_x86_insn *insn, enum cp_flow flow)
{
	if (flow == CP_FLOW_RETURN)
		return insn->opcode == 0xc2 || insn->opcode == 0xc3 ? !insn->opsize : false;
	return (CP_X86_REG(insn) == 2 || CP_X86_REG(insn) == 4) && !insn->opsize;
}

static bool put_all(struct slot *s, const struct cp_x86_insn *insn, const uint8_t *code,
		    struct cp_step *step)
{
	uint64_t next = step->resume;

	if (insn->addrsize && cp_x86_rip_relative(insn))
		return false; /* relative to eip */
	switch ((enum cp_flow)step->flow) {
	case CP_FLOW_ON:
		put_on(s, insn, code, next, step);
		return true;
	case CP_FLOW_RETURN:
		if (!is_plain_transfer(insn, CP_FLOW_RETURN))
			return false;
		put(s, code, insn->size);
		return true;
	case CP_FLOW_JUMP:
		put_jump(s, step->target);
		return true;
	case CP_FLOW_BRANCH:
		return put_branch(s, insn, next, step);
	case CP_FLOW_JUMP_INDIRECT:
		if (!is_plain_transfer(insn, CP_FLOW_JUMP_INDIRECT))
			return false;
		put_copy(s, insn, code, next);
		return true;
	case CP_FLOW_CALL:
		put_push(s, next);
		put_jump(s, step->target);
		return true;
	case CP_FLOW_CALL_INDIRECT:
		return is_plain_transfer(insn, CP_FLOW_CALL_INDIRECT) &&
		       put_call_indirect(s, insn, code, next);
	case CP_FLOW_SYSCALL:
		return put_syscall(s, insn, next, step);
	case CP_FLOW_END:
		return false;
	}
	return false;
}

/* Segments and 32-bit addresses can't be followed: no base says so. */
static void note_operand(const struct cp_x86_insn *insn, const uint8_t *code, struct cp_step *step)
{
	struct cp_x86_operand to;

	step->base = step->index = NONE;
	if (step->flow != CP_FLOW_JUMP_INDIRECT && step->flow != CP_FLOW_CALL_INDIRECT)
		return;
	if (insn->segment || insn->addrsize)
		return;
	cp_x86_operand(insn, code, &to);
	step->base = to.base;
	step->index = to.index;
	step->scale = to.scale;
	step->disp = to.disp;
	step->indirect_memory = to.memory;
}

/* int3; jmp to the slot's beginning */
static const uint8_t detour[] = { 0xcc, 0xeb, 0x100 - CP_SLOT_SIZE };

unsigned cp_step_detour(const struct cp_step *step)
{
	bool room = step->slot_size && step->slot_size + sizeof(detour) <= CP_SLOT_SIZE;

	return room ? CP_SLOT_SIZE - (unsigned)sizeof(detour) : 0;
}

unsigned cp_slot_detour(const struct cp_arch *arch, const uint8_t *slot_code)
{
	unsigned offset = CP_SLOT_SIZE - (unsigned)sizeof(detour);

	return arch->e_machine == EM_X86_64 && !memcmp(slot_code + offset, detour, sizeof(detour))
		       ? offset
		       : 0;
}

bool cp_x86_step_prepare(const uint8_t *code, size_t size, uint64_t pc, uint64_t slot,
			 uint8_t *slot_code, struct cp_step *ret)
{
	struct slot s = { .addr = slot, .code = slot_code };
	struct cp_step step = { .how = CP_STEP_SLOT, .trap_size = 1 };
	struct cp_x86_insn insn;
	struct cp_insn flow;

	*ret = (struct cp_step){ .how = CP_STEP_REFUSED };
	memset(slot_code, 0xcc, CP_SLOT_SIZE);
	if (!cp_x86_take_apart(code, size, &insn))
		return false;
	cp_x86_flow(&insn, code, pc, &flow);
	step.flow = flow.flow;
	step.size = flow.size;
	step.resume = pc + flow.size;
	step.target = flow.target;
	note_operand(&insn, code, &step);
	if (!put_all(&s, &insn, code, &step) || s.far) {
		memset(slot_code, 0xcc, CP_SLOT_SIZE);
		return false;
	}
	/* Behind an int3 in its place, f3 0f 1e fa goes on as the nop 0f 1e fa. */
	if (flow.landing_pad && insn.size == 4)
		step.how = CP_STEP_FREE;
	step.slot_size = (uint8_t)s.size;
	if (cp_step_detour(&step))
		memcpy(slot_code + cp_step_detour(&step), detour, sizeof(detour));
	*ret = step;
	return true;
}

/* ---- where it goes ---- */

#define CF (1u << 0)
#define PF (1u << 2)
#define ZF (1u << 6)
#define SF (1u << 7)
#define OF (1u << 11)

/* jcc's conditions come in pairs, the odd one being the opposite. */
static bool flags_say(unsigned condition, uint64_t flags)
{
	bool differ = !(flags & SF) != !(flags & OF), so = false;

	switch (condition >> 1) {
	case 0:
		so = flags & OF;
		break;
	case 1:
		so = flags & CF;
		break;
	case 2:
		so = flags & ZF;
		break;
	case 3:
		so = flags & (CF | ZF);
		break;
	case 4:
		so = flags & SF;
		break;
	case 5:
		so = flags & PF;
		break;
	case 6:
		so = differ;
		break;
	default:
		so = differ || (flags & ZF);
		break;
	}
	return so != (condition & 1);
}

static bool is_taken(const struct cp_step *step, uint64_t rcx, uint64_t flags)
{
	unsigned c = step->condition;
	uint64_t left;

	if (c < COUNTED)
		return flags_say(c, flags);
	if (c >= COUNTED_32)
		rcx = (uint32_t)rcx;
	left = c >= COUNTED_32 ? (uint32_t)(rcx - 1) : rcx - 1;
	switch (c & 3) {
	case 0: /* loopne */
		return left && !(flags & ZF);
	case 1: /* loope */
		return left && (flags & ZF);
	case 2: /* loop */
		return left;
	default: /* jrcxz */
		return !rcx;
	}
}

static bool reg(const struct cp_regs *regs, unsigned number, uint64_t *ret)
{
	if (number >= CP_REG_MAX || !(regs->known >> number & 1))
		return false;
	*ret = regs->r[number];
	return true;
}

static uint64_t indirect(const struct cp_step *step, const struct cp_regs *regs,
			 const struct cp_reader *read)
{
	uint64_t at = 0, index, target;

	if (!step->indirect_memory)
		return reg(regs, step->base, &target) ? target : 0;
	if (step->base == RIP)
		at = step->resume;
	else if (step->base != NONE && !reg(regs, step->base, &at))
		return 0;
	if (step->index != NONE) {
		if (!reg(regs, step->index, &index))
			return 0;
		at += index * step->scale;
	}
	at += (uint64_t)(int64_t)step->disp;
	return cp_read_exact(read, at, &target, sizeof(target)) ? target : 0;
}

uint64_t cp_step_destination(const struct cp_step *step, const struct cp_regs *regs, uint64_t flags,
			     const struct cp_reader *read)
{
	uint64_t value = 0;

	if (step->how == CP_STEP_REFUSED)
		return 0;
	switch ((enum cp_flow)step->flow) {
	case CP_FLOW_ON:
	case CP_FLOW_SYSCALL:
		return step->resume;
	case CP_FLOW_RETURN:
		if (!reg(regs, RSP, &value) || !cp_read_exact(read, value, &value, sizeof(value)))
			return 0;
		return value;
	case CP_FLOW_JUMP:
	case CP_FLOW_CALL:
		return step->target;
	case CP_FLOW_BRANCH:
		if (step->condition >= COUNTED && !reg(regs, RCX, &value))
			return 0;
		return is_taken(step, value, flags) ? step->target : step->resume;
	case CP_FLOW_JUMP_INDIRECT:
	case CP_FLOW_CALL_INDIRECT:
		return indirect(step, regs, read);
	case CP_FLOW_END:
		return 0;
	}
	return 0;
}

/* ---- leaving a slot ---- */

/* A call that has begun is taken back: what it has written lies below sp
 * again. Only when a direct one has pushed everything is it said to be done;
 * an indirect one may still fault, reading where it goes. */
static uint64_t uncall(const struct cp_step *step, uint64_t site, uint64_t offset,
		       struct cp_regs *regs)
{
	if (step->flow == CP_FLOW_CALL && offset >= PUSHED)
		return step->target;
	regs->r[RSP] += 8;
	return site;
}

uint64_t cp_step_unslot(const struct cp_step *step, uint64_t site, uint64_t slot, uint64_t pc,
			struct cp_regs *regs,
			bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size),
			void *ctx)
{
	uint64_t offset = pc - slot;

	(void)write; /* no slot needs it here */
	(void)ctx;
	if (step->how == CP_STEP_REFUSED || offset >= CP_SLOT_SIZE)
		return pc;
	if (step->sigcall)
		return cp_sigcall_unslot(step, site, offset, regs);
	if (offset == 0 || (cp_step_detour(step) && offset >= cp_step_detour(step)))
		return site;
	if (offset >= step->slot_size)
		return pc;
	if (step->flow == CP_FLOW_CALL || step->flow == CP_FLOW_CALL_INDIRECT)
		return uncall(step, site, offset, regs);
	if (!step->done || offset < step->done)
		return site;
	if (step->flow == CP_FLOW_BRANCH && offset == (uint64_t)step->done + NEAR_JUMP)
		return step->target;
	if (step->flow == CP_FLOW_SYSCALL)
		regs->r[RCX] = step->resume;
	return step->resume;
}

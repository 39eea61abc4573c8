/* SPDX-License-Identifier: MIT
 *
 * Threads in the code of detours: into it, and out of it at any instruction. The code
 * is made once more, without being written, up to where the thread stands.
 */
#include "arch/x86_64/detour.h"

#include <elf.h>

/* DWARF's numbers. */
enum { RAX, RDX, RCX, RSP = 7, PC = 16 };

#define CF (UINT64_C(1) << 0)
#define AH_FLAGS UINT64_C(0xd5) /* SF ZF AF PF CF, as lahf has them */
#define OF (UINT64_C(1) << 11)

struct looking {
	size_t offset;
	struct cp_x86_place place;
	bool found;
};

static void look(void *ctx, size_t offset, const struct cp_x86_place *place)
{
	struct looking *l = ctx;

	if (offset != l->offset || l->found)
		return;
	l->place = *place;
	l->found = true;
}

/* Reads what was saved `below` bytes below the program's sp. */
static bool saved(const struct cp_reader *memory, uint64_t sp, uint16_t below, uint64_t *ret)
{
	return !below || cp_read_exact(memory, sp - below, ret, sizeof(*ret));
}

static uint64_t with_flags(uint64_t flags, uint64_t word, bool of_too)
{
	flags = (flags & ~AH_FLAGS) | (word >> 8 & AH_FLAGS);
	if (of_too)
		flags = (flags & ~OF) | (word & 1 ? OF : 0);
	return flags;
}

static bool go_back(const struct cp_x86_place *p, struct cp_regs *regs, uint64_t *flags,
		    const struct cp_reader *memory)
{
	uint64_t sp = regs->r[RSP] + p->pushed, rax = regs->r[RAX], rcx = regs->r[RCX],
		 rdx = regs->r[RDX], word = rax;

	if (!saved(memory, sp, p->rax, &rax) || !saved(memory, sp, p->rcx, &rcx) ||
	    !saved(memory, sp, p->rdx, &rdx) || !saved(memory, sp, p->flags, &word))
		return false;
	if (p->flags_at != CP_X86_FLAGS_LIVE)
		*flags = with_flags(*flags, word, p->flags_at != CP_X86_FLAGS_IN_AH);
	regs->r[RAX] = rax;
	regs->r[RCX] = rcx;
	regs->r[RDX] = rdx;
	regs->r[RSP] = sp;
	regs->r[PC] = p->pc;
	return true;
}

/* What the record in the making came to, by the registers before they are put back. */
static struct cp_detour_left record_left(const struct cp_x86_place *p, const struct cp_regs *regs,
					 unsigned log)
{
	uint64_t mask = (UINT64_C(1) << log) - 1;
	struct cp_detour_left left = { .stage = CP_DETOUR_RESERVED, .units = p->units };

	switch ((enum cp_x86_record_at)p->record_at) {
	case CP_X86_NO_RECORD:
		left.stage = CP_DETOUR_NOTHING;
		break;
	case CP_X86_POSITION_IN_RCX:
		left.tag = (uint16_t)(regs->r[RCX] >> log);
		left.index = (uint32_t)(regs->r[RCX] & mask);
		break;
	case CP_X86_TURN_IN_RCX:
		left.tag = (uint16_t)regs->r[RCX];
		left.index = (uint32_t)regs->r[RDX];
		break;
	case CP_X86_TAG_IN_AX:
		left.tag = (uint16_t)regs->r[RAX];
		left.index = (uint32_t)regs->r[RDX];
		break;
	case CP_X86_DONE:
		left.stage = CP_DETOUR_COMMITTED;
		break;
	}
	return left;
}

bool cp_detour_leave(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
		     const struct cp_detour_rings *rings, struct cp_regs *regs, uint64_t *flags,
		     const struct cp_reader *memory, struct cp_detour_left *ret)
{
	struct looking l = { .offset = (size_t)(regs->r[PC] - at) };
	struct cp_x86_emit e = { .room = CP_DETOUR_CODE_MAX, .at = at, .mark = look, .ctx = &l };
	struct cp_detour_left left;

	if (arch->e_machine != EM_X86_64 || regs->r[PC] - at >= CP_DETOUR_CODE_MAX)
		return false;
	cp_x86_detour(&e, detour, rings, 0, NULL);
	if (e.bad || !l.found)
		return false;
	left = record_left(&l.place, regs, rings->log);
	if (!go_back(&l.place, regs, flags, memory))
		return false;
	*ret = left;
	return true;
}

bool cp_detour_leave_slow(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			  struct cp_regs *regs, const struct cp_reader *memory,
			  struct cp_detour_left *ret)
{
	struct looking l = { .offset = (size_t)(regs->r[PC] - rings->slow) };
	struct cp_x86_emit e = {
		.room = CP_DETOUR_SLOW_MAX, .at = rings->slow, .mark = look, .ctx = &l
	};
	struct cp_detour_stop asked;
	uint64_t pc;

	if (arch->e_machine != EM_X86_64 || regs->r[PC] - rings->slow >= CP_DETOUR_SLOW_MAX)
		return false;
	cp_x86_detour_slow(&e, rings, &asked);
	if (e.bad || !l.found || !cp_read_exact(memory, regs->r[RSP], &pc, sizeof(pc)))
		return false;
	*ret = record_left(&l.place, regs, rings->log);
	regs->r[RSP] += 8;
	regs->r[PC] = pc;
	return true;
}

uint64_t cp_detour_enter(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
			 const struct cp_detour_rings *rings, uint64_t pc)
{
	struct cp_x86_emit e = { .room = CP_DETOUR_CODE_MAX, .at = at };
	uint32_t offset = UINT32_MAX;

	if (arch->e_machine != EM_X86_64)
		return 0;
	cp_x86_detour(&e, detour, rings, pc, &offset);
	return e.bad || offset == UINT32_MAX ? 0 : at + offset;
}

/* ---- in the ring, in the thread's place ---- */

static void write_record(struct cp_detour_ring *ring, uint32_t index, uint64_t stamp, uint32_t what)
{
	struct cp_detour_head *head = (void *)((uint8_t *)ring + CP_DETOUR_BUFFER + index);

	head->what = what;
	head->sp = 0;
	__atomic_store_n(&head->stamp, stamp, __ATOMIC_RELEASE);
}

void cp_detour_void(struct cp_detour_ring *ring, const struct cp_detour_left *left)
{
	write_record(ring, left->index, left->tag, cp_detour_what(CP_DETOUR_VOID, left->units));
}

void cp_detour_cancel(struct cp_detour_ring *ring, unsigned log, uint64_t stamp)
{
	uint64_t position = ring->head, mask = (UINT64_C(1) << log) - 1;

	ring->head += CP_DETOUR_UNIT;
	write_record(ring, (uint32_t)(position & mask),
		     (stamp & ~UINT64_C(0xffff)) | (uint16_t)(position >> log),
		     cp_detour_what(CP_DETOUR_CANCEL, 1));
}

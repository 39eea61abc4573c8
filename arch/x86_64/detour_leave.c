/* SPDX-License-Identifier: MIT
 *
 * Threads in the code of detours: into it, and out of it at any instruction. The code
 * is made once more, without being written, up to where the thread stands.
 */
#include "arch/x86_64/detour.h"
#include "arch/x86_64/detour_slow.h"

#include <elf.h>
#include <string.h>

/* DWARF's numbers. */
enum { RAX, RDX, RCX, RSI = 4, RDI, RSP = 7, PC = 16 };

#define ZF (UINT64_C(1) << 6)
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

/* Registers as they were where sp was `sp`. */
static bool take_back(const struct cp_x86_place *p, uint64_t sp, struct cp_regs *regs,
		      const struct cp_reader *memory)
{
	struct cp_regs back = *regs;
	unsigned i;

	for (i = 0; i < CP_ARRAY_SIZE(p->saved); i++) {
		if (!saved(memory, sp, p->saved[i], &back.r[i]))
			return false;
	}
	back.r[RSP] = sp;
	*regs = back;
	return true;
}

static bool go_back(const struct cp_x86_place *p, struct cp_regs *regs, uint64_t *flags,
		    const struct cp_reader *memory)
{
	uint64_t sp = regs->r[RSP] + p->pushed, word = regs->r[RAX];

	if (!saved(memory, sp, p->flags, &word) || !take_back(p, sp, regs, memory))
		return false;
	if (p->flags_at != CP_X86_FLAGS_LIVE)
		*flags = with_flags(*flags, word, p->flags_at != CP_X86_FLAGS_IN_AH);
	regs->r[PC] = p->pc;
	return true;
}

static uint64_t units_of(uint64_t bytes)
{
	return (bytes + CP_DETOUR_UNIT - 1) / CP_DETOUR_UNIT;
}

/* What the record in the making came to, by the registers before they are put back. */
static bool record_left(const struct cp_x86_place *p, const struct cp_regs *regs, uint64_t flags,
			unsigned log, const struct cp_reader *memory, struct cp_detour_left *ret)
{
	uint64_t mask = (UINT64_C(1) << log) - 1, stamp = regs->r[RAX];
	uint64_t sp = regs->r[RSP] + p->pushed, copied = 0, used = 0;
	struct cp_detour_left left = { .stage = CP_DETOUR_RESERVED,
				       .counted = { p->counted[0], p->counted[1] } };

	if (!saved(memory, sp, p->stamp, &stamp) || !saved(memory, sp, p->copied, &copied) ||
	    !saved(memory, sp, p->used, &used))
		return false;
	left.units = (uint16_t)(p->units + units_of(copied));
	if (p->units_by == CP_X86_AS_USED || (p->units_by == CP_X86_USED_IF_ZERO && flags & ZF))
		left.units = (uint16_t)units_of(used);
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
	case CP_X86_TAG_SAVED:
		left.tag = (uint16_t)stamp;
		left.index = (uint32_t)regs->r[RDX];
		break;
	case CP_X86_DONE:
		left.stage = CP_DETOUR_COMMITTED;
		break;
	}
	*ret = left;
	return true;
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
	cp_x86_detour(&e, detour, rings, NULL);
	if (e.bad || !l.found)
		return false;
	if (!record_left(&l.place, regs, *flags, rings->log, memory, &left) ||
	    !go_back(&l.place, regs, flags, memory))
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
	struct cp_x86_shared shared;
	struct cp_detour_left left;
	uint64_t pc, sp;

	if (arch->e_machine != EM_X86_64 || regs->r[PC] - rings->slow >= CP_DETOUR_SLOW_MAX)
		return false;
	cp_x86_shared(&e, rings, &shared);
	sp = regs->r[RSP] + l.place.pushed;
	if (e.bad || !l.found || !cp_read_exact(memory, sp, &pc, sizeof(pc)) ||
	    !record_left(&l.place, regs, 0, rings->log, memory, &left) ||
	    !take_back(&l.place, sp, regs, memory))
		return false;
	regs->r[RSP] = sp + 8;
	regs->r[PC] = pc;
	*ret = left;
	return true;
}

uint64_t cp_detour_fault(const struct cp_arch *arch, const struct cp_detour_rings *rings,
			 uint64_t pc)
{
	struct cp_x86_emit e = { .room = CP_DETOUR_SLOW_MAX, .at = rings->slow };
	struct cp_x86_shared shared;
	size_t i;

	if (arch->e_machine != EM_X86_64 || pc - rings->slow >= CP_DETOUR_SLOW_MAX)
		return 0;
	cp_x86_shared(&e, rings, &shared);
	for (i = 0; i < shared.load_count && !e.bad; i++) {
		if (shared.loads[i].at == pc - rings->slow)
			return rings->slow + shared.loads[i].on;
	}
	return 0;
}

bool cp_detour_stack_fault(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
			   const struct cp_detour_rings *rings, struct cp_regs *regs,
			   struct cp_detour_ring *ring)
{
	struct looking l = { .offset = (size_t)(regs->r[PC] - at) };
	struct cp_x86_emit e = { .room = CP_DETOUR_CODE_MAX, .at = at, .mark = look, .ctx = &l };
	uint64_t offset = regs->r[RDI] - ring->self;

	if (arch->e_machine != EM_X86_64 || regs->r[PC] - at >= CP_DETOUR_CODE_MAX)
		return false;
	cp_x86_detour(&e, detour, rings, NULL);
	if (e.bad || !l.found || !l.place.copying || regs->r[RCX] > CP_DETOUR_STACK_MAX ||
	    offset > cp_detour_table_offset(rings->log) - regs->r[RCX])
		return false;
	memset((uint8_t *)ring + offset, 0, regs->r[RCX]);
	regs->r[RSI] += regs->r[RCX];
	regs->r[RDI] += regs->r[RCX];
	regs->r[RCX] = 0;
	regs->r[PC] += 2; /* rep movsb */
	return true;
}

struct stops {
	struct cp_detour_stop *ret;
	size_t count;
	uint64_t at;
};

static void add_stop(void *ctx, size_t offset, const struct cp_x86_place *place)
{
	struct stops *s = ctx;

	if (place->stopped && s->count < CP_DETOUR_RECORDS)
		s->ret[s->count++] = (struct cp_detour_stop){ s->at + offset, s->at + offset };
}

size_t cp_detour_stops(const struct cp_arch *arch, const struct cp_detour *detour, uint64_t at,
		       const struct cp_detour_rings *rings,
		       struct cp_detour_stop ret[CP_DETOUR_RECORDS])
{
	struct stops s = { .ret = ret, .at = at };
	struct cp_x86_emit e = {
		.room = CP_DETOUR_CODE_MAX, .at = at, .mark = add_stop, .ctx = &s
	};

	if (arch->e_machine != EM_X86_64)
		return 0;
	cp_x86_detour(&e, detour, rings, NULL);
	return e.bad ? 0 : s.count;
}

/* ---- in the ring, in the thread's place ---- */

static void write_record(struct cp_detour_ring *ring, uint32_t index, uint64_t stamp, uint32_t site,
			 unsigned units)
{
	struct cp_detour_head *head = (void *)((uint8_t *)ring + CP_DETOUR_BUFFER + index);

	head->what = cp_detour_what(site, units <= CP_DETOUR_SHORT ? units : 0);
	head->sp = 0;
	if (units > CP_DETOUR_SHORT)
		*(struct cp_detour_long *)(head + 1) = (struct cp_detour_long){ .units = units };
	__atomic_store_n(&head->stamp, stamp, __ATOMIC_RELEASE);
}

void cp_detour_void(struct cp_detour_ring *ring, const struct cp_detour_left *left)
{
	write_record(ring, left->index, left->tag, CP_DETOUR_VOID, left->units);
}

static void put_note(struct cp_detour_ring *ring, unsigned log, uint64_t stamp, uint32_t what)
{
	uint64_t position = ring->head, mask = (UINT64_C(1) << log) - 1;

	ring->head += CP_DETOUR_UNIT;
	write_record(ring, (uint32_t)(position & mask),
		     (stamp & ~UINT64_C(0xffff)) | (uint16_t)(position >> log), what, 1);
}

void cp_detour_cancel(struct cp_detour_ring *ring, unsigned log, uint64_t stamp)
{
	put_note(ring, log, stamp, CP_DETOUR_CANCEL);
}

void cp_detour_come_again(struct cp_detour_ring *ring, unsigned log, uint64_t stamp)
{
	put_note(ring, log, stamp, CP_DETOUR_AGAIN);
}

/* SPDX-License-Identifier: MIT
 *
 * The code of detours in the making, instruction by instruction, each with what a
 * thread that stands there has saved and stands for.
 */
#ifndef CP_ARCH_X86_64_DETOUR_MOVE_H
#define CP_ARCH_X86_64_DETOUR_MOVE_H

#include "arch/detour.h"
#include "arch/x86_64/insn.h"

enum cp_x86_flags_at {
	CP_X86_FLAGS_LIVE,
	CP_X86_FLAGS_SAVED, /* ah and al of the word at frame.flags */
	CP_X86_FLAGS_IN_RAX, /* the same in rax */
	CP_X86_FLAGS_IN_AH, /* but for OF, which is live again */
};

/* What the record in the making has got to. */
enum cp_x86_record_at {
	CP_X86_NO_RECORD,
	CP_X86_POSITION_IN_RCX, /* reserved */
	CP_X86_TURN_IN_RCX, /* and the index in rdx */
	CP_X86_TAG_IN_AX, /* and the index in rdx */
	CP_X86_TAG_SAVED, /* with the stamp; and the index in rdx */
	CP_X86_DONE,
};

/* Room that strings did not need is given back. */
enum cp_x86_units_by {
	CP_X86_AS_RESERVED,
	CP_X86_AS_USED,
	CP_X86_USED_IF_ZERO, /* by the flag that the exchange of `head` left */
};

struct cp_x86_place {
	uint64_t pc; /* which instruction of the program the thread has yet to do */
	uint16_t pushed; /* bytes that sp is lower */
	/* Saved so far, below the program's sp (in what all share: below that of the call);
	 * registers by DWARF's numbers; 0: not. */
	uint16_t saved[16], flags;
	uint16_t stamp; /* the same of rax while it holds the stamp; else 0 */
	uint16_t copied; /* the same of how many bytes of stack are in the record */
	uint8_t flags_at; /* enum cp_x86_flags_at */
	uint8_t record_at; /* enum cp_x86_record_at */
	uint16_t units; /* of that record, but for the copy of the stack */
	/* Where how many bytes of it are in use is kept; else 0. */
	uint16_t used;
	uint16_t time; /* the same of the record's time, where pointers are followed; else 0 */
	uint8_t units_by; /* enum cp_x86_units_by */
	bool stopped; /* here is who stopped at a breakpoint of ours */
	bool copying; /* of the stack */
	uint32_t counted[2]; /* addresses of numbers that went up for this instruction; 0: none */
};

struct cp_x86_emit {
	uint8_t *code; /* NULL: nothing is written */
	size_t size, room;
	uint64_t at; /* address of the code */
	struct cp_x86_place now; /* before the next instruction */
	bool bad; /* out of reach, no room, or an instruction that can't be moved */
	/* Is told each instruction's offset and place; or NULL. */
	void (*mark)(void *ctx, size_t offset, const struct cp_x86_place *place);
	void *ctx;
};

/* One instruction. */
void cp_x86_put(struct cp_x86_emit *e, const void *bytes, size_t size);
/* One that ends in 32 bits: an immediate or an absolute displacement. */
void cp_x86_put32(struct cp_x86_emit *e, const void *bytes, size_t size, uint32_t last);
#define PUT(e, bytes) cp_x86_put(e, bytes, sizeof(bytes) - 1)
#define PUT32(e, bytes, last) cp_x86_put32(e, bytes, sizeof(bytes) - 1, (uint32_t)(last))
/* One that ends in a displacement relative to rip. */
void cp_x86_put_to(struct cp_x86_emit *e, const void *bytes, size_t size, uint64_t target);
/* The same, whose target is not yet known; returns what cp_x86_land() needs. */
size_t cp_x86_put_forward(struct cp_x86_emit *e, const void *bytes, size_t size);
/* Here is where it goes. */
void cp_x86_land(struct cp_x86_emit *e, size_t forward);

/* Up to a given offset, what nobody comes to. */
void cp_x86_fill(struct cp_x86_emit *e, size_t offset);

/* An instruction of the program (bytes, address) here; now.pc is its
 * own before and that of the next one behind it. True: what follows it is reached. */
bool cp_x86_put_moved(struct cp_x86_emit *e, const uint8_t *code, size_t size);

#endif

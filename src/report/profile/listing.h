/* SPDX-License-Identifier: MIT
 *
 * A function by its instructions and source lines, each with its cost.
 *
 *     stacks that the function is in ─► addresses (own code) ─► instructions, which
 *                                   │                           somebody adds who can read
 *                                   │                           the file
 *                                   └─► lines: the function's, and of what is inlined
 *                                       into it
 *
 * An address between frames is that of a call.
 */
#ifndef CP_REPORT_LISTING_H
#define CP_REPORT_LISTING_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "report/profile/profile.h"

/* A place in the source, of the function or of what is inlined into it. */
struct cp_listing_line {
	const char *file; /* NULL: unknown */
	uint32_t line; /* 0: unknown */
	uint32_t function; /* number of the function of which it is, from 0 */
	bool code; /* an instruction is of it */
	struct cp_cost self, total;
};

/* A function of which there are lines. */
struct cp_listing_function {
	const char *name, *file; /* file NULL: unknown */
	uint32_t decl_line; /* 0: unknown */
};

struct cp_listing_insn {
	uint64_t address; /* link-time */
	const char *text; /* of the listing's arena */
	uint64_t target; /* of a jump; 0: none */
	uint32_t line; /* number of the innermost line, from 1; 0: unknown */
	bool begins; /* a part of the function */
	struct cp_cost self, total;
};

/* Where the function, or something that it calls, was seen. */
struct cp_listing_address {
	uint64_t address;
	struct cp_cost self, total;
	uint32_t insn; /* number of the instruction that it is in, from 1; 0: none */
};

/* What a location of stacks is to the function. */
struct cp_listing_place {
	uint32_t location;
	uint32_t first, count; /* numbers of lines in `place_lines`, the innermost first */
	bool own; /* it is in the function's own code, at */
	uint64_t address;
};

struct cp_listing {
	const struct cp_profile *profile; /* borrowed */
	uint32_t function; /* of the profile */
	uint32_t image; /* of the recording, of its own code; CP_RECORD_NONE: it has none */
	CP_VEC(uint64_t) starts; /* of its parts, link-time, sorted; 0 is none */
	CP_VEC(struct cp_listing_address) addresses; /* sorted */
	struct cp_cost own; /* in its own code: elsewhere it is inlined */
	CP_VEC(uint32_t) hosts; /* functions of the profile that it is inlined into */
	CP_VEC(struct cp_listing_function) functions; /* the first is the function */
	CP_VEC(struct cp_listing_line) lines;
	CP_VEC(struct cp_listing_insn) insns; /* by address within a part */
	CP_VEC(struct cp_listing_place) places;
	CP_VEC(uint32_t) place_lines;
	uint32_t passed; /* instructions that no source line is known of */
	/* private */
	struct cp_arena arena;
	struct cp_interner names, keys; /* of functions; of lines */
	struct cp_map known; /* location: 1, when it is among the places */
	struct cp_map at; /* address: its place in `addresses`, from 1 */
	CP_VEC(size_t) seen_lines, seen_addresses; /* number (from 1) of the last hit added */
};

/* Adds costs up. */
CP_ERROR cp_listing_create(const struct cp_profile *p, uint32_t function, struct cp_listing **ret);
void cp_listing_destroy(struct cp_listing *l);

/* The number of a source line, from 1; it has code from now on. 0: no memory. */
uint32_t cp_listing_line(struct cp_listing *l, const char *function, uint32_t decl_line,
			 const char *file, uint32_t line);
/* The number, from 1, of the instruction that an address with cost is in; 0: none. */
uint32_t cp_listing_insn_at(const struct cp_listing *l, uint64_t address);
/* The next instruction; costs of what lies within its `size` bytes are its own. `text` is
 * copied. False: no memory. */
bool cp_listing_add(struct cp_listing *l, const struct cp_listing_insn *insn, unsigned size);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Where a value is at an entry or an exit: pieces in registers and on the
 * stack. The calling conventions are pure functions from types to places; the
 * types' details have to be read before (cp_type_complete()).
 */
#ifndef CP_INSPECT_PLACE_H
#define CP_INSPECT_PLACE_H

#include "image/types.h"

enum cp_piece_where {
	CP_PIECE_REGISTER, /* a general one, by DWARF number */
	CP_PIECE_VECTOR, /* xmm0-7, v0-7 */
	CP_PIECE_X87, /* st0, st1 */
	CP_PIECE_MEMORY, /* at register `number` + `offset` */
	CP_PIECE_SUM, /* it is register `number` + `offset`; no register: UINT8_MAX */
	CP_PIECE_NOWHERE, /* these bytes are not kept */
	CP_PIECE_CONSTANT, /* these bytes are `bytes` */
	CP_PIECE_IMPLIED, /* a pointer that is nowhere, to what `bytes` tell: CP_LOCATED_IMPLIED */
	CP_PIECE_COMPUTED, /* what `location` makes of registers; `number`: CP_COMPUTED_* */
};

/* Registers that a call preserves are the caller's again, and so is the stack. */
#define CP_COMPUTED_AT_EXIT 1u
/* The frame pointer is where the frame has it, whatever the register says. */
#define CP_COMPUTED_FRAME 2u

struct cp_piece {
	uint8_t where; /* enum cp_piece_where */
	uint8_t number;
	uint16_t skip; /* bytes of the register before those that count */
	uint32_t size;
	uint32_t at; /* where in the value */
	int64_t offset; /* COMPUTED: of the CFA from the stack pointer */
	const uint8_t *bytes;
	const struct cp_location *location, *base; /* COMPUTED; base: of the frame, or NULL */
};

/* A number that is known without a look at the program: nobody passes it. */
static inline bool cp_piece_is_number(const struct cp_piece *p)
{
	return p->where == CP_PIECE_CONSTANT ||
	       (p->where == CP_PIECE_SUM && p->number == UINT8_MAX);
}

enum cp_place_how {
	CP_PLACE_EMPTY, /* it has no bytes */
	CP_PLACE_DIRECT, /* the pieces are the value */
	CP_PLACE_INDIRECT, /* the piece is the value's address */
	CP_PLACE_UNSUPPORTED, /* nobody can tell, or what holds it is not captured */
	CP_PLACE_GONE, /* optimised out */
	CP_PLACE_DESTROYED, /* what its destructor left is there */
};

#define CP_PIECES_MAX 8
struct cp_place {
	uint8_t how; /* enum cp_place_how */
	uint8_t count;
	bool promoted; /* a float that was passed as a double */
	bool confirmed; /* INDIRECT: only if the register of results has the address, too */
	struct cp_piece pieces[CP_PIECES_MAX];
};

/* The places of a function's arguments. What follows one whose size is not
 * known is UNSUPPORTED, too. */
struct cp_convention {
	void (*arguments)(const struct cp_type *const *types, size_t count,
			  const struct cp_type *result, unsigned flags /* CP_FUNCTION_* */,
			  struct cp_place *ret);
	/* INDIRECT: through a register at the return; at the entry where
	 * result_at_entry is true. */
	struct cp_place (*result)(const struct cp_type *type);
	bool result_at_entry;
	uint8_t argument_registers[8];
	uint8_t argument_register_count;
};
extern const struct cp_convention cp_convention_sysv; /* x86-64 */
extern const struct cp_convention cp_convention_aapcs64;
extern const struct cp_convention cp_convention_rust; /* on x86-64 */

#endif

/* SPDX-License-Identifier: MIT
 *
 * What a call passed, as its caller's debug information tells it from what the
 * caller still has: so the registers of a function's entry are known later, when
 * the function itself needed them for something else.
 *
 *     caller:  mov %rbx,%rdi            call site, returns to 0x1279:
 *              call f                     rdi at f's entry is rbx here
 *     f:       ... %rdi is overwritten ...
 */
#ifndef CP_IMAGE_CALLSITE_H
#define CP_IMAGE_CALLSITE_H

#include "image/location.h"
#include "image/types.h"

struct cp_call_parameter {
	uint8_t number; /* of a register, by DWARF; CP_CALL_BY_DIE */
	uint64_t die; /* of a parameter that is in no register: clones do without it */
	struct cp_location value; /* in the caller, while the call is under way */
};

#define CP_CALL_PARAMETERS 16
#define CP_CALL_BY_DIE UINT8_MAX

struct cp_call_site {
	const struct cp_extent *callee; /* entries of the function, link-time; NULL: not here */
	const char *callee_name; /* linkage name; NULL: unknown, as of a call by a pointer */
	struct cp_location target; /* of such a call: computes the address; size 0: nothing */
	uint32_t count;
	struct cp_call_parameter parameters[CP_CALL_PARAMETERS];
	struct cp_locations frame_base; /* the caller's */
};

/* What a function was entered with, as far as it is known. */
struct cp_entered {
	struct cp_regs regs;
	struct cp_passed passed;
};

/* The call that returns to link-time `address`. What is read lives in `arena`
 * and in the image. False: nothing is told of it. */
bool cp_image_call_site(struct cp_image *image, struct cp_vaddr address, struct cp_arena *arena,
			struct cp_call_site *ret);
/* The jump by which the function at `from` ends in the one at `to`. False: there is none, or
 * more than one way from there to there, or that can't be told. */
bool cp_image_tail_call(struct cp_image *image, struct cp_vaddr from, struct cp_vaddr to,
			struct cp_arena *arena, struct cp_call_site *ret);
/* Is it certain that the function at `entry` never ends by jumping to one that
 * comes back to it by such jumps? Then it has other arguments than it was called with. */
bool cp_image_never_comes_back(struct cp_image *image, struct cp_vaddr entry);

#endif

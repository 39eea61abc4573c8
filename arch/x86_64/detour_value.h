/* SPDX-License-Identifier: MIT
 *
 * Values in a record.
 */
#ifndef CP_ARCH_X86_64_DETOUR_VALUE_H
#define CP_ARCH_X86_64_DETOUR_VALUE_H

#include "arch/x86_64/detour_move.h"

struct cp_x86_layout {
	bool is_long; /* struct cp_detour_long follows the head */
	bool has_strings, reaches; /* reaches: pointers are followed */
	size_t values; /* where they begin; */
	size_t strings; /* and those, behind all others */
	size_t size; /* without the stack, which follows */
};
struct cp_x86_layout cp_x86_layout(const struct cp_detour_record *record);

/* Can values and tests be had, and has a record room for them? */
bool cp_x86_values_fit(const struct cp_detour_record *record);

/* What follows pointers has the time on top of the stack, here what rax is or where the
 * record has it; and it is taken off again, which changes no flag. */
void cp_x86_push_time(struct cp_x86_emit *e);
void cp_x86_pop_time(struct cp_x86_emit *e);
/* The address that a value leads to into rcx; rax is free. Pointers on the way that
 * can't be read lead to where nothing can. */
void cp_x86_follow(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		   const struct cp_detour_value *v);
/* Before room is reserved, for strings: where the next one goes is pushed (place.used). */
void cp_x86_put_used(struct cp_x86_emit *e, const struct cp_detour_record *record);
/* All values of a record; index in rdx, stamp in rax. rcx is free. */
void cp_x86_put_values(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		       const struct cp_detour_record *record);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A copy of the stack in a record.
 */
#ifndef CP_ARCH_X86_64_DETOUR_STACK_H
#define CP_ARCH_X86_64_DETOUR_STACK_H

#include "arch/x86_64/detour_move.h"

/* Before room is reserved: how many bytes it will be is pushed (place.copied). rax and
 * rcx are free. */
void cp_x86_put_stack_size(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			   uint32_t most);
/* The copy, `at` bytes from the record's beginning; index in rdx, rcx is free. */
void cp_x86_put_stack(struct cp_x86_emit *e, const struct cp_detour_rings *rings, size_t at);
#endif

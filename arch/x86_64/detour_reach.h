/* SPDX-License-Identifier: MIT
 *
 * Following pointers, in the code that all detours of a process share.
 */
#ifndef CP_ARCH_X86_64_DETOUR_REACH_H
#define CP_ARCH_X86_64_DETOUR_REACH_H

#include "arch/x86_64/detour_move.h"

/* Offsets from `slow`. They change rax, rcx and flags, and no other register; on top of the
 * stack, above the return address, is the time (cp_x86_push_time()). */
#define CP_X86_REACH_AT 448
/* eax bytes (1, 2, 4, 8) at rcx, into rcx. No carry: they can't be read, and rcx
 * leads nowhere, with any offset of 32 bits. */
#define CP_X86_WORD_AT (CP_X86_REACH_AT + 448)
/* Bytes or a string at rcx go to eax >> 16 bytes from %gs:(%rdx) in the buffer, with the
 * word for how it went; ax: how many at most. How many it were is left in rcx. */
/* Bit of ax: the kernel need not be asked about it. */
#define CP_X86_SURE 15
#define CP_X86_BYTES_AT (CP_X86_WORD_AT + 256)
#define CP_X86_STRING_AT (CP_X86_BYTES_AT + 320)

struct cp_x86_load {
	uint32_t at, on; /* offset of a load that may fault, and where it goes on then */
};
#define CP_X86_LOADS 8
/* All of it, at CP_X86_REACH_AT; how many loads. */
size_t cp_x86_put_reach(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
			struct cp_x86_load loads_ret[CP_X86_LOADS]);

#endif

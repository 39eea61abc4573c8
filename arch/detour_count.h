/* SPDX-License-Identifier: MIT
 *
 * Detours that count (coverage): no record, no time, no ring. A number of 64 bits goes up,
 * by one instruction that locks it, whichever thread comes by.
 *
 *     window:  jmp ─────────►  flags into rax, which is saved; lock incq number; back
 *              jcc X           what was in the window; a conditional jump may count on
 *                              either way out of it, or on both
 *
 * The numbers lie where rings for detours do, in the buffer of the one at `zero`, in which
 * nobody records: so they have addresses of 31 bits and need no register.
 */
#ifndef CP_ARCH_DETOUR_COUNT_H
#define CP_ARCH_DETOUR_COUNT_H

#include "arch/detour_ring.h"

enum cp_detour_way {
	CP_DETOUR_ANY_WAY, /* before the instruction */
	CP_DETOUR_TAKEN, /* a conditional jump that jumps */
	CP_DETOUR_PASSED, /* ... that does not */
};

struct cp_detour_count {
	uint32_t at; /* address of the number */
	uint8_t before; /* offset in the window of the instruction */
	uint8_t way; /* enum cp_detour_way */
};
#define CP_DETOUR_COUNTS 6 /* of a window */

/* Where numbers begin in the ring at `zero`, and how many there can be. */
static inline uint32_t cp_detour_count_at(uint32_t zero, uint32_t number)
{
	return zero + CP_DETOUR_BUFFER + CP_DETOUR_RESERVE + number * (uint32_t)sizeof(uint64_t);
}

static inline uint32_t cp_detour_count_most(unsigned log)
{
	return (uint32_t)(((UINT64_C(1) << log) - CP_DETOUR_RESERVE) / sizeof(uint64_t));
}

#endif

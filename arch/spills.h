/* SPDX-License-Identifier: MIT
 *
 * What a function does first with what it was passed: where in its frame it puts
 * which bytes of which registers, as unoptimised code does with all of them.
 */
#ifndef CP_ARCH_SPILLS_H
#define CP_ARCH_SPILLS_H

#include "arch/arch.h"

/* A byte as it was at the entry; 0: nobody knows which one it is. */
#define CP_SPILL_GENERAL(number, byte) ((uint16_t)(1 + (number)*16 + (byte)))
#define CP_SPILL_VECTOR(number, byte) ((uint16_t)(1 + 256 + (number)*16 + (byte)))
#define CP_SPILL_STACK 1024 /* + where, above the stack pointer of the entry */

#define CP_SPILLS_FRAME 8192 /* bytes below the stack pointer of the entry */
#define CP_SPILLS_STACK 4096 /* above it */

struct cp_spills {
	/* Once the frame is made, from the stack pointer of the entry; fp 0: none. */
	int64_t sp, fp;
	uint16_t frame[CP_SPILLS_FRAME];
};

/* The code from `start`, a function's entry, up to its first jump or call. To be
 * free()d; NULL: no memory, or of an instruction set that is not understood. */
struct cp_spills *cp_arch_find_spills(const struct cp_arch *arch, const uint8_t *code, size_t size,
				      uint64_t start);
/* The byte of the frame at `at`, from the stack pointer of the entry. */
uint16_t cp_spills_byte(const struct cp_spills *spills, int64_t at);

#endif

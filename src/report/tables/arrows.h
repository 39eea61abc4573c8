/* SPDX-License-Identifier: MIT
 *
 * Jumps as arrows beside the instructions. Jumps to one place share an arrow; short ones
 * are next to the text:
 *
 *     ╭──►  inc %rax
 *     │╭──  jne
 *     ├┼──  jmp
 *     │╰─►  ret
 */
#ifndef CP_REPORT_ARROWS_H
#define CP_REPORT_ARROWS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "report/profile/listing.h"

struct cp_arrow {
	size_t first, last, to; /* numbers of instructions */
	unsigned lane; /* from 1, the one next to the text; 0: there is no room */
};

struct cp_arrows {
	const struct cp_listing *listing; /* borrowed */
	CP_VEC(struct cp_arrow) items;
	unsigned lanes; /* that are used */
};

/* Arrows of all jumps, in so many lanes at most; those that find none are not shown.
 * False: no memory. */
bool cp_arrows_init(struct cp_arrows *a, const struct cp_listing *l, unsigned lanes);
void cp_arrows_deinit(struct cp_arrows *a);
/* What stands beside an instruction: as many columns as there are lanes, and two. `between`:
 * beside what stands above it. */
void cp_arrows_add(const struct cp_arrows *a, size_t insn, bool between, struct cp_buf *out);

#endif

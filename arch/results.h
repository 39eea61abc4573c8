/* SPDX-License-Identifier: MIT
 *
 * Which registers of results a function sets, by its code.
 */
#ifndef CP_ARCH_RESULTS_H
#define CP_ARCH_RESULTS_H

#include "arch/arch.h"

#define CP_RESULT_FIRST 1u /* rax */
#define CP_RESULT_SECOND 2u /* rdx */
#define CP_RESULT_FIRST_VECTOR 4u /* xmm0 */
#define CP_RESULT_SECOND_VECTOR 8u /* xmm1 */

/* The registers that all of `code`, a whole function at `start`, sets right before each
 * `ret`: it may set others, but not fewer. 0: none, or that can't be told. `arithmetic`: sums
 * and the like count, too, which are seldom made for somebody else, but never nothing. */
unsigned cp_arch_sets_results(const struct cp_arch *arch, const uint8_t *code, size_t size,
			      uint64_t start, bool arithmetic);

#endif

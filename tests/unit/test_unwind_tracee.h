/* SPDX-License-Identifier: MIT
 *
 * What the single-step oracle and its tracees agree on. A tracee calls
 * oracle_entry(&info): there it traps, the oracle takes over, and every
 * instruction up to the return is stepped and judged.
 */
#ifndef CP_TEST_UNWIND_TRACEE_H
#define CP_TEST_UNWIND_TRACEE_H

#include <stdint.h>

struct oracle_info {
	uint64_t handler; /* of SIGUSR1 */
	uint64_t alt_handler; /* of SIGUSR2, on a stack of its own */
	uint64_t rounds; /* of work */
};

#ifdef __cplusplus
extern "C" {
#endif
void oracle_entry(struct oracle_info *info);
/* The tracee's own. */
void oracle_work(struct oracle_info *info);
#ifdef __cplusplus
}
#endif

#define ORACLE_ENTRY \
	__asm__(".text\n" \
		".globl oracle_entry\n" \
		".type oracle_entry, @function\n" \
		"oracle_entry:\n" \
		".cfi_startproc\n" \
		"int3\n" \
		"jmp oracle_work\n" \
		".cfi_endproc\n" \
		".size oracle_entry, .-oracle_entry\n")

#endif

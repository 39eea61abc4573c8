/* SPDX-License-Identifier: MIT
 *
 * Switches whose largest case is not known, as compilers make them of an enumeration:
 *
 *     lea table(%rip),%rcx; movslq (%rcx,%rax,4),%rax; add %rcx,%rax; jmp *%rax
 *
 * Such a table has distances to code of the same function, and it is one of the
 * addresses that the function says. So what follows any of those, as long as it leads
 * into the function, is taken for cases: they are all there, and more.
 */
#ifndef CP_DETOUR_TABLE_H
#define CP_DETOUR_TABLE_H

#include "detour/text.h"
#include "probe/code.h"

/* Is the computed jump at `jump` of the function that `code` has followed one of those?
 * Then it stays in the function, and all that it can lead to are leads now. False: not
 * for certain. */
bool cp_detour_is_switch(struct cp_detour_text *text, const struct cp_probe_functions *functions,
			 const struct cp_code *code, uint64_t jump);

/* Does it go to an address that was just loaded from memory, whole? Then that stands in data,
 * or an instruction said it, and it is a lead. */
bool cp_detour_by_address(struct cp_detour_text *text, const struct cp_code *code, uint64_t jump);

#endif

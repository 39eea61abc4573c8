/* SPDX-License-Identifier: MIT
 *
 * Text of characters of 2 or 4 bytes.
 */
#ifndef CP_INSPECT_WIDE_H
#define CP_INSPECT_WIDE_H

#include "inspect/build.h"

/* Makes UTF-8 of the characters at hand, of `length` that there are. */
void cp_build_wide(struct cp_build *b, cprof_value *v, struct cp_bytes at, uint64_t unit,
		   uint64_t length);
/* How many characters are before the first that is 0; *ended_ret: there is one. */
uint64_t cp_wide_length(struct cp_bytes at, uint64_t unit, bool *ended_ret);

#endif

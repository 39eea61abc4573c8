/* SPDX-License-Identifier: MIT
 *
 * Regular expressions of other people. The C library compiles x+ as xx* and
 * x{9} as nine of x, so twenty characters can take all memory, and it calls
 * itself for each bracket: what would grow too large is refused before.
 */
#ifndef CP_BASE_REGEXP_H
#define CP_BASE_REGEXP_H

#include <regex.h>
#include <stdbool.h>

#define CP_REGEXP_WHY 128 /* bytes for a reason */

/* An extended expression; *ret is for regfree(). False: it can't be read, for
 * the reason in `why`; there is nothing to free. */
bool cp_regexp_compile(const char *text, int flags, regex_t *ret, char why[CP_REGEXP_WHY]);

#endif

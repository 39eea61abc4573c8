/* SPDX-License-Identifier: MIT
 *
 * What a function returns, by its code: see sets.c.
 */
#ifndef CP_INSPECT_SETS_H
#define CP_INSPECT_SETS_H

#include "inspect/signature.h"

/* CP_RESULT_* that all of the function sets for its caller; `arithmetic`: as
 * cp_arch_sets_results() has it. */
unsigned cp_signature_sets(const struct cp_signature *signature, bool arithmetic);

/* What the compiler makes of a function that nobody else calls returns nothing any more where
 * none of its callers looks at that (gcc's .isra and .part), and debug information has the
 * type as before. Can `linkage_name` be such a one, and does its code not show that it
 * returns what is in `result`? (What it reads last and lets go, of a volatile variable, passes
 * for one.) */
bool cp_signature_lost_result(const struct cp_signature *signature, const char *linkage_name);

#endif

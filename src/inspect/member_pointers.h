/* SPDX-License-Identifier: MIT
 *
 * Pointers to members: see member_pointers.c.
 */
#ifndef CP_INSPECT_MEMBER_POINTERS_H
#define CP_INSPECT_MEMBER_POINTERS_H

#include "inspect/build.h"

/* Makes the value of a pointer to a member, which is `at`. */
void cp_build_member_pointer(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			     struct cp_bytes at);

#endif

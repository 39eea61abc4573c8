/* SPDX-License-Identifier: MIT
 *
 * What things consist of, by name.
 */
#ifndef CP_INSPECT_MEMBERS_H
#define CP_INSPECT_MEMBERS_H

#include "inspect/thing.h"

/* A member by name, also of bases and of structs without a name; CP_ERR_NOT_FOUND:
 * there is none. */
CP_ERROR cp_member_find(const struct cp_expression_env *env, const struct cp_thing *thing,
			const char *name, struct cp_thing *ret);

/* The same of what `object`, which is `this`, points to; false: there is none. */
bool cp_member_of_this(const struct cp_expression_env *env, struct cp_thing *object,
		       const char *name, struct cp_thing *ret);

/* Appends what leads from something of `type` to what is `offset` bytes in it: ".at.y",
 * "[3].next"; "+5" for what has no name. */
void cp_member_path(const struct cp_type *type, uint64_t offset, struct cp_buf *out);

#endif

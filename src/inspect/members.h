/* SPDX-License-Identifier: MIT
 *
 * What things consist of, by name, by index and by key.
 */
#ifndef CP_INSPECT_MEMBERS_H
#define CP_INSPECT_MEMBERS_H

#include "inspect/thing.h"

/* A member by name, also of bases and of structs without a name; CP_ERR_NOT_FOUND:
 * there is none. */
CP_ERROR cp_member_find(const struct cp_expression_env *env, const struct cp_thing *thing,
			const char *name, struct cp_thing *ret);
/* The pointer in a smart pointer; other things as they are. */
struct cp_thing cp_member_behind(const struct cp_expression_env *env, struct cp_thing thing);
/* An element of a container; *done_ret false: it is none that is known. */
CP_ERROR cp_member_by_index(const struct cp_expression_env *env, struct cp_thing *thing,
			    int64_t index, struct cp_thing *ret, bool *done_ret);
CP_ERROR cp_member_by_key(const struct cp_expression_env *env, struct cp_thing *thing,
			  const char *key, uint32_t length, struct cp_thing *ret, bool *done_ret);
/* Turns a container whose elements lie in a row into a pointer to the first. */
CP_ERROR cp_member_row(const struct cp_expression_env *env, struct cp_thing *thing);

#endif

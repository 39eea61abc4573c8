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

/* A static member by name, of a class or of one of its bases; *done_ret false: it has none. */
CP_ERROR cp_member_static(const struct cp_expression_env *env, const struct cp_type *type,
			  const char *name, struct cp_thing *ret, bool *done_ret);

/* `v.size`, `s.length()`, `m.empty()`: of what holds elements or text; *done_ret false: `name`
 * is none of that. */
CP_ERROR cp_member_count(const struct cp_expression_env *env, const struct cp_thing *thing,
			 const char *name, struct cp_thing *ret, bool *done_ret);

/* The type that a qualified name is in, of which *last_ret is the last part; NULL: none. */
const struct cp_type *cp_name_scope(const struct cp_expression_env *env, const char *name,
				    const char **last_ret);
/* A pointer to the member that `S::a` names, where S is a type and `a` is not static, or is
 * virtual; *done_ret false: it names none, and what is answered is `why`, which is taken. */
CP_ERROR cp_member_pointer(const struct cp_expression_env *env, const char *name,
			   struct cp_error *why, struct cp_thing *ret, bool *done_ret);

/* Does what may hold something, an Option of Rust's, do so? *done_ret false: it is none. */
void cp_member_holds(const struct cp_expression_env *env, const struct cp_thing *thing, bool *ret,
		     bool *done_ret);
/* What a Rust enum holds in the form that it has: the field of one with a single field,
 * else the form; NOT_CONSTRUCTED for one that has nothing in it. *done_ret false: it is no
 * such enum. */
void cp_member_form(const struct cp_expression_env *env, const struct cp_thing *thing,
		    struct cp_thing *ret, bool *done_ret);

/* The member of a thing that a pointer to a member leads to. */
CP_ERROR cp_member_pointed(const struct cp_expression_env *env, const struct cp_thing *thing,
			   struct cp_thing *pointer, struct cp_thing *ret);

/* The same of what `object`, which is `this`, points to; false: there is none. Where it is not
 * known what it points to, the member can't be had. */
bool cp_member_of_this(const struct cp_expression_env *env, struct cp_thing *object,
		       const char *name, struct cp_thing *ret);

/* Appends what leads from something of `type` to what is `offset` bytes in it: ".at.y",
 * "[3].next"; "+5" for what has no name. */
void cp_member_path(const struct cp_type *type, uint64_t offset, struct cp_buf *out);

#endif

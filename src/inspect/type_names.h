/* SPDX-License-Identifier: MIT
 *
 * Types and enumerators by what expressions call them.
 */
#ifndef CP_INSPECT_TYPE_NAMES_H
#define CP_INSPECT_TYPE_NAMES_H

#include "inspect/thing.h"

/* `struct node *[4]`. CP_ERR_NOT_FOUND: there is none. */
CP_ERROR cp_type_by_text(const struct cp_expression_env *env, const char *text,
			 const struct cp_type **ret);
/* The enumerator that `name` is, with what it is in or without, of an enum; false: the type
 * is none, or has none of that name. */
bool cp_enumerator_value(const struct cp_type *type, const char *name, int64_t *ret);
bool cp_enumerator_of(const struct cp_expression_env *env, const struct cp_type *type,
		      const char *name, struct cp_thing *ret);
/* The enum of an image that has the enumerator `name`; NULL: none has. */
const struct cp_type *cp_enumeration_in(struct cp_image *image, const char *name);
/* What a name stands for by itself: a variable or a function; else one of the languages'
 * words, which no variable can be, or an enumerator. */
CP_ERROR cp_name_meant(const struct cp_expression_env *env, const char *name, const char *file,
		       struct cp_thing *ret);
/* The element whose key is the enumerator of that name; `why`, which is taken: what is
 * answered where there are no such keys. */
CP_ERROR cp_enumerator_key(const struct cp_expression_env *env, const struct cp_thing *map,
			   const char *name, struct cp_error *why, struct cp_thing *ret);

#endif

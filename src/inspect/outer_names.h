/* SPDX-License-Identifier: MIT
 *
 * What names outside of functions mean in an object, looked for once each: see
 * outer_names.c.
 */
#ifndef CP_INSPECT_OUTER_NAMES_H
#define CP_INSPECT_OUTER_NAMES_H

#include "inspect/statics.h"

struct cp_outer_name {
	char *key; /* owned */
	struct cp_globals found; /* variables, the one that is meant first */
	bool looked_further; /* for what is below */
	uint64_t function; /* where it begins, link-time; 0: there is none */
	const struct cp_type *enumeration; /* that has such an enumerator, or NULL */
	struct cp_outer_name *meant; /* by the name in a function: another one, or NULL */
};
struct cp_outer_names {
	CP_VEC(struct cp_outer_name *) list; /* of one object */
};
void cp_outer_names_free(struct cp_outer_names *names);

/* The static variables of that name, perhaps none, declared in `file` (NULL: any); NULL
 * without memory. They live as long as the image and the names. */
struct cp_outer_name *cp_outer_variables(struct cp_outer_names *names, struct cp_image *image,
					 const char *name, const char *file);
/* What has the name: a variable, else a function, else an enumerator. NULL: nothing. */
struct cp_outer_name *cp_outer_name(struct cp_outer_names *names, struct cp_image *image,
				    const char *name, const char *file);
/* The static variable that `name` is in a function (its linkage name, or with all that it is
 * in): a member of its class, one of its namespace. NULL: none of those it is in has one. */
struct cp_outer_name *cp_outer_variable_within(struct cp_outer_names *names, struct cp_image *image,
					       const char *function, const char *name);
/* That, or what has the name otherwise. */
struct cp_outer_name *cp_outer_name_within(struct cp_outer_names *names, struct cp_image *image,
					   const char *function, const char *name,
					   const char *file);
/* Its type; NULL: that of a function. */
const struct cp_type *cp_outer_type(const struct cp_outer_name *outer);
/* Where it is, or what: of the image `of`. False: that can't be made. */
bool cp_outer_thing(const struct cp_expression_env *env, const struct cp_outer_name *outer,
		    const struct cp_statics *statics, const struct cp_placed_image *of,
		    bool program, const char *name, struct cp_thing *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * How a condition can be decided at calls of a function: see condition_way.c.
 */
#ifndef CP_INSPECT_CONDITION_WAY_H
#define CP_INSPECT_CONDITION_WAY_H

#include "inspect/inspect.h"

enum cp_condition_way {
	CP_CONDITION_CAPTURED, /* by what a stop or a detour copies (cp_condition_holds()) */
	CP_CONDITION_HELD, /* by memory, while the thread stands (cp_expression_holds()) */
};

/* What names mean outside of functions; *ret is the type, or NULL: it is not known. */
struct cp_condition_names {
	bool (*find)(void *ctx, const char *name, const char *file, const struct cp_type **ret);
	void *ctx;
};

/* An error: it means nothing there, as it names what is not, or is no truth value. `outside`
 * may be NULL: nothing is known of that. */
CP_ERROR cp_condition_way(const struct cp_condition *condition,
			  const struct cp_signature *signature,
			  const struct cp_condition_names *outside, enum cp_condition_way *ret);
/* Is it the name of a member of the object that the function is a method of? */
bool cp_condition_is_member(const struct cp_signature *signature, const char *name);

#endif

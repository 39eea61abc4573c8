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

/* An error: it means nothing there, as it names what is not, or is no truth value. */
CP_ERROR cp_condition_way(const struct cp_condition *condition,
			  const struct cp_signature *signature, enum cp_condition_way *ret);

#endif

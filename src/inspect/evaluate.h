/* SPDX-License-Identifier: MIT
 *
 * What expressions stand for: see evaluate.c.
 */
#ifndef CP_INSPECT_EVALUATE_H
#define CP_INSPECT_EVALUATE_H

#include "inspect/thing.h"

struct cp_condition;

/* An error is one of the expression itself; what the program can't give is one of the
 * thing. The thing lives as long as the arena. */
CP_ERROR cp_expression_evaluate(const struct cp_condition *expression,
				const struct cp_expression_env *env, struct cp_thing *ret);
/* The same as a condition; UNKNOWN: something that it needs can't be had. */
CP_ERROR cp_expression_holds(const struct cp_condition *expression,
			     const struct cp_expression_env *env, enum cp_truth *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What is behind the ... of printf and its like: see variadic.c.
 */
#ifndef CP_INSPECT_VARIADIC_H
#define CP_INSPECT_VARIADIC_H

#include "inspect/build.h"

#define CP_VARIADIC_MAX 33
/* True for the family of printf: a format tells what there is. */
bool cp_variadic_is_told(const struct cp_signature *signature);
/* Adds what the stop at the entry needs. False without memory. */
bool cp_variadic_plan(struct cp_signature *signature);
/* Up to CP_VARIADIC_MAX values; where nobody can tell all of them, the last one says
 * so. */
size_t cp_variadic_values(const struct cp_value_request *request, cprof_value *ret);

#endif

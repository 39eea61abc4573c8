/* SPDX-License-Identifier: MIT
 *
 * Which calls that no traced function makes are worth saying how they began.
 */
#ifndef CP_MODULES_INVOKED_H
#define CP_MODULES_INVOKED_H

#include <cprof/cprof.h>

#include "transcript/invoker.h"

/* How the call of `f` began that is being entered: false for one that a traced
 * function made, or code that is not traced and may just have called. */
bool invoked_by(const cprof_function *f, cprof_invocation *ret);
/* Is a call of `f` that code of `from` made, which is not traced, one that a library made? */
bool invoked_as_callback(const cprof_function *f, const cprof_image *from);
/* An invocation in names. */
struct cp_invoker invoked_names(const cprof_invocation *by);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Who is known to call functions with detours.
 */
#ifndef CP_ENGINE_PROBES_CALLERS_H
#define CP_ENGINE_PROBES_CALLERS_H

#include "engine/probes/sites.h"

/* A call had its stack looked at, for where it returns to was not known there. `own`: it is
 * on the thread's own stack; else it could not be told. */
void engine_callers_looked_at(const cprof_process *p, uint64_t from, uint64_t sp, bool own);
/* The same on a stack that is not the thread's own, but known: it is known there alone. */
void engine_callers_on_other(const cprof_process *p, uint64_t from, uint64_t sp);
/* Functions with detours in the image make calls on the stack that they are on. */
void engine_callers_add(cprof_image *image, const struct engine_numbers *numbers);

#endif

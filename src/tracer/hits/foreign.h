/* SPDX-License-Identifier: MIT
 *
 * Calls by detours on stacks that are not the thread's own, or from code of which that is
 * not known yet.
 */
#ifndef CP_TRACER_FOREIGN_H
#define CP_TRACER_FOREIGN_H

#include <stdbool.h>

#include "tracer/hits/hit.h"

struct at;
struct thread;

/* The thread stands at a FOREIGN site, in the place of a record. If that has values, it
 * stays until the controller has read them (HIT_HOLD). */
enum hit foreign_serve(struct tracer *tr, struct at *at, uint16_t *flags);
/* The thread enters a function that has a breakpoint, at `sp`, to return to `caller`. Would
 * what follows be recorded as on its own stack, though nobody is known to call from there? */
bool foreign_may_begin(const struct thread *t, uint64_t caller, uint64_t sp);

#endif

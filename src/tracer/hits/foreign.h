/* SPDX-License-Identifier: MIT
 *
 * Calls by detours on stacks that are not the thread's own, or from code of which that is
 * not known yet.
 */
#ifndef CP_TRACER_FOREIGN_H
#define CP_TRACER_FOREIGN_H

#include "tracer/hits/hit.h"

struct at;

/* The thread stands at a FOREIGN site, in the place of a record. If that has values, it
 * stays until the controller has read them (HIT_HOLD). */
enum hit foreign_serve(struct tracer *tr, struct at *at, uint16_t *flags);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Calls by detours on stacks that are not the thread's own.
 */
#ifndef CP_TRACER_FOREIGN_H
#define CP_TRACER_FOREIGN_H

#include "tracer/hits/hit.h"

struct at;

/* The thread stands at a FOREIGN site, in the place of a record. */
enum hit foreign_serve(struct tracer *tr, struct at *at);

#endif

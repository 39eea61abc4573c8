/* SPDX-License-Identifier: MIT
 *
 * A forked child whose memory is older than its parent's breakpoints.
 */
#ifndef CP_TRACER_NEWBORN_H
#define CP_TRACER_NEWBORN_H

#include <stdbool.h>

struct space;
struct thread;
struct tracer;

/* A copy of `from` that was made before `from` got all of its areas, slots and
 * our handler. */
bool newborn_lacks(const struct space *space, const struct space *from);
/* Gives a process at its first stop what it lacks of space->older_than. */
void newborn_complete(struct tracer *tr, struct thread *t);

#endif

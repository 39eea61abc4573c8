/* SPDX-License-Identifier: MIT
 *
 * Which hits do not follow from the calls that are open.
 */
#ifndef CP_TRACER_OPENS_H
#define CP_TRACER_OPENS_H

#include <stdbool.h>

struct cp_event_hit;
struct site;
struct space;
struct thread;
struct tracer;

/* Keeps account of the calls that are open on the thread's own stack. True: it takes a
 * walk to tell on which stack the hit is. */
bool opens_see(const struct tracer *tr, struct space *space, struct thread *t,
	       const struct site *site, const struct cp_event_hit *e);

#endif

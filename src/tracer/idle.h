/* SPDX-License-Identifier: MIT
 *
 * Waiting for whatever comes next.
 */
#ifndef CP_TRACER_IDLE_H
#define CP_TRACER_IDLE_H

struct tracer;

/* For stops, requests, the controller's end, or a time that something is due at. */
void idle_until_anything(struct tracer *tr);
/* The next piece of a batch is about to come. A child that was forked meanwhile is
 * not looked at before: it would have the breakpoints of those that came. */
void idle_until_request(const struct tracer *tr);

#endif

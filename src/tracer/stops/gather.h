/* SPDX-License-Identifier: MIT
 *
 * Who is asked for stops.
 */
#ifndef CP_TRACER_GATHER_H
#define CP_TRACER_GATHER_H

struct stops;
struct tracer;

/* Handles every stop and exit there is at the moment. */
void gather(struct tracer *tr);
/* Has newborns report, and lets go who was held for them. */
void gather_newborns(struct tracer *tr);
/* For struct tracer. */
extern const struct stops gather_stops;

#endif

/* SPDX-License-Identifier: MIT
 *
 * Whether the controller goes on, as the tracer sees it.
 */
#ifndef CP_TRACER_PROGRESS_H
#define CP_TRACER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tracer;

/* Has it read nothing for so long that it counts as dead? After each time round. */
bool progress_ended(struct tracer *tr, uint64_t now);
/* Threads that write into rings, or wait for room there, believe for some time that it reads,
 * and it says anew that it does. While it is kept from that, by work of its own or for want of a
 * CPU, this says it. */
void progress_believe(struct tracer *tr, uint64_t now);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Waiting while hits follow each other closely.
 */
#ifndef CP_TRACER_HOT_H
#define CP_TRACER_HOT_H

#include <stdint.h>

struct thread;
struct tracer;

void hot_hit(struct tracer *tr, const struct thread *t, uint64_t now);
/* Waits a moment for who hits, where that is quicker than to sleep. */
void hot_spin(const struct tracer *tr);
/* Looks whether hits still come; after each time round. */
void hot_look(struct tracer *tr, uint64_t now);
void hot_end(struct tracer *tr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Events into the ring.
 */
#ifndef CP_TRACER_EMIT_H
#define CP_TRACER_EMIT_H

#include <sys/types.h>

#include "link/link.h"

struct tracer;

void emit(struct tracer *tr, enum cp_event_type type, pid_t pid, pid_t tid);
void emit_event(struct tracer *tr, struct cp_event *event, size_t size);

#endif

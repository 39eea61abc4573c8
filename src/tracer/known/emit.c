/* SPDX-License-Identifier: MIT
 *
 * Events into the ring: small ones, for which there is room as long as the
 * controller is alive.
 */
#include "tracer/known/emit.h"

#include <string.h>

#include "base/clock.h"
#include "tracer/known/state.h"

void emit_event(struct tracer *tr, struct cp_event *event, size_t size)
{
	void *room = cp_ring_reserve(tr->link, size, 0);

	/* There is room, unless we are leaving a controller that hangs. */
	if (!room)
		return;
	event->size = (uint32_t)cp_align8(size);
	memcpy(room, event, size);
	cp_ring_commit(tr->link, event);
	tr->open = NULL;
	cp_ring_kick(tr->link, false);
}

void emit(struct tracer *tr, enum cp_event_type type, pid_t pid, pid_t tid)
{
	struct cp_event event = {
		.type = (uint16_t)type, .ts_ns = cp_now(), .pid = pid, .tid = tid
	};

	emit_event(tr, &event, sizeof(event));
}

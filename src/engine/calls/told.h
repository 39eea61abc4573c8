/* SPDX-License-Identifier: MIT
 *
 * A record of a detour as if it was a hit of a breakpoint. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_TOLD_H
#define CP_ENGINE_CALLS_TOLD_H

#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "link/link.h"

/* The words of a record, one after the other. */
struct engine_words {
	const struct cp_record *record;
	unsigned at, strings; /* strings come last; 0: not looked at yet */
};

/* What a hit would have brought. */
struct engine_told {
	struct cp_event_hit event;
	struct engine_hit hit;
	struct cp_hit_vector vector;
	uint8_t fetched[CP_DETOUR_RECORD_MAX - CP_DETOUR_STACK_MAX +
			CP_DETOUR_VALUES * sizeof(struct cp_fetched)];
};

/* The record of the ring as a hit of one site; `words` moves behind the site's values. The
 * thread is the current one, and what a walk of its stack needs is laid down there. False: the image is gone. */
bool engine_told_fill(cprof_session *s, const struct engine_ring *ring,
		      const struct cp_record *record, uint32_t number, struct engine_words *words,
		      struct engine_told *ret);

/* The same of a stop in the place of a record: what is to be fetched for its site, of the
 * thread that stands still. */
void engine_told_fetch(cprof_session *s, struct engine_hit *hit, struct engine_told *told);

#endif

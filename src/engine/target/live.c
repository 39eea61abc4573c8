/* SPDX-License-Identifier: MIT
 *
 * Handles that are good for one callback: contexts of calls, frames, what the
 * enter and leave hooks get. A profiler may keep one and use it later, when
 * what it stood for is gone and another one is in its place. So they are no
 * pointers but numbers, each given out once, looked up among the few that are
 * alive; an old one is not found, and refused.
 */
#include "engine/target/live.h"

#include "engine/target/state.h"

/* The first number is not an address, so that following a handle is a fault. */
#define FIRST (UINT64_C(1) << 63)
#define STEP 16

void *engine_live_begin(cprof_session *s, enum engine_live_kind kind, void *object)
{
	struct engine_live *l;

	if (s->live.count == ENGINE_LIVE_MAX)
		return NULL;
	l = &s->live.items[s->live.count++];
	s->live.last = s->live.last ? s->live.last + STEP : FIRST;
	*l = (struct engine_live){ s->live.last, kind, object };
	return (void *)(uintptr_t)l->number;
}

void engine_live_end(cprof_session *s, const void *handle)
{
	while (handle && s->live.count) {
		if (s->live.items[--s->live.count].number == (uintptr_t)handle)
			break;
	}
}

void *engine_live(enum engine_live_kind kind, const void *handle)
{
	const cprof_session *s = cprof_session_current();
	uint32_t i;

	for (i = s && handle ? s->live.count : 0; i--;) {
		const struct engine_live *l = &s->live.items[i];

		if (l->number == (uintptr_t)handle)
			return l->kind == kind ? l->object : NULL;
	}
	return NULL;
}

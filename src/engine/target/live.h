/* SPDX-License-Identifier: MIT
 *
 * What is good for one callback: handles, frames of walks. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_TARGET_LIVE_H
#define CP_ENGINE_TARGET_LIVE_H

#include <cprof/cprof.h>

#include "link/link.h"
#include "unwind/unwind.h"

/* Kinds of what handles stand for (live.c). */
enum engine_live_kind { ENGINE_LIVE_CONTEXT, ENGINE_LIVE_FRAME, ENGINE_LIVE_ELT };

/* Handles alive at once, as deep as callbacks nest: hooks in an event, walks in walks. */
#define ENGINE_LIVE_MAX 32
struct engine_live {
	uint64_t number;
	enum engine_live_kind kind;
	void *object;
};

struct engine_lives {
	struct engine_live items[ENGINE_LIVE_MAX];
	uint32_t count;
	uint64_t last; /* number given out */
};

/* A handle for `object`, or NULL when too many are alive. Ending one also ends
 * those that began after it. */
void *engine_live_begin(cprof_session *s, enum engine_live_kind kind, void *object);
void engine_live_end(cprof_session *s, const void *handle);
/* What the handle stands for; NULL: the handle is not alive, or of another kind. */
void *engine_live(enum engine_live_kind kind, const void *handle);

#endif

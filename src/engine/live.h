/* SPDX-License-Identifier: MIT
 *
 * What is good for one callback: handles, frames of walks. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_LIVE_H
#define CP_ENGINE_LIVE_H

#include <cprof/cprof.h>

#include "link/link.h"
#include "unwind/unwind.h"

struct cp_inline_frame;
struct engine_capture;
struct engine_context;

/* What a handle stands for that is good for one callback (live.c). */
enum engine_live_kind { ENGINE_LIVE_CONTEXT, ENGINE_LIVE_FRAME, ENGINE_LIVE_ELT };

/* As deep as callbacks nest: hooks in an event, walks in walks. */
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
/* What the handle stands for; NULL: it is not alive, or of another kind. */
void *engine_live(enum engine_live_kind kind, const void *handle);

/* One call of the snapshot callback: what a cprof_frame_info stands for. */
struct engine_frame {
	cprof_session *session;
	const cprof_image *image;
	uint64_t address; /* link-time, stepped back */
	const struct cp_frame *frame;
	size_t callers; /* of it: frames that follow in memory */
	const cprof_function *function;
	const struct cp_inline_frame *source; /* NULL: not looked up */
	uint32_t level; /* of `source`: how many are inlined in it */
	bool is_leaf; /* in which the thread is: more registers are known than of others */
	bool is_inlined, is_truncated;
	uint32_t run_length;
	char *name; /* owned: demangled name of an inlined function */
	cprof_thread *thread;
	const struct engine_capture *capture; /* that it was walked from */
	struct engine_context *context; /* owned; NULL: not asked for */
	cprof_call_context *context_handle;
};

/* target.c */
/* Has a thread captured now, whatever it does: stopped and let go, or read
 * where it sleeps. The sample is to be free()d. */
cprof_status engine_capture_thread(cprof_thread *t, struct cp_event_sample **ret);

/* frame_values.c */
/* The callback is over: nothing of the frame's values is used any more. */
void engine_frame_end(struct engine_frame *f);

#endif

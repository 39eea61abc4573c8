/* SPDX-License-Identifier: MIT
 *
 * A frame of a walk, for the time of one callback. Private to src/engine.
 */
#ifndef CP_ENGINE_FRAMES_FRAME_H
#define CP_ENGINE_FRAMES_FRAME_H

#include <cprof/cprof.h>

struct cp_frame;
struct cp_inline_frame;
struct engine_capture;
struct engine_context;

/* One call of the snapshot callback: what a cprof_frame_info stands for. */
struct engine_frame {
	cprof_session *session;
	const cprof_image *image;
	uint64_t address; /* link-time, stepped back */
	const struct cp_frame *frame;
	size_t callers; /* frames that follow `frame` in memory, its callers */
	const cprof_function *function;
	const struct cp_inline_frame *source; /* NULL: not looked up */
	uint32_t level; /* how many calls are inlined in `source` */
	bool is_leaf; /* the innermost one: more registers are known of it */
	bool is_inlined, is_truncated;
	uint32_t run_length;
	char *name; /* owned: demangled name of an inlined function */
	cprof_thread *thread;
	const struct engine_capture *capture; /* that the frame was walked from */
	struct engine_context *context; /* owned; NULL: not asked for */
	cprof_call_context *context_handle;
};

#endif

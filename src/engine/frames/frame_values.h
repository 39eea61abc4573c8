/* SPDX-License-Identifier: MIT
 *
 * Values of frames. Private to src/engine.
 */
#ifndef CP_ENGINE_FRAMES_FRAME_VALUES_H
#define CP_ENGINE_FRAMES_FRAME_VALUES_H

#include <cprof/cprof.h>

struct cp_scope;
struct cp_value_bytes;
struct engine_capture;
struct engine_context;
struct engine_frame;

/* Do all threads that ran when the capture was made still stand still? */
bool engine_stands_still(const cprof_session *s, const struct engine_capture *c);
/* Arguments, or locals, of a frame of a walk, as of an event. */
void engine_frame_values(struct engine_context *x, bool locals, const cprof_value **ret,
			 size_t *count_ret);
bool engine_frame_bytes(struct engine_context *x, bool locals, size_t position,
			struct cp_value_bytes *ret);
/* The frame as one in which names mean something; good as long as `x`. False: its place is
 * not known. */
bool engine_frame_scope(struct engine_context *x, struct cp_scope *ret);
/* The callback is over: frees the frame's values. */
void engine_frame_end(struct engine_frame *f);
/* Frees what the session's walks, and values, are kept in. */
void engine_frames_free(cprof_session *s);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Walks of what was captured. Private to src/engine.
 */
#ifndef CP_ENGINE_FRAMES_SNAPSHOT_H
#define CP_ENGINE_FRAMES_SNAPSHOT_H

#include <cprof/cprof.h>

#include "unwind/unwind.h"

struct cp_event_sample;
struct cp_regs;
struct engine_capture;
struct engine_current;

/* Makes the sample the capture that is walked. */
void engine_use_sample(struct engine_current *current, const struct cp_event_sample *e);
/* Walks the current capture into session->frames. False: it has not one frame. */
bool engine_walk(cprof_session *s, const struct cp_regs *seed, bool frame_pointers,
		 size_t *count_ret, enum cp_unwind_end *end_ret);
/* The same, for who asks no more than whether it was walked before: of code that nobody met
 * before nothing is noticed. */
bool engine_walk_again(cprof_session *s, size_t *count_ret, enum cp_unwind_end *end_ret);
/* What a walk of it begins with; the stack is borrowed from it. */
struct cp_unwind_capture engine_unwind_capture(const struct engine_capture *c, pid_t pid);
/* Does the current capture lack the stack below a signal handler's? The tracer then
 * knows where to look the next time. */
bool engine_lacks_stack(cprof_session *s);
/* The public form of registers. */
void engine_fill_context(const struct cp_regs *regs, cprof_context *ret);
/* Adds what else was captured of the leaf: the other registers, and the vector state
 * when `vectors`. */
void engine_fill_leaf(const struct engine_capture *c, bool vectors, cprof_context *ret);

#endif

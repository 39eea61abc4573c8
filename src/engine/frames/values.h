/* SPDX-License-Identifier: MIT
 *
 * Values, of a call or of a frame. Private to src/engine.
 */
#ifndef CP_ENGINE_FRAMES_VALUES_H
#define CP_ENGINE_FRAMES_VALUES_H

#include <cprof/cprof.h>

#include "engine/target/state.h"
#include "inspect/entered.h"
#include "link/sites.h"

struct cp_call;
struct cp_signature;
struct cp_value_arena;
struct engine_entry;
struct engine_frame;
struct engine_hit;
struct engine_traced;

/* What a cprof_call_context stands for. */
struct engine_context {
	cprof_session *session;
	const struct cp_signature *signature; /* NULL: no values are wanted */
	struct cp_value_arena *arena;
	/* The frame of a walk that the values are of, with the three members below;
	 * NULL: they are of a call, with those behind. */
	const struct engine_frame *frame;
	struct cp_reader stack; /* the frame's */
	struct cp_hit_vector vector; /* the frame's */
	struct cp_entered entered;
	const struct engine_traced *traced;
	const struct engine_hit *hit;
	const struct engine_entry *entry; /* leave contexts; NULL: not kept */
	const struct cp_call *call;
	uint64_t enter_ns, now_ns;
	bool leave;
	cprof_status error;
	bool have_arguments, have_result, have_locals, have_now, have_entered;
	const cprof_value *arguments, *result, *locals, *now; /* now: arguments, at the leave */
	size_t argument_count, local_count;
};

#endif

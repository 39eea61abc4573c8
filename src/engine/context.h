/* SPDX-License-Identifier: MIT
 *
 * Values of calls: what was captured of them, and what is made of it when a
 * callback asks. Private to src/engine.
 */
#ifndef CP_ENGINE_CONTEXT_H
#define CP_ENGINE_CONTEXT_H

#include "engine/calls.h"

/* What was captured of a call when it was entered, for when it is left. */
struct engine_entry {
	struct cp_regs regs;
	struct cp_hit_vector vector;
	bool has_vector;
	uint32_t site;
	uint32_t fetched_size;
	_Alignas(8) uint8_t fetched[];
};

/* What a cprof_call_context stands for. */
struct engine_context {
	cprof_session *session;
	const struct cp_signature *signature; /* NULL: no values are wanted */
	struct cp_value_arena *arena;
	/* Of a frame of a walk, else NULL; then the next ones are. */
	const struct engine_frame *frame;
	struct cp_reader stack; /* of the frame */
	struct cp_hit_vector vector; /* likewise, as are registers at its entry: */
	struct cp_regs entered;
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

/* True when a thread is held at this exit, to look at what is in its memory. */
bool engine_holds_exit(const cprof_session *s, const struct engine_traced *t,
		       const struct engine_site *site);
struct engine_entry *engine_entry_keep(const struct engine_hit *hit);
enum cp_truth engine_condition_holds(cprof_session *s, const struct engine_hit *hit);

/* Values of a context, made when first asked for; false: not of this one, and
 * x->error tells why. */
bool engine_context_can_read(struct engine_context *x);
void engine_context_arguments(struct engine_context *x);
void engine_context_result(struct engine_context *x);
void engine_context_locals(struct engine_context *x);
/* The bytes as they were captured: of an argument (counting `this`), of the
 * result (-1), of a local. False: not there. */
bool engine_context_bytes(struct engine_context *x, int position, struct cp_value_bytes *ret);
bool engine_context_local_bytes(struct engine_context *x, size_t position,
				struct cp_value_bytes *ret);

/* lookup.c: arguments and locals of a function, read once; NULL: not known */
const struct cp_signature *engine_function_signature(const cprof_function *function);

/* frame_values.c */
/* True while nobody goes on of those that ran when the capture was made. */
bool engine_stands_still(const cprof_session *s, const struct engine_capture *c);
/* Arguments, or locals, of a frame of a walk, as of an event. */
void engine_frame_values(struct engine_context *x, bool locals, const cprof_value **ret,
			 size_t *count_ret);
bool engine_frame_bytes(struct engine_context *x, bool locals, size_t position,
			struct cp_value_bytes *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Values of calls: what was captured of them, and what is made of it when a
 * callback asks. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_CONTEXT_H
#define CP_ENGINE_CALLS_CONTEXT_H

#include <cprof/cprof.h>

#include "engine/frames/values.h"
#include "engine/target/state.h"
#include "link/sites.h"

struct cp_value_bytes;
struct engine_hit;

/* What was captured of a call when it was entered, for when it is left. */
struct engine_entry {
	struct cp_regs regs;
	struct cp_hit_vector vector;
	bool has_vector;
	uint32_t site;
	uint32_t fetched_size;
	_Alignas(8) uint8_t fetched[];
};

/* Copies what a leave needs of the entry; NULL without memory. */
struct engine_entry *engine_entry_keep(const struct engine_hit *hit);
/* Does --when leave out the call that is entered? *flags gets `unknown` where that can't be
 * told. */
bool engine_condition_refuses(cprof_session *s, const struct engine_hit *hit, uint32_t *flags,
			      uint32_t unknown);

/* May values of the context be made? False: x->error tells why not. */
bool engine_context_can_read(struct engine_context *x);
/* Make the context's values, when first asked for. */
void engine_context_arguments(struct engine_context *x);
void engine_context_result(struct engine_context *x);
void engine_context_locals(struct engine_context *x);
/* The bytes as they were captured: of an argument (counting `this`), of the result
 * (-1), of a local. False: they were not. */
bool engine_context_bytes(struct engine_context *x, int position, struct cp_value_bytes *ret);
bool engine_context_local_bytes(struct engine_context *x, size_t position,
				struct cp_value_bytes *ret);

#endif

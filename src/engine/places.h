/* SPDX-License-Identifier: MIT
 *
 * What debug information tells of the places that frames are at. It is read once
 * for a place, and kept with the assembly.
 */
#ifndef CP_ENGINE_PLACES_H
#define CP_ENGINE_PLACES_H

#include "engine/internal.h"
#include "image/callsite.h"
#include "inspect/inspect.h"

/* The variables of the inlined call that is frame `level` at link-time `at`; NULL
 * without memory. */
const struct cp_signature *engine_inlined_signature(cprof_assembly *a, uint64_t at, uint32_t level,
						    const struct cp_value_limits *limits);
/* The call that returns to link-time `address`; NULL: nothing is told of it. */
const struct cp_call_site *engine_call_site(cprof_assembly *a, uint64_t address);
/* cp_image_never_comes_back(), of the function at link-time `entry`. */
bool engine_never_comes_back(cprof_assembly *a, uint64_t entry);
void engine_places_free(struct engine_places *places);

/* ---- entry.c ---- */

/* The registers that a function was entered with, of frame `n` of `count` of a
 * walk, as far as its callers' debug information tells; `stack` reads theirs. */
struct engine_callers {
	cprof_session *session;
	cprof_process *process;
	const struct cp_frame *frames; /* frames[0] is what was entered */
	size_t count;
	const struct cp_reader *stack;
};
void engine_entry_registers(const struct engine_callers *callers, struct cp_regs *ret);

#endif

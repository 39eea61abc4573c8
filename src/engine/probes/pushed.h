/* SPDX-License-Identifier: MIT
 *
 * Arguments on the stack: see pushed.c. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_PUSHED_H
#define CP_ENGINE_PROBES_PUSHED_H

#include "engine/probes/sites.h"

struct cp_shadow_at;

/* Bytes from the return address to the end of what is passed to it on the stack, as debug
 * information has it; 0: nothing, or not known. Looked up once. */
uint32_t engine_traced_pushed(struct engine_traced *t);
/* The same for an entry on a thread's own stack, where it matters there: and the padding
 * behind, where that tells that an open call is gone. `caller`: where it returns to. */
uint64_t engine_pushed_at(cprof_process *p, struct engine_traced *t, const struct cp_shadow_at *at,
			  uint64_t caller);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Functions that are traced no more. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_DISARM_H
#define CP_ENGINE_PROBES_DISARM_H

#include <cprof/cprof.h>

/* The function is traced no more, in no process. */
void engine_disarm(cprof_session *s, uint32_t number);
/* Site number `site` has no breakpoint at that return address any more. */
void engine_disarm_return(const cprof_process *p, uint32_t site, uint64_t address);

#endif

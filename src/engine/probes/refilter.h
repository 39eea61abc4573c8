/* SPDX-License-Identifier: MIT
 *
 * Filters that are asked again. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_REFILTER_H
#define CP_ENGINE_PROBES_REFILTER_H

#include <cprof/cprof.h>

/* Asks filters again where callbacks requested that (cprof_profiler_refilter()). */
void engine_refilter(cprof_session *s);

#endif

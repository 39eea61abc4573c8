/* SPDX-License-Identifier: MIT
 *
 * What the session's detours take of the times of calls.
 */
#ifndef CP_MODULES_COSTS_H
#define CP_MODULES_COSTS_H

#include <cprof/cprof.h>

#include "record/call_block.h"

/* Known when there was a call by one; 0 before that, and where they could not be tried out. */
static inline struct cp_call_costs cp_module_detour_costs(void)
{
	cprof_call_statistics c;

	cprof_get_call_statistics(&c);
	return cp_call_costs_by(c.detour_within_ns, c.detour_ns);
}

#endif

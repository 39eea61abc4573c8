/* SPDX-License-Identifier: MIT
 *
 * A library with a ring of its own, for annotated.c.
 */
#include <cprof/trace.h>

void annotate(int value);

void annotate(int value)
{
	CPROF_TRACE_COUNTER("in the plugin", value);
}

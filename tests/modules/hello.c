/* SPDX-License-Identifier: MIT
 *
 * Says what it was loaded with. Its constructor tells that code of it ran.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

CPROF_PROFILER_SUMMARY("says what it was loaded with");

static const char help[] = "hello: says what it was loaded with\n"
			   "  ANYTHING  is said\n";

__attribute__((constructor)) static void constructor(void)
{
	puts("constructor");
}

CPROF_PROFILER_INIT(hello)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);

	if (!strcmp(cprof_profiler_desc_args(desc), "help"))
		cprof_profiler_set_help(handle, help);
	else
		puts(desc);
}

/* SPDX-License-Identifier: MIT
 *
 * Built as two modules, NAME: each writes what its filters were asked about to
 * the file that it is given. One of them wants all of it, the other nothing.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	FILE *file;
};

static cprof_profiler prof;

static bool wanted(const cprof_profiler *p, const char *filter, const cprof_function *f)
{
	const char *image = cprof_image_name(cprof_function_image(f));

	if (!p->file || strcmp(image, "probed") != 0)
		return false;
	fprintf(p->file, "%s %s\n", filter, cprof_function_linkage_name(f));
	return WANTS && !strncmp(cprof_function_name(f), "probed_", 7);
}

static unsigned calls(cprof_profiler *p, const cprof_function *f)
{
	return wanted(p, "calls", f) ? CPROF_CALL_INSTRUMENTATION_ENTER : 0;
}

static bool coverage(cprof_profiler *p, const cprof_function *f)
{
	return wanted(p, "coverage", f);
}

static void cleanup(cprof_profiler *p)
{
	if (p->file)
		fclose(p->file);
}

#define INIT(name) CPROF_PROFILER_INIT(name) /* NAME expanded */
INIT(NAME)
{
	cprof_profiler_handle h = cprof_profiler_create(&prof);

	prof.file = fopen(cprof_profiler_desc_args(desc), "w");
	cprof_profiler_enable_coverage();
	cprof_profiler_set_call_instrumentation_filter_callback(h, calls);
	cprof_profiler_set_coverage_filter_callback(h, coverage);
	cprof_profiler_set_cleanup_callback(h, cleanup);
}

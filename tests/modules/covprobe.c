/* SPDX-License-Identifier: MIT
 *
 * Coverage of two functions, one of which never runs, and what is said of a
 * third that was not chosen.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "probed_add", "probed_never", "probed_fib" };

struct cprof_profiler {
	cprof_profiler_handle handle;
	const cprof_function *functions[3];
	unsigned entries, executed;
};

static cprof_profiler prof;

static bool choose(cprof_profiler *p, const cprof_function *f)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		if (strcmp(cprof_function_name(f), names[i]))
			continue;
		p->functions[i] = f;
		return i < 2;
	}
	return false;
}

static void tell(cprof_profiler *p, const cprof_coverage_data *data)
{
	p->entries++;
	p->executed += data->counter != 0;
	if (!data->file_name || !strstr(data->file_name, "probed.cpp") || !data->line)
		printf("no source\n");
}

static void ended(cprof_profiler *p)
{
	unsigned i;
	bool known;

	for (i = 0; i < 3; i++) {
		p->entries = p->executed = 0;
		known = cprof_profiler_get_coverage_data(p->handle, p->functions[i], tell);
		printf("%s: %s, %s entries, %s executed\n", names[i], known ? "true" : "false",
		       p->entries ? "some" : "no",
		       !p->executed		   ? "none"
		       : p->executed == p->entries ? "all"
						   : "some");
	}
	fflush(stdout);
}

CPROF_PROFILER_INIT(covprobe)
{
	prof.handle = cprof_profiler_create(&prof);
	if (strcmp(cprof_profiler_desc_args(desc), "off") != 0)
		cprof_profiler_enable_coverage();
	cprof_profiler_set_coverage_filter_callback(prof.handle, choose);
	cprof_profiler_set_runtime_shutdown_end_callback(prof.handle, ended);
}

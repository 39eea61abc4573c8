/* SPDX-License-Identifier: MIT
 *
 * Coverage of all of a program, by the API alone: says what it took.
 *   bench-cover PROGRAM [ARG...]
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

struct cprof_profiler {
	char path[4096];
	uint64_t blocks, reached, rows;
};

static bool filter(cprof_profiler *p, const cprof_function *f)
{
	return !strcmp(cprof_image_path(cprof_function_image(f)), p->path);
}

static bool count(const cprof_coverage_function *f, void *data)
{
	cprof_profiler *p = data;
	size_t i;

	p->blocks += f->block_count;
	p->rows += f->row_count;
	for (i = 0; i < f->block_count; i++)
		p->reached += f->blocks[i].count && f->blocks[i].count != CPROF_COVERAGE_UNKNOWN;
	return true;
}

int main(int argc, char **argv)
{
	uint64_t began = cp_now(), ran, told;
	cprof_session *s = cprof_session_create();
	struct cprof_profiler p = { 0 };
	cprof_profiler_handle handle = cprof_profiler_create(&p);
	cprof_coverage_statistics stats;
	int status;

	if (argc < 2 || !s || !handle || !realpath(argv[1], p.path))
		return 2;
	cprof_profiler_enable_coverage();
	cprof_profiler_set_coverage_filter_callback(handle, filter);
	if (cprof_session_launch(s, p.path, argv + 1, environ, CPROF_SESSION_FOLLOW_FORKS) ||
	    cprof_session_run(s, 0)) {
		fprintf(stderr, "%s\n", cprof_session_error(s));
		return 1;
	}
	ran = cp_now();
	cprof_coverage_each(count, &p);
	told = cp_now();
	cprof_get_coverage_statistics(&stats);
	status = cprof_session_exit_status(s, true);
	printf("{\"sites\": %llu, \"hits\": %llu, \"blocks\": %llu, \"reached\": %llu, "
	       "\"rows\": %llu, \"placing\": %.4f, \"run\": %.4f, \"told\": %.4f, "
	       "\"status\": %d}\n",
	       (unsigned long long)stats.sites, (unsigned long long)stats.hits,
	       (unsigned long long)p.blocks, (unsigned long long)p.reached,
	       (unsigned long long)p.rows, (double)stats.placing_ns / 1e9,
	       (double)(ran - began) / 1e9, (double)(told - ran) / 1e9, status);
	cprof_session_destroy(s);
	return status != 0;
}

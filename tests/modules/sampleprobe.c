/* SPDX-License-Identifier: MIT
 *
 * Built as two modules, NAME: who owns the sampler, and how often it hits.
 * NAME:real,HZ or NAME:process,HZ sets the mode, NAME:none,HZ sets none.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cprof_profiler {
	cprof_profiler_handle handle;
	char name[16];
	unsigned hits;
};

static cprof_profiler prof;

static void hit(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	p->hits += cprof_context_ip(context) == ip;
}

static void ended(cprof_profiler *p)
{
	printf("%s: %s\n", p->name, p->hits ? "hits" : "no hits");
	fflush(stdout);
}

#define INIT(name) CPROF_PROFILER_INIT(name) /* NAME expanded */
INIT(NAME)
{
	const char *args = cprof_profiler_desc_args(desc), *comma = strchr(args, ',');
	cprof_sample_mode mode = !strncmp(args, "real", 4)	? CPROF_SAMPLE_MODE_REAL
				 : !strncmp(args, "process", 7) ? CPROF_SAMPLE_MODE_PROCESS
								: CPROF_SAMPLE_MODE_NONE;
	cprof_sample_mode got = mode;
	uint32_t hz = 0;
	bool enabled, set, get;

	prof.handle = cprof_profiler_create(&prof);
	snprintf(prof.name, sizeof(prof.name), "%.*s", (int)strcspn(desc, ":"), desc);
	enabled = cprof_profiler_enable_sampling(prof.handle);
	set = cprof_profiler_set_sample_mode(prof.handle, mode,
					     comma ? (uint32_t)atoi(comma + 1) : 0);
	get = cprof_profiler_get_sample_mode(prof.handle, &got, &hz);
	printf("%s: enable %d set %d get %d mode %d %u Hz\n", prof.name, enabled, set, get,
	       (int)got, hz);
	fflush(stdout);
	cprof_profiler_set_sample_hit_callback(prof.handle, hit);
	cprof_profiler_set_runtime_shutdown_end_callback(prof.handle, ended);
}

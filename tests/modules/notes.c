/* SPDX-License-Identifier: MIT
 *
 * Writes what happens to output=FILE, counts it, and says so.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cprof_profiler {
	cprof_profiler_handle handle;
	FILE *out;
	uint64_t threads, unused;
};

static cprof_profiler notes;

static void started(cprof_profiler *p, uintptr_t tid)
{
	(void)tid;
	p->threads++;
	fprintf(p->out, "thread %u\n", (unsigned)p->threads);
}

static void ended(cprof_profiler *p)
{
	fprintf(p->out, "done\n");
	if (fclose(p->out))
		cprof_profiler_fail(p->handle, "notes: not everything was written");
	cprof_profiler_printf(p->handle, "%u threads \033[1m\n", (unsigned)p->threads);
}

CPROF_PROFILER_INIT(notes)
{
	const char *args = cprof_profiler_desc_args(desc);
	char *key, *value, *output = NULL;

	notes.handle = cprof_profiler_create(&notes);
	while (cprof_profiler_desc_next(&args, NULL, &key, &value, NULL)) {
		if (!strcmp(key, "output") && value) {
			free(output);
			output = strdup(value);
		}
		free(key);
	}
	notes.out = cprof_profiler_open_output(output, "notes.txt");
	free(output);
	if (!notes.out) {
		cprof_profiler_fail(notes.handle, "notes: %s",
				    cprof_session_error(cprof_session_current()));
		return;
	}
	cprof_profiler_register_counter(notes.handle, "threads", &notes.threads);
	cprof_profiler_register_counter(notes.handle, "never used", &notes.unused);
	cprof_profiler_set_thread_started_callback(notes.handle, started);
	cprof_profiler_set_runtime_shutdown_end_callback(notes.handle, ended);
}

/* SPDX-License-Identifier: MIT */
#include "report/export/export.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/create.h"
#include "base/error.h"
#include "base/thread.h"
#include "report/coverage/coverage.h"
#include "report/export/callgrind.h"
#include "report/export/chrome.h"
#include "report/export/cobertura.h"
#include "report/export/dot.h"
#include "report/export/firefox.h"
#include "report/export/flamegraph.h"
#include "report/export/folded.h"
#include "report/export/gcovr.h"
#include "report/export/html.h"
#include "report/export/lcov.h"
#include "report/export/mermaid.h"
#include "report/export/pages.h"
#include "report/export/perfetto.h"
#include "report/export/pprof.h"
#include "report/export/sonarqube.h"
#include "report/export/speedscope.h"
#include "report/export/sqlite.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"
#include "report/profile/summed.h"

const struct cp_export_format cp_export_formats[] = {
#define ROW(between, name, extension, binary, made_of, pages, summary) \
	{ #name, \
	  summary, \
	  extension, \
	  binary, \
	  made_of, \
	  .write = cp_export_##name, \
	  .cover_directory = pages },
#define COVERAGE_ROW(between, name, extension, binary, made_of, function, summary) \
	{ #name, summary, extension, binary, made_of, .cover = function },
	CP_EXPORT_FORMATS(ROW) CP_EXPORT_COVERAGE_FORMATS(COVERAGE_ROW)
#undef ROW
#undef COVERAGE_ROW
		{ 0 }
};

const struct cp_export_format *cp_export_find(const char *name)
{
	const struct cp_export_format *f;

	for (f = cp_export_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

/* The first error of writing and of writing out. */
static CP_ERROR finish(struct cp_sink *sink, struct cp_error *err)
{
	struct cp_error *end = cp_sink_finish(sink);

	if (!err)
		return end;
	cp_error_free(end);
	return err;
}

CP_ERROR cp_export_check(const struct cp_export_format *format, const struct cp_profile *p)
{
	switch (format->of) {
	case CP_EXPORT_OF_EVENTS:
		return cp_profile_need_events(p);
	case CP_EXPORT_OF_STACKS:
	case CP_EXPORT_OF_SAMPLES:
		return cp_profile_need_stacks(p);
	case CP_EXPORT_OF_EDGES:
	case CP_EXPORT_OF_COVERAGE:
		break;
	}
	return NULL;
}

CP_ERROR cp_export(const struct cp_export_format *format, const struct cp_profile *p,
		   const struct cp_export_options *o, FILE *file)
{
	struct cp_sink sink = { .file = file };

	if (format->of == CP_EXPORT_OF_SAMPLES || format->of == CP_EXPORT_OF_EVENTS)
		CP_TRY(cp_record_need_samples(p->record));
	return finish(&sink, format->write(p, o, &sink));
}

CP_ERROR cp_export_coverage(const struct cp_export_format *format, const struct cp_coverage *c,
			    FILE *file)
{
	struct cp_sink sink = { .file = file };

	return finish(&sink, format->cover(c, &sink));
}

CP_ERROR cp_export_coverage_to(const char *name, const struct cp_coverage *c, const char *path)
{
	const struct cp_export_format *format = cp_export_find(name);
	CP_FCLOSE FILE *file = NULL;
	struct cp_error *err;

	if (!format || (!format->cover && !format->cover_directory))
		return cp_error_new(CP_ERR_USAGE, 0, "%s is no format of coverage", name);
	if (!format->cover)
		return format->cover_directory(c, path);
	CP_TRY(cp_create_stream(path, &file));
	err = cp_export_coverage(format, c, file);
	if (err)
		cp_create_undo(path, file);
	if (err && err->errnum) {
		int errnum = err->errnum;

		cp_error_free(err);
		err = cp_error_new(CP_ERR_IO, errnum, "writing %s", path);
	}
	return err;
}

/* ---- several of them ---- */

struct job {
	const struct cp_coverage *c;
	const struct cp_coverage_output *to;
	struct cp_error *err;
	pthread_t thread;
	bool started;
};

static void *run_job(void *arg)
{
	struct job *job = arg;

	job->err = cp_export_coverage_to(job->to->format, job->c, job->to->path);
	return NULL;
}

CP_ERROR cp_export_coverage_all(const struct cp_coverage *c,
				const struct cp_coverage_output *outputs, size_t count)
{
	struct job *jobs = calloc(count + 1, sizeof(*jobs));
	struct cp_error *err = NULL;
	size_t i;

	if (!jobs)
		return cp_error_nomem();
	for (i = 0; i < count; i++) {
		jobs[i] = (struct job){ .c = c, .to = &outputs[i] };
		if (i + 1 < count) /* the last one is ours */
			jobs[i].started = !cp_thread_start(&jobs[i].thread, run_job, &jobs[i]);
	}
	for (i = count; i-- > 0;) {
		if (!jobs[i].started)
			run_job(&jobs[i]);
		else
			pthread_join(jobs[i].thread, NULL);
		if (jobs[i].err) {
			cp_error_free(err);
			err = jobs[i].err;
		}
	}
	free(jobs);
	return err;
}

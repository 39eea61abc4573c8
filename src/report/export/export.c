/* SPDX-License-Identifier: MIT */
#include "report/export/export.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/create.h"
#include "report/tables/report.h"
#include "report/look/table.h"

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

CP_ERROR cp_export(const struct cp_export_format *format, const struct cp_profile *p,
		   const struct cp_export_options *o, FILE *file)
{
	struct cp_sink sink = { .file = file };

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

/* Signals are for the others. */
static void start_job(struct job *job)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	job->started = !pthread_create(&job->thread, NULL, run_job, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
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
			start_job(&jobs[i]);
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

static int compare_times(const void *va, const void *vb, void *ctx)
{
	const struct cp_record_sample *s = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (s[a].thread != s[b].thread)
		return s[a].thread < s[b].thread ? -1 : 1;
	if (s[a].ts_ns != s[b].ts_ns)
		return s[a].ts_ns < s[b].ts_ns ? -1 : 1;
	return (a > b) - (a < b);
}

CP_ERROR cp_export_by_thread(const struct cp_profile *p, uint32_t **ret, size_t *count_ret)
{
	const struct cp_record_sample *s = cp_record_samples(p->record);
	size_t count = cp_record_sample_count(p->record), n = 0, i;
	uint32_t *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return cp_error_nomem();
	for (i = 0; i < count; i++) {
		if (cp_profile_accepts(p, &s[i]))
			order[n++] = (uint32_t)i;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), compare_times, (void *)(uintptr_t)s);
	*ret = order;
	*count_ret = n;
	return NULL;
}

void cp_export_title(const struct cp_profile *p, const struct cp_export_options *o,
		     struct cp_buf *out)
{
	if (o->title)
		cp_buf_str(out, o->title);
	else
		cp_report_command(p->record, out);
	if (!out->size)
		cp_buf_str(out, "cprof");
	if (cp_profile_of_heap(p))
		cp_export_amount(p, out);
}

void cp_export_amount(const struct cp_profile *p, struct cp_buf *out)
{
	struct cp_buf caveat CP_CLEANUP(cp_buf_free) = { 0 };

	if (out->size)
		cp_buf_str(out, ": ");
	p->unit->add(out, p->total.weight);
	cp_buf_printf(out, " %s", p->unit->of);
	if (p->of != CP_OF_COUNT) {
		cp_buf_str(out, " in ");
		cp_add_plural(out, p->total.ticks, p->unit->tick, p->unit->ticks);
	}
	cp_profile_caveat(p, &caveat);
	if (caveat.size)
		cp_buf_printf(out, ", %s", caveat.bytes);
}

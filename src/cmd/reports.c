/* SPDX-License-Identifier: MIT */
#include "cmd/reports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/complain.h"
#include "cmd/terminal.h"
#include "record/lives.h"
#include "report/events/calls.h"
#include "report/profile/create.h"
#include "report/tables/report.h"

#define AT(field) offsetof(struct cp_filter_options, field)

/* In the order of enum cp_profile_state. */
static const char *const state_names[] = { "any", "running", "waiting", NULL };

const struct cp_option cp_filter_options[] = {
	{ "thread", 0, CP_OPTION_TEXT, AT(thread), .value = "TID|NAME",
	  .help = "only this thread, or those whose name matches the glob" },
	{ "pid", 0, CP_OPTION_NUMBER, AT(pid), .value = "PID", .min = 1, .max = INT32_MAX,
	  .help = "only this process" },
	{ "image", 0, CP_OPTION_TEXT, AT(image), .value = "GLOB",
	  .help = "only samples whose innermost function is in such a file" },
	{ "time", 0, CP_OPTION_TEXT, AT(time), .value = "FROM-TO",
	  .help = "only this part of the recording, from its start: 1.5s-3s, 10s-, -500ms" },
	{ "state", 0, CP_OPTION_CHOICE, AT(state), .value = "any|running|waiting",
	  .choices = state_names,
	  .help = "of a recording with --clock=wall, only threads that ran or that did "
		  "not" },
	{ 0 }
};

const struct cp_option cp_call_filter_options[] = {
	{ "thread", 0, CP_OPTION_TEXT, AT(thread), .value = "TID|NAME",
	  .help = "only this thread, or those whose name matches the glob" },
	{ "pid", 0, CP_OPTION_NUMBER, AT(pid), .value = "PID", .min = 1, .max = INT32_MAX,
	  .help = "only this process" },
	{ "image", 0, CP_OPTION_TEXT, AT(image), .value = "GLOB",
	  .help = "only functions in such a file" },
	{ "time", 0, CP_OPTION_TEXT, AT(time), .value = "FROM-TO",
	  .help = "only calls entered in this part of the recording: 1.5s-3s, 10s-, -500ms" },
	{ 0 }
};

const struct cp_option cp_call_choice_options[] = {
	{ "under", 0, CP_OPTION_TEXT, AT(calls.under), .value = "SPEC",
	  .help = "only calls of these functions and all that is called by them: as --trace=SPEC "
		  "of run takes them" },
	{ "not-under", 0, CP_OPTION_TEXT, AT(calls.not_under), .value = "SPEC",
	  .help = "neither calls of these functions nor what is called by them" },
	{ "paths-to", 0, CP_OPTION_TEXT, AT(calls.paths_to), .value = "SPEC",
	  .help = "only calls of these functions and those that led to them" },
	{ "levels", 0, CP_OPTION_NUMBER, AT(calls.levels), .value = "N", .min = 1,
	  .max = UINT32_MAX,
	  .help = "only calls in fewer than N others that --under and --not-under leave" },
	{ "min-duration", 0, CP_OPTION_DURATION, AT(calls.least_ns), .value = "TIME",
	  .help = "only calls that took as long: 50us, 1ms" },
	{ 0 }
};

const char *const cp_roots_names[] = { "auto", "none", "process", "thread", NULL };

static CP_ERROR read_time(const char *text, struct cp_profile_filter *f)
{
	const char *dash = strchr(text, '-');
	CP_FREE char *from = dash ? strndup(text, (size_t)(dash - text)) : NULL;

	if (!from || (*from && !cp_parse_duration(from, &f->from_ns)) ||
	    (dash[1] && (!cp_parse_duration(dash + 1, &f->to_ns) || f->to_ns <= f->from_ns)) ||
	    (!*from && !dash[1]))
		return cp_error_new(CP_ERR_USAGE, 0,
				    "--time takes FROM-TO such as 1.5s-3s, not '%s'", text);
	return NULL;
}

/* Is a thread of that name or number in the recording? Of many, only their lives are. */
static bool knows_thread(const struct cp_record *r, const char *want)
{
	const struct cp_record_thread *t;
	const struct cp_record_life *life;
	size_t i;

	for (i = 0; i < cp_record_thread_count(r); i++) {
		t = cp_record_get_thread(r, (uint32_t)i);
		if (cp_thread_matches(want, t->tid, t->name))
			return true;
	}
	for (i = 0; i < cp_record_life_count(r); i++) {
		life = cp_record_get_life(r, (uint32_t)i);
		if (life->thread && cp_thread_matches(want, life->tid, life->name))
			return true;
	}
	return false;
}

/* A filter that nothing can pass is a mistake in it. */
static CP_ERROR check_threads(const struct cp_record *r, const struct cp_profile_filter *f)
{
	struct cp_error *err;

	if (!f->thread || knows_thread(r, f->thread))
		return NULL;
	err = cp_error_new(CP_ERR_NOT_FOUND, 0, "no thread of the recording is '%s'", f->thread);
	return cp_error_hint(err, "cprof report --threads lists them; --thread takes a number "
				  "or a glob over names");
}

CP_ERROR cp_load(const char *path, const struct cp_filter_options *filter, struct cp_loaded *ret)
{
	struct cp_profile_filter f = { 0 };
	struct cp_loaded loaded = { 0 };
	struct cp_choosing choosing = { 0 };
	struct cp_error *err;

	if (filter) {
		f.thread = filter->thread;
		f.image = filter->image;
		f.pid = (int32_t)filter->pid;
		f.state = (enum cp_profile_state)filter->state;
		f.of = filter->of;
		f.no_costs = filter->no_costs;
		f.beside = filter->with_calls ? &cp_calls_beside : NULL;
		if (filter->time)
			CP_TRY(read_time(filter->time, &f));
	}
	err = cp_record_load(path, &loaded.record);
	if (err && err->errnum == ENOENT && !err->hint)
		cp_error_hint(err, "a recording is made by: cprof run -- CMD");
	if (err)
		return err;
	err = check_threads(loaded.record, &f);
	if (!err && filter)
		err = cp_choosing_begin(&choosing, &filter->calls, &f.calls);
	if (!err)
		err = cp_profile_create(loaded.record, &f, &loaded.profile);
	if (!err && filter)
		err = cp_choosing_check(&choosing, loaded.profile);
	if (err && filter && filter->lenient && loaded.profile)
		loaded.unmet = cp_steal(err);
	cp_choosing_end(&choosing);
	if (err) {
		cp_unload(&loaded);
		return err;
	}
	*ret = loaded;
	return NULL;
}

void cp_unload(struct cp_loaded *loaded)
{
	cp_error_free(loaded->unmet);
	cp_profile_destroy(loaded->profile);
	cp_record_destroy(loaded->record);
	*loaded = (struct cp_loaded){ 0 };
}

int cp_reports_fail(struct cp_error *err)
{
	int status = err->code == CP_ERR_USAGE ? CP_EXIT_USAGE : CP_EXIT_FAILURE;

	cp_complain(err);
	return status;
}

const char *cp_recording_operand(const struct cp_args *args)
{
	return args->count ? args->operands[0] : CP_RECORDING_NAME;
}

int cp_print_report(struct cp_buf *out, bool json)
{
	struct cp_pager pager = cp_pager_open();

	if (json && out->size)
		fwrite(out->bytes, 1, out->size, stdout);
	else
		cp_terminal_print(stdout, out);
	cp_buf_free(out);
	if (pager.pid <= 0)
		return cp_finish_output();
	cp_pager_close(&pager);
	return CP_EXIT_OK;
}

int cp_end_report(struct cp_error *err, struct cp_buf *out, bool json)
{
	if (!err && out->failed)
		err = cp_error_nomem();
	if (!err)
		return cp_print_report(out, json);
	cp_buf_free(out);
	return cp_reports_fail(err);
}

bool cp_print_whole_report(const char *path)
{
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	const struct cp_report_options r = { .limit = 20, .least = 0.005 };
	struct cp_loaded loaded = { 0 };
	struct cp_buf out = { 0 };
	const struct cp_filter_options filter = { .with_calls = true };
	struct cp_error *err = cp_load(path, &filter, &loaded);

	if (!err)
		err = cp_report_text(loaded.profile, &r, &look, &out);
	cp_unload(&loaded);
	if (!err)
		return cp_print_report(&out, false) == CP_EXIT_OK;
	cp_buf_free(&out);
	cp_complain(err);
	return false;
}

void cp_print_summary(const char *path)
{
	struct cp_terminal term = cp_terminal_of(STDERR_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_record *record = NULL;
	struct cp_buf out = { 0 };
	struct cp_error *err;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	err = cp_record_load(path, &record);
	if (!err)
		err = cp_report_summary(record, path, &look, &out);
	if (!err) {
		fputc('\n', stderr); /* apart from what CMD wrote */
		cp_terminal_print(stderr, &out);
	}
	cp_record_destroy(record);
	cp_buf_free(&out);
	cp_complain(err);
}

/* SPDX-License-Identifier: MIT
 *
 * cprof cover: a run that ends with what of the program was reached.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/covering.h"
#include "cmd/merging.h"
#include "cmd/reports.h"
#include "cmd/running.h"
#include "record/record.h"

struct cover_options {
	struct cp_collect_options collect;
	struct cp_covering_options covering;
};

#define AT(field) offsetof(struct cover_options, field)

static const struct cp_option_group groups[] = {
	{ "Coverage", cp_coverage_options, AT(collect.coverage) },
	{ "Which sources count", cp_source_file_options, AT(collect.sources) },
	{ "Which lines count", cp_source_line_options, AT(collect.sources) },
	{ "What changed", cp_source_diff_options, AT(collect.sources) },
	{ "What comes out", cp_covering_files, AT(covering) },
	{ "Thresholds", cp_covering_thresholds, AT(covering) },
	{ "Recording", cp_recording_options, AT(collect) },
	{ "Children that outlive CMD", cp_waiting_options, AT(collect) },
	{ "Sampling", cp_sampling_options, AT(collect) },
	{ "Calls", cp_calls_options, AT(collect.calls) },
	{ "Symbols and stacks", cp_stacks_options, AT(collect.stacks) },
	{ 0 }
};

static const struct cover_options defaults = {
	.collect = { .follow = true,
		     .capture = CP_COLLECT_NO_CAPTURE,
		     .wait_ns = 10 * CP_NS_PER_S,
		     .coverage = { .coverage = true },
		     .calls = { .max_rate = CP_COLLECT_NO_RATE },
		     .stacks = { .debuginfod = true, .cache = true } },
	.covering = { .lines = CP_COVERING_ANY,
		      .branches = CP_COVERING_ANY,
		      .functions = CP_COVERING_ANY,
		      .changed = CP_COVERING_ANY },
};

static int own_failure(struct cp_error *err)
{
	cp_complain(err);
	return CP_EXIT_OWN_FAILURE;
}

/* A file at the place of --merge must be a recording: better known before hours of
 * tests than after. */
static CP_ERROR check_merge(const char *path)
{
	struct cp_record *r = NULL;
	struct stat st;

	if (!path || (stat(path, &st) && errno == ENOENT))
		return NULL;
	CP_TRY(cp_record_load(path, &r));
	cp_record_destroy(r);
	return NULL;
}

/* Runs CMD, reports what is recorded at `recording`. */
static int run_and_report(struct cp_args *args, const struct cover_options *o,
			  const char *recording, struct cp_sources *sources)
{
	struct cp_collect_options collect = o->collect;
	struct cp_error *err = NULL;
	bool ran, cut;
	int status, ending;

	collect.output = recording;
	/* The run's own recording, where it is kept, has all that it reached, and so has
	 * that of a test with a name. */
	if (!o->collect.output && !o->covering.again && !collect.coverage.count &&
	    !collect.coverage.name)
		collect.coverage.known = o->covering.merge;
	collect.quiet = true; /* the table comes instead of a summary */
	status = cp_running(args, &collect, NULL, &ran, &cut);
	if (!ran)
		return status;
	if (o->covering.merge)
		err = cp_merge_into(o->covering.merge, recording);
	ending = err ? own_failure(err)
		     : cp_covering_end(o->covering.merge ? o->covering.merge : recording, sources,
				       &o->collect, &o->covering);
	if (cut && ending == CP_EXIT_OK)
		ending = CP_EXIT_OWN_FAILURE;
	return status ? status : ending;
}

static int run_cover(struct cp_args *args)
{
	const struct cover_options *o = args->options;
	struct cp_source_rules rules = cp_source_rules_of(&o->collect.sources);
	const char *recording = o->collect.output ? o->collect.output : CP_RECORDING_NAME;
	struct cp_sources *sources = NULL;
	char unnamed[32];
	CP_CLOSE int fd = -1;
	struct cp_error *err;
	int status = cp_covering_check(args, &o->collect, &o->covering);

	if (status)
		return status;
	err = cp_covering_check_files(&o->covering);
	if (!err)
		err = check_merge(o->covering.merge);
	if (!err && o->covering.merge && !o->collect.output) {
		err = cp_open_unnamed(o->covering.merge, &fd);
		snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", fd);
		recording = unnamed;
	}
	if (!err)
		err = cp_sources_create(&rules, &sources);
	if (err)
		return own_failure(err);
	status = run_and_report(args, o, recording, sources);
	cp_sources_destroy(sources);
	return status;
}

const struct cp_command cp_command_cover = {
	.name = "cover",
	.operands = "[options] [--] CMD [ARG...]",
	.summary = "Coverage of CMD and its children, with reports and thresholds for CI",
	.details =
		"The exit status is CMD's own; 128+N when signal N ended it; 3 when CMD succeeded\n"
		"and a threshold was missed; 125 when cprof itself failed or there is nothing to\n"
		"report, 126 when CMD could not be executed, 127 when it was not found.",
	.groups = groups,
	.options_size = sizeof(struct cover_options),
	.defaults = &defaults,
	.least = 1,
	.ends_at_operand = true,
	.usage_status = CP_EXIT_OWN_FAILURE,
	.completes = CP_COMPLETES_COMMANDS,
	.run = run_cover,
};

/* SPDX-License-Identifier: MIT */
#include "report/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/create.h"
#include "base/text.h"
#include "base/types.h"
#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/commands.h"
#include "cmd/covering.h"
#include "cmd/reports.h"
#include "record/annotations.h"
#include "record/calls.h"
#include "record/coverage.h"
#include "report/sources.h"

struct export_options {
	unsigned format, roots;
	const char *output, *title, *diff;
	struct cp_filter_options filter;
	struct cp_source_options sources;
};

#define AT(field) offsetof(struct export_options, field)

#define NAME(between, name, extension, binary, of_coverage, summary) #name,
#define ALTERNATIVE(between, name, extension, binary, of_coverage, summary) between #name
#define DESCRIPTION(between, name, extension, binary, of_coverage, summary) \
	"  " #name ": " summary "\n"
#define ALL(X) CP_EXPORT_FORMATS(X) CP_EXPORT_COVERAGE_FORMATS(X)

static const char *const format_names[] = { ALL(NAME) NULL };

static const struct cp_option rows[] = {
	{ "format", 'f', CP_OPTION_CHOICE, AT(format), .value = ALL(ALTERNATIVE),
	  .choices = format_names, .help = "what is written" },
	{ "output", 'o', CP_OPTION_TEXT, AT(output), .value = "FILE",
	  .completes = CP_COMPLETES_FILES, .help = "where to; standard output unless told, or -" },
	{ "title", 0, CP_OPTION_TEXT, AT(title), .value = "TEXT",
	  .help = "instead of the command line" },
	{ "roots", 0, CP_OPTION_CHOICE, AT(roots), .value = "auto|none|process|thread",
	  .choices = cp_roots_names,
	  .help = "flamegraph, html, folded: what stacks stand on; auto is processes when there "
		  "are "
		  "several" },
	{ "diff", 0, CP_OPTION_TEXT, AT(diff), .value = "OLD", .completes = CP_COMPLETES_RECORDINGS,
	  .help = "flamegraph, html: color by what changed since the recording OLD" },
	{ 0 }
};

static const struct cp_option_group groups[] = {
	{ "What is written", rows, 0 },
	{ "Which samples count", cp_filter_options, AT(filter) },
	{ "Which sources of coverage count", cp_source_file_options, AT(sources) },
	{ "Which lines of them count", cp_source_line_options, AT(sources) },
	{ 0 }
};

#define NOT_TOLD UINT32_MAX

static const struct export_options defaults = { .format = NOT_TOLD };

static bool to_stdout(const struct export_options *o)
{
	return !o->output || !strcmp(o->output, "-");
}

static CP_ERROR write_file(const char *path, const struct cp_export_format *format,
			   const struct cp_profile *p, const struct cp_export_options *o)
{
	CP_FCLOSE FILE *file = NULL;

	CP_TRY(cp_create_stream(path, &file));
	return cp_export(format, p, o, file);
}

static CP_ERROR export_profile(const struct export_options *o, const struct cp_loaded *loaded)
{
	const struct cp_export_format *format = &cp_export_formats[o->format];
	struct cp_export_options e = { .roots = (enum cp_tree_roots)o->roots, .title = o->title };
	struct cp_loaded old = { 0 };
	struct cp_error *err = o->diff ? cp_load(o->diff, &o->filter, &old) : NULL;

	e.old = old.profile;
	if (!err && to_stdout(o))
		err = cp_export(format, loaded->profile, &e, stdout);
	else if (!err)
		err = write_file(o->output, format, loaded->profile, &e);
	cp_unload(&old);
	return err;
}

static CP_ERROR export_coverage(const struct export_options *o, const struct cp_record *record)
{
	const struct cp_export_format *format = &cp_export_formats[o->format];
	const struct cp_source_rules rules = cp_source_rules_of(&o->sources);
	struct cp_coverage coverage = { 0 };
	struct cp_sources *sources = NULL;
	struct cp_error *err;

	if (to_stdout(o) && !format->cover)
		return cp_error_new(CP_ERR_USAGE, 0,
				    "%s of coverage is a directory: name it with --output=DIR",
				    format->name);
	err = cp_sources_create(&rules, &sources);
	if (!err)
		err = cp_coverage_build(record, sources, &coverage);
	if (!err)
		err = cp_sources_unmatched(sources);
	if (!err && to_stdout(o))
		err = cp_export_coverage(format, &coverage, stdout);
	else if (!err)
		err = cp_export_coverage_to(format->name, &coverage, o->output);
	cp_coverage_deinit(&coverage);
	cp_sources_destroy(sources);
	return err;
}

/* There is nothing in `r` for a format of stacks of time: what the program announced,
 * allocated, threw or waited for is events. */
static bool holds_nothing_for(const struct cp_export_format *format, const struct cp_record *r)
{
	if (!format->write || format->write == cp_export_chrome ||
	    format->write == cp_export_perfetto || format->write == cp_export_sqlite)
		return false;
	return !cp_record_sample_count(r) && !cp_record_call_count(r) &&
	       !cp_record_coverage_count(r);
}

static CP_ERROR nothing_for(const struct cp_export_format *format, const struct cp_record *r,
			    const char *path)
{
	const struct {
		const char *kind;
		uint64_t count;
	} kinds[] = { { "annotations", cp_record_annotation_count(r) },
		      { "allocations", cp_record_heap_count(r) },
		      { "exceptions", cp_record_exception_count(r) },
		      { "waits for locks", cp_record_wait_count(r) } };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(kinds); i++)
		if (kinds[i].count)
			return cp_error_hint(
				cp_error_new(CP_ERR_USAGE, 0,
					     "%s is of samples and calls, and %s holds %s alone",
					     format->name, path, kinds[i].kind),
				"for %s there are: chrome|perfetto|sqlite", kinds[i].kind);
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "%s is of samples and calls, and %s has none",
					  format->name, path),
			     "a program that is over before it is sampled once: cprof run -s 9999");
}

static CP_ERROR export(const struct export_options *o, const char *path)
{
	const struct cp_export_format *format = &cp_export_formats[o->format];
	struct cp_loaded loaded = { 0 };
	struct cp_error *err = cp_load(path, &o->filter, &loaded);
	bool covered, profiled;

	if (err)
		return err;
	if (holds_nothing_for(format, loaded.record)) {
		err = nothing_for(format, loaded.record, path);
		cp_unload(&loaded);
		return err;
	}
	covered = cp_record_coverage_count(loaded.record);
	profiled = cp_record_sample_count(loaded.record) || cp_record_call_count(loaded.record) ||
		   !covered;
	if (format->write && profiled)
		err = export_profile(o, &loaded);
	else if (covered && (format->cover || format->cover_directory))
		err = export_coverage(o, loaded.record);
	else if (covered)
		err = cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
						 "%s is of samples and calls, and %s holds "
						 "coverage alone",
						 format->name, path),
				    "for coverage there are: html" CP_EXPORT_COVERAGE_FORMATS(
					    ALTERNATIVE));
	else
		err = cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
						 "%s is of coverage, and %s holds none",
						 format->name, path),
				    "coverage is recorded by: cprof cover -- CMD");
	cp_unload(&loaded);
	return err;
}

static int run_export(struct cp_args *args)
{
	const struct export_options *o = args->options;
	struct cp_error *err;

	if (o->format == NOT_TOLD)
		return cp_usage(args, "which format? Name one: --format=%s", ALL(ALTERNATIVE));
	if (!o->output && cp_export_formats[o->format].binary && isatty(STDOUT_FILENO))
		return cp_usage(args, "%s is not for a terminal: name a file with --output=FILE",
				cp_export_formats[o->format].name);
	err = export(o, cp_recording_operand(args));
	if (!err)
		return CP_EXIT_OK;
	return cp_reports_fail(err);
}

const struct cp_command cp_command_export = {
	.name = "export",
	.operands = "-f FORMAT [-o OUT] [FILE]",
	.summary = "A recording in the format of another tool, or as a flame graph",
	.details = "Formats:\n" ALL(DESCRIPTION) "FILE is cprof.data unless told.",
	.groups = groups,
	.options_size = sizeof(struct export_options),
	.defaults = &defaults,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_RECORDINGS,
	.run = run_export,
};

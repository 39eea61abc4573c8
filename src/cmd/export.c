/* SPDX-License-Identifier: MIT */
#include "report/coverage/sources.h"
#include "report/export/export.h"
#include "report/profile/heapstacks.h"
#include "report/profile/summed.h"

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
#include "cmd/complain.h"
#include "cmd/covering.h"
#include "cmd/listing.h"
#include "cmd/reports.h"
#include "record/annotations.h"
#include "record/calls.h"
#include "record/coverage.h"

struct export_options {
	unsigned format, roots, of;
	double least; /* percent */
	const char *output, *title, *diff;
	bool no_source;
	struct cp_filter_options filter;
	struct cp_source_options sources;
};

#define AT(field) offsetof(struct export_options, field)

#define NAME(between, name, extension, binary, made_of, of_coverage, summary) #name,
#define ALTERNATIVE(between, name, extension, binary, made_of, of_coverage, summary) between #name
#define DESCRIPTION(between, name, extension, binary, made_of, of_coverage, summary) \
	"  " #name ": " summary "\n"
#define ALL(X) CP_EXPORT_FORMATS(X) CP_EXPORT_COVERAGE_FORMATS(X)

static const char *const format_names[] = { ALL(NAME) NULL };

/* In the order of enum cp_profile_of. */
static const char *const of_names[] = { "time", "bytes", "count", "live", NULL };

static const struct cp_option rows[] = {
	{ "format", 'f', CP_OPTION_CHOICE, AT(format), .value = ALL(ALTERNATIVE),
	  .choices = format_names, .help = "what is written" },
	{ "output", 'o', CP_OPTION_TEXT, AT(output), .value = "FILE",
	  .completes = CP_COMPLETES_FILES, .help = "where to; standard output unless told, or -" },
	{ "of", 0, CP_OPTION_CHOICE, AT(of), .value = "time|bytes|count|live", .choices = of_names,
	  .help = "what stacks weigh: time, or of allocations all bytes, their number, the bytes "
		  "never freed; bytes if there is nothing else" },
	{ "title", 0, CP_OPTION_TEXT, AT(title), .value = "TEXT",
	  .help = "instead of the command line" },
	{ "roots", 0, CP_OPTION_CHOICE, AT(roots), .value = "auto|none|process|thread",
	  .choices = cp_roots_names,
	  .help = "flamegraph, html, folded: what stacks stand on; auto is processes when there "
		  "are "
		  "several" },
	{ "min", 0, CP_OPTION_PERCENT, AT(least), .value = "PERCENT",
	  .help = "dot, mermaid: functions and calls that are smaller are not shown (0.5 unless "
		  "told)" },
	{ "diff", 0, CP_OPTION_TEXT, AT(diff), .value = "OLD", .completes = CP_COMPLETES_RECORDINGS,
	  .help = "flamegraph, html: color by what changed since the recording OLD" },
	{ "no-source", 0, CP_OPTION_TRUE, AT(no_source),
	  .help = "html: without source lines and instructions of the hottest functions" },
	{ 0 }
};

static const struct cp_option_group groups[] = {
	{ "What is written", rows, 0 },
	{ "Which samples count", cp_filter_options, AT(filter) },
	{ "Which calls count", cp_call_choice_options, AT(filter) },
	{ "Which sources of coverage count", cp_source_file_options, AT(sources) },
	{ "Which lines of them count", cp_source_line_options, AT(sources) },
	{ 0 }
};

#define NOT_TOLD UINT32_MAX

static const struct export_options defaults = { .format = NOT_TOLD, .of = NOT_TOLD, .least = 0.5 };

/* Is it made of weights, which --of chooses? */
static bool weighs(const struct cp_export_format *format)
{
	return format->of == CP_EXPORT_OF_STACKS || format->of == CP_EXPORT_OF_SAMPLES ||
	       format->of == CP_EXPORT_OF_EDGES;
}

static bool to_stdout(const struct export_options *o)
{
	return !o->output || !strcmp(o->output, "-");
}

static CP_ERROR write_file(const char *path, const struct cp_export_format *format,
			   const struct cp_profile *p, const struct cp_export_options *o)
{
	CP_FCLOSE FILE *file = NULL;
	struct cp_error *err;

	CP_TRY(cp_create_stream(path, &file));
	err = cp_export(format, p, o, file);
	if (err)
		cp_create_undo(path, file);
	return err;
}

static CP_ERROR read_code(void *files, struct cp_listing *l, const char **why_ret)
{
	return cp_listing_read(files, l, why_ret);
}

static CP_ERROR export_profile(const struct export_options *o, const struct cp_loaded *loaded)
{
	const struct cp_export_format *format = &cp_export_formats[o->format];
	struct cp_export_options e = { .roots = (enum cp_tree_roots)o->roots,
				       .least = o->least / 100,
				       .title = o->title,
				       .no_rows = o->no_source,
				       .code = read_code };
	struct cp_image_options images = { 0 };
	struct cp_code_files files = { .options = &images };
	struct cp_filter_options filter = o->filter;
	struct cp_loaded old = { 0 };
	struct cp_error *err;

	filter.of = loaded->profile->of;
	err = o->diff ? cp_load(o->diff, &filter, &old) : NULL;
	e.old = old.profile;
	e.code_ctx = &files;
	if (!err && to_stdout(o))
		err = cp_export(format, loaded->profile, &e, stdout);
	else if (!err)
		err = write_file(o->output, format, loaded->profile, &e);
	cp_code_files_free(&files);
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

/* A format of stacks finds nothing in `p`: what the program announced, threw or
 * waited for is events. What it mapped is in no format. */
static bool holds_nothing_for(const struct cp_export_format *format, const struct cp_profile *p)
{
	const struct cp_record *r = p->record;

	if (p->of != CP_OF_TIME || cp_record_sample_count(r) || cp_record_holds_calls(r) ||
	    cp_record_coverage_count(r))
		return false;
	return weighs(format) || (cp_record_map_count(r) && !cp_record_heap_count(r) &&
				  !cp_record_annotation_count(r) && !cp_record_exception_count(r) &&
				  !cp_record_wait_count(r));
}

static CP_ERROR nothing_for(const struct cp_export_format *format, const struct cp_record *r,
			    const char *path)
{
	static const char events[] = "chrome|perfetto|sqlite";
	const struct {
		const char *kind, *instead;
		uint64_t count;
	} kinds[] = { { "allocations", "--of=bytes|count|live, chrome|perfetto|sqlite",
			cp_record_heap_count(r) },
		      { "annotations", events, cp_record_annotation_count(r) },
		      { "exceptions", events, cp_record_exception_count(r) },
		      { "waits for locks", events, cp_record_wait_count(r) },
		      { "mappings", "cprof report --maps, cprof replay --json",
			cp_record_map_count(r) } };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(kinds); i++)
		if (kinds[i].count)
			return cp_error_hint(
				weighs(format)
					? cp_error_new(CP_ERR_USAGE, 0,
						       "%s is of samples and calls, and %s holds "
						       "%s alone",
						       format->name, path, kinds[i].kind)
					: cp_error_new(CP_ERR_USAGE, 0,
						       "%s has nothing of %s, which %s holds alone",
						       format->name, kinds[i].kind, path),
				"for %s there are: %s", kinds[i].kind, kinds[i].instead);
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "%s is of samples and calls, and %s has none",
					  format->name, path),
			     "a program that is over before it is sampled once: cprof run -s 9999");
}

/* An error unless the weights that --of asks for are there, and the format can hold them. */
static CP_ERROR check_of(const struct export_options *o, const struct cp_profile *p,
			 const char *path)
{
	const char *of = o->of == NOT_TOLD ? NULL : of_names[o->of];
	struct cp_error *err;

	if (!of || !cp_profile_of_heap(p))
		return NULL;
	if (!(cp_record_info(p->record)->holds & CP_RECORD_HAS_ALLOCATIONS))
		return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
						  "--of=%s is of allocations, and %s holds none",
						  of, path),
				     "they are recorded by: cprof run --allocs -- CMD");
	if (!p->total.weight && p->of != CP_OF_LIVE && !p->heap.count)
		return cp_error_new(CP_ERR_USAGE, 0, "nothing was allocated%s in %s",
				    cp_record_heap_count(p->record) ? " that passes the filter"
								    : "",
				    path);
	if (p->of != CP_OF_LIVE || (!p->live_unknown && p->total.weight))
		return NULL;
	if (!p->live_unknown)
		return cp_error_new(CP_ERR_USAGE, 0, "nothing of what was allocated was left in %s",
				    path);
	err = cp_error_new(CP_ERR_USAGE, 0,
			   "what is left is not known: allocations of %s were watched in pieces of "
			   "the time",
			   path);
	return cp_error_hint(err, "cprof run --allocs --max-rate=0 watches all of them");
}

/* The kind that was chosen for who did not say, and what makes it less than whole. */
static void tell_of(const struct export_options *o, const struct cp_profile *p)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!cp_profile_of_heap(p))
		return;
	cp_profile_caveat(p, &text);
	if (o->of != NOT_TOLD && !text.size)
		return;
	cp_buf_clear(&text);
	cp_export_amount(p, &text);
	fprintf(stderr, "cprof: %s%s\n", text.bytes ? text.bytes : "",
		o->of != NOT_TOLD ? ""
		: p->live_unknown ? " (--of=count: their number)"
				  : " (--of=count|live: their number, what was not freed)");
}

static CP_ERROR check(const struct export_options *o, const struct cp_loaded *loaded,
		      const char *path)
{
	const struct cp_export_format *format = &cp_export_formats[o->format];

	CP_TRY(cp_export_check(format, loaded->profile));
	if (holds_nothing_for(format, loaded->profile))
		return nothing_for(format, loaded->record, path);
	return check_of(o, loaded->profile, path);
}

static CP_ERROR export(const struct export_options *o, const char *path)
{
	const struct cp_export_format *format = &cp_export_formats[o->format];
	struct cp_filter_options filter = o->filter;
	struct cp_loaded loaded = { 0 };
	bool covered, profiled;
	struct cp_error *err;

	if (weighs(format))
		filter.of = o->of == NOT_TOLD ? CP_OF_AUTO : (enum cp_profile_of)o->of;
	CP_TRY(cp_load(path, &filter, &loaded));
	err = check(o, &loaded, path);
	if (err) {
		cp_unload(&loaded);
		return err;
	}
	tell_of(o, loaded.profile);
	covered = cp_record_coverage_count(loaded.record);
	profiled = cp_record_sample_count(loaded.record) || cp_record_holds_calls(loaded.record) ||
		   cp_profile_of_heap(loaded.profile) || !covered;
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

/* Formats that show what changed. */
static bool compares(const struct cp_export_format *format)
{
	return !strcmp(format->name, "flamegraph") || !strcmp(format->name, "html");
}

static int run_export(struct cp_args *args)
{
	const struct export_options *o = args->options;
	struct export_options asked = *o;
	struct cp_error *err;

	if (o->format == NOT_TOLD)
		return cp_usage(args, "which format? Name one: --format=%s", ALL(ALTERNATIVE));
	if (args->count == 2 && !compares(&cp_export_formats[o->format]))
		return cp_usage(args,
				"%s is of one recording: OLD NEW are compared by flamegraph and "
				"html",
				cp_export_formats[o->format].name);
	if (args->count == 2 && o->diff)
		return cp_usage(args, "what is older, %s or %s? --diff=OLD is for one recording",
				o->diff, args->operands[0]);
	if (args->count == 2)
		asked.diff = args->operands[0];
	if (o->of != NOT_TOLD && !weighs(&cp_export_formats[o->format]))
		return cp_usage(args,
				"%s has no stacks that could weigh anything else: --of is of "
				"flamegraph, html, folded, speedscope, firefox, pprof, callgrind, "
				"dot, mermaid%s",
				cp_export_formats[o->format].name,
				cp_export_formats[o->format].of == CP_EXPORT_OF_EVENTS
					? "; it has each allocation anyway"
					: "");
	if (!o->output && cp_export_formats[o->format].binary && isatty(STDOUT_FILENO))
		return cp_usage(args, "%s is not for a terminal: name a file with --output=FILE",
				cp_export_formats[o->format].name);
	err = export(&asked, args->count == 2 ? args->operands[1] : cp_recording_operand(args));
	if (!err)
		return CP_EXIT_OK;
	return cp_reports_fail(err);
}

const struct cp_command cp_command_export = {
	.name = "export",
	.operands = "-f FORMAT [-o OUT] [[OLD] FILE]",
	.summary = "A recording in the format of another tool, or as a flame graph",
	.details = "Formats:\n" ALL(DESCRIPTION) "FILE is cprof.data unless told; with OLD, "
						 "flamegraph and html show\nwhat changed since.",
	.groups = groups,
	.options_size = sizeof(struct export_options),
	.defaults = &defaults,
	.most = 2,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_RECORDINGS,
	.run = run_export,
};

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/complain.h"
#include "cmd/covering.h"
#include "cmd/commands.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "report/tables/csv.h"
#include "report/tables/json.h"
#include "report/tables/report.h"

struct report_options {
	bool json, csv, lines, tree, threads, images, processes, functions, calls, coverage,
		annotations, exceptions, locks, allocs, maps;
	bool traces;
	const char *reports; /* a list, or NULL */
	const char *function, *callers, *callees, *heapshot;
	double least; /* percent */
	uint64_t limit;
	unsigned sort, roots;
	struct cp_filter_options filter;
	struct cp_source_options sources;
};

#define AT(field) offsetof(struct report_options, field)

/* In the order of enum cp_profile_order. */
static const char *const sort_names[] = { "self", "total",   "name",	  "calls", "min",
					  "max",  "average", "deviation", NULL };

static const struct cp_option show_options[] = {
	{ "functions", 0, CP_OPTION_TRUE, AT(functions), .help = "the functions alone" },
	{ "calls", 0, CP_OPTION_TRUE, AT(calls), .help = "the traced calls alone" },
	{ "coverage", 0, CP_OPTION_TRUE, AT(coverage),
	  .help = "the coverage of source files alone" },
	{ "annotations", 0, CP_OPTION_TRUE, AT(annotations),
	  .help = "the spans, counters and instants that the program announced alone" },
	{ "exceptions", 0, CP_OPTION_TRUE, AT(exceptions), .help = "the exceptions alone" },
	{ "locks", 0, CP_OPTION_TRUE, AT(locks), .help = "the locks that were waited for alone" },
	{ "allocs", 0, CP_OPTION_TRUE, AT(allocs),
	  .help = "what was allocated, and what of it was left, alone" },
	{ "heapshot", 0, CP_OPTION_TEXT, AT(heapshot), .value = "list|N|N..M",
	  .help = "what was live when cprof ctl said heapshot for the Nth time, or what is "
		  "different at the Mth; list: how much at each" },
	{ "maps", 0, CP_OPTION_TRUE, AT(maps),
	  .help = "what was mapped, and what of it was left, alone" },
	{ "threads", 0, CP_OPTION_TRUE, AT(threads), .help = "the threads alone" },
	{ "images", 0, CP_OPTION_TRUE, AT(images),
	  .help = "the files that the code came from alone" },
	{ "processes", 0, CP_OPTION_TRUE, AT(processes), .help = "the processes alone" },
	{ "function", 'F', CP_OPTION_TEXT, AT(function), .value = "NAME",
	  .help = "callers and callees of one function; with --lines its source lines" },
	{ "callers", 0, CP_OPTION_TEXT, AT(callers), .value = "NAME",
	  .help = "the callers of one function" },
	{ "callees", 0, CP_OPTION_TEXT, AT(callees), .value = "NAME",
	  .help = "the callees of one function" },
	{ "lines", 0, CP_OPTION_TRUE, AT(lines), .help = "hot source lines" },
	{ "tree", 0, CP_OPTION_TRUE, AT(tree), .help = "the call tree" },
	{ "reports", 0, CP_OPTION_TEXT, AT(reports), .value = "LIST",
	  .help = "these alone, of " CP_REPORT_NAMES ", separated by commas" },
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "everything, as one JSON object" },
	{ "csv", 0, CP_OPTION_TRUE, AT(csv),
	  .help = "one table as comma-separated values: the functions unless told" },
	{ 0 }
};

static const struct cp_option how_options[] = {
	{ "sort", 0, CP_OPTION_CHOICE, AT(sort),
	  .value = "self|total|name|calls|min|max|average|deviation", .choices = sort_names,
	  .help = "the order of functions (self unless told); from calls on: of traced calls" },
	{ "limit", 'n', CP_OPTION_NUMBER, AT(limit), .value = "N", .max = UINT32_MAX,
	  .help = "rows of a table (20 unless told); 0: all" },
	{ "traces", 0, CP_OPTION_TRUE, AT(traces),
	  .help = "below the functions: the stacks that each was on top of, the three with most "
		  "time" },
	{ "min", 0, CP_OPTION_PERCENT, AT(least), .value = "PERCENT",
	  .help = "the tree's branches that are smaller are not shown (0.5 unless told)" },
	{ "roots", 0, CP_OPTION_CHOICE, AT(roots), .value = "auto|none|process|thread",
	  .choices = cp_roots_names, .help = "what the tree starts with" },
	{ 0 }
};

static const struct cp_option_group groups[] = {
	{ "What is shown", show_options, 0 },
	{ "How it is shown", how_options, 0 },
	{ "Which samples count", cp_filter_options, AT(filter) },
	{ "Which calls count", cp_call_choice_options, AT(filter) },
	{ "Which sources count for coverage", cp_source_file_options, AT(sources) },
	{ "Which of their lines", cp_source_line_options, AT(sources) },
	{ "What changed", cp_source_diff_options, AT(sources) },
	{ 0 }
};

/* JSON leaves nothing out unless told to. */
#define LIMIT_UNLESS_TOLD UINT64_MAX

static const struct report_options defaults = { .limit = LIMIT_UNLESS_TOLD, .least = 0.5 };

static enum cp_report_what what(const struct report_options *o)
{
	if (o->lines)
		return CP_REPORT_LINES;
	if (o->tree)
		return CP_REPORT_TREE;
	if (o->callers)
		return CP_REPORT_CALLERS;
	if (o->callees)
		return CP_REPORT_CALLEES;
	if (o->function)
		return CP_REPORT_BUTTERFLY;
	return o->calls			  ? CP_REPORT_CALLS
	       : o->coverage		  ? CP_REPORT_COVERAGE
	       : o->annotations		  ? CP_REPORT_ANNOTATIONS
	       : o->exceptions		  ? CP_REPORT_EXCEPTIONS
	       : o->locks		  ? CP_REPORT_LOCKS
	       : o->allocs || o->heapshot ? CP_REPORT_HEAP
	       : o->maps		  ? CP_REPORT_MAPS
	       : o->threads		  ? CP_REPORT_THREADS
	       : o->images		  ? CP_REPORT_IMAGES
	       : o->processes		  ? CP_REPORT_PROCESSES
	       : o->functions		  ? CP_REPORT_FUNCTIONS
					  : CP_REPORT_OVERVIEW;
}

/* "list", "2", "1..2". False: it is none of these. */
static bool read_heapshots(const char *text, struct cp_report_heapshots *ret)
{
	const char *dots = strstr(text, "..");
	CP_FREE char *since = dots ? strndup(text, (size_t)(dots - text)) : NULL;

	if (!strcmp(text, "list")) {
		ret->list = true;
		return true;
	}
	return (!dots || (since && cp_parse_u64(since, UINT64_MAX, &ret->since) && ret->since)) &&
	       cp_parse_u64(dots ? dots + 2 : text, UINT64_MAX, &ret->number) && ret->number;
}

static CP_ERROR print_text(const struct report_options *o, const struct cp_profile *p,
			   const struct cp_report_options *r, struct cp_buf *out)
{
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	enum cp_report_what some[CP_REPORT_SOME];
	size_t count;

	if (!o->reports)
		return cp_report_text(p, r, &look, out);
	CP_TRY(cp_report_parse(o->reports, some, &count));
	return cp_report_some(p, r, some, count, &look, out);
}

static int run_report(struct cp_args *args)
{
	struct report_options *o = args->options;
	struct cp_report_options r = {
		.path = cp_recording_operand(args),
		.what = what(o),
		.function = o->callers	 ? o->callers
			    : o->callees ? o->callees
					 : o->function,
		.order = (enum cp_profile_order)o->sort,
		.limit = o->limit != LIMIT_UNLESS_TOLD ? o->limit
			 : o->json || o->csv	       ? 0
						       : 20,
		.least = o->least / 100,
		.roots = (enum cp_tree_roots)o->roots,
		.traces = o->traces,
	};
	struct cp_source_rules rules = cp_source_rules_of(&o->sources);
	struct cp_loaded loaded = { 0 };
	struct cp_buf out = { 0 };
	struct cp_error *err;

	if (o->heapshot && !read_heapshots(o->heapshot, &r.heapshots))
		return cp_usage(args, "--heapshot takes list, N or N..M, numbers from 1 on");
	o->filter.with_calls = o->json || o->csv || r.what == CP_REPORT_CALLS ||
			       (r.what == CP_REPORT_OVERVIEW && !o->reports);
	if (o->csv && (o->json || o->reports))
		return cp_usage(args, "--csv is of one table: neither --json nor --reports goes "
				      "with it");
	err = cp_sources_create(&rules, &r.sources);
	if (!err)
		err = cp_load(cp_recording_operand(args), &o->filter, &loaded);
	if (!err)
		err = o->json  ? cp_report_json(loaded.profile, &r, &out)
		      : o->csv ? cp_report_csv(loaded.profile, &r, &out)
			       : print_text(o, loaded.profile, &r, &out);
	if (!err)
		err = cp_sources_unmatched(r.sources);
	cp_unload(&loaded);
	cp_sources_destroy(r.sources);
	return cp_end_report(err, &out, o->json || o->csv);
}

const struct cp_command cp_command_report = {
	.name = "report",
	.operands = "[options] [FILE]",
	.summary = "Tables of a recording: where the time goes, by whom, and what that cost",
	.details = "FILE is cprof.data unless told, - standard input. A function is named as it\n"
		   "is shown, without its parameters, by a glob, or by a part of the name.",
	.groups = groups,
	.options_size = sizeof(struct report_options),
	.defaults = &defaults,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_RECORDINGS,
	.run = run_report,
};

/* SPDX-License-Identifier: MIT */
#include "report/tables/diff.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"

struct diff_options {
	bool json;
	uint64_t limit;
	unsigned by, sort;
	struct cp_filter_options filter;
};

#define AT(field) offsetof(struct diff_options, field)

/* In the order of enum cp_diff_by. */
static const char *const by_names[] = { "share", "time", "rate", NULL };
static const char *const sort_names[] = { "self", "total", NULL };

static const struct cp_option rows[] = {
	{ "by", 0, CP_OPTION_CHOICE, AT(by), .value = "share|time|rate", .choices = by_names,
	  .help = "what is compared: shares of the total (unless told), time as it is (the same "
		  "work done twice), or time a second of recording" },
	{ "sort", 0, CP_OPTION_CHOICE, AT(sort), .value = "self|total", .choices = sort_names,
	  .help = "the order (self unless told)" },
	{ "limit", 'n', CP_OPTION_NUMBER, AT(limit), .value = "N", .max = UINT32_MAX,
	  .help = "rows of a table (15 unless told); 0: all" },
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "one JSON object" },
	{ 0 }
};

static const struct cp_option_group groups[] = {
	{ "What is shown", rows, 0 },
	{ "Which samples count", cp_filter_options, AT(filter) },
	{ "Which calls count", cp_call_choice_options, AT(filter) },
	{ 0 }
};

#define LIMIT_UNLESS_TOLD UINT64_MAX

static const struct diff_options defaults = { .limit = LIMIT_UNLESS_TOLD };

/* What one of them has no call of may be new, or gone. */
static CP_ERROR load(const struct cp_args *args, const struct cp_filter_options *asked,
		     struct cp_loaded *old, struct cp_loaded *new)
{
	struct cp_filter_options filter = *asked;

	filter.lenient = true;
	CP_TRY(cp_load(args->operands[0], &filter, old));
	CP_TRY(cp_load(args->operands[1], &filter, new));
	return old->unmet && new->unmet ? cp_steal(new->unmet) : NULL;
}

static int run_diff(struct cp_args *args)
{
	const struct diff_options *o = args->options;
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_diff_options d = {
		.by = (enum cp_diff_by)o->by,
		.by_total = o->sort != 0,
		.limit = o->limit != LIMIT_UNLESS_TOLD ? o->limit
			 : o->json		       ? 0
						       : 15,
	};
	struct cp_loaded old = { 0 }, new = { 0 };
	struct cp_diff diff = { 0 };
	struct cp_buf out = { 0 };
	struct cp_error *err = load(args, &o->filter, &old, &new);

	if (!err)
		err = cp_diff_build(old.profile, new.profile, &d, &diff);
	if (!err)
		err = o->json ? cp_diff_json(&diff, &out) : cp_diff_text(&diff, &look, &out);
	cp_diff_deinit(&diff);
	cp_unload(&old);
	cp_unload(&new);
	return cp_end_report(err, &out, o->json);
}

const struct cp_command cp_command_diff = {
	.name = "diff",
	.operands = "[options] OLD NEW",
	.summary = "What became hotter and cooler between two recordings",
	.groups = groups,
	.options_size = sizeof(struct diff_options),
	.defaults = &defaults,
	.least = 2,
	.most = 2,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_RECORDINGS,
	.run = run_diff,
};

/* SPDX-License-Identifier: MIT */
#include "report/replay/fields.h"
#include "report/replay/json.h"
#include "report/replay/replay.h"
#include "report/tables/missing.h"
#include "report/tables/report.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/choosing.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "probe/spec.h"

struct replay_options {
	bool json, flat, by_thread;
	const char *functions, *fields;
	struct cp_filter_options filter;
};

#define AT(field) offsetof(struct replay_options, field)

static const struct cp_option rows[] = {
	{ "filter", 'F', CP_OPTION_TEXT, AT(functions), .value = "SPEC",
	  .help = "only these functions: as --trace=SPEC of run takes them" },
	CP_LINES_OPTIONS,
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "an event a line, as JSON" },
	{ 0 }
};

static const struct cp_option_group groups[] = {
	{ "What is shown", rows, 0 },
	{ "Which calls", cp_call_filter_options, AT(filter) },
	{ "Which of these", cp_call_choice_options, AT(filter) },
	{ 0 }
};

/* Through a pager on a terminal; one that is left early is no failure. */
static CP_ERROR print(const struct cp_profile *p, const struct cp_replay_options *r, bool json)
{
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_pager pager = cp_pager_open();
	struct cp_sink sink = { .file = stdout, .ascii = !json && cp_terminal_is_ascii() };
	struct cp_error *err =
		json ? cp_replay_json(p, r, &sink) : cp_replay_text(p, r, &look, &sink);
	struct cp_error *end = cp_sink_finish(&sink);

	if (err || pager.pid > 0)
		cp_error_free(cp_steal(end));
	cp_pager_close(&pager);
	return err ? err : end;
}

/* Says what is missing in the recording, where the output has no room for it. */
static void complain_of_losses(const struct cp_profile *p)
{
	struct cp_terminal term = cp_terminal_of(STDERR_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_buf out = { 0 };

	cp_report_missing_calls(p, &look, &out);
	if (out.size)
		cp_terminal_print(stderr, &out);
	cp_buf_free(&out);
}

static int run_replay(struct cp_args *args)
{
	const struct replay_options *o = args->options;
	struct cp_replay_options r = { .flat = o->flat, .by_thread = o->by_thread };
	struct cp_fields fields;
	struct cp_loaded loaded = { 0 };
	struct cp_spec *spec = NULL;
	struct cp_error *err = NULL;

	if (o->json && (o->flat || o->by_thread || o->fields))
		return cp_usage(args,
				"--json has all fields of each event: --flat, --column-view and "
				"--fields are of text");
	if (o->fields) {
		err = cp_fields_parse(o->fields, &fields);
		r.fields = &fields;
	}
	if (!err && o->functions)
		err = cp_spec_parse(o->functions, &spec);
	if (err) {
		cp_complain(err);
		return CP_EXIT_USAGE;
	}
	r.wanted = spec ? cp_spec_means : NULL;
	r.wanted_ctx = spec;
	err = cp_load(cp_recording_operand(args), &o->filter, &loaded);
	if (!err && spec)
		err = cp_check_spec(loaded.profile, spec, o->functions);
	if (!err)
		err = print(loaded.profile, &r, o->json);
	if (!err && o->json)
		complain_of_losses(loaded.profile);
	cp_unload(&loaded);
	cp_spec_destroy(spec);
	return err ? cp_reports_fail(err) : cp_finish_output();
}

static const struct replay_options defaults = { .filter.no_costs = true };

const struct cp_command cp_command_replay = {
	.name = "replay",
	.operands = "[options] [FILE]",
	.summary = "The calls of a recording in order, with arguments and results",
	.details = "FILE is cprof.data unless told, - standard input. Times are from the start of\n"
		   "the recording; durations are less what tracing added,\n"
		   "\"<= TIME\" where only a bound of that is known.",
	.groups = groups,
	.options_size = sizeof(struct replay_options),
	.defaults = &defaults,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_RECORDINGS,
	.run = run_replay,
};

/* SPDX-License-Identifier: MIT
 *
 * cprof annotate: a function's source lines and instructions, with the time of each.
 */
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/listing.h"
#include "cmd/objects.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "record/coverage.h"
#include "report/coverage/coverage.h"
#include "report/profile/places.h"
#include "report/tables/listing.h"

struct annotate_options {
	bool source, code, all, json;
	unsigned syntax;
	uint64_t context;
	const char *binary;
	struct cp_filter_options filter;
	struct cp_symbols_options symbols;
};

#define AT(field) offsetof(struct annotate_options, field)

/* In the order of enum cp_syntax. */
static const char *const syntax_names[] = { "att", "intel", NULL };

static const struct cp_option show_options[] = {
	{ "source", 0, CP_OPTION_TRUE, AT(source), .help = "the source lines alone" },
	{ "code", 0, CP_OPTION_TRUE, AT(code), .help = "the instructions alone" },
	{ "syntax", 0, CP_OPTION_CHOICE, AT(syntax), .value = "att|intel", .choices = syntax_names,
	  .help = "how instructions are written (att unless told)" },
	{ "context", 0, CP_OPTION_NUMBER, AT(context), .value = "N", .max = 1000000,
	  .help = "rows shown around one with time (5 unless told)" },
	{ "all", 0, CP_OPTION_TRUE, AT(all), .help = "all rows" },
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "one JSON object, with all rows" },
	{ "binary", 0, CP_OPTION_TEXT, AT(binary), .value = "FILE",
	  .help = "the code is read from here, where the file that was recorded is not any more" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is shown", show_options, 0 },
						 { "Which samples count", cp_filter_options,
						   AT(filter) },
						 { "Symbols", cp_symbols_options, AT(symbols) },
						 { 0 } };

static const struct annotate_options defaults = { .context = 5, .symbols.debuginfod.ask = true };

static CP_ERROR show(struct annotate_options *o, const struct cp_profile *p, uint32_t function,
		     struct cp_buf *out)
{
	struct cp_image_options options = cp_symbols_image(&o->symbols);
	struct cp_terminal term = cp_terminal_of(STDOUT_FILENO);
	struct cp_look look = { term.columns, term.color };
	struct cp_listing_options shown = {
		.source = o->source || !o->code,
		.code = o->code || !o->source,
		.context = o->all ? UINT32_MAX : (uint32_t)o->context,
	};
	struct cp_code_files files = { .options = &options,
				       .syntax = (enum cp_syntax)o->syntax,
				       .instead = o->binary };
	struct cp_coverage coverage = { 0 };
	struct cp_listing *l = NULL;
	struct cp_error *err = cp_listing_create(p, function, &l);

	if (!err && cp_record_coverage_count(p->record)) {
		err = cp_coverage_build(p->record, NULL, &coverage);
		shown.coverage = &coverage;
	}
	if (!err && shown.code)
		err = cp_listing_read(&files, l, &shown.no_code);
	if (!err && o->json)
		cp_listing_json(l, &shown, out);
	else if (!err)
		cp_listing_text(l, &shown, &look, out);
	cp_coverage_deinit(&coverage);
	cp_listing_destroy(l);
	cp_code_files_free(&files);
	return err;
}

static CP_ERROR has_samples(const struct cp_profile *p, const char *path)
{
	struct cp_error *err;

	if (cp_record_sample_count(p->record))
		return NULL;
	err = cp_error_new(CP_ERR_NOT_FOUND, 0, "%s has no samples", path);
	if (cp_record_coverage_count(p->record))
		return cp_error_hint(err,
				     "of coverage alone, the lines that were reached are shown "
				     "by: cprof export -f html -o DIR; samples beside it are "
				     "recorded by: cprof run -s HZ --coverage -- CMD");
	return cp_error_hint(err, "they are recorded by: cprof run -s HZ -- CMD");
}

static int run_annotate(struct cp_args *args)
{
	struct annotate_options *o = args->options;
	const char *path = args->count > 1 ? args->operands[0] : CP_RECORDING_NAME;
	struct cp_loaded loaded = { 0 };
	struct cp_buf out = { 0 };
	uint32_t function;
	struct cp_error *err = cp_load(path, &o->filter, &loaded);

	if (err && args->count == 1 && !access(args->operands[0], R_OK))
		err = cp_error_hint(err,
				    "of the recording '%s', which function? cprof annotate FILE "
				    "FUNCTION",
				    args->operands[0]);
	if (!err)
		err = has_samples(loaded.profile, path);
	if (!err)
		err = cp_profile_find(loaded.profile, args->operands[args->count - 1], &function);
	if (!err)
		err = show(o, loaded.profile, function, &out);
	cp_unload(&loaded);
	return cp_end_report(err, &out, o->json);
}

const struct cp_command cp_command_annotate = {
	.name = "annotate",
	.operands = "[options] [FILE] FUNCTION",
	.summary = "Source lines and instructions of a function, with the time of each",
	.details =
		"FILE is a recording, cprof.data unless told. FUNCTION is a name, as report shows\n"
		"it, a part of one or a glob that means one function.",
	.groups = groups,
	.options_size = sizeof(struct annotate_options),
	.defaults = &defaults,
	.least = 1,
	.most = 2,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_RECORDINGS,
	.run = run_annotate,
};

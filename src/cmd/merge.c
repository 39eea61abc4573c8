/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/buf.h"
#include "base/create.h"
#include "base/types.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "record/annotations.h"
#include "record/calls.h"
#include "record/coverage.h"
#include "record/merge.h"
#include "record/record.h"
#include "record/sum_rows.h"

struct merge_options {
	const char *output;
};

static const struct cp_option rows[] = {
	{ "output", 'o', CP_OPTION_TEXT, offsetof(struct merge_options, output), .value = "FILE",
	  .completes = CP_COMPLETES_FILES, .help = "the recording that is written" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "Options", rows, 0 }, { 0 } };

/* Says what of each kind came from how many of the recordings. */
static void tell(struct cp_record **records, size_t count, const char *output)
{
	static const char *const names[] = { "samples", "calls", "coverage", "annotations" };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t has[4] = { 0 }, i, k;

	for (i = 0; i < count; i++) {
		has[0] += cp_record_sample_count(records[i]) != 0;
		has[1] += cp_record_call_count(records[i]) || cp_record_sum_count(records[i]);
		has[2] += cp_record_coverage_count(records[i]) != 0;
		has[3] += cp_record_annotation_count(records[i]) != 0;
	}
	for (k = 0; k < CP_ARRAY_SIZE(names); k++) {
		if (!has[k])
			continue;
		cp_buf_printf(&text, "%s%s of ", text.size ? ", " : "", names[k]);
		if (has[k] != count)
			cp_buf_printf(&text, "%zu of ", has[k]);
		cp_buf_printf(&text, "%zu", count);
	}
	fprintf(stderr, "cprof: %s: %s recordings\n", output, text.size ? text.bytes : "0");
}

static CP_ERROR open_output(void *arg, int *fd_ret)
{
	return cp_create(CP_CREATE_RECORDING, arg, fd_ret);
}

static CP_ERROR merge(struct cp_record **records, const struct cp_args *args)
{
	const struct merge_options *o = args->options;
	size_t count = (size_t)args->count, i;

	for (i = 0; i < count; i++)
		CP_TRY(cp_record_load(args->operands[i], &records[i]));
	CP_TRY(cp_create_check(CP_CREATE_RECORDING, o->output));
	CP_TRY(cp_record_merge_to(records, count, open_output, (void *)(uintptr_t)o->output));
	tell(records, count, o->output);
	return NULL;
}

static int run_merge(struct cp_args *args)
{
	const struct merge_options *o = args->options;
	CP_FREE struct cp_record **records =
		calloc((size_t)args->count, sizeof(struct cp_record *));
	struct cp_error *err;
	int i;

	if (!o->output)
		return cp_usage(args, "where to? Name the recording to write: --output=FILE");
	err = records ? merge(records, args) : cp_error_nomem();
	for (i = 0; records && i < args->count; i++)
		cp_record_destroy(records[i]);
	if (!err)
		return CP_EXIT_OK;
	cp_complain(err);
	return CP_EXIT_FAILURE;
}

const struct cp_command cp_command_merge = {
	.name = "merge",
	.operands = "-o OUT FILE...",
	.summary = "Recordings of shards, forks or runs into one",
	.details = "A recording that is in several of the files counts once.",
	.groups = groups,
	.options_size = sizeof(struct merge_options),
	.least = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_RECORDINGS,
	.run = run_merge,
};

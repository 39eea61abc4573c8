/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/create.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "record/record.h"

struct merge_options {
	const char *output;
};

static const struct cp_option rows[] = {
	{ "output", 'o', CP_OPTION_TEXT, offsetof(struct merge_options, output), .value = "FILE",
	  .completes = CP_COMPLETES_FILES, .help = "the recording that is written" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "Options", rows, 0 }, { 0 } };

static CP_ERROR merge(struct cp_record **records, const struct cp_args *args)
{
	const struct merge_options *o = args->options;
	size_t count = (size_t)args->count, i;
	int fd;

	for (i = 0; i < count; i++)
		CP_TRY(cp_record_load(args->operands[i], &records[i]));
	CP_TRY(cp_create(CP_CREATE_RECORDING, o->output, &fd));
	return cp_record_merge(records, count, fd);
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

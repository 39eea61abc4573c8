/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"
#include "cmd/collect.h"
#include "cmd/commands.h"

struct stack_options {
	bool json, registers, stop, inlines, fp;
	unsigned verbose;
	struct cp_stacks_options stacks;
};

#define AT(field) offsetof(struct stack_options, field)

static const struct cp_option output_options[] = {
	{ "registers", 0, CP_OPTION_TRUE, AT(registers),
	  .help = "the registers of every frame; those that are not known are marked" },
	{ "inlines", 0, CP_OPTION_TRUE, AT(inlines), .help = "show inlined calls (unless told)" },
	{ "no-inlines", 0, CP_OPTION_FALSE, AT(inlines), .help = "leave inlined calls out" },
	{ "json", 0, CP_OPTION_TRUE, AT(json), .help = "one JSON object" },
	{ "verbose", 'v', CP_OPTION_COUNT, AT(verbose), .help = "say what is being done" },
	{ 0 }
};

static const struct cp_option how_options[] = {
	{ "stop", 0, CP_OPTION_TRUE, AT(stop),
	  .help = "interrupt threads that sleep, too, to know all their registers; without it "
		  "they are read as they sleep" },
	{ "fp", 0, CP_OPTION_TRUE, AT(fp), .help = "the same as --unwinder=fp" },
	{ 0 }
};

static const struct cp_option_group groups[] = { { "What is shown", output_options, 0 },
						 { "How it is taken", how_options, 0 },
						 { "Symbols and stacks", cp_stacks_options,
						   AT(stacks) },
						 { 0 } };

static const struct stack_options defaults = {
	.inlines = true,
	.stacks = { .debuginfod = true },
};

static int run_stack(struct cp_args *args)
{
	struct stack_options *o = args->options;
	int status;
	pid_t pid;

	if (!cp_operand_pid(args, 0, &pid, &status))
		return status;
	if (o->fp)
		o->stacks.unwinder = CP_COLLECT_FP;
	cp_complain(cp_error_new(CP_ERR_UNSUPPORTED, 0, "stack is not there yet"));
	return CP_EXIT_FAILURE;
}

const struct cp_command cp_command_stack = {
	.name = "stack",
	.operands = "[options] PID",
	.summary = "The stack of every thread, once",
	.groups = groups,
	.options_size = sizeof(struct stack_options),
	.defaults = &defaults,
	.least = 1,
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PIDS,
	.run = run_stack,
};

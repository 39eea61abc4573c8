/* SPDX-License-Identifier: MIT */
#include "cmd/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/terminal.h"
#include "report/look/table.h"

#define LABEL_COLUMNS 26u /* where the explanations begin */
#define MOST_COLUMNS 96u /* longer lines are hard to read */

static unsigned columns_of(FILE *out)
{
	unsigned columns = cp_terminal_of(fileno(out)).columns;

	if (!columns)
		return 80;
	return columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
}

/* Prints words, the first line continuing one of `column` columns, the others
 * indented by LABEL_COLUMNS. */
static void print_wrapped(FILE *out, unsigned column, const char *text)
{
	unsigned columns = columns_of(out), at = column;

	while (*text) {
		size_t size = strcspn(text, " ");

		if (at > LABEL_COLUMNS && at + 1 + size > columns) {
			fprintf(out, "\n%*s", (int)LABEL_COLUMNS, "");
			at = LABEL_COLUMNS;
		} else if (at > LABEL_COLUMNS) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", (int)size, text);
		at += (unsigned)size;
		text += size;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* Goes on behind the = in a new line where a list of values is too long for one.
 * Returns the column. */
static unsigned print_label(FILE *out, const char *label)
{
	unsigned columns = columns_of(out), at = 2;
	unsigned indent = 2 + (unsigned)strcspn(label, "=") + 1;

	fputs("  ", out);
	while (*label) {
		size_t size = strcspn(label, "|");

		size += label[size] == '|';
		if (at + size > columns && at > indent) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
		fprintf(out, "%.*s", (int)size, label);
		at += (unsigned)size;
		label += size;
	}
	return at;
}

static void print_row(FILE *out, const char *label, const char *help)
{
	unsigned at = print_label(out, label);

	if (at + 1 < LABEL_COLUMNS)
		fprintf(out, "%*s", (int)(LABEL_COLUMNS - at), "");
	else
		fprintf(out, "\n%*s", (int)LABEL_COLUMNS, "");
	print_wrapped(out, LABEL_COLUMNS, help);
}

static void print_option(FILE *out, const struct cp_option *o)
{
	CP_FREE char *label = NULL;

	if (asprintf(&label, "%c%c%c --%s%s%s%s", o->letter ? '-' : ' ',
		     o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name,
		     !cp_option_takes_value(o) ? ""
		     : o->absent	       ? "[="
					       : "=",
		     cp_option_takes_value(o) ? o->value : "", o->absent ? "]" : "") < 0) {
		label = NULL;
		return;
	}
	print_row(out, label, o->help);
}

void cp_help_overview(FILE *out, const struct cp_command *const *commands)
{
	const struct cp_command *const *c;

	fputs("cprof shows where a native Linux program spends its time, from outside:\n"
	      "no recompiling, no preloading, and the program is left as it was found.\n\n"
	      "Usage: cprof COMMAND ...\n\n",
	      out);
	for (c = commands; *c; c++) {
		char label[100];

		snprintf(label, sizeof(label), "%s %s", (*c)->name, (*c)->operands);
		print_row(out, label, (*c)->summary);
	}
	fputs("\ncprof COMMAND --help explains one of them; cprof --version says which version\n"
	      "this is.\n",
	      out);
}

#define USAGE "Usage: cprof "

void cp_help_command(FILE *out, const struct cp_command *command)
{
	struct cp_buf usage CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf lines CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_option_group *group;
	const struct cp_option *o;

	cp_buf_printf(&usage, "%s %s", command->name, command->operands);
	cp_add_wrapped(&lines, &(struct cp_look){ .columns = columns_of(out) }, strlen(USAGE),
		       strlen(USAGE), usage.bytes ? usage.bytes : "");
	fprintf(out, USAGE "%s\n%s.\n", lines.bytes ? lines.bytes : "", command->summary);
	for (group = command->groups; group && group->options; group++) {
		fprintf(out, "\n%s:\n", group->title);
		for (o = group->options; o->name; o++)
			print_option(out, o);
	}
	fputs("\nOthers:\n", out);
	print_row(out, "-h, --help", "this text");
	if (command->details)
		fprintf(out, "\n%s\n", command->details);
}

/* ---- cprof help [COMMAND] ---- */

static int run_help(struct cp_args *args)
{
	const struct cp_command *command;

	if (!args->count) {
		cp_help_overview(stdout, args->commands);
		return cp_finish_output();
	}
	command = cp_command_find(args->commands, args->operands[0]);
	if (!command)
		return cp_usage(args, "there is no command '%s'", args->operands[0]);
	cp_help_command(stdout, command);
	return cp_finish_output();
}

const struct cp_command cp_command_help = {
	.name = "help",
	.operands = "[COMMAND]",
	.summary = "Explain a command",
	.most = 1,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_SUBCOMMANDS,
	.run = run_help,
};

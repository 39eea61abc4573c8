/* SPDX-License-Identifier: MIT
 *
 * What a subcommand is. Each has a file of its own that defines a
 * `const struct cp_command cp_command_NAME` (its option table, its help) and
 * the function that does it; commands.c lists them all in one table. From these
 * rows come parsing, --help, completion and the check of the man pages.
 *
 * A new subcommand: copy a small file such as completion.c, add a line to
 * commands.h and a man page.
 */
#ifndef CP_CMD_H
#define CP_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "cmd/options.h"

/* A command's answer is its exit status. */
enum cp_exit {
	CP_EXIT_OK = 0,
	CP_EXIT_FAILURE = 1,
	CP_EXIT_USAGE = 2,
	CP_EXIT_MISSED = 3, /* cover: a threshold */
	CP_EXIT_OWN_FAILURE = 125, /* run: cprof failed, not CMD */
	CP_EXIT_NOT_EXECUTABLE = 126,
	CP_EXIT_NOT_FOUND = 127,
};

struct cp_args {
	const struct cp_command *command;
	const struct cp_command *const *commands; /* all, in the order of help; ends with NULL */
	int count; /* operands: what is neither option nor option's value */
	char **operands; /* NULL-terminated; borrowed from main's argv */
	void *options; /* the command's own struct, of options_size bytes */
	bool dashed; /* "--" is among its words: what follows are operands, whatever they are */
};

struct cp_command {
	const char *name;
	const char *operands; /* as in the usage line: "[options] [--] CMD [ARG...]" */
	const char *summary; /* one line, no full stop */
	const char *details; /* lines for the end of --help, or NULL */
	const struct cp_option_group *groups; /* ends with a group without options; or NULL */
	size_t options_size;
	const void *defaults; /* of options_size bytes, or NULL: all zero */
	unsigned least, most; /* number of operands; most 0: any */
	bool ends_at_operand; /* the first operand ends the options (CMD's own follow) */
	int usage_status; /* CP_EXIT_USAGE, or 125 where CMD's status is returned */
	int dashed_usage_status; /* the same behind a "--"; 0: no other one */
	enum cp_completes completes; /* what an operand is */
	enum cp_completes completes_next; /* what a second one is, unless the same */
	int (*run)(struct cp_args *args);
};

/* Its status for a command line that makes no sense. */
int cp_usage_status(const struct cp_args *args);

/* Among those of a list that ends with NULL; NULL when there is none. */
const struct cp_command *cp_command_find(const struct cp_command *const *commands,
					 const char *name);

#endif

/* SPDX-License-Identifier: MIT
 *
 * One declarative table of options for each command. A row says where the
 * value goes in the command's options struct and how it is read; the rest
 * (parsing, help, completion) follows from it.
 *
 *     struct say_options { bool loud; uint64_t times; };
 *     static const struct cp_option say_rows[] = {
 *             { "loud", 'l', CP_OPTION_TRUE, offsetof(struct say_options, loud),
 *               .help = "say it in capitals" },
 *             { "times", 'n', CP_OPTION_NUMBER, offsetof(struct say_options, times),
 *               .value = "N", .min = 1, .max = 9, .help = "say it N times" },
 *             { 0 }
 *     };
 */
#ifndef CP_CMD_OPTIONS_H
#define CP_CMD_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct cp_command;
struct cp_args;

/* Kinds of words that completion offers. */
enum cp_completes {
	CP_COMPLETES_NOTHING,
	CP_COMPLETES_FILES,
	CP_COMPLETES_DIRECTORIES,
	CP_COMPLETES_PIDS,
	CP_COMPLETES_COMMANDS, /* programs, then whatever they complete */
	CP_COMPLETES_SUBCOMMANDS, /* of cprof */
	CP_COMPLETES_SHELLS,
	/* Asked for while somebody types, see words.h: */
	CP_COMPLETES_RECORDINGS,
	CP_COMPLETES_PROFILERS,
	CP_COMPLETES_FUNCTIONS, /* of the file or process that is the first operand */
	CP_COMPLETES_TYPES, /* the same */
	CP_COMPLETES_STEERING, /* commands of cprof ctl */
};

enum cp_option_kind {
	CP_OPTION_TRUE, /* bool: set */
	CP_OPTION_FALSE, /* bool: cleared */
	CP_OPTION_COUNT, /* unsigned: how often it was given */
	CP_OPTION_TEXT, /* const char *: borrowed from argv */
	CP_OPTION_TEXTS, /* struct cp_texts: each that was given */
	CP_OPTION_NUMBER, /* uint64_t from min to max */
	CP_OPTION_DURATION, /* uint64_t: ns, more than 0 */
	CP_OPTION_WAIT, /* the same, or none: 0, or all: UINT64_MAX */
	CP_OPTION_PERCENT, /* double: 0 to 100; "80", "80.5", "80%" */
	CP_OPTION_BYTES, /* uint64_t: more than 0, "512K"; without a value, `absent`: CP_BYTES_ALL */
	CP_OPTION_CHOICE, /* unsigned: the index in `choices` */
};

#define CP_BYTES_ALL UINT64_MAX

struct cp_texts {
	const char **items; /* owned array of borrowed strings; a NULL follows the last; or NULL */
	size_t count, capacity;
};

struct cp_option {
	const char *name; /* long name, without dashes; NULL ends the table */
	char letter; /* or 0 */
	enum cp_option_kind kind;
	size_t offset; /* of the value in the group's struct */
	const char *value; /* its name in help; needed for kinds that take one */
	const char *help; /* no full stop; wrapped by what prints it */
	uint64_t min, max;
	const char *const *choices; /* ends with NULL */
	enum cp_completes completes;
	const char *absent; /* of texts, bytes: what --name without '=' stands for; NULL: a value is
			       needed, and may be the next word */
	const char
		*once; /* of a text: what to do instead of giving it twice; NULL: the last counts */
};

struct cp_option_group {
	const char *title;
	const struct cp_option *options;
	size_t offset; /* of the group's struct in the command's struct */
};

/* Reads argv (which starts after the command's name) into `args`: operands
 * are moved to its front. args->options is to hold the defaults already.
 * *help_ret: --help was asked for, nothing else matters. */
CP_ERROR cp_options_parse(struct cp_args *args, char **argv, bool *help_ret);
/* Frees what parsing allocated inside args->options. */
void cp_options_release(const struct cp_args *args);

/* The option of `command` called `name` (of `size` bytes); NULL: none. */
const struct cp_option *cp_option_find(const struct cp_command *command, const char *name,
				       size_t size);
static inline bool cp_option_takes_value(const struct cp_option *option)
{
	return option->kind >= CP_OPTION_TEXT;
}

#endif

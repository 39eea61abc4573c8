/* SPDX-License-Identifier: MIT
 *
 * Every command, one line each, in the order of `cprof --help`. Its file
 * defines it: `const struct cp_command cp_command_NAME`.
 */
#ifndef CP_CMD_COMMANDS_H
#define CP_CMD_COMMANDS_H

#include "cmd/cmd.h"

#define CP_COMMANDS(X) \
	X(run) \
	X(attach) \
	X(cover) \
	X(top) \
	X(ctl) \
	X(report) \
	X(annotate) \
	X(replay) \
	X(export) \
	X(diff) \
	X(merge) \
	X(stack) \
	X(inspect) \
	X(layout) \
	X(functions) \
	X(modules) \
	X(completion) \
	X(help)

#define CP_COMMAND_DECLARE(name) extern const struct cp_command cp_command_##name;
CP_COMMANDS(CP_COMMAND_DECLARE)
#undef CP_COMMAND_DECLARE

/* Ends with NULL. */
extern const struct cp_command *const cp_commands[];

#endif

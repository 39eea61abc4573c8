/* SPDX-License-Identifier: MIT */
#include "cmd/commands.h"

const struct cp_command *const cp_commands[] = {
#define CP_COMMAND_ROW(name) &cp_command_##name,
	CP_COMMANDS(CP_COMMAND_ROW)
#undef CP_COMMAND_ROW
		NULL
};

/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include <string.h>

const struct cp_command *cp_command_find(const struct cp_command *const *commands, const char *name)
{
	const struct cp_command *const *c;

	for (c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

int cp_usage_status(const struct cp_args *args)
{
	const struct cp_command *c = args->command;

	return args->dashed && c->dashed_usage_status ? c->dashed_usage_status : c->usage_status;
}

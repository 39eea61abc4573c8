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

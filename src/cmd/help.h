/* SPDX-License-Identifier: MIT
 *
 * Help texts, made from the commands' tables.
 */
#ifndef CP_CMD_HELP_H
#define CP_CMD_HELP_H

#include <stdio.h>

struct cp_command;

/* `cprof --help` */
void cp_help_overview(FILE *out, const struct cp_command *const *commands);
/* `cprof CMD --help` */
void cp_help_command(FILE *out, const struct cp_command *command);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What all commands say of what went wrong, on standard error.
 */
#ifndef CP_CMD_COMPLAIN_H
#define CP_CMD_COMPLAIN_H

#include "cmd/cmd.h"

/* Prints `err` and its hint and frees it. */
void cp_complain(struct cp_error *err);
/* Prints text of a profiler, which may quote the program, and have several lines. */
void cp_complain_text(const char *text);
/* Says what is wrong with the command line and where help is; answers the
 * command's status for that. */
int cp_usage(const struct cp_args *args, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* cp_usage() of an error, which is freed. */
int cp_usage_error(const struct cp_args *args, struct cp_error *err);
/* The process named by operand `index`; false, and *status_ret set, when it is
 * no number of a process. */
bool cp_operand_pid(const struct cp_args *args, int index, pid_t *pid_ret, int *status_ret);
/* Flushes standard output; CP_EXIT_OK, or complains and answers 1. */
int cp_finish_output(void);

#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof ctl: says a command to a session that runs.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/steering.h"
#include "cmd/terminal.h"
#include "control/client.h"

#define PATIENCE_NS (30 * CP_NS_PER_S) /* a session may be busy */

struct ctl_options {
	bool json;
};

static const struct cp_option rows[] = { { "json", 0, CP_OPTION_TRUE,
					   offsetof(struct ctl_options, json),
					   .help = "the answer as one JSON object" },
					 { 0 } };

static const struct cp_option_group groups[] = { { "What is shown", rows, 0 }, { 0 } };

/* The words behind the command; NULL: none. To be freed. */
static char *argument_of(const struct cp_args *args)
{
	struct cp_buf text = { 0 };
	int i;

	for (i = 2; i < args->count; i++)
		cp_buf_printf(&text, "%s%s", i > 2 ? " " : "", args->operands[i]);
	return text.bytes;
}

/* A process, if it is a number, else the path of a socket. */
static struct cp_error *find(const char *which, int *fd_ret)
{
	uint64_t pid;

	if (cp_parse_u64(which, INT32_MAX, &pid) && pid)
		return cp_control_find((pid_t)pid, fd_ret);
	return cp_control_open(which, fd_ret);
}

static void print_json(const char *command, bool done, const struct cp_buf *answer,
		       struct cp_buf *out)
{
	struct cp_json j = { .out = out };

	cp_json_begin(&j, NULL, '{');
	cp_json_str(&j, "command", command);
	cp_json_bool(&j, "done", done);
	cp_json_str(&j, "answer", answer->bytes ? answer->bytes : "");
	cp_json_end(&j, '}');
}

/* What the session says is not ours. */
static void print_lines(const struct cp_buf *answer, struct cp_buf *out)
{
	const char *at = answer->bytes, *end = at + answer->size, *line;

	for (; at < end; at = line + 1) {
		line = memchr(at, '\n', (size_t)(end - at));
		line = line ? line : end;
		cp_escape(out, CP_ESCAPE_TERMINAL, at, (size_t)(line - at));
		if (line < end)
			cp_buf_u8(out, '\n');
	}
}

static int print(const struct cp_args *args, bool done, const struct cp_buf *answer)
{
	const struct ctl_options *o = args->options;
	struct cp_buf out CP_CLEANUP(cp_buf_free) = { 0 };

	if (!done && !o->json) {
		cp_complain_text(answer->bytes ? answer->bytes : "the session refused");
		return CP_EXIT_FAILURE;
	}
	if (o->json && strcmp(args->operands[1], "status") != 0)
		print_json(args->operands[1], done, answer, &out);
	else
		print_lines(answer, &out);
	if (out.size)
		cp_buf_u8(&out, '\n');
	cp_terminal_print(stdout, &out);
	return cp_finish_output() || !done ? CP_EXIT_FAILURE : CP_EXIT_OK;
}

/* What is wrong with the words of a command that every session knows is said before one is
 * asked. 0: nothing, or the command is a profiler's. */
static int check_words(struct cp_args *args, const char *command, const char *argument)
{
	const struct cp_steering_command *c;

	for (c = cp_steering_commands; c->name && strcmp(c->name, command) != 0; c++)
		;
	if (c->name && !c->argument && argument)
		return cp_usage(args, "'%s' takes nothing behind it", command);
	if (c->name && c->argument && !argument)
		return cp_usage(args, "'%s' needs %s", command, c->argument);
	return 0;
}

static int run_ctl(struct cp_args *args)
{
	const struct ctl_options *o = args->options;
	const char *command = args->operands[1];
	bool status = !strcmp(command, "status"), done = false;
	CP_FREE char *argument = argument_of(args);
	struct cp_buf answer CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_error *err;
	CP_CLOSE int fd = -1;
	int wrong;

	if (!*command || strpbrk(command, " \n"))
		return cp_usage(args, "'%s' is no command", command);
	wrong = check_words(args, command, argument);
	if (wrong)
		return wrong;
	err = find(args->operands[0], &fd);
	if (!err)
		err = cp_control_say(fd, command,
				     status && !argument && o->json ? "json" : argument,
				     strcmp(command, "stop") != 0 ? PATIENCE_NS : 0, &done,
				     &answer);
	if (err) {
		cp_complain(err);
		return CP_EXIT_FAILURE;
	}
	return print(args, done, &answer);
}

const struct cp_command cp_command_ctl = {
	.name = "ctl",
	.operands = "[options] PID|SOCKET COMMAND [ARG...]",
	.summary = "Steer a session that runs: status, pause, sample, trace, mark, stop, ...",
	.details = "PID is the process that is profiled, one of its children, or the cprof\n"
		   "that does it.",
	.groups = groups,
	.options_size = sizeof(struct ctl_options),
	.least = 2,
	.most = 0,
	.usage_status = CP_EXIT_USAGE,
	.completes = CP_COMPLETES_PIDS,
	.completes_next = CP_COMPLETES_STEERING,
	.run = run_ctl,
};

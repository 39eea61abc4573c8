/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/stack.h"
#include "base/text.h"
#include "base/types.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "cmd/complain.h"
#include "cmd/help.h"
#include "cmd/signals.h"
#include "cprof/types.h"

static int run_command(const struct cp_command *command, char **argv)
{
	struct cp_args args = { .command = command, .commands = cp_commands };
	CP_FREE void *options = calloc(1, command->options_size + 1);
	struct cp_error *err;
	bool help = false;
	int status;

	if (!options) {
		cp_complain(cp_error_nomem());
		return command->usage_status == CP_EXIT_USAGE ? CP_EXIT_FAILURE
							      : command->usage_status;
	}
	if (command->defaults)
		memcpy(options, command->defaults, command->options_size);
	args.options = options;
	err = cp_options_parse(&args, argv, &help);
	if (err) {
		status = cp_usage_error(&args, err);
	} else if (help) {
		cp_help_command(stdout, command);
		status = cp_finish_output();
	} else {
		status = command->run(&args);
	}
	cp_options_release(&args);
	return status;
}

/* The command that other tools call by this name; NULL: none. */
static const char *known_elsewhere(const char *name)
{
	static const char *const words[][2] = {
		{ "record", "run" },	    { "profile", "run" },	    { "live", "run" },
		{ "trace", "run -t NAME" }, { "ltrace", "run -t 'plt:*'" }, { "dump", "export" },
		{ "coverage", "cover" },    { "pstack", "stack" },
	};
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(words); i++)
		if (!strcmp(words[i][0], name))
			return words[i][1];
	return NULL;
}

/* Can a file of that name be executed, here or in PATH? */
static bool is_program(const char *name)
{
	const char *path = strchr(name, '/') ? NULL : getenv("PATH");
	size_t size;

	if (strchr(name, '/'))
		return true;
	for (; path && *path; path += size + (path[size] == ':')) {
		CP_FREE char *file = NULL;

		size = strcspn(path, ":");
		if (asprintf(&file, "%.*s/%s", (int)size, path, name) < 0)
			file = NULL;
		if (file && !access(file, X_OK))
			return true;
	}
	return false;
}

static int unknown_command(const char *name)
{
	const char *other = known_elsewhere(name);
	struct cp_text_near near = cp_text_near(name, strlen(name));
	const struct cp_command *const *c;
	struct cp_error *err = cp_error_new(CP_ERR_USAGE, 0, "there is no %s '%s'",
					    name[0] == '-' ? "option" : "command", name);

	for (c = cp_commands; *c; c++)
		cp_text_near_try(&near, (*c)->name);
	if (other || near.best)
		cp_error_hint(err, "did you mean 'cprof %s'?", other ? other : near.best);
	else if (is_program(name))
		cp_error_hint(err, "a program is profiled by: cprof run -- %s", name);
	cp_complain(err);
	fputs("cprof: 'cprof --help' lists the commands\n", stderr);
	return CP_EXIT_USAGE;
}

/* A standard descriptor that the caller closed must not become the number of
 * a recording or socket. CMD still finds it closed. What is written to standard
 * output then is lost, and that has to fail. */
static void fill_standard_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				    (fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC);
}

struct arguments {
	int count;
	char **values;
};

static int with_arguments(void *opaque)
{
	const struct arguments *a = opaque;
	const struct cp_command *command;

	if (a->count < 2) {
		cp_help_overview(stderr, cp_commands);
		return CP_EXIT_USAGE;
	}
	if (!strcmp(a->values[1], "--help") || !strcmp(a->values[1], "-h")) {
		cp_help_overview(stdout, cp_commands);
		return cp_finish_output();
	}
	if (!strcmp(a->values[1], "--version")) {
		puts("cprof " CPROF_VERSION);
		return cp_finish_output();
	}
	command = cp_command_find(cp_commands, a->values[1]);
	return command ? run_command(command, a->values + 2) : unknown_command(a->values[1]);
}

int main(int argc, char **argv)
{
	fill_standard_descriptors();
	cp_signals_begin();
	return cp_stack_call(with_arguments, &(struct arguments){ argc, argv });
}

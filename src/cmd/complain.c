/* SPDX-License-Identifier: MIT */
#include "cmd/complain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"

void cp_complain_text(const char *text)
{
	struct cp_buf line = { 0 };
	size_t size;

	do {
		size = strcspn(text, "\n");
		cp_buf_clear(&line);
		cp_escape(&line, CP_ESCAPE_TERMINAL, text, size);
		fprintf(stderr, "cprof: %s\n", line.bytes ? line.bytes : "");
		text += size + (text[size] == '\n');
	} while (*text);
	cp_buf_free(&line);
}

void cp_complain(struct cp_error *err)
{
	if (!err)
		return;
	fprintf(stderr, "cprof: %s\n", err->what);
	if (err->hint)
		fprintf(stderr, "cprof: %s\n", err->hint);
	cp_error_free(err);
}

int cp_usage_error(const struct cp_args *args, struct cp_error *err)
{
	cp_complain(err);
	fprintf(stderr, "cprof: 'cprof %s --help' lists the options\n", args->command->name);
	return cp_usage_status(args);
}

int cp_usage(const struct cp_args *args, const char *format, ...)
{
	CP_FREE char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	return cp_usage_error(args, cp_error_new(CP_ERR_USAGE, 0, "%s", text ? text : format));
}

bool cp_operand_pid(const struct cp_args *args, int index, pid_t *pid_ret, int *status_ret)
{
	uint64_t number;

	if (cp_parse_u64(args->operands[index], INT32_MAX, &number) && number) {
		*pid_ret = (pid_t)number;
		return true;
	}
	*status_ret = cp_usage(args, "'%s' is not the number of a process", args->operands[index]);
	return false;
}

int cp_finish_output(void)
{
	bool bad = ferror(stdout) != 0;

	if (fflush(stdout) == 0 && !bad)
		return CP_EXIT_OK;
	cp_complain(cp_error_new(CP_ERR_IO, errno, "writing to standard output"));
	return CP_EXIT_FAILURE;
}

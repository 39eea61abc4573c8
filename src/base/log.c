/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum cp_log_level cp_log_level = CP_LOG_OFF;

void cp_log_write(const char *format, ...)
{
	char line[1024];
	va_list ap;
	int n, head;

	head = snprintf(line, sizeof(line), "cprof[%d]: ", (int)getpid());
	va_start(ap, format);
	n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, ap);
	va_end(ap);
	n = n < 0 ? head : n + head;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	/* A line is one write: those of the two processes never mix. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

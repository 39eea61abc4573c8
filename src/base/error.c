/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The error of everybody without memory: nobody's to change or free. */
static const struct cp_error out_of_memory = {
	.code = CP_ERR_NOMEM,
	.what = (char *)(uintptr_t) "out of memory",
};

struct cp_error *cp_error_nomem(void)
{
	return (struct cp_error *)(uintptr_t)&out_of_memory;
}

__attribute__((format(printf, 2, 0))) static char *describe(int errnum, const char *format,
							    va_list ap)
{
	char *what = NULL, *full = NULL;

	if (vasprintf(&what, format, ap) < 0)
		return NULL;
	if (!errnum)
		return what;
	if (asprintf(&full, "%s: %s", what, strerror(errnum)) < 0)
		full = NULL;
	free(what);
	return full;
}

struct cp_error *cp_error_new(enum cp_error_code code, int errnum, const char *format, ...)
{
	struct cp_error *err = calloc(1, sizeof(*err));
	va_list ap;

	if (!err)
		return cp_error_nomem();
	err->code = code;
	err->errnum = errnum;
	va_start(ap, format);
	err->what = describe(errnum, format, ap);
	va_end(ap);
	if (!err->what) {
		free(err);
		return cp_error_nomem();
	}
	return err;
}

struct cp_error *cp_error_hint(struct cp_error *err, const char *format, ...)
{
	char *hint = NULL;
	va_list ap;

	if (!err || err == &out_of_memory)
		return err;
	va_start(ap, format);
	if (vasprintf(&hint, format, ap) < 0)
		hint = NULL;
	va_end(ap);
	free(err->hint);
	err->hint = hint;
	return err;
}

void cp_error_free(struct cp_error *err)
{
	if (!err || err == &out_of_memory)
		return;
	free(err->what);
	free(err->hint);
	free(err);
}

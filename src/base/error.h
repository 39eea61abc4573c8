/* SPDX-License-Identifier: MIT
 *
 * Errors. A function that can fail returns `struct cp_error *`: NULL is
 * success, anything else is owned by the caller, who hands it on or frees it
 * with cp_error_free(). Only src/cmd prints errors and ends the process.
 */
#ifndef CP_BASE_ERROR_H
#define CP_BASE_ERROR_H

#include <stdarg.h>

enum cp_error_code {
	CP_ERR_NOMEM = 1,
	CP_ERR_NOT_FOUND, /* no such process, file, symbol */
	CP_ERR_GONE, /* the process or thread ended: usually an event */
	CP_ERR_PERMISSION, /* refused; the hint says by what */
	CP_ERR_IO, /* a system call failed; errnum says how */
	CP_ERR_FORMAT, /* bytes of a file or of the program make no sense */
	CP_ERR_USAGE, /* the caller asked for something impossible */
	CP_ERR_UNSUPPORTED, /* sensible, but not for this program or machine */
	CP_ERR_TIMEOUT,
};

struct cp_error {
	enum cp_error_code code;
	int errnum; /* errno at the time, or 0 */
	char *what; /* owned: what was attempted, on what, and what happened */
	char *hint; /* owned, or NULL: what a person can do about it */
};

/* A new error; `format` says what was attempted and on what. With `errnum`,
 * its description is appended. Never NULL: without memory, the static
 * out-of-memory error, which cp_error_free() leaves alone. */
struct cp_error *cp_error_new(enum cp_error_code code, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4), warn_unused_result));

/* Gives `err` a hint (replacing one it had) and returns it. */
struct cp_error *cp_error_hint(struct cp_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The static error for "no memory left". */
struct cp_error *cp_error_nomem(void) __attribute__((warn_unused_result));

/* NULL is allowed. */
void cp_error_free(struct cp_error *err);

#define CP_ERROR __attribute__((warn_unused_result)) struct cp_error *

/* Hands an error of `call` on to the caller. */
#define CP_TRY(call) \
	do { \
		struct cp_error *cp_try_err_ = (call); \
		if (cp_try_err_) \
			return cp_try_err_; \
	} while (0)

#endif

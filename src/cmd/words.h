/* SPDX-License-Identifier: MIT
 *
 * What the completion scripts ask for while somebody types:
 * `cprof completion --list=KIND [OPERAND]`.
 */
#ifndef CP_CMD_WORDS_H
#define CP_CMD_WORDS_H

#include "base/buf.h"
#include "base/error.h"

enum cp_words {
	CP_WORDS_RECORDINGS,
	CP_WORDS_PROFILERS,
	CP_WORDS_FUNCTIONS,
	CP_WORDS_TYPES,
	CP_WORDS_STEERING,
};
extern const char *const cp_words_names[]; /* ends with NULL */

/* A line each. `operand` (or NULL) is the beginning of a path for recordings,
 * a file or process for functions, a file for types. */
CP_ERROR cp_words_list(enum cp_words kind, const char *operand, struct cp_buf *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof/format.h - values and names of the program as text that may be shown.
 *
 * What comes from the program is untrusted: a name can hold a terminal's escape
 * sequences. These work like snprintf(): at most `size` bytes of `buffer` are
 * written, NUL included, never half of a character; they return the bytes that
 * all of it takes, NUL not included. Without memory that is 0. Any thread.
 */
#ifndef CPROF_FORMAT_H
#define CPROF_FORMAT_H

#include <cprof/types.h>
#include <cprof/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What `text` goes into: a terminal or a log file, a JSON string, XML. */
typedef enum cprof_escape_for {
	CPROF_ESCAPE_TERMINAL = 0, /* control characters become \xNN or \u{N} */
	CPROF_ESCAPE_JSON = 1, /* without the quotes around it */
	CPROF_ESCAPE_XML = 2, /* text or attribute; HTML, SVG too */
	CPROF_ESCAPE_FOLDED = 3 /* a frame of folded stacks: no ';' in it either */
} cprof_escape_for;
CPROF_API size_t cprof_escape(char *buffer, size_t size, cprof_escape_for how, const char *text);

/* A value as a C programmer reads it, escaped for terminals: 4, "host",
 * {x=3, y=4}, <optimized out>. NULL: nothing. */
CPROF_API size_t cprof_value_format(char *buffer, size_t size, const cprof_value *value);
/* A value as JSON: number, string, object, array, null; 64-bit integers beyond 2^53 and
 * floats that are not finite are strings. */
CPROF_API size_t cprof_value_format_json(char *buffer, size_t size, const cprof_value *value);
/* Which parts of that JSON are null or not whole, and why, as a JSON array:
 * [{"at":"b.list","error":"depth"}]. Nothing: all is there, or the value itself is an error. */
CPROF_API size_t cprof_value_format_lacks(char *buffer, size_t size, const cprof_value *value);

#ifdef __cplusplus
}
#endif
#endif

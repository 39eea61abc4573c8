/* SPDX-License-Identifier: MIT
 *
 * Text that came from the profiled program (symbols, paths, thread names) is
 * untrusted: it is escaped for where it goes. Control characters (C0, C1,
 * DEL), bidirectional overrides and bytes that are not UTF-8 never pass.
 */
#ifndef CP_BASE_TEXT_H
#define CP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_buf;

enum cp_escape {
	CP_ESCAPE_TERMINAL, /* what must not pass becomes \xNN or \u{N} */
	CP_ESCAPE_JSON, /* content of a JSON string; '<' becomes \u003c */
	CP_ESCAPE_XML, /* text node or attribute of XML, HTML, SVG */
	CP_ESCAPE_FOLDED, /* as terminal; ';' becomes ':', newline a space */
};

/* Appends `text` (of `size` bytes) to `out`, escaped. */
void cp_escape(struct cp_buf *out, enum cp_escape how, const char *text, size_t size);
/* Escapes what `out` has from `from` on. */
void cp_escape_from(struct cp_buf *out, enum cp_escape how, size_t from);

/* Decodes one UTF-8 character of `text`: its length in bytes, or 0 when the
 * bytes there are not UTF-8. */
size_t cp_utf8_decode(const char *text, size_t size, uint32_t *char_ret);

/* Columns that `text` (escaped, UTF-8) takes on a terminal. */
size_t cp_text_columns(const char *text);

/* Appends `text`, cut in the middle to at most `columns` columns with an
 * ellipsis when it is longer. */
void cp_text_fit(struct cp_buf *out, const char *text, size_t columns);

/* Appends "12.3 s", "450 ms", "6.2 µs". */
void cp_add_time(struct cp_buf *out, uint64_t ns);
/* "512 B", "1.50 KiB", "12.3 MiB" */
void cp_add_bytes(struct cp_buf *out, uint64_t bytes);
/* Appends likewise; "<= 45 µs" where that is a bound. */
void cp_add_time_at_most(struct cp_buf *out, uint64_t ns, bool bound);

/* "SIGUSR1"; NULL where it has no such name. In signal handlers, too. */
const char *cp_signal_name(unsigned signal);
/* Appends that, or the number where it has no such name. */
void cp_add_signal(struct cp_buf *out, unsigned signal);

/* The length of a function's demangled name before its parameters. */
size_t cp_short_name(const char *name);

bool cp_starts_with(const char *text, const char *prefix);
bool cp_ends_with(const char *text, const char *suffix);
/* True when `text` is one of a list that ends with NULL. */
bool cp_is_any(const char *text, const char *const *list);

/* Finding the name that someone meant: start with what was typed, try each
 * known name, and `best` is the nearest, or NULL when none is near. */
struct cp_text_near {
	const char *typed; /* borrowed */
	size_t size;
	const char *best; /* borrowed from what was tried */
	size_t distance; /* edits from typed to best */
};

struct cp_text_near cp_text_near(const char *typed, size_t size);
void cp_text_near_try(struct cp_text_near *near, const char *name);

/* The part after the last '/'. Points into `path`. */
const char *cp_basename(const char *path);

/* Appends `path` to `out`, which is empty, without "." and "x/..", which build
 * systems leave in it. What a link would make of ".." is not looked at. */
void cp_path_shorten(struct cp_buf *out, const char *path);

/* strtoull() that takes the whole text, in base 10 or with 0x; false when it
 * is not a number or larger than `max`. */
bool cp_parse_u64(const char *text, uint64_t max, uint64_t *ret);

/* "4096", "512K", "512k", "1.5M", "1G": 1024 each; with or without an "iB" behind. */
bool cp_parse_bytes(const char *text, uint64_t *ret);
/* "10s", "500ms", "2m", "1h", "1.5s", or seconds without a unit. */
bool cp_parse_duration(const char *text, uint64_t *ns_ret);

#endif

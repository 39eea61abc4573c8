/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <signal.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/types.h"

size_t cp_utf8_decode(const char *text, size_t size, uint32_t *char_ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = (const uint8_t *)text;
	uint32_t c;
	size_t n, i;

	if (!size)
		return 0;
	c = p[0];
	n = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
	if (!n || n > size)
		return 0;
	if (n > 1)
		c &= 0x7fu >> n;
	for (i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*char_ret = c;
	return n;
}

/* Characters that steer a terminal or turn text around, and the two that XML
 * does not have. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0x200e ||
	       c == 0x200f || c == 0x61c || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       c == 0xfffe || c == 0xffff;
}

static void escape_control(struct cp_buf *out, enum cp_escape how, uint32_t c)
{
	if (how == CP_ESCAPE_JSON)
		cp_buf_printf(out, "\\u%04x", c);
	else if (how == CP_ESCAPE_FOLDED && c == '\n')
		cp_buf_u8(out, ' ');
	else if (c < 0x100)
		cp_buf_printf(out, "\\x%02x", c);
	else
		cp_buf_printf(out, "\\u{%x}", c);
}

/* True when `c` was special to `how` and has been written. */
static bool escape_special(struct cp_buf *out, enum cp_escape how, uint32_t c)
{
	const char *as = NULL;

	if (how == CP_ESCAPE_JSON)
		as = c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '<' ? "\\u003c" : NULL;
	else if (how == CP_ESCAPE_XML)
		as = c == '<'	 ? "&lt;"
		     : c == '>'	 ? "&gt;"
		     : c == '&'	 ? "&amp;"
		     : c == '"'	 ? "&quot;"
		     : c == '\'' ? "&#39;"
				 : NULL;
	else if (how == CP_ESCAPE_FOLDED)
		as = c == ';' ? ":" : NULL;
	if (as)
		cp_buf_str(out, as);
	return as != NULL;
}

#define IN(how) (1u << CP_ESCAPE_##how)
#define EVERYWHERE UINT8_MAX

/* To which ways of escaping a byte is special. */
static const uint8_t special[256] = {
	[0 ... 31] = EVERYWHERE, ['"'] = IN(JSON) | IN(XML), ['&'] = IN(XML),
	['\''] = IN(XML),	 [';'] = IN(FOLDED),	     ['<'] = IN(JSON) | IN(XML),
	['>'] = IN(XML),	 ['\\'] = IN(JSON),	     [127 ... 255] = EVERYWHERE,
};

/* The number of bytes from the start that stay as they are. */
static size_t plain_run(const char *text, size_t size, enum cp_escape how)
{
	size_t n = 0;

	while (n < size && !(special[(uint8_t)text[n]] & 1u << how))
		n++;
	return n;
}

static void add_escaped(struct cp_buf *out, enum cp_escape how, const char *text, size_t size)
{
	uint32_t c = 0;
	size_t n;

	for (; size; text += n, size -= n) {
		n = plain_run(text, size, how);
		if (n) {
			cp_buf_add(out, text, n);
			continue;
		}
		n = cp_utf8_decode(text, size, &c);
		if (!n) {
			n = 1;
			c = (uint8_t)*text;
			if (how == CP_ESCAPE_JSON) /* U+FFFD, as JSON has no bytes */
				cp_buf_str(out, "\\ufffd");
			else
				cp_buf_printf(out, "\\x%02x", c);
		} else if (is_control(c)) {
			escape_control(out, how, c);
		} else if (!escape_special(out, how, c)) {
			cp_buf_add(out, text, n);
		}
	}
}

/* Most texts are short, and stay as they are: those are copied as they are looked at. */
static bool add_plain(struct cp_buf *out, enum cp_escape how, const char *text, size_t size)
{
	size_t i;

	if (size > 32 || !cp_buf_has_room(out, size))
		return false;
	for (i = 0; i < size && !(special[(uint8_t)text[i]] & 1u << how); i++)
		out->bytes[out->size + i] = text[i];
	if (i < size) {
		out->bytes[out->size] = 0;
		return false;
	}
	cp_buf_cut(out, out->size + size);
	return true;
}

void cp_escape(struct cp_buf *out, enum cp_escape how, const char *text, size_t size)
{
	if (!add_plain(out, how, text, size))
		add_escaped(out, how, text, size);
}

#define ESCAPED_MAX 6 /* bytes that one becomes at most: "\\ufffd", "&quot;" */

void cp_escape_from(struct cp_buf *out, enum cp_escape how, size_t from)
{
	size_t before = out->size, size;
	const char *text;

	if (out->failed || !before)
		return;
	from += plain_run(out->bytes + from, before - from, how);
	size = before - from;
	if (!size || size > SIZE_MAX / ESCAPED_MAX || !cp_buf_reserve(out, size * ESCAPED_MAX))
		return;
	text = out->bytes + from; /* stays there, as there is room */
	cp_escape(out, how, text, size);
	memmove(out->bytes + from, out->bytes + before, out->size - before);
	cp_buf_cut(out, from + (out->size - before));
}

static size_t char_columns(uint32_t c)
{
	if ((c >= 0x300 && c <= 0x36f) || c == 0x200b || c == 0x200d ||
	    (c >= 0xfe00 && c <= 0xfe0f))
		return 0;
	if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
	    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
	    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	    (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd))
		return 2;
	return 1;
}

/* The number of bytes from the start that are ASCII. */
static size_t ascii_run(const char *text, size_t size)
{
	size_t n = 0;
	uint64_t w;

	for (; size - n >= sizeof(w); n += sizeof(w)) {
		memcpy(&w, text + n, sizeof(w));
		if (w & UINT64_C(0x8080808080808080))
			break;
	}
	while (n < size && !(text[n] & 0x80))
		n++;
	return n;
}

/* Bytes of `text` that fit into `columns`; *used_ret the columns they take. */
static size_t fit_prefix(const char *text, size_t size, size_t columns, size_t *used_ret)
{
	size_t at = ascii_run(text, size < columns ? size : columns), used = at, n, w;
	uint32_t c = 0;

	while (at < size) {
		n = cp_utf8_decode(text + at, size - at, &c);
		w = n ? char_columns(c) : 1;
		if (used + w > columns)
			break;
		used += w;
		at += n ? n : 1;
	}
	*used_ret = used;
	return at;
}

size_t cp_text_columns(const char *text)
{
	size_t used;

	fit_prefix(text, strlen(text), SIZE_MAX, &used);
	return used;
}

void cp_text_fit(struct cp_buf *out, const char *text, size_t columns)
{
	size_t size = strlen(text), total, head, tail, used, skip;

	if (size > columns) /* no character takes more columns than bytes */
		fit_prefix(text, size, SIZE_MAX, &total);
	else
		total = size;
	if (total <= columns) {
		cp_buf_add(out, text, size);
		return;
	}
	if (!columns)
		return;
	head = fit_prefix(text, size, (columns - 1) / 2, &used);
	tail = columns - 1 - used;
	cp_buf_add(out, text, head);
	cp_buf_str(out, "…");
	/* Skip what doesn't fit, measured from the start. */
	skip = fit_prefix(text, size, total - tail, &used);
	cp_buf_add(out, text + skip, size - skip);
}

bool cp_is_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(text, *list))
			return true;
	return false;
}

bool cp_starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

bool cp_ends_with(const char *text, const char *suffix)
{
	size_t a = strlen(text), b = strlen(suffix);

	return a >= b && !strcmp(text + a - b, suffix);
}

const char *cp_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void cp_path_shorten(struct cp_buf *out, const char *path)
{
	size_t size, last;
	bool up;

	if (*path == '/')
		cp_buf_u8(out, '/');
	for (; *path; path += size) {
		path += strspn(path, "/");
		size = strcspn(path, "/");
		if (!size || (size == 1 && *path == '.'))
			continue;
		for (last = out->size; last > 0 && out->bytes[last - 1] != '/';)
			last--;
		up = size == 2 && !memcmp(path, "..", 2);
		if (up && out->size > last && strcmp(out->bytes + last, "..") != 0) {
			out->size = last ? last - 1 + (last == 1) : 0;
			out->bytes[out->size] = 0;
			continue;
		}
		if (out->size && out->bytes[out->size - 1] != '/')
			cp_buf_u8(out, '/');
		cp_buf_add(out, path, size);
	}
}

bool cp_parse_u64(const char *text, uint64_t max, uint64_t *ret)
{
	bool hex = cp_starts_with(text, "0x");
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, hex ? 16 : 10);
	if (errno || *end || value > max)
		return false;
	*ret = value;
	return true;
}

struct unit {
	const char *name;
	double times;
};

/* A number and one of `units`, which end without name. */
static bool parse_amount(const char *text, const struct unit *units, uint64_t *ret)
{
	double value;
	char *end;
	size_t i;

	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || value < 0)
		return false;
	for (i = 0; units[i].name; i++) {
		if (strcmp(end, units[i].name))
			continue;
		if (value * units[i].times >= 9e18)
			return false;
		*ret = (uint64_t)(value * units[i].times + 0.5);
		return true;
	}
	return false;
}

bool cp_parse_duration(const char *text, uint64_t *ns_ret)
{
	static const struct unit units[] = { { "", 1e9 },     { "s", 1e9 },    { "ms", 1e6 },
					     { "us", 1e3 },   { "ns", 1 },     { "m", 60e9 },
					     { "min", 60e9 }, { "h", 3.6e12 }, { NULL, 0 } };

	return parse_amount(text, units, ns_ret);
}

bool cp_parse_bytes(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {
		{ "", 1 },	 { "K", 0x1p10 },   { "k", 0x1p10 },   { "KiB", 0x1p10 },
		{ "M", 0x1p20 }, { "m", 0x1p20 },   { "MiB", 0x1p20 }, { "G", 0x1p30 },
		{ "g", 0x1p30 }, { "GiB", 0x1p30 }, { NULL, 0 },
	};

	return parse_amount(text, units, ret);
}

#define NEAR_LONGEST 64u /* longer names are not compared */

/* Levenshtein's distance, in one row of the matrix. */
static size_t edits(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t row[NEAR_LONGEST + 1], i, j;

	for (j = 0; j <= b_size; j++)
		row[j] = j;
	for (i = 1; i <= a_size; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= b_size; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);
			size_t shorter = row[j] < row[j - 1] ? row[j] : row[j - 1];

			diagonal = row[j];
			row[j] = change <= shorter ? change : shorter + 1;
		}
	}
	return row[b_size];
}

struct cp_text_near cp_text_near(const char *typed, size_t size)
{
	/* A third of the text may be wrong. */
	return (struct cp_text_near){ typed, size, NULL, size / 3 + 1 };
}

void cp_text_near_try(struct cp_text_near *near, const char *name)
{
	size_t size = strlen(name), distance;

	if (size > NEAR_LONGEST || near->size > NEAR_LONGEST)
		return;
	distance = edits(near->typed, near->size, name, size);
	/* A short name of which all is exchanged is not alike. */
	if (distance < near->distance && distance < size) {
		near->best = name;
		near->distance = distance;
	}
}

/* As "%.*f" has it of `value`, which is ns / unit; in a fifth of its time but where only
 * what a double has behind the decimals decides how to round. */
static void add_quotient(struct cp_buf *out, uint64_t ns, uint64_t unit, double value,
			 unsigned decimals)
{
	static const uint64_t powers[] = { 1, 10, 100 };
	uint64_t step = unit / powers[decimals], number = ns / step, rest = ns % step * 2;

	if (rest == step || ns > UINT64_C(100000000000000)) {
		cp_buf_printf(out, "%.*f", (int)decimals, value);
		return;
	}
	number += rest > step;
	cp_buf_decimal(out, number / powers[decimals]);
	if (!decimals)
		return;
	cp_buf_u8(out, '.');
	cp_buf_decimal_fill(out, number % powers[decimals], decimals, '0');
}

void cp_add_time(struct cp_buf *out, uint64_t ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { " s", 1000000000 }, { " ms", 1000000 }, { " µs", 1000 }, { " ns", 1 } };
	double value;
	size_t i = 0;

	while (i < 3 && (double)ns < (double)units[i].ns * 0.9995)
		i++;
	value = (double)ns / (double)units[i].ns;
	add_quotient(out, ns, units[i].ns, value,
		     i == 3 || value >= 99.95 ? 0
		     : value >= 9.995	      ? 1
					      : 2);
	cp_buf_str(out, units[i].unit);
}

void cp_add_bytes(struct cp_buf *out, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	size_t i;

	for (i = 0; value >= 1023.5 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1024;
	cp_buf_printf(out, "%.*f %s",
		      !i || value >= 99.95 ? 0
		      : value >= 9.995	   ? 1
					   : 2,
		      value, units[i]);
}

void cp_add_time_at_most(struct cp_buf *out, uint64_t ns, bool bound)
{
	cp_buf_str(out, bound ? "<= " : "");
	cp_add_time(out, ns);
}

size_t cp_short_name(const char *name)
{
	size_t size = strlen(name), at;
	int depth = 0;

	if (cp_ends_with(name, "@plt"))
		return size; /* a stub of what has parameters, or has none */
	if (!memchr(name, ')', size))
		return size; /* C, mostly */
	for (at = size; at-- > 1;) {
		if (name[at] == ')')
			depth++;
		else if (name[at] == '(' && !--depth)
			break;
		else if (!depth && (name[at] == '>' || name[at] == '}' || name[at] == ']'))
			return size; /* no parameters */
	}
	if (!at || depth || at == SIZE_MAX)
		return size;
	if (at >= 8 && !memcmp(name + at - 8, "operator", 8))
		return size;
	return at;
}

const char *cp_signal_name(unsigned signal)
{
	static const char *const names[] = {
		[SIGHUP] = "SIGHUP",	   [SIGINT] = "SIGINT",	  [SIGQUIT] = "SIGQUIT",
		[SIGILL] = "SIGILL",	   [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT",
		[SIGBUS] = "SIGBUS",	   [SIGFPE] = "SIGFPE",	  [SIGKILL] = "SIGKILL",
		[SIGUSR1] = "SIGUSR1",	   [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
		[SIGPIPE] = "SIGPIPE",	   [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM",
		[SIGCHLD] = "SIGCHLD",	   [SIGCONT] = "SIGCONT", [SIGSTOP] = "SIGSTOP",
		[SIGTSTP] = "SIGTSTP",	   [SIGTTIN] = "SIGTTIN", [SIGTTOU] = "SIGTTOU",
		[SIGURG] = "SIGURG",	   [SIGXCPU] = "SIGXCPU", [SIGXFSZ] = "SIGXFSZ",
		[SIGVTALRM] = "SIGVTALRM", [SIGPROF] = "SIGPROF", [SIGWINCH] = "SIGWINCH",
		[SIGPOLL] = "SIGPOLL",	   [SIGPWR] = "SIGPWR",	  [SIGSYS] = "SIGSYS",
	};

	return signal < CP_ARRAY_SIZE(names) ? names[signal] : NULL;
}

void cp_add_signal(struct cp_buf *out, unsigned signal)
{
	const char *name = cp_signal_name(signal);

	if (name)
		cp_buf_str(out, name);
	else
		cp_buf_printf(out, "%u", signal);
}

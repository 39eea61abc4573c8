/* SPDX-License-Identifier: MIT */
#include "transcript/calls.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define VALUE_LEAST 8 /* columns of a value that is cut */
#define VALUES_MOST 64 /* that are shown where not all have room */

/* ---- values ---- */

/* A part of a list of values. */
struct piece {
	const char *text;
	size_t size, columns;
};

/* Behind a text or a character in quotes at `at`; `at` where none is. */
static const char *behind_quoted(const char *at)
{
	const char *end = at + 1;

	if (*at != '"' && !(*at == '\'' && at[1] && (at[1] == '\\' || at[2] == '\'')))
		return at;
	for (; *end && *end != *at; end++)
		end += *end == '\\' && end[1];
	return *end ? end + 1 : end;
}

/* Where the value that begins at `at` ends: at a comma of the list's or its end. */
static const char *end_of_value(const char *at)
{
	size_t depth = 0;
	const char *next;

	while (*at && (depth || !cp_starts_with(at, ", "))) {
		next = behind_quoted(at);
		if (next > at) {
			at = next;
			continue;
		}
		if (strchr("([{", *at))
			depth++;
		else if (strchr(")]}", *at))
			depth -= depth != 0;
		at++;
	}
	return at;
}

/* Returns how many there are, of which no more than VALUES_MOST are put. */
static size_t take_apart(const char *text, struct piece *pieces)
{
	struct cp_buf copy CP_CLEANUP(cp_buf_free) = { 0 };
	const char *end;
	size_t n = 0;

	for (; *text; text = *end ? end + 2 : end, n++) {
		end = end_of_value(text);
		if (n >= VALUES_MOST)
			continue;
		cp_buf_clear(&copy);
		cp_buf_add(&copy, text, (size_t)(end - text));
		cp_buf_u8(&copy, 0);
		pieces[n] = (struct piece){ text, (size_t)(end - text),
					    copy.failed ? 0 : cp_text_columns(copy.bytes) };
	}
	return n;
}

/* Columns of the first `shown` of `all` values where each has no more than `most`. */
static size_t columns_of(const struct piece *pieces, size_t shown, size_t all, size_t most)
{
	size_t sum = shown < all ? 3 : 0, i;

	for (i = 0; i < shown; i++)
		sum += (pieces[i].columns < most ? pieces[i].columns : most) + (i ? 2 : 0);
	return sum;
}

static void add_pieces(struct cp_buf *out, const struct piece *pieces, size_t shown, size_t all,
		       size_t most)
{
	struct cp_buf copy CP_CLEANUP(cp_buf_free) = { 0 };
	size_t i;

	for (i = 0; i < shown; i++) {
		cp_buf_clear(&copy);
		cp_buf_add(&copy, pieces[i].text, pieces[i].size);
		cp_buf_u8(&copy, 0);
		cp_buf_str(out, i ? ", " : "");
		cp_text_fit(out, copy.failed ? "" : copy.bytes, most);
	}
	if (shown < all)
		cp_buf_str(out, ", …");
}

void cp_line_values(const struct cp_transcript *l, struct cp_transcript_line *line,
		    enum cp_paint paint, const char *text, size_t reserve, size_t least)
{
	struct cp_buf shortened CP_CLEANUP(cp_buf_free) = { 0 };
	size_t used = line->columns + reserve, room, all, shown, most = VALUE_LEAST;
	struct piece pieces[VALUES_MOST];

	room = l->look->columns > used + least ? l->look->columns - used : least;
	if (!l->look->columns || cp_text_columns(text) <= room) {
		cp_line_put(l, line, paint, text);
		return;
	}
	all = take_apart(text, pieces);
	shown = all < VALUES_MOST ? all : VALUES_MOST;
	while (shown && columns_of(pieces, shown, all, most) > room)
		shown--;
	while (shown && most < room && columns_of(pieces, shown, all, most + 1) <= room)
		most++;
	if (shown)
		add_pieces(&shortened, pieces, shown, all, most);
	else if (all == 1)
		cp_text_fit(&shortened, text, room);
	else
		cp_buf_str(&shortened, "…");
	cp_line_put(l, line, paint, shortened.bytes ? shortened.bytes : "");
}

/* ---- calls ---- */

void cp_transcript_open_braces(struct cp_transcript *l, struct cp_line_call *call)
{
	struct cp_transcript_line *line;

	if (call->line == CP_NO_LINE)
		return;
	line = cp_transcript_at(l, call->line);
	cp_line_put(l, line, CP_PAINT_PLAIN, " {");
	cp_line_end(line);
	call->line = CP_NO_LINE;
}

void cp_transcript_end_tail(struct cp_transcript *l, struct cp_line_tail *tail)
{
	struct cp_transcript_line *line;

	if (tail->line == CP_NO_LINE)
		return;
	line = cp_transcript_at(l, tail->line);
	cp_line_put(l, line, CP_PAINT_PLAIN, " ⇒ ");
	if (tail->target == CP_NO_FUNCTION)
		cp_line_put(l, line, CP_PAINT_DIM, "?");
	else
		cp_line_function(l, line, tail->name, CP_LINE_TIME(tail->at_most), 5);
	cp_line_time(l, line, tail->ns, tail->at_most, 0);
	cp_line_end(line);
	tail->line = CP_NO_LINE;
}

/* The line for the target of a tail call: that of who made it, if there is room. */
static uint64_t continue_tail(struct cp_transcript *l, const struct cp_line_tail *tail,
			      const struct cp_line_begin *begin)
{
	struct cp_transcript_line *line = cp_transcript_at(l, tail->line);
	uint64_t number;

	if (!l->look->columns || line->columns + CP_LINE_LEAST <= l->look->columns) {
		cp_line_put(l, line, CP_PAINT_PLAIN, " ⇒ ");
		return tail->line;
	}
	cp_line_end(line);
	number = cp_transcript_new(l, begin->ns, begin->thread, tail->indent);
	if (number != CP_NO_LINE)
		cp_line_put(l, cp_transcript_at(l, number), CP_PAINT_PLAIN, "⇒ ");
	return number;
}

/* The invoker: before the call, or where that leaves too little room on a line of its
 * own. False without memory. */
static bool put_invoker(struct cp_transcript *l, struct cp_line_call *call,
			const struct cp_line_begin *begin)
{
	struct cp_transcript_line *line = cp_transcript_at(l, call->line);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_escape(&text, CP_ESCAPE_TERMINAL, begin->invoker, strlen(begin->invoker));
	cp_buf_u8(&text, ':');
	cp_line_fit(l, line, CP_PAINT_DIM, text.bytes ? text.bytes : "", 0, 8);
	if (!l->look->columns || line->columns + CP_LINE_LEAST < l->look->columns) {
		cp_line_put(l, line, CP_PAINT_PLAIN, " ");
		return true;
	}
	cp_line_end(line);
	call->line = cp_transcript_new(l, begin->ns, begin->thread, call->indent);
	return call->line != CP_NO_LINE;
}

static bool begin_line(struct cp_transcript *l, struct cp_line_call *outer,
		       const struct cp_line_begin *begin, struct cp_line_call *ret)
{
	if (outer)
		cp_transcript_open_braces(l, outer);
	ret->indent = begin->indent;
	ret->line = cp_transcript_new(l, begin->ns, begin->thread, begin->indent);
	return ret->line != CP_NO_LINE && (!begin->invoker || put_invoker(l, ret, begin));
}

bool cp_transcript_begin_call(struct cp_transcript *l, struct cp_line_tail *tail,
			      struct cp_line_call *outer, const struct cp_line_begin *begin,
			      struct cp_line_call *ret)
{
	struct cp_transcript_line *line;

	*ret = (struct cp_line_call){ .line = CP_NO_LINE };
	if (tail->line != CP_NO_LINE && tail->depth == begin->depth &&
	    tail->target == begin->function && tail->target != CP_NO_FUNCTION) {
		ret->line = continue_tail(l, tail, begin);
		ret->indent = tail->indent;
		ret->before_ns = tail->ns;
		ret->at_most = tail->at_most;
		tail->line = CP_NO_LINE;
	} else {
		cp_transcript_end_tail(l, tail);
		if (!begin_line(l, outer, begin, ret))
			return false;
	}
	if (ret->line == CP_NO_LINE)
		return false;
	line = cp_transcript_at(l, ret->line);
	cp_line_function(l, line, begin->name, 26, 10);
	cp_line_put(l, line, CP_PAINT_PLAIN, "(");
	cp_line_values(l, line, CP_PAINT_PLAIN, begin->arguments, 24, 4);
	cp_line_put(l, line, CP_PAINT_PLAIN, ")");
	return true;
}

uint64_t cp_transcript_closing(struct cp_transcript *l, const struct cp_line_call *call,
			       const char *name, uint64_t ns, uint32_t thread)
{
	struct cp_transcript_line *line;
	uint64_t number;

	if (call->line != CP_NO_LINE)
		return call->line;
	number = cp_transcript_new(l, ns, thread, call->indent);
	if (number == CP_NO_LINE)
		return CP_NO_LINE;
	line = cp_transcript_at(l, number);
	cp_line_put(l, line, CP_PAINT_PLAIN, "}");
	if (call->inherited) {
		cp_line_put(l, line, CP_PAINT_PLAIN, " ");
		cp_line_function(l, line, name, 24, 12);
		cp_line_fit(l, line, CP_PAINT_DIM, " (called before the fork)", 18, 4);
	}
	return number;
}

void cp_line_result(const struct cp_transcript *l, struct cp_transcript_line *line,
		    const char *text, size_t reserve)
{
	cp_line_put(l, line, CP_PAINT_PLAIN, " = ");
	cp_line_fit(l, line, CP_PAINT_BOLD, text, reserve, 5);
}

void cp_line_ending(const struct cp_transcript *l, struct cp_transcript_line *line,
		    enum cp_line_ending how, size_t reserve)
{
	static const char *const words[] = {
		[CP_LINE_RETURNED] = "",
		[CP_LINE_UNWOUND] = " ✗ unwound",
		[CP_LINE_UNSURE] = " ✗ unwound, or at rest",
		[CP_LINE_ENDED] = " ✗ its thread ended",
		[CP_LINE_LOST] = " … its end was lost",
		[CP_LINE_OPEN] = " … not over at the end",
	};

	if (how != CP_LINE_RETURNED)
		cp_line_fit(l, line, how == CP_LINE_OPEN ? CP_PAINT_DIM : CP_PAINT_WARNING,
			    words[how], reserve, 6);
}

void cp_line_disarmed(const struct cp_transcript *l, struct cp_transcript_line *line,
		      const char *name, const char *why)
{
	cp_line_put(l, line, CP_PAINT_WARNING, "! ");
	cp_line_function(l, line, name, 24, 12);
	cp_line_fit(l, line, CP_PAINT_WARNING, why, 0, 8);
	cp_line_end(line);
}

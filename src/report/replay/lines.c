/* SPDX-License-Identifier: MIT */
#include "report/replay/lines.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/look/table.h"

#define NAME_MAX_COLUMNS 12 /* of a thread */
#define INDENT_MOST 200 /* columns, where there is no width; deeper: the depth in digits */

void cp_line_put(struct cp_replay_lines *l, struct cp_replay_line *line, enum cp_paint paint,
		 const char *text)
{
	cp_paint(&line->text, l->look, paint, text);
	line->columns += cp_text_columns(text);
}

void cp_line_fit(struct cp_replay_lines *l, struct cp_replay_line *line, enum cp_paint paint,
		 const char *text, size_t reserve, size_t least)
{
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	size_t room = l->look->columns, used = line->columns + reserve;

	if (!room) {
		cp_line_put(l, line, paint, text);
		return;
	}
	cp_text_fit(&cut, text, room > used + least ? room - used : least);
	cp_line_put(l, line, paint, cut.bytes ? cut.bytes : "");
}

void cp_line_time(struct cp_replay_lines *l, struct cp_replay_line *line, uint64_t ns, bool at_most,
		  uint64_t cpu_ns)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_str(&text, "  ");
	cp_add_time_at_most(&text, ns, at_most);
	if (cpu_ns &&
	    (!l->look->columns || line->columns + CP_LINE_TIME(at_most) + 15 <= l->look->columns)) {
		cp_buf_str(&text, ", ");
		cp_add_time(&text, cpu_ns);
		cp_buf_str(&text, " CPU");
	}
	cp_line_put(l, line, ns >= 1000000 ? CP_PAINT_WARM : CP_PAINT_DIM,
		    text.bytes ? text.bytes : "");
}

void cp_line_function(struct cp_replay_lines *l, struct cp_replay_line *line, uint32_t function,
		      size_t reserve, size_t least)
{
	const char *name = l->p->functions.items[function].name;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_escape(&text, CP_ESCAPE_TERMINAL, name, cp_short_name(name));
	cp_line_fit(l, line, CP_PAINT_NAME, text.bytes ? text.bytes : "", reserve, least);
}

void cp_line_name(struct cp_replay_lines *l, struct cp_replay_line *line, enum cp_paint paint,
		  const char *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!raw || !*raw)
		return;
	cp_buf_u8(&text, ' ');
	cp_add_name(&text, raw);
	cp_line_fit(l, line, paint, text.bytes ? text.bytes : "", 11, 8);
}

void cp_line_inherited(struct cp_replay_lines *l, struct cp_replay_line *line, uint32_t function)
{
	cp_line_put(l, line, CP_PAINT_PLAIN, " ");
	cp_line_function(l, line, function, 24, 12);
	cp_line_fit(l, line, CP_PAINT_DIM, " (called before the fork)", 18, 4);
}

static void put_thread(struct cp_replay_lines *l, struct cp_replay_line *line, uint32_t thread)
{
	const struct cp_record_thread *t = cp_record_get_thread(l->p->record, thread);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	size_t used;

	cp_add_name(&text, t->name);
	cp_text_fit(&cut, text.bytes ? text.bytes : "", NAME_MAX_COLUMNS);
	used = cut.bytes ? cp_text_columns(cut.bytes) : 0;
	cp_buf_printf(&cut, "%*s %7d  ", (int)(NAME_MAX_COLUMNS - used), "", t->tid);
	cp_line_put(l, line, CP_PAINT_DIM, cut.bytes ? cut.bytes : "");
}

uint64_t cp_line_new(struct cp_replay_lines *l, uint64_t ns, uint32_t thread, uint32_t indent)
{
	struct cp_replay_line line = { .open = true, .thread = thread };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t most = INDENT_MOST, blanks = 2 * (size_t)indent;

	cp_buf_printf(&text, "%5" PRIu64 ".%06" PRIu64 "  ", ns / 1000000000, ns / 1000 % 1000000);
	l->any = true;
	cp_line_put(l, &line, CP_PAINT_DIM, text.bytes ? text.bytes : "");
	if (l->several)
		put_thread(l, &line, thread);
	cp_buf_clear(&text);
	if (l->look->columns) /* what the rest of a line takes at least */
		most = l->look->columns > line.columns + CP_LINE_LEAST + 8
			       ? l->look->columns - line.columns - CP_LINE_LEAST
			       : 8;
	if (blanks > most) {
		cp_buf_printf(&text, "%u", indent);
		blanks = most > text.size ? most - text.size : 0;
	}
	cp_buf_printf(&text, "%*s", (int)blanks, "");
	cp_line_put(l, &line, CP_PAINT_DIM, text.bytes ? text.bytes : "");
	if (!cp_vec_push(&l->queue, line)) {
		cp_buf_free(&line.text);
		l->sink->buf.failed = true;
		return CP_NO_LINE;
	}
	return l->first + (l->queue.count - 1 - l->head);
}

void cp_line_end(struct cp_replay_line *line)
{
	cp_buf_u8(&line->text, '\n');
	line->open = false;
}

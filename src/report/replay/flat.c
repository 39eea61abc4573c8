/* SPDX-License-Identifier: MIT */
#include "report/replay/flat.h"

#include "base/cleanup.h"
#include "report/look/table.h"
#include "report/profile/invoker.h"

static struct cp_transcript_line *begin(struct cp_printer *w, uint64_t ns, uint32_t thread,
					const char *arrow)
{
	uint64_t number = cp_transcript_new(&w->l, ns, thread, 0);

	if (number == CP_NO_LINE)
		return NULL;
	cp_line_put(&w->l, cp_transcript_at(&w->l, number), CP_PAINT_COOL, arrow);
	return cp_transcript_at(&w->l, number);
}

static void put_invoker(struct cp_printer *w, struct cp_transcript_line *line,
			const struct cp_record_call *call)
{
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_invoker_name(w->p, call, &raw);
	if (!raw.size)
		return;
	cp_add_name(&text, raw.bytes);
	cp_buf_str(&text, ": ");
	cp_line_fit(&w->l, line, CP_PAINT_DIM, text.bytes ? text.bytes : "", 24, 8);
}

CP_ERROR cp_flat_enter(struct cp_printer *w, struct cp_span *span,
		       const struct cp_record_call *call)
{
	struct cp_line_call *shown = cp_printer_show(w);
	struct cp_transcript_line *line;

	span->data = shown;
	if (!shown || !cp_vec_push(&w->open, span))
		return cp_error_nomem();
	shown->line = CP_NO_LINE;
	if (!span->entered) /* there is nothing to tell it by */
		return NULL;
	line = begin(w, span->start_ns, span->thread, "→ ");
	if (!line)
		return cp_error_nomem();
	put_invoker(w, line, call);
	cp_line_function(&w->l, line, cp_printer_name(w, span->function), 24, 12);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, "(");
	cp_line_fit(&w->l, line, CP_PAINT_PLAIN,
		    cp_printer_values(w, call->values, call->value_count, false), 2, 4);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, ")");
	cp_line_end(line);
	cp_printer_write(w);
	return NULL;
}

CP_ERROR cp_flat_leave(struct cp_printer *w, const struct cp_span *span,
		       const struct cp_record_call *call)
{
	struct cp_transcript_line *line = begin(w, span->end_ns, span->thread, "← ");
	const struct cp_net_time time = { span->net_ns, span->uncertain_ns != 0 };

	if (!line)
		return cp_error_nomem();
	cp_line_function(&w->l, line, cp_printer_name(w, span->function), 24, 12);
	if (span->inherited)
		cp_line_fit(&w->l, line, CP_PAINT_DIM, " (called before the fork)", 18, 4);
	if (span->end == CP_SPAN_TAIL_CALLED) {
		cp_line_put(&w->l, line, CP_PAINT_PLAIN, " ⇒ ");
		cp_line_function(&w->l, line,
				 span->target == CP_RECORD_NONE ? "?"
								: cp_printer_name(w, span->target),
				 CP_LINE_TIME(time.at_most), 5);
	}
	cp_printer_end_line(w, line, span, call, time);
	return NULL;
}

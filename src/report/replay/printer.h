/* SPDX-License-Identifier: MIT
 *
 * What the views of a replay share: its state, what stands before each line, and behind.
 */
#ifndef CP_REPORT_REPLAY_PRINTER_H
#define CP_REPORT_REPLAY_PRINTER_H

#include "base/map.h"
#include "report/events/annotations.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"
#include "report/replay/chosen.h"
#include "report/replay/fields.h"
#include "transcript/calls.h"

/* A span that the program began. */
struct cp_replay_noted {
	uint32_t span, indent;
};

struct cp_printer {
	const struct cp_profile *p; /* borrowed */
	struct cp_sink *sink; /* borrowed */
	struct cp_transcript l;
	bool several; /* threads */
	struct cp_chosen chosen;
	CP_VEC(struct cp_span *) open; /* shown ones */
	CP_VEC(struct cp_line_call *) spare; /* owned; for calls that will be shown */
	struct cp_buf text; /* of values */
	size_t threads; /* of what follows by thread */
	struct cp_line_tail *tails; /* by thread */
	struct cp_annotations annotations;
	size_t next, next_unended; /* annotation, span: in the order of time */
	uint32_t *tracks; /* by thread: that it is on now; CP_RECORD_NONE: not known */
	uint32_t *stacks; /* by thread: on which it was last; 0: its own */
	struct cp_map other_stacks; /* that are no thread's own -> as how they are shown */
	CP_VEC(struct cp_replay_noted) noted; /* open ones */
	uint64_t least_ns;
	const struct cp_replay_options *options; /* borrowed */
	struct cp_field_subject subject; /* of the line that is begun next */
	struct cp_buf *labels; /* by thread: what its lines begin with; empty: not made so far */
	uint64_t *before_ns; /* by thread: when its line before began */
	uint32_t *columns; /* by thread, from 1: the one it has; 0: none so far */
	uint32_t columns_taken;
	size_t column_width;
};

/* A shown call is its span's `data`. */
static inline struct cp_line_call *cp_printer_shown(const struct cp_span *span)
{
	return span ? span->data : NULL;
}

/* For a call that is shown, with nothing in it; NULL without memory. */
struct cp_line_call *cp_printer_show(struct cp_printer *w);
/* It is over. */
void cp_printer_let_go(struct cp_printer *w, struct cp_line_call *call);

/* The arrays by thread; the owner's other fields are there. */
CP_ERROR cp_printer_init(struct cp_printer *w);
/* The same for more threads, or other names of them, than there were. */
CP_ERROR cp_printer_grow(struct cp_printer *w);
void cp_printer_deinit(struct cp_printer *w);

/* What the next line is about; `function` CP_RECORD_NONE: none. By columns, a thread that has
 * none yet is given one, with a line that says so. */
void cp_printer_about(struct cp_printer *w, uint64_t ns, uint32_t thread, uint32_t function,
		      uint32_t depth);
/* The next line is of that call, and says if it is on another stack than the thread was before. */
void cp_printer_on_stack(struct cp_printer *w, const struct cp_span *span);
/* For struct cp_transcript_owner. */
void cp_printer_label(void *ctx, uint64_t ns, uint32_t thread, struct cp_buf *out);
/* Writes lines that are finished. */
void cp_printer_write(struct cp_printer *w);

const char *cp_printer_name(const struct cp_printer *w, uint32_t function);
/* As cp_values_text() has them; good until the next ones. */
const char *cp_printer_values(struct cp_printer *w, const cprof_value *values, size_t count,
			      bool names);
/* The rest of the line of a call that is over: its result, how it ended, its time. */
void cp_printer_end_line(struct cp_printer *w, struct cp_transcript_line *line,
			 const struct cp_span *span, const struct cp_record_call *call,
			 struct cp_net_time time);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The lines of the replay that are not written yet, and what they are made of.
 * Private to replay.c.
 */
#ifndef CP_REPORT_REPLAY_LINES_H
#define CP_REPORT_REPLAY_LINES_H

#include "base/vec.h"
#include "report/look/sink.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

#define CP_NO_LINE UINT64_MAX
#define CP_LINE_LEAST 40 /* columns for a call: name, arguments, result, time */

/* A line that is not written yet. */
struct cp_replay_line {
	struct cp_buf text;
	size_t columns; /* used so far */
	bool open; /* may go on */
	uint32_t thread;
};

struct cp_replay_lines {
	const struct cp_profile *p; /* borrowed, as are the next two */
	const struct cp_look *look;
	struct cp_sink *sink;
	bool several; /* threads */
	bool any; /* line was begun */
	CP_VEC(struct cp_replay_line) queue; /* those from `head` on */
	size_t head;
	uint64_t first; /* number of the line at `head` */
};

/* Valid until the next line is made. */
static inline struct cp_replay_line *cp_line_at(struct cp_replay_lines *l, uint64_t number)
{
	return &l->queue.items[l->head + (size_t)(number - l->first)];
}

/* A new line, begun with time, thread and indentation; CP_NO_LINE without memory. */
uint64_t cp_line_new(struct cp_replay_lines *l, uint64_t ns, uint32_t thread, uint32_t indent);
void cp_line_end(struct cp_replay_line *line);
void cp_line_put(struct cp_replay_lines *l, struct cp_replay_line *line, enum cp_paint paint,
		 const char *text);
/* Cut to what is left of the width, less `reserve`, but not to less than `least`. */
void cp_line_fit(struct cp_replay_lines *l, struct cp_replay_line *line, enum cp_paint paint,
		 const char *text, size_t reserve, size_t least);
/* `at_most`: that is a bound; `cpu_ns`: where it was asked for, and there is room. */
void cp_line_time(struct cp_replay_lines *l, struct cp_replay_line *line, uint64_t ns, bool at_most,
		  uint64_t cpu_ns);
/* A blank and the program's own text; nothing where it is NULL or empty. */
void cp_line_name(struct cp_replay_lines *l, struct cp_replay_line *line, enum cp_paint paint,
		  const char *raw);
/* Which call it is that ends, of those that the process's parent entered. */
void cp_line_inherited(struct cp_replay_lines *l, struct cp_replay_line *line, uint32_t function);
/* Columns for "  1.29 ms", or "  <= 1.29 ms". */
#define CP_LINE_TIME(at_most) ((at_most) ? 12u : 9u)
/* Its name, cut as by cp_line_fit(). */
void cp_line_function(struct cp_replay_lines *l, struct cp_replay_line *line, uint32_t function,
		      size_t reserve, size_t least);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Lines that are written in the order in which they were begun, and may go on for a
 * while: the queue of those that are not written yet, and what they are made of.
 *
 *     0.000120  name          4711    text
 */
#ifndef CP_TRANSCRIPT_H
#define CP_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "transcript/look.h"

#define CP_NO_LINE UINT64_MAX
#define CP_LINE_LEAST 40 /* columns for a call: name, arguments, result, time */
/* Columns for "  1.29 ms", or "  <= 1.29 ms". */
#define CP_LINE_TIME(at_most) ((at_most) ? 12u : 9u)

/* A line that is not written yet. */
struct cp_transcript_line {
	struct cp_buf text;
	size_t columns; /* used so far */
	bool open; /* may go on */
	uint32_t thread;
};

/* Whose lines they are. */
struct cp_transcript_owner {
	/* Adds what says of which thread a line is, where that has to be said; of an untimed
	 * transcript, all that stands before a line that begins at `ns`. */
	void (*label)(void *ctx, uint64_t ns, uint32_t thread, struct cp_buf *out);
	/* Ends line `number`, which others wait behind for too long. */
	void (*force)(void *ctx, uint64_t number, uint32_t thread);
	void (*write)(void *ctx, const struct cp_buf *text);
};

struct cp_transcript {
	const struct cp_transcript_owner *owner; /* static */
	void *ctx; /* of the owner's functions */
	const struct cp_look *look; /* borrowed */
	size_t longest; /* the queue, before the line at its head is forced */
	size_t most_indent; /* columns, where there is no width; deeper: the depth in digits */
	bool untimed; /* lines begin with the label alone */
	bool no_durations; /* none stand behind calls */
	bool any; /* line was begun */
	bool no_memory; /* for one of them */
	char mark[16]; /* stands before the next call that begins a line; then it is empty */
	CP_VEC(struct cp_transcript_line) queue; /* those from `head` on */
	size_t head;
	uint64_t first; /* number of the line at `head` */
	CP_VEC(struct cp_buf) spare; /* empty, with their memory */
};

void cp_transcript_deinit(struct cp_transcript *l);

/* Valid until the next line is made. */
static inline struct cp_transcript_line *cp_transcript_at(struct cp_transcript *l, uint64_t number)
{
	return &l->queue.items[l->head + (size_t)(number - l->first)];
}

/* A new line, begun with time, thread and indentation (by calls); CP_NO_LINE without
 * memory. */
uint64_t cp_transcript_new(struct cp_transcript *l, uint64_t ns, uint32_t thread, uint32_t indent);
void cp_line_end(struct cp_transcript_line *line);
/* The number that the next line gets. */
static inline uint64_t cp_transcript_next(const struct cp_transcript *l)
{
	return l->first + (l->queue.count - l->head);
}
/* Writes lines up to the first that is open; with `all`, all of them. True: any. */
bool cp_transcript_write(struct cp_transcript *l, bool all);
/* The same with all that are before line `number`. */
bool cp_transcript_write_before(struct cp_transcript *l, uint64_t number);

void cp_line_put(const struct cp_transcript *l, struct cp_transcript_line *line,
		 enum cp_paint paint, const char *text);
/* Cut to what is left of the width, less `reserve`, but not to less than `least`. */
void cp_line_fit(const struct cp_transcript *l, struct cp_transcript_line *line,
		 enum cp_paint paint, const char *text, size_t reserve, size_t least);
/* `at_most`: that is a bound; `cpu_ns`: where it was asked for, and there is room. */
void cp_line_time(const struct cp_transcript *l, struct cp_transcript_line *line, uint64_t ns,
		  bool at_most, uint64_t cpu_ns);
/* A blank and the program's own text; nothing where it is NULL or empty. */
void cp_line_name(const struct cp_transcript *l, struct cp_transcript_line *line,
		  enum cp_paint paint, const char *raw);
/* A function's name, cut as by cp_line_fit(). */
void cp_line_function(const struct cp_transcript *l, struct cp_transcript_line *line,
		      const char *raw, size_t reserve, size_t least);
/* Of a thread, for cp_transcript_owner.label: its name, escaped, and its number. */
void cp_line_add_label(struct cp_buf *out, const char *name, int32_t tid);
#define CP_LINE_LABEL 12 /* columns for the name */

#endif

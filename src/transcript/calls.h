/* SPDX-License-Identifier: MIT
 *
 * Calls as a person wants to read them:
 *
 *     0.000120  start: serve(3) {
 *     0.000155    lookup("host", 4) = "10.0.0.7"  12.3 µs
 *     0.000190    a(1) ⇒ b(2) = 4  3.10 µs
 *     0.000220  } = 0  104 µs
 *
 * A call's line can only be finished when the next event of its thread is known.
 * Meanwhile what comes after it waits in the queue, whichever thread it is of.
 */
#ifndef CP_TRANSCRIPT_CALLS_H
#define CP_TRANSCRIPT_CALLS_H

#include "transcript/transcript.h"

#define CP_NO_FUNCTION UINT64_MAX

/* A call that is shown. */
struct cp_line_call {
	uint64_t line; /* that it can go on; CP_NO_LINE: calls in it came first */
	uint32_t indent;
	uint64_t before_ns; /* time of the calls whose tail call it is */
	bool at_most; /* that is a bound */
	bool inherited; /* its enter is of its process's parent: its end says so */
};

/* A tail call whose target may come next. */
struct cp_line_tail {
	uint64_t line; /* CP_NO_LINE: none */
	uint32_t depth, indent;
	uint64_t target; /* a function as its owner numbers it; CP_NO_FUNCTION: not known */
	const char *name; /* raw; of the target; borrowed until the tail has ended */
	uint64_t ns;
	bool at_most;
};

/* A call when it begins. Texts are borrowed. */
struct cp_line_begin {
	uint64_t ns;
	uint32_t thread, depth, indent;
	uint64_t function; /* CP_NO_FUNCTION: it is not seen to be entered */
	const char *name; /* raw */
	const char *invoker; /* raw; who called, where no traced function did; NULL: one did */
	const char *arguments;
};

/* How a call ends. */
enum cp_line_ending {
	CP_LINE_RETURNED,
	CP_LINE_UNWOUND,
	CP_LINE_UNSURE, /* unwound, or at rest */
	CP_LINE_ENDED, /* its thread */
	CP_LINE_LOST,
	CP_LINE_OPEN,
};

/* The call has calls in it. */
void cp_transcript_open_braces(struct cp_transcript *l, struct cp_line_call *call);
/* The tail call's target does not come. */
void cp_transcript_end_tail(struct cp_transcript *l, struct cp_line_tail *tail);
/* Begins a call in `outer` (NULL: in none), which may be the one that `tail` of its
 * thread waits for. False without memory. */
bool cp_transcript_begin_call(struct cp_transcript *l, struct cp_line_tail *tail,
			      struct cp_line_call *outer, const struct cp_line_begin *begin,
			      struct cp_line_call *ret);
/* The line for the end of a call: its own, or a new one with "}"; CP_NO_LINE without
 * memory. */
uint64_t cp_transcript_closing(struct cp_transcript *l, const struct cp_line_call *call,
			       const char *name, uint64_t ns, uint32_t thread);
void cp_line_result(const struct cp_transcript *l, struct cp_transcript_line *line,
		    const char *text, size_t reserve);
/* The words for any end but a return; `reserve`: columns for what follows. */
void cp_line_ending(const struct cp_transcript *l, struct cp_transcript_line *line,
		    enum cp_line_ending how, size_t reserve);
/* "! NAME is no longer traced: ..." at the end of a line; `why` has all behind the name. */
void cp_line_disarmed(const struct cp_transcript *l, struct cp_transcript_line *line,
		      const char *name, const char *why);

/* Values with ", " between them; where all of it has no room (as cp_line_fit()) each is cut by
 * itself, and those that have none at all are left out at the end. */
void cp_line_values(const struct cp_transcript *l, struct cp_transcript_line *line,
		    enum cp_paint paint, const char *text, size_t reserve, size_t least);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Calls, from enter to leave: events matched as they happen, by the recorder that
 * adds them up, or later, by whoever reads them.
 *
 * Events of a thread are matched by what they say of themselves (function,
 * depth, when it was entered), not by counting: events may be lost. So are those of a
 * stack that is no thread's own, a coroutine's: threads take turns on it.
 */
#ifndef CP_RECORD_SPANS_H
#define CP_RECORD_SPANS_H

#include "base/map.h"
#include "base/vec.h"
#include "record/call_block.h"
#include "record/calls.h"
#include "record/nettime.h"

enum cp_span_end {
	CP_SPAN_RETURNED,
	CP_SPAN_TAIL_CALLED,
	CP_SPAN_UNWOUND,
	CP_SPAN_ENDED, /* unwound because its thread or process ended */
	CP_SPAN_LOST, /* its end was lost, or its function is no longer traced */
	CP_SPAN_OPEN, /* at the end of the recording it was not over */
};

struct cp_span {
	uint64_t id; /* from 1, in the order of enters */
	struct cp_span *outer; /* the traced call around it; NULL: none */
	uint32_t thread;
	uint32_t function; /* as `function` of the events says */
	uint32_t location;
	uint32_t depth;
	uint32_t on_stack; /* as in its enter */
	struct cp_span *alike; /* on another stack, and entered at the same time; spans.c's */
	bool lent; /* a call on another stack has it for its outer one */
	uint32_t again; /* open calls of the same function outside of it; hidden ones don't count */
	bool hidden; /* left out: what it does counts as done by the call around it */
	bool entered; /* false: its enter was lost; it begins and ends at once here; or it is: */
	bool inherited; /* entered before its process was forked, where it counts as a call; here
			   it begins with the fork */
	uint64_t start_ns; /* from the start of the recording */
	/* when it ends: */
	enum cp_span_end end;
	bool unsure; /* UNWOUND: or it is at rest while a coroutine runs */
	uint32_t target; /* function that was tail called; CP_RECORD_NONE: not known */
	uint64_t end_ns, duration_ns, overhead_ns, cpu_ns;
	uint64_t net_ns; /* the duration less what tracing added */
	uint64_t uncertain_ns; /* of it, what tracing may have added, too; 0: net_ns is known */
	int64_t inner_ns; /* the most likely times of traced calls that it made; of a hidden one,
			     of those in it that are not */
	uint64_t inner_overhead_ns, inner_uncertain_ns; /* of these */
	uint64_t inner_calls; /* that are over, with those that they made */
	uint64_t inner_room_ns; /* of these, likewise: cp_span_room() */
	void *data; /* the visitor's; NULL: the call is not shown */
	uint32_t caller, node; /* likewise */
};

/* Sets net_ns; of a bound that is below what times are known to, also uncertain_ns. */
static inline void cp_span_set_net(struct cp_span *span)
{
	span->net_ns =
		span->duration_ns > span->overhead_ns ? span->duration_ns - span->overhead_ns : 0;
	if (span->uncertain_ns && span->net_ns < CP_TIME_FINEST)
		span->net_ns = span->uncertain_ns = CP_TIME_FINEST;
}

/* From what is shown of a bound to the middle between that and what it is at least. */
static inline uint64_t cp_span_room(const struct cp_span *span)
{
	return span->uncertain_ns / 2;
}

/* That middle, which is less than nothing if stops may have taken all of the call. */
static inline int64_t cp_span_likely(const struct cp_span *span)
{
	return (int64_t)(span->net_ns - cp_span_room(span));
}

static inline uint64_t cp_span_self(const struct cp_span *span)
{
	int64_t self = cp_span_likely(span) - span->inner_ns;

	return self > 0 ? (uint64_t)self : 0;
}

/* Adds the time of a call that is over, or of so many alike. */
static inline void cp_span_add_whole(struct cp_net_sum *to, const struct cp_span *span,
				     uint64_t times)
{
	cp_net_add(to, cp_span_likely(span), cp_span_room(span), times);
}

/* Adds the time that a call which is over, or so many alike, spent in no traced call that it
 * made. What is doubtful in these is so in it. */
static inline void cp_span_add_self(struct cp_net_sum *to, const struct cp_span *span,
				    uint64_t times)
{
	uint64_t room = cp_span_room(span), inner = span->inner_room_ns;
	/* Recordings may lie: what is too large wraps. */
	uint64_t likely = (uint64_t)cp_span_likely(span) - (uint64_t)span->inner_ns;

	cp_net_add(to, (int64_t)likely, room > inner ? room - inner : 0, times);
}

/* "returned", "tail_called", ... */
const char *cp_span_end_name(enum cp_span_end end);
/* The nearest call around it that has `data`; NULL: none. */
static inline struct cp_span *cp_span_shown_outer(const struct cp_span *span)
{
	struct cp_span *outer = span->outer;

	while (outer && !outer->data)
		outer = outer->outer;
	return outer;
}

/* ---- matching ---- */

/* Whom the calls go to; an error of theirs ends all. */
struct cp_spans_to {
	bool (*hides)(void *ctx, const struct cp_span *span); /* NULL: none */
	struct cp_error *(*begin)(void *ctx, struct cp_span *span,
				  const struct cp_record_call *call); /* may be NULL */
	/* `call` is NULL when there is no event: LOST, OPEN. */
	struct cp_error *(*end)(void *ctx, struct cp_span *span, const struct cp_record_call *call);
};

struct cp_spans_thread; /* spans.c */

/* Begins with what is above the line, and zeros. */
struct cp_spans {
	const struct cp_spans_to *to;
	void *ctx;
	uint64_t start_ns; /* times are from here on */
	bool missing; /* some events may be */
	/* What tracing added, where events don't say it, nor how long calls were; or NULL */
	const struct cp_call_costs *costs;
	const uint32_t *functions; /* by location; borrowed; NULL: locations are functions */
	/* ---- */
	CP_VEC(struct cp_spans_thread *) threads; /* by number; NULL: nothing came */
	/* Stacks that are no thread's own, with open calls: by number, struct cp_spans_thread *; */
	struct cp_map stacks;
	struct cp_map entered; /* these calls, by what their ends say of their enters; struct
				  cp_span *, the last of those that are alike */
	uint64_t last_id;
	CP_VEC(struct cp_span *) blocks;
	CP_VEC(struct cp_span *) spare;
};

/* What a file, which anybody may have written, can mean: `said`, or `right`, which is set. */
const struct cp_record_call *cp_span_make_right(const struct cp_record_call *said,
						struct cp_record_call *right);
static inline const struct cp_record_call *cp_span_put_right(const struct cp_record_call *said,
							     struct cp_record_call *right)
{
	if (said->duration_ns <= said->ts_ns &&
	    said->uncertain_ns <= said->duration_ns + CP_TIME_FINEST)
		return said;
	return cp_span_make_right(said, right);
}
/* The next event of the family of calls, in the order in which they were served. */
CP_ERROR cp_spans_event(struct cp_spans *s, const struct cp_record_call *call);
/* The same of calls that returned before anything else of their thread came, `times` of them
 * that took as long, by `costs`: their events, where nobody wants to be told that they begin,
 * hides calls or names functions otherwise, and no event is missing. `ret` is one of them, and
 * nobody is told. */
CP_ERROR cp_spans_leaf(struct cp_spans *s, const struct cp_record_call *enter, uint64_t end_ns,
		       uint64_t times, struct cp_span *ret);
/* Likewise, of a recording: `span` is all of it, with no events, and nobody is told. The span
 * begins as zeros, and with what was made of it before. */
CP_ERROR cp_spans_pass(struct cp_spans *s, const struct cp_record_call *enter,
		       const struct cp_record_leaf *leaf, struct cp_span *span);
/* Nothing more comes: what is open is over as OPEN. */
CP_ERROR cp_spans_rest(struct cp_spans *s, uint64_t end_ns);
/* Calls `each` for every open call as it would be if it ended at `end_ns`, the outermost
 * last; they stay open. */
CP_ERROR cp_spans_peek(struct cp_spans *s, uint64_t end_ns,
		       struct cp_error *(*each)(void *ctx, struct cp_span *span), void *ctx);
/* Has the thread calls that are open? */
bool cp_spans_are_open(const struct cp_spans *s, uint32_t thread);
/* The open call of the thread that one would be made by which is `depth` deep; NULL: none.
 * Good until the next event. */
const struct cp_span *cp_spans_around(const struct cp_spans *s, uint32_t thread, uint32_t depth);
/* Its calls are over, and no more come. */
void cp_spans_forget(struct cp_spans *s, uint32_t thread);
void cp_spans_deinit(struct cp_spans *s);

#endif

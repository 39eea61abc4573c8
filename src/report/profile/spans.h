/* SPDX-License-Identifier: MIT
 *
 * The calls of a recording, from enter to leave: a walk through its events
 * that knows which call each belongs to. Tables, the replay and exports are
 * made of it.
 */
#ifndef CP_REPORT_SPANS_H
#define CP_REPORT_SPANS_H

#include "record/calls.h"
#include "record/spans.h"
#include "report/profile/profile.h"

/* All may be NULL. An error ends the walk; so does `*stop`, without one.
 * Spans that the profile's filter leaves out are not shown. */
struct cp_span_visitor {
	struct cp_error *(*enter)(void *ctx, struct cp_span *span,
				  const struct cp_record_call *call);
	/* `call` is NULL when there is no event: LOST, OPEN. */
	struct cp_error *(*leave)(void *ctx, struct cp_span *span,
				  const struct cp_record_call *call);
	/* `count` calls alike that returned before anything else came of their thread, instead of
	 * enter and leave: leaves.h says what their span tells. Of the first of each kind it is
	 * told in its place, of others later, up to the end of the walk. NULL: they are told as
	 * others are. Not of a call that another one has ended by calling. */
	struct cp_error *(*leaves)(void *ctx, struct cp_span *span, uint64_t count);
	/* `function` is no longer traced. */
	struct cp_error *(*disarmed)(void *ctx, uint32_t thread, uint32_t function,
				     const struct cp_record_call *call);
	/* An exception is thrown or caught (CP_RECORD_THROW, CP_RECORD_CATCH) in `function`. */
	struct cp_error *(*exception)(void *ctx, uint32_t thread, uint32_t function,
				      const struct cp_record_call *call);
	/* A wait for a lock that `function` takes is over (CP_RECORD_WAIT). */
	struct cp_error *(*wait)(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call);
	/* Memory is allocated, moved or freed by `function` (CP_RECORD_ALLOCATED, ...): all
	 * up to the end of the time that is asked for, whoever does it. */
	struct cp_error *(*heap)(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call);
	/* Memory is mapped or unmapped for `function` (CP_RECORD_MAPPED, UNMAPPED), likewise
	 * all. */
	struct cp_error *(*map)(void *ctx, uint32_t thread, uint32_t function,
				const struct cp_record_call *call);
	const bool *stop;
	bool every; /* calls, also those that the filter leaves out */
	bool bare; /* it asks for no values */
};

CP_ERROR cp_spans_walk(const struct cp_profile *p, const struct cp_span_visitor *visitor,
		       void *ctx);

/* The same walk, of events that come one by one. `p`, `visitor` and `ctx` are borrowed. */
struct cp_spans_walk;
CP_ERROR cp_spans_walk_begin(const struct cp_profile *p, const struct cp_span_visitor *visitor,
			     void *ctx, struct cp_spans_walk **ret);
/* The recording, and with it the profile, has grown (cp_profile_grow()). */
CP_ERROR cp_spans_walk_grow(struct cp_spans_walk *walk);
/* For cp_record_call_fn, with the walk as its context; false: it is over. */
bool cp_spans_walk_event(void *walk, const struct cp_record_call *call);
/* The first error. Without one, and with `all`, what is open is over. */
CP_ERROR cp_spans_walk_end(struct cp_spans_walk *walk, bool all);
void cp_spans_walk_destroy(struct cp_spans_walk *walk);

#endif

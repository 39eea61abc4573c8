/* SPDX-License-Identifier: MIT
 *
 * The annotations of a recording by time: begin and end, start and finish
 * matched, each on its track. A thread is a track, and so is each fiber: a
 * switch changes which of them the thread's events go to, and the spans that
 * are open stay where they are.
 *
 *     thread 7   [load        ]  1→2            2→1 [ store ]
 *     fiber 2                     [ decode  ... ]             (open)
 *
 * The fiber that a thread leaves first is the thread itself. Times are as the
 * program gave them, from the start of the recording. What was never ended ends
 * with the span around it, or its thread; async spans, and those of fibers, with
 * their program.
 */
#ifndef CP_REPORT_ANNOTATIONS_H
#define CP_REPORT_ANNOTATIONS_H

#include "record/annotations.h"
#include "report/profile/profile.h"

struct cp_track {
	uint32_t process, thread; /* of a fiber: the thread that it was first seen on */
	bool is_fiber;
	uint32_t fiber;
	const char *name; /* as the program says; NULL: it says nothing */
	CP_VEC(uint32_t) open; /* private */
};

struct cp_noted_span {
	uint32_t begin, end; /* annotations; end CP_RECORD_NONE: it was not over at the end */
	uint32_t track; /* that it began on */
	uint32_t end_track; /* async: that it was finished on */
	uint32_t outer; /* span around it; CP_RECORD_NONE: none */
	uint32_t depth;
	bool async;
	bool again; /* a span of that name and category is around it */
	bool over; /* private */
	uint64_t start_ns, end_ns;
	uint64_t until_ns; /* private: where it ends unless the program ends it */
	uint64_t inner_ns; /* in spans directly inside */
	const char *name, *category, *object; /* never NULL but object */
};

static inline uint64_t cp_noted_self(const struct cp_noted_span *s)
{
	uint64_t ns = s->end_ns - s->start_ns;

	return ns > s->inner_ns ? ns - s->inner_ns : 0;
}

struct cp_annotations {
	const struct cp_profile *profile; /* borrowed */
	uint32_t *order; /* numbers of annotations, by time */
	size_t count;
	uint32_t *tracks_of; /* by number: the track it is on */
	uint32_t *spans_of; /* by number: the span that it begins or ends; CP_RECORD_NONE. Of a
			       switch: the track that its thread goes to */
	CP_VEC(struct cp_track) tracks;
	CP_VEC(struct cp_noted_span) spans; /* in the order of their beginnings */
	CP_VEC(uint32_t) unended; /* spans that the program never ended, by their end */
	uint64_t unmatched; /* ends of what did not begin here */
	uint64_t recorded; /* those of the program's own; the others are cprof's */
	uint64_t lost; /* before they could be read, and later */
};

CP_ERROR cp_annotations_build(const struct cp_profile *p, struct cp_annotations *ret);
void cp_annotations_deinit(struct cp_annotations *a);
/* The time of an annotation, from the start of the recording. */
uint64_t cp_annotation_ns(const struct cp_annotations *a, const struct cp_record_annotation *it);
/* The next one in the order of time, from *next on, that is not after `ns`: its
 * number in the recording, and *next is behind it; CP_RECORD_NONE: there is none. */
uint32_t cp_annotations_next(const struct cp_annotations *a, const struct cp_record *record,
			     size_t *next, uint64_t ns);
/* The next span, from *next on, that the program never ended and that ends by `ns`. */
uint32_t cp_annotations_next_unended(const struct cp_annotations *a, size_t *next, uint64_t ns);
/* The span that it begins or ends; CP_RECORD_NONE. */
uint32_t cp_annotation_span(const struct cp_annotations *a, uint32_t number);
/* Does the profile's filter let it through? */
bool cp_annotation_shown(const struct cp_annotations *a, const struct cp_record_annotation *it);
bool cp_noted_shown(const struct cp_annotations *a, const struct cp_noted_span *s);
/* The name of a track: its own, or its thread's, or "fiber 3". Raw. */
void cp_track_name(const struct cp_annotations *a, uint32_t track, struct cp_buf *out);
/* "begin", "instant", ... */
const char *cp_annotation_event(unsigned kind);

#endif

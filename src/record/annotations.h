/* SPDX-License-Identifier: MIT
 *
 * Annotations in a recording: what the program itself announced (cprof/trace.h),
 * in the order in which it was read, which need not be that of time.
 */
#ifndef CP_RECORD_ANNOTATIONS_H
#define CP_RECORD_ANNOTATIONS_H

#include "record/record.h"

/* The first ones are those of cprof_trace_event_type. */
enum cp_record_annotation_kind {
	CP_RECORD_SPAN_BEGIN,
	CP_RECORD_SPAN_END,
	CP_RECORD_INSTANT,
	CP_RECORD_ASYNC_START,
	CP_RECORD_ASYNC_FINISH,
	CP_RECORD_FIBER_SWITCH,
	CP_RECORD_COUNTER,
	CP_RECORD_THREAD_NAME,
	CP_RECORD_FIBER_NAME,
	CP_RECORD_ANNOTATIONS_LOST, /* `value` of them, in the process of `thread` */
	CP_RECORD_ANNOTATION_KINDS
};

#define CP_RECORD_ANNOTATION_NOTICED 1u /* a switch that the program did not announce */
#define CP_RECORD_ANNOTATION_HEAPSHOT 2u /* an instant of cprof: what is live then is asked for */

struct cp_record_annotation {
	uint64_t ts_ns; /* as the program has it: may be anything */
	uint8_t kind; /* enum cp_record_annotation_kind */
	uint8_t flags; /* CP_RECORD_ANNOTATION_* */
	uint32_t thread;
	uint64_t id; /* matches begin and end, start and finish of a process; FIBER_SWITCH:
			from << 32 | to; FIBER_NAME: the fiber */
	int64_t value; /* COUNTER, ANNOTATIONS_LOST */
	const char *name, *category, *object; /* NULL: none */
};

/* Did the program record it? Else it is cprof that says so. */
static inline bool cp_record_annotation_is_own(const struct cp_record_annotation *a)
{
	return a->kind != CP_RECORD_ANNOTATIONS_LOST &&
	       !(a->flags & (CP_RECORD_ANNOTATION_NOTICED | CP_RECORD_ANNOTATION_HEAPSHOT));
}

/* Strings are copied. */
void cp_record_annotation(struct cp_record_writer *w, const struct cp_record_annotation *a);
/* The number of the last thread `tid` of a process; CP_RECORD_NONE: there was
 * none. */
uint32_t cp_record_find_thread(const struct cp_record_writer *w, uint32_t process, int32_t tid);

size_t cp_record_annotation_count(const struct cp_record *r);
/* In the order recorded; of merged recordings, one after the other. Strings
 * live as long as the recording. */
struct cp_record_annotation cp_record_get_annotation(const struct cp_record *r, size_t n);

#endif

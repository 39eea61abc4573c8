/* SPDX-License-Identifier: MIT
 *
 * cprof/annotations.h - what the program itself announces (cprof/trace.h): the
 * events annotation and fiber_switch of cprof/events.h.
 */
#ifndef CPROF_ANNOTATIONS_H
#define CPROF_ANNOTATIONS_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Needs a session with CPROF_SESSION_CALLS. False: too late. [init] */
CPROF_API bool cprof_profiler_enable_annotations(void);

/* Counts of annotations, so far in the session; all 0 where they were not asked for. */
typedef struct cprof_annotation_statistics {
	uint64_t events; /* read and raised */
	uint64_t switches; /* of fibers: those announced, and those that cprof noticed */
	uint64_t lost; /* recorded by the program, and overwritten or never completed */
	uint64_t unknown; /* of a type that this cprof does not know */
	uint64_t rings; /* found, in all processes */
	uint64_t unread; /* of them: of which the end was not seen, so that what came last is
			    not in the sum of the others */
} cprof_annotation_statistics;
CPROF_API void cprof_get_annotation_statistics(cprof_annotation_statistics *ret);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof/locks.h - what threads wait for.
 *
 * monitor_contention, monitor_failed and monitor_acquired (cprof/events.h) come from
 * breakpoints where a thread has to wait for a mutex, of glibc's or Rust's, and where it
 * has waited: one that is free costs nothing, a wait two stops.
 *
 *     monitor_contention   it is somebody else's: the thread must wait
 *     monitor_failed       it gave up, by a time limit
 *     monitor_acquired     it got it after waiting
 *
 * The cprof_object has the lock's address and the name of its type. More waits in a second
 * than cprof_profiler_set_max_rate() has for globbed functions end the events, with a
 * method_disarmed.
 */
#ifndef CPROF_LOCKS_H
#define CPROF_LOCKS_H

#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Without this call there are none of the events above. False: too late. [init] */
CPROF_API bool cprof_profiler_enable_monitors(void);

/* More of the event being delivered. [cb] */
typedef struct cprof_contention {
	int32_t owner; /* tid of who held it when the wait began; 0: not known */
	uint64_t begin_ns; /* monotonic: when the wait began */
	uint64_t waited_ns; /* contention: 0 */
	const char *variable; /* static variable that the lock is, or is in; NULL: none. [cb] */
} cprof_contention;
CPROF_API bool cprof_current_contention(cprof_contention *ret);

#ifdef __cplusplus
}
#endif
#endif

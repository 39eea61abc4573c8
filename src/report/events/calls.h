/* SPDX-License-Identifier: MIT
 *
 * The calls of a recording added up: by function, by caller and callee, by
 * thread. Times are less what tracing added.
 */
#ifndef CP_REPORT_CALLS_H
#define CP_REPORT_CALLS_H

#include "base/json.h"
#include "record/callsum.h"
#include "record/nettime.h"
#include "report/events/durations.h"
#include "report/profile/callstacks.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"

/* Mean and spread of numbers as they come, by their distances from the first one: so nothing is
 * lost between a large sum and a small distance. */
struct cp_moments {
	uint64_t count;
	double first, sum, squares;
};

struct cp_called {
	uint32_t function; /* of the profile */
	struct cp_call_sum sum; /* `whole`: recursion counted once */
	struct cp_net_time total, self; /* what that comes to */
	struct cp_net_sum tailed_sum; /* of what it ended by tail calling, of which single calls
					 are known; recursion counted once */
	struct cp_net_time tailed; /* what that comes to */
	bool tailed_inside; /* it ended so in a call of its own, whose time has all of that */
	struct cp_net_time average, deviation; /* of durations, of calls that are over: the mean,
						  the standard deviation; 0 without any */
	uint32_t disarmed; /* calls in the second after which it was no longer traced; 0: it is */
	bool starved; /* disarmed because a thread got no further for signals that enter it */
	struct cp_durations durations; /* of calls that are over, where each is known */
	struct cp_net_sum over; /* of these */
	struct cp_moments moments;
};

/* Calls of one function by another. */
struct cp_call_edge {
	uint32_t caller, callee; /* functions of the profile; caller CP_RECORD_NONE: nobody
				    that was traced */
	struct cp_call_sum sum; /* `whole`: of calls inside of others, the outermost */
	struct cp_net_time time, self; /* what that comes to */
};

struct cp_calling_thread {
	uint32_t thread;
	uint64_t calls;
	struct cp_net_time time; /* of the outermost calls */
	struct cp_net_sum sum; /* what that is made of */
};

struct cp_calls {
	const struct cp_profile *profile; /* borrowed */
	CP_VEC(struct cp_called) functions; /* most total first */
	CP_VEC(struct cp_call_edge) edges; /* most first */
	CP_VEC(struct cp_calling_thread) threads; /* most first */
	uint64_t calls;
	struct cp_net_time outermost; /* in calls that no traced function made */
	struct cp_net_sum outermost_sum;
	bool upper_bound; /* some of these times are */
	bool tailed; /* some functions have such a time, of a hundredth of that or more */
};

/* For who makes a profile and will want its calls, once: they are added up meanwhile. */
extern const struct cp_profile_beside cp_calls_beside;
CP_ERROR cp_calls_build(const struct cp_profile *p, struct cp_calls *ret);
void cp_calls_deinit(struct cp_calls *c);
void cp_calls_sort(struct cp_calls *c, enum cp_profile_order order);

/* The duration that this share of calls does not exceed, exactly, or where calls are added up
 * in the recording, to the width of a bucket; 0 without any. */
struct cp_net_time cp_called_quantile(const struct cp_called *f, double share);
/* Is anything known of what it ended by tail calling? */
static inline bool cp_called_has_tailed(const struct cp_called *f)
{
	return f->tailed_sum.room > 0 || f->tailed_sum.likely_ns;
}
/* NULL: no calls of it were recorded. */
const struct cp_called *cp_calls_of(const struct cp_calls *c, uint32_t function);
/* Finds a function as cp_profile_find() does, among those that were called. */
CP_ERROR cp_calls_find(const struct cp_calls *c, const char *name, uint32_t *function_ret);

#endif

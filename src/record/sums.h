/* SPDX-License-Identifier: MIT
 *
 * Calls added up as they happen, by process, caller and function, and by thread: all
 * that a recording of sums keeps of them.
 */
#ifndef CP_RECORD_SUMS_H
#define CP_RECORD_SUMS_H

#include "base/map.h"
#include "base/vec.h"
#include "record/callsum.h"
#include "record/spans.h"
#include "record/sum_rows.h"

/* Calls of one function by another. */
struct cp_sums_edge {
	uint32_t process;
	uint32_t caller, callee; /* locations; caller CP_RECORD_NONE: nobody that was traced */
	bool changed; /* since this was false */
	struct cp_call_sum sum;
};

struct cp_sums_thread {
	uint32_t process;
	bool changed;
	uint64_t calls;
	struct cp_net_sum outermost; /* of calls that no traced function made */
};

#define CP_SUMS_NEAR 1024

/* Begins as zeros. */
struct cp_sums {
	struct cp_spans spans; /* its start_ns is who uses this's */
	uint64_t events, written; /* all; those that the recording has */
	uint32_t beat; /* how often it was written to */
	CP_VEC(struct cp_sums_edge) edges;
	CP_VEC(struct cp_sums_thread) threads; /* by number */
	CP_VEC(struct cp_map) places; /* by process: caller, callee -> edge */
	uint32_t near[CP_SUMS_NEAR]; /* by a hash of these: edge + 1 that was looked for last */
};

/* The next event of a thread, which is one of `process`. */
CP_ERROR cp_sums_event(struct cp_sums *s, uint32_t process, const struct cp_record_call *call);
/* The next events of a thread, as cp_record_call_block() takes them; thread and functions
 * exist. */
CP_ERROR cp_sums_block(struct cp_sums *s, uint32_t process, uint32_t thread,
		       const struct cp_call_costs *costs, const struct cp_call_entry *entries,
		       size_t count);
/* Nothing more comes: what is open is over. Times are from the start of the recording. */
CP_ERROR cp_sums_end(struct cp_sums *s, uint64_t end_ns);
/* Adds what changed since the last time to the recording; calls that are open, as if they
 * were over at `end_ns`. */
CP_ERROR cp_sums_write(struct cp_sums *s, uint64_t end_ns, struct cp_record_writer *w,
		       size_t *bytes_ret);
/* The thread is gone. What is open of its calls is so to the end. */
void cp_sums_forget(struct cp_sums *s, uint32_t thread);
void cp_sums_deinit(struct cp_sums *s);

#endif

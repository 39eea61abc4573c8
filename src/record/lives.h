/* SPDX-License-Identifier: MIT
 *
 * Processes and threads from their beginning to their end, whether or not
 * anything was recorded of them. A life of a process is one program: an exec
 * ends it, and begins another one.
 *
 * A section has a part's number, then lives up to its end; of several with one
 * number in a part the last counts, so those that last are told as they begin
 * and as they end:
 *
 *     number, kind, begin, end, pid, tid or parent, start, end, wait status, CPU
 *     time, length and bytes of the name, of the executable
 */
#ifndef CP_RECORD_LIVES_H
#define CP_RECORD_LIVES_H

#include "base/buf.h"
#include "base/cursor.h"

struct cp_record;
struct cp_record_writer;

enum cp_record_life_begin {
	CP_LIFE_BEGAN, /* of a thread; of a process: not known how */
	CP_LIFE_STARTED, /* by cprof */
	CP_LIFE_ATTACHED,
	CP_LIFE_FORKED, /* vfork and clone, too */
	CP_LIFE_EXECUTED,
	CP_LIFE_BEGINS,
};

enum cp_record_life_end {
	CP_LIFE_LASTS, /* or its end was not recorded */
	CP_LIFE_ENDED, /* of a process: wait_status tells how */
	CP_LIFE_REPLACED, /* by an exec */
	CP_LIFE_LET_GO, /* it went on without cprof */
	CP_LIFE_ENDS,
};

struct cp_record_life {
	uint32_t number; /* in its part */
	bool thread;
	enum cp_record_life_begin begin;
	enum cp_record_life_end end;
	int32_t pid;
	int32_t tid; /* of a thread */
	int32_t parent; /* of a process; 0: not known */
	uint64_t start_ns, end_ns; /* monotonic; end: 0 unless it ended */
	int32_t wait_status; /* of a process that ended, as wait(2) has it */
	uint64_t cpu_ns; /* of a thread that ended; 0: not known */
	const char *name, *exe; /* comm; exe: "" of threads */
};

/* Tells of a life, or more of it. Strings are copied. */
void cp_record_life(struct cp_record_writer *w, const struct cp_record_life *life);

/* Of a recording that was read, in the order told, of merged ones one after the
 * other; live as long as it does. */
size_t cp_record_life_count(const struct cp_record *r);
const struct cp_record_life *cp_record_get_life(const struct cp_record *r, uint32_t n);

/* ---- private to src/record ---- */

/* Into a section's body, behind the part. */
void cp_record_put_life(struct cp_buf *out, const struct cp_record_life *life);
/* False: the body makes no sense, or there is no memory (then *no_memory_ret). */
bool cp_record_get_lives(struct cp_record *r, struct cp_cursor *c, bool *no_memory_ret);
#endif

/* SPDX-License-Identifier: MIT
 *
 * The recorder, as all of its parts see it: what they share, and what a family of
 * events is.
 *
 *      log.c                from init to shutdown; goes over the families
 *      mono.c, verbose.c    options by Mono's names
 *        families.h         the table: a row for each family
 *          families/          a family a file; none knows another
 *            stack.c, disarmed.c   what several of them write
 *            summary.c             calls added up
 *              numbers.c           processes, threads, files and functions as the
 *                                  recording numbers them
 *                recorder.c        this
 */
#ifndef CP_MODULES_LOG_RECORDER_H
#define CP_MODULES_LOG_RECORDER_H

#include <cprof/cprof.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/output.h"
#include "base/vec.h"
#include "record/calls.h"
#include "record/held.h"
#include "record/tap.h"

/* A family of events: what turns it on, what it asks the API for, how it writes.
 * Without a function there is nothing to do. */
struct cp_recorder_family {
	const char *option; /* log:OPTION turns it on; NULL: none without a value does */
	/* Mono's names of its events: log:NAME and log:noNAME turn it on and off. Ends with
	 * NULL; or NULL */
	const char *const *mono;
	const char *help; /* of its options, as log:help prints it; or NULL */
	uint32_t holds; /* CP_RECORD_HAS_*, of a recording with it */
	size_t state_size; /* of the family's own state, which begins as zeros */
	bool always; /* it is on, whatever options say */
	bool by_default; /* it is on when no other one that holds anything is */
	bool follows_nodefaults; /* its options come behind nodefaults */
	/* A state that is not all zeros. */
	void (*init)(void *state);
	/* Takes an option. False: it is none of the family's, or its value makes no sense,
	 * or why not was said. */
	bool (*take)(cprof_profiler *log, const char *key, const char *value);
	/* Turns the family on or off when all options are known. */
	void (*decide)(cprof_profiler *log);
	/* Asks the API for the events of a family that is on. */
	void (*start)(cprof_profiler *log);
	/* Says of a family that is on what the recording tells at its beginning. */
	void (*describe)(const cprof_profiler *log, struct cp_record_info *info);
	void (*process_loaded)(cprof_profiler *log, cprof_process *p);
	void (*thread_exited)(cprof_profiler *log, cprof_thread *t);
	/* A function is no longer traced, as `r` has it. */
	void (*disarmed)(cprof_profiler *log, const struct cp_record_call *r);
	/* Somebody who steers the session says something: true if it is the family's to answer
	 * (cprof_command_answer(), cprof_command_refuse()), which may be off. */
	bool (*command)(cprof_profiler *log, const char *name, const char *argument);
	/* log->paused has changed. */
	void (*pause)(cprof_profiler *log);
	/* Writes, now and then, what should be there if cprof is killed. */
	void (*beat)(cprof_profiler *log);
	/* The recording was ended, and another one begins: what was written to the old one, and
	 * its numbers, are no longer known. Those that can't say `whole`. */
	void (*rotate)(cprof_profiler *log);
	bool whole; /* what it records is one sum from beginning to end */
	/* Writes what is not over when the program is gone, or let go. */
	void (*end)(cprof_profiler *log);
	void (*totals)(const cprof_profiler *log, struct cp_record_totals *t);
	/* Frees what the state refers to. */
	void (*release)(void *state);
};

/* A family in a recorder. */
struct cp_recorder_part {
	const struct cp_recorder_family *family; /* static */
	void *state; /* owned */
	bool on;
	uint32_t holds; /* the family's, and what its settings add */
};

/* For each part that is on, and whose family has `what`. */
#define CP_FOR_EACH_PART(log, part, what) \
	for ((part) = (log)->parts; (part) < (log)->parts + (log)->part_count; (part)++) \
		if ((part)->on && (part)->family->what)

/* Recordings one after the other (rotate.c). */
struct cp_recorder_rotation {
	uint64_t every_ns, next_ns; /* 0: only when somebody says so */
	uint64_t keep; /* 0: all */
	uint64_t count; /* recordings that were ended */
	uint64_t number; /* of the last one's name */
	CP_VEC(char *) names; /* owned: those that are there, the oldest first */
	struct cp_record_totals before; /* what is in recordings that were ended */
	pthread_t thread; /* which completes the last one */
	bool runs;
	_Atomic bool done; /* it is over */
	struct cp_record_writer *old; /* the thread's */
	struct cp_error *error; /* the thread's, until it is done */
	char *failure; /* owned: what went wrong with the last one, or NULL */
};

/* What a stack was recorded as. */
struct cp_recorder_stack {
	uint64_t key; /* cprof_current_stack_key(); 0: none */
	uint32_t stack, taker, thrower; /* CP_RECORD_NONE: not asked yet */
};
#define CP_RECORDER_STACKS 4096u

struct cprof_profiler {
	cprof_profiler_handle handle;
	struct cp_recorder_part *parts; /* owned; in the order of the families */
	size_t part_count;
	struct cp_buf help;
	/* where it writes */
	char *output; /* owned */
	bool plain; /* `output` is the name of a file, and nothing else */
	char *path; /* owned; of the recording; NULL: it is no file, or not open yet */
	int fd; /* of the recording, until the writer has it */
	struct cp_control_server *server; /* port.c; NULL: none */
	struct cp_output_pipe pipe; /* who reads it */
	struct cp_record_writer *writer;
	bool followed; /* somebody shows calls as they come: `tap`, borrowed, or NULL so far */
	const struct cp_record_tap *tap;
	int beat_fd; /* of its short beats; -1: there are none */
	bool failed, opened;
	uint64_t begin_ns; /* of the first recording */
	struct cp_recorder_rotation rotation;
	struct cp_held_queue held; /* events that wait for others to be decided */
	bool paused; /* who steers the session wants nothing recorded now */
	/* settings of several families */
	bool stacks; /* a stack with each event */
	bool keep_source, keep_code; /* the recording encloses them */
	bool no_defaults;
	uint32_t max_frames; /* 0: all */
	cprof_profiler_handle verbose; /* NULL: nothing is said */
	/* numbers.c */
	struct cp_map processes; /* cprof_process * -> number */
	struct cp_map threads; /* cprof_thread * -> number | last stack << 32 */
	struct cp_map functions; /* cprof_function * -> location */
	/* stack.c */
	CP_VEC(uint32_t) locations; /* of the stack being walked */
	uint32_t stack_flags;
	cprof_addr entered; /* the function that the walk is of the call of; 0: of none */
	bool taker_sought; /* of that stack */
	bool taker_alone; /* nothing else of it is wanted */
	uint32_t taker; /* location; NONE: not yet found */
	struct cp_map runtimes; /* location: does it take things only for who calls it? */
	const cprof_image *innermost; /* image of that stack */
	struct cp_recorder_stack stacks_known[CP_RECORDER_STACKS]; /* by a hash of the key */
	/* disarmed.c */
	uint64_t disarmed; /* functions */
};

/* False without memory; the table ends with NULL. */
bool cp_recorder_parts_init(cprof_profiler *log, const struct cp_recorder_family *const *table);
void cp_recorder_parts_deinit(cprof_profiler *log);
struct cp_recorder_part *cp_recorder_part(const cprof_profiler *log,
					  const struct cp_recorder_family *family);
/* The family's own state. */
void *cp_recorder_state(const cprof_profiler *log, const struct cp_recorder_family *family);
bool cp_recorder_is_on(const cprof_profiler *log, const struct cp_recorder_family *family);
void cp_recorder_turn_on(cprof_profiler *log, const struct cp_recorder_family *family);

/* Writes an event, behind what came before it. */
static inline void cp_recorder_call(cprof_profiler *log, const struct cp_record_call *call)
{
	cp_held_add(&log->held, log->writer, call);
}

/* Reads a number of 32 bits. False, and *ret as it was: it is none. */
bool cp_recorder_number(const char *value, uint32_t *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the parts of the recorder share.
 */
#ifndef CP_MODULES_LOG_H
#define CP_MODULES_LOG_H

#include <cprof/cprof.h>

#include "base/map.h"
#include "base/vec.h"
#include "base/output.h"
#include "record/calls.h"

#define MAX_STACK 16384

/* A wait for a lock that is not over. */
struct log_wait {
	const cprof_thread *waiter;
	struct cp_record_call call;
	cprof_value values[2];
	char *variable; /* owned */
};

struct cprof_profiler {
	cprof_profiler_handle handle;
	char *output; /* owned */
	bool plain; /* `output` is the name of a file, and nothing else */
	char *path; /* owned; of the recording; NULL: it is no file, or not open yet */
	int fd; /* of the recording, until the writer has it */
	struct cp_output_pipe pipe; /* who reads it */
	cprof_sample_mode mode;
	uint32_t hz;
	bool sample_asked, sampling, no_defaults;
	uint64_t max_samples; /* 0: any number */
	uint32_t max_frames; /* 0: all */
	bool verbose;
	struct cp_record_writer *writer;
	struct cp_map processes; /* cprof_process * -> number */
	struct cp_map threads; /* cprof_thread * -> number | last stack << 32 */
	CP_VEC(uint32_t) locations; /* of the stack being walked */
	uint32_t stack_flags;
	bool taker_sought; /* of that stack */
	uint32_t taker; /* location; NONE: not yet found */
	struct cp_map own_inlined; /* location: is a function inlined there that may be it? */
	const cprof_image *innermost; /* image of that stack */
	bool failed, opened;
	uint64_t samples;
	/* calls */
	bool trace, arguments, result, locals, changes, stacks, cpu_time;
	bool calls_asked, no_calls;
	uint32_t call_depth; /* 0: any */
	uint32_t depth, string;
	CP_VEC(cprof_callspec *) specs; /* owned */
	struct cp_map functions; /* cprof_function * -> location */
	CP_VEC(cprof_value) values; /* of the call being recorded */
	uint64_t calls, disarmed;
	bool annotations;
	uint64_t annotations_lost;
	bool exceptions;
	bool allocations;
	uint64_t allocations_every; /* bytes; 0: all of them */
	bool locks;
	CP_VEC(struct log_wait) waits; /* that are not over */
	uint32_t life_count;
	struct cp_map live_processes, live_threads; /* object -> struct life */
	struct cp_map lived; /* processes that began before */
	struct log_coverage *coverage; /* owned; NULL: not asked for */
};

/* log.c */
/* Number of the thread | its last stack << 32; NULL without memory. */
uint64_t *log_thread(cprof_profiler *log, cprof_thread *t);
/* Number of a process. */
uint32_t log_process(cprof_profiler *log, cprof_process *p);
/* Numbers of an image; of none CP_RECORD_NONE. */
uint32_t log_image(cprof_profiler *log, const cprof_image *image);
uint32_t log_assembly(cprof_profiler *log, const cprof_assembly *assembly);
/* The stack of the event being delivered. */
uint32_t log_stack(cprof_profiler *log, cprof_addr ip);
/* The location on it that is behind the event, and not the C library, or what a
 * language takes locks and memory by. If all of it is that: where the innermost
 * library was called. If `stack_ret`, the stack too. */
uint32_t log_taker(cprof_profiler *log, uint32_t *stack_ret);
/* taker.c: does the frame only do that for who calls it? `address`: link-time. */
bool log_is_runtime(cprof_profiler *log, const cprof_image *image, const cprof_function *function,
		    uint64_t address, uint32_t location);

/* calls.c */
/* True when the option is one of calls and its value good. */
bool log_calls_option(cprof_profiler *log, const char *key, const char *value);
void log_calls_start(cprof_profiler *log);
uint32_t log_calls_hold(const cprof_profiler *log); /* CP_RECORD_HAS_* */
void log_calls_totals(const cprof_profiler *log, struct cp_record_totals *totals);
void log_calls_free(cprof_profiler *log);

/* mono.c */
/* False and *known_ret: its value makes no sense, or why not was said. */
bool log_mono_option(cprof_profiler *log, const char *key, const char *value, bool *known_ret);
extern const char log_usage[];

/* verbose.c: false without memory */
bool log_verbose_start(cprof_profiler *log);

/* output.c */
/* Opens the recording: in init, unless its name needs the process; then. */
CP_ERROR log_output_early(cprof_profiler *log);
CP_ERROR log_output_late(cprof_profiler *log);
/* After all was written. */
void log_output_end(cprof_profiler *log);

/* annotations.c */
bool log_annotations_option(cprof_profiler *log, const char *key, const char *value);
void log_annotations_start(cprof_profiler *log);
uint32_t log_annotations_hold(const cprof_profiler *log); /* CP_RECORD_HAS_* */

/* The function's entry. */
uint32_t log_function(cprof_profiler *log, const cprof_function *f);

/* exceptions.c: the same for exceptions */
bool log_exceptions_option(cprof_profiler *log, const char *key, const char *value);
void log_exceptions_start(cprof_profiler *log);
uint32_t log_exceptions_hold(const cprof_profiler *log);

/* locks.c: and for waits for locks */
bool log_locks_option(cprof_profiler *log, const char *key, const char *value);
void log_locks_start(cprof_profiler *log);
uint32_t log_locks_hold(const cprof_profiler *log);
void log_locks_exited(cprof_profiler *log, const cprof_thread *t);
void log_locks_end(cprof_profiler *log); /* writes those that are not over */

/* heap.c: and for what is allocated */
bool log_heap_option(cprof_profiler *log, const char *key, const char *value);
void log_heap_start(cprof_profiler *log);
void log_heap_totals(struct cp_record_totals *totals);
uint32_t log_heap_hold(const cprof_profiler *log);

/* lives.c: processes and threads from beginning to end */
void log_lives_start(cprof_profiler *log);
/* At domain_loaded. */
void log_life_process(cprof_profiler *log, const cprof_process *p);
/* Tells of those that last; now and then. */
void log_lives_beat(cprof_profiler *log);
/* At the end: who is left was let go. */
void log_lives_end(cprof_profiler *log);
void log_lives_free(cprof_profiler *log);

/* coverage.c */
bool log_coverage_option(cprof_profiler *log, const char *key, const char *value);
void log_coverage_start(cprof_profiler *log);
uint32_t log_coverage_hold(const cprof_profiler *log); /* CP_RECORD_HAS_* */
/* What is known when the program is gone. */
void log_coverage_write(cprof_profiler *log);
void log_coverage_beat(cprof_profiler *log); /* writes now and then */
void log_coverage_free(cprof_profiler *log);

#endif

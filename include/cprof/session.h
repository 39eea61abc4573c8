/* SPDX-License-Identifier: MIT
 *
 * cprof/session.h - a profiling session: start or attach, run, let go.
 *
 *     cprof_session *s = cprof_session_create();
 *     ... cprof_profiler_load("log:output=x.data"), or own profilers ...
 *     if (cprof_session_launch(s, argv[0], argv, NULL, CPROF_SESSION_FOLLOW_FORKS) ||
 *         cprof_session_run(s, 0))
 *             fprintf(stderr, "%s\n", cprof_session_error(s));
 *     cprof_session_destroy(s);
 *
 *     cc embed.c $(pkg-config --cflags --libs cprof)
 *     cc embed.c $(pkg-config --static --cflags --libs cprof | sed 's/-lcprof/-l:libcprof.a/')
 *
 * Modules that the program loads resolve cprof's functions against libcprof; with the
 * static library, link the program with -rdynamic and all of the library
 * (-Wl,--whole-archive). The program's own functions cprof_profiler_init_NAME() are
 * found with -rdynamic, too.
 *
 * One session per thread is current, the newest one that is left: the functions
 * that take no handle act on it. Launching starts a tracer process beside the caller; create a session
 * before starting threads of your own.
 */
#ifndef CPROF_SESSION_H
#define CPROF_SESSION_H

#include <cprof/process.h>
#include <cprof/stack.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_session_flags {
	CPROF_SESSION_FOLLOW_FORKS = 1, /* children too; else they are let go at birth */
	CPROF_SESSION_KILL_ON_EXIT = 2, /* NOT_SUPPORTED: cprof leaves by ending its tracer,
					   which would take the program along */
	CPROF_SESSION_NO_ASLR = 4, /* launch: addresses are the same in each run */
	CPROF_SESSION_PIN = 8, /* nothing more: the tracer follows a single thread anyway */
	CPROF_SESSION_CALLS = 0x100 /* calls will be traced (cprof/calls.h) or coverage measured;
				   needed only where that is said after launch or attach */
} cprof_session_flags;

typedef enum cprof_unwinder {
	CPROF_UNWINDER_OWN = 0, /* call frame information, then validated guesses */
	CPROF_UNWINDER_LIBUNWIND = 1, /* libunwind over the same captures */
	CPROF_UNWINDER_FP = 2, /* frame pointers only */
	/* libunwind-ptrace, which reads files and memory by itself: only of threads
	 * that cprof_session_snapshot() stops and holds (CPROF_SNAPSHOT_STOP_BLOCKED |
	 * CPROF_SNAPSHOT_HOLD); other walks are STACKSNAPSHOT_UNSAFE */
	CPROF_UNWINDER_LIBUNWIND_PTRACE = 3
} cprof_unwinder;

/* A new session, current on this thread; NULL without memory or processes, and from a
 * callback or init function of a profiler. All functions below take NULL: they do
 * nothing, and answer INVALID_ARGUMENT. */
CPROF_API cprof_session *cprof_session_create(void);
CPROF_API cprof_session *cprof_session_current(void);

/* Settings, before launch or attach. */
CPROF_API void cprof_session_set_unwinder(cprof_session *session, cprof_unwinder unwinder);
/* How samples of CPU time are taken, `frequency` a second if nothing else is said by then. The
 * way that was taken tells cprof_session_capture(). PERMISSION where PERF can't be had. */
typedef enum cprof_capture {
	CPROF_CAPTURE_PTRACE = 0, /* threads are stopped for them */
	/* the kernel's interrupt copies registers and stack (perf_event_open()) where that is
	 * permitted, and in the kernel, too; else, threads are stopped */
	CPROF_CAPTURE_AUTO = 1,
	/* the same, but launch or attach fails where it can't be. Threads are stopped whose
	 * stacks are deeper than what is copied, and, where the kernel may not be looked at,
	 * those that spend much of their time there */
	CPROF_CAPTURE_PERF = 2
} cprof_capture;
CPROF_API cprof_status cprof_session_set_capture(cprof_session *session, cprof_capture capture,
						 uint32_t frequency);
/* Samples come with an event of the processor or of the kernel in the place of CPU time, one
 * with each `period`th of a thread's (0: what suits the event), which is what it weighs. They
 * need CPROF_CAPTURE_PERF, which this sets: nobody is stopped for them, and stacks deeper than what the kernel copies
 * are cut. INVALID_ARGUMENT: there is no event of that name; PERMISSION where it can't be had,
 * as counters of the processor in most virtual machines. */
CPROF_API cprof_status cprof_session_set_event(cprof_session *session, const char *name,
					       uint64_t period);
/* "page-faults", "cycles", ...: the `n`th, from 0; NULL: no more. [static] */
CPROF_API const char *cprof_event_name(size_t n);
/* What samples are of, "" for time; and how many of it make one, then 0. [static] */
CPROF_API const char *cprof_session_event(const cprof_session *session);
CPROF_API uint64_t cprof_session_event_period(const cprof_session *session);
/* Calls of which nothing is asked for but when they begin and end may be seen without a
 * stop, by detours: a few instructions of each function make room for a jump. Unless told,
 * all are seen by breakpoints. */
CPROF_API void cprof_session_set_detours(cprof_session *session, bool detours);
/* Where detours find no room for what they record: the program waits, as long as somebody
 * reads; or it is dropped, and counted (cprof_call_statistics). Unless told, programs wait that
 * were launched. */
typedef enum cprof_on_full {
	CPROF_ON_FULL_USUAL = 0,
	CPROF_ON_FULL_DROP = 1,
	CPROF_ON_FULL_WAIT = 2
} cprof_on_full;
CPROF_API void cprof_session_set_on_full(cprof_session *session, cprof_on_full on_full);
/* What is worked out of program files is kept for later sessions in $XDG_CACHE_HOME/cprof,
 * else ~/.cache/cprof, and taken from there. Unless told, it is not. */
CPROF_API void cprof_session_set_cache(cprof_session *session, bool cache);
/* `dirs` is NULL-terminated, borrowed until destroy; NULL: /usr/lib/debug. */
CPROF_API void cprof_session_set_debug_info(cprof_session *session, const char *const *dirs,
					    bool debuginfod);
/* Where cprof_profiler_load() looks first, after the built-in profilers and the
 * running executable. `dirs` is NULL-terminated, borrowed until destroy. */
CPROF_API void cprof_session_set_plugin_dirs(cprof_session *session, const char *const *dirs);

/* Where launched processes leave children behind: run() goes on for `ns` more, until
 * they have ended, too; UINT64_MAX: as long as that takes; 0, unless told: not at all.
 * `begins` (or NULL) is called when there is a process to wait for. */
typedef void (*cprof_wait_fn)(cprof_session *session, void *data);
CPROF_API void cprof_session_set_wait(cprof_session *session, uint64_t ns, cprof_wait_fn begins,
				      void *data);

/* Prepare a target; nothing of it runs, or is sampled, before cprof_session_run().
 * `path` is searched in PATH when it has no slash; `envp` NULL means the caller's.
 * Failure: cprof_session_error() tells why. */
CPROF_API cprof_status cprof_session_launch(cprof_session *session, const char *path,
					    char *const argv[], char *const envp[], unsigned flags);
CPROF_API cprof_status cprof_session_attach(cprof_session *session, int32_t pid, unsigned flags);

/* Runs until the target is gone, cprof_session_stop(), or `timeout_ns` (0: none); then
 * lets all that is left go, and it runs on. NOT_FOUND, PERMISSION or FAIL where the
 * launched program can't be executed, which shows only now. */
CPROF_API cprof_status cprof_session_run(cprof_session *session, uint64_t timeout_ns);
/* Makes run() return soon. [async] */
CPROF_API void cprof_session_stop(cprof_session *session);

/* Removes every breakpoint and lets go of the target, which runs on (a launched
 * one that has not been run yet is let run). Nothing to do, and OK, after
 * cprof_session_run(), which does that, and a second time; the session is not to be
 * run afterwards. UNSUPPORTED_CALL_SEQUENCE without a target, and from a callback
 * before runtime_shutdown_begin: there, cprof_session_stop() it is. CLR:
 * RequestProfilerDetach(), which is refused once ELT hooks were set; not here. */
CPROF_API cprof_status cprof_session_detach(cprof_session *session);

/* Flags of cprof_session_snapshot(): whom it stops, and for how long. */
#define CPROF_SNAPSHOT_STOP_BLOCKED 0x100u /* interrupt blocked threads too: every register */

/* Threads that ran stand still until the last callback has returned, for two seconds at
 * most, so that what values lead to can be read (cprof_frame_info_call_context()).
 * Threads that sleep are read as they sleep, and may wake up meanwhile; with
 * STOP_BLOCKED none does. */
#define CPROF_SNAPSHOT_HOLD 0x200u

/* Instead of run(): captures every thread of the attached process once and calls `cb`
 * for each (`captured` false: it could not be stopped or read in time). The thread is
 * current in `cb`: walk it there with cprof_do_stack_snapshot(cprof_current_thread(),
 * ...). `flags`: CPROF_SNAPSHOT_STOP_BLOCKED, CPROF_SNAPSHOT_HOLD,
 * CPROF_SNAPSHOT_FLOATING. May be called again. */
typedef void (*cprof_thread_fn)(cprof_thread *thread, bool captured, void *data);
CPROF_API cprof_status cprof_session_snapshot(cprof_session *session, unsigned flags,
					      cprof_thread_fn cb, void *data);

/* Calls `cb` for each process that is profiled now. */
typedef void (*cprof_process_fn)(cprof_process *process, void *data);
CPROF_API void cprof_session_each_process(cprof_session *session, cprof_process_fn cb, void *data);
/* The process started by launch(), 0 if none. */
CPROF_API int32_t cprof_session_pid(const cprof_session *session);
/* Status as wait(2) has it of the launched process, once it has ended;
 * -1 before. Waits for its end when `wait`. */
CPROF_API int cprof_session_exit_status(cprof_session *session, bool wait);

/* The last failure in words, and what to do about it ("" if nothing). [cb]
 * until the next call. */
CPROF_API const char *cprof_session_error(const cprof_session *session);
CPROF_API const char *cprof_session_error_hint(const cprof_session *session);
/* What else the user should know, e.g. of filters that chose nothing: the
 * `n`th warning, from 0; NULL: no more. [cb] */
CPROF_API const char *cprof_session_warning(const cprof_session *session, size_t n);
/* After launch or attach: "perf", "perf, user code alone" or "ptrace" for how samples are taken,
 * "" without any; and why CPROF_CAPTURE_AUTO chose to stop threads, "" where it did not. [cb] */
CPROF_API const char *cprof_session_capture(const cprof_session *session);
CPROF_API const char *cprof_session_capture_reason(const cprof_session *session);
/* After cprof_session_run(): errno, where the program could not be executed; 0
 * otherwise. */
CPROF_API int cprof_session_exec_errno(const cprof_session *session);

/* What a profiler gave to cprof_profiler_set_help(); NULL: nothing. */
CPROF_API const char *cprof_session_help(const cprof_session *session);
/* True when a profiler called cprof_profiler_fail(). */
CPROF_API bool cprof_session_profiler_failed(const cprof_session *session);
/* The process launched or attached to; 0 before. */
CPROF_API int32_t cprof_session_target(const cprof_session *session);
/* Command line of the target, NULL-terminated; NULL before launch or attach. */
CPROF_API char *const *cprof_session_command(const cprof_session *session);
CPROF_API bool cprof_session_is_attached(const cprof_session *session);

/* Lets all that is left go, and runs the profilers' shutdown and cleanup callbacks.
 * Does nothing in a callback or init function of a profiler. */
CPROF_API void cprof_session_destroy(cprof_session *session);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof/calls.h - which calls are reported, and what is known of each.
 *
 * Every enter, leave, tail call and unwound leave of the functions that the
 * filters choose, as method_* events (cprof/profiler.h). The callbacks run
 * after the event, from what was captured when it happened.
 */
#ifndef CPROF_CALLS_H
#define CPROF_CALLS_H

#include <cprof/process.h>
#include <cprof/types.h>
#include <cprof/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [cb]: afterwards the functions below say UNSUPPORTED_CALL_SEQUENCE, NULL, 0. */
typedef struct cprof_call_context cprof_call_context;

/* Mono: MonoProfilerCallInstrumentationFlags, the same values. */
typedef enum cprof_call_instrumentation_flags {
	CPROF_CALL_INSTRUMENTATION_NONE = 0,
	CPROF_CALL_INSTRUMENTATION_ENTER = 1 << 1, /* raise method_enter */
	CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT = 1 << 2, /* ... with a call context */
	CPROF_CALL_INSTRUMENTATION_LEAVE = 1 << 3, /* raise method_leave */
	CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT = 1 << 4, /* ... with a call context */
	CPROF_CALL_INSTRUMENTATION_TAIL_CALL = 1 << 5, /* raise method_tail_call */
	CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE = 1 << 6, /* raise method_exception_leave */
	/* The thread stands still until the callbacks returned: live reads and
	 * snapshots of it are allowed in them. */
	CPROF_CALL_INSTRUMENTATION_HOLD = 1 << 7,
	CPROF_CALL_INSTRUMENTATION_STACK = 1 << 8, /* the stack is captured at the entry: walk it
							  in method_enter with
							  cprof_do_stack_snapshot() */
	CPROF_CALL_INSTRUMENTATION_LOCALS = 1 << 9, /* leave contexts know locals, too */
	/* Leave contexts know what changed behind arguments; with both contexts.
	 * The thread stands still until the callbacks of its leave returned. */
	CPROF_CALL_INSTRUMENTATION_CHANGES = 1 << 10,
	/* The first call in each process alone, and its enter alone: the breakpoint
	 * is taken out when it was hit, so that even a hot function costs one stop.
	 * cprof_call.depth is 0. No effect on a function of which another filter
	 * wants more: be ready for several. */
	CPROF_CALL_INSTRUMENTATION_ONCE = 1 << 11,
	/* Contexts know the elements of what holds them in nodes (std::map, std::list, Rust's
	 * BTreeMap), and of what holds many, not just how many they are. The thread stands
	 * still until the callbacks returned, of functions with such arguments when they are
	 * entered, with such results (or locals) when they are left. */
	CPROF_CALL_INSTRUMENTATION_ELEMENTS = 1 << 12
} cprof_call_instrumentation_flags;

/* The union of the flags of all filters decides; every filter is called at
 * least once for each function of an image when it is loaded, whatever the
 * others said. Mono: MonoProfilerCallInstrumentationFilterCallback. [async] */
typedef unsigned (*cprof_call_instrumentation_filter_fn)(cprof_profiler *prof,
							 const cprof_function *function);
CPROF_API void cprof_profiler_set_call_instrumentation_filter_callback(
	cprof_profiler_handle handle, cprof_call_instrumentation_filter_fn cb);

/* Runs all filters again over the functions of `image` (NULL: of all images), while the
 * session runs, and places and takes out breakpoints as the filters say now, so that
 * tracing changes without an end. Functions that were called too often are traced
 * again. NOT_SUPPORTED: the session was made without calls (CPROF_SESSION_CALLS) and has none;
 * NOT_FOUND: the image is not mapped. From a callback: done when that event (or
 * heartbeat) has been delivered, before a thread that stands still for it goes on. CLR:
 * RequestReJIT. */
CPROF_API cprof_status cprof_profiler_refilter(cprof_image *image);

/* Traces the functions that a compiled SPEC matches, with `flags`: as a filter would,
 * much faster over many functions. [init] */
typedef struct cprof_callspec cprof_callspec;
CPROF_API cprof_callspec *cprof_callspec_parse(const char *spec, char **error);
CPROF_API bool cprof_callspec_match(const cprof_callspec *spec, const cprof_function *function);
CPROF_API void cprof_callspec_free(cprof_callspec *spec);
CPROF_API cprof_status cprof_profiler_trace(cprof_profiler_handle handle,
					    const cprof_callspec *spec, unsigned flags);
/* Instead of all SPECs that this profiler gave before, while the session runs: filters are
 * asked again (cprof_profiler_refilter()); NULL: none. Also in a session without calls
 * until now; NOT_SUPPORTED where that has children let go, INCONSISTENT_WITH_FLAGS where
 * processes share memory with the one that was attached to. */
CPROF_API cprof_status cprof_profiler_retrace(cprof_profiler_handle handle,
					      const cprof_callspec *spec, unsigned flags);
/* How many functions a SPEC matches in what is mapped now; reads symbols. */
CPROF_API uint64_t cprof_callspec_count(const cprof_callspec *spec);
/* "did you mean ...?" of an entry that matches none; free() it. NULL: nothing is near. */
CPROF_API char *cprof_callspec_near(const char *entry);
/* Number of functions that the filters chose so far. */
CPROF_API uint64_t cprof_traced_functions(void);

/* A function that is called more often than `rate` times a second, not counting the
 * time that tracing takes, is not traced any more (method_disarmed tells); 0: any rate.
 * `named` is for functions named in full, `globbed` for all others. [init] */
CPROF_API void cprof_profiler_set_max_rate(uint32_t named, uint32_t globbed);
/* Only calls for which EXPR over the arguments holds are reported, e.g. "len > 4096 &&
 * mode != 2". Returns NULL, or what is wrong with EXPR, to be free()d. [init] */
CPROF_API char *cprof_profiler_set_call_condition(const char *expr);
/* Values of calls that are told in the place of all their arguments, in all sessions' modules
 * (cprof_call_context_argument(), as many as have a meaning in the function): EXPRs with
 * commas between them, of arguments by name, their members, elements by number, and what
 * pointers lead to, e.g. "node->next->value, length". Nothing else is copied. The getters of
 * bytes below go by the function's own arguments. NULL: all arguments. Returns NULL, or what
 * is wrong, to be free()d. [init] */
CPROF_API char *cprof_profiler_set_call_arguments(const char *list);

/* Captures arguments and results, as the *_CONTEXT flags ask for them, with
 * debug information. False if too late. [init] */
CPROF_API bool cprof_profiler_enable_call_context_introspection(void);
/* Measures the CPU time of each call (cprof_call.cpu_ns), as the kernel counts it: with
 * what its breakpoints cost inside the kernel, without what the thread waited for.
 * Costs one read more at each stop. False if too late. [init] */
CPROF_API bool cprof_profiler_enable_call_cpu_time(void);
/* How far values are followed (0: the defaults): levels into structs and
 * pointers (of which one in a row up to the default of 3 levels, and all that the
 * levels have room for above that), bytes of a string. [init] */
CPROF_API void cprof_profiler_set_value_limits(uint32_t depth, uint32_t string);

/* The getters return a copy of the value's bytes, to be freed with
 * cprof_profiler_call_context_free_buffer(), or NULL; why NULL, tells
 * cprof_profiler_call_context_error(). */
CPROF_API void *cprof_profiler_call_context_get_this(cprof_call_context *context);
/* Argument `position`, from 0, as everywhere: `this` and what compilers add behind it
 * count (Mono's getter does not count it). In a leave context: the value the argument had
 * at entry. */
CPROF_API void *cprof_profiler_call_context_get_argument(cprof_call_context *context,
							 uint32_t position);
CPROF_API void *cprof_profiler_call_context_get_local(cprof_call_context *context,
						      uint32_t position);
CPROF_API void *cprof_profiler_call_context_get_result(cprof_call_context *context);
CPROF_API void cprof_profiler_call_context_free_buffer(void *buffer);
CPROF_API cprof_status cprof_profiler_call_context_error(const cprof_call_context *context);
/* What a buffer of these getters has: how many bytes; where they were in the process
 * (0: in registers); the value as text, to be free()d ("{x=1, name="abc"}", `depth`
 * levels of it, 0: all that was captured; NULL: unknown). */
CPROF_API size_t cprof_profiler_buffer_size(const void *buffer);
CPROF_API cprof_addr cprof_profiler_buffer_address(const void *buffer);
CPROF_API char *cprof_profiler_buffer_format(const void *buffer, unsigned depth);

/* Arguments, result and locals as values with names and types. Positions are from 0, with
 * `this`. NULL: there is none. [cb] */
CPROF_API size_t cprof_call_context_argument_count(cprof_call_context *context);
CPROF_API const cprof_value *cprof_call_context_argument(cprof_call_context *context,
							 size_t position);
CPROF_API const cprof_value *cprof_call_context_result(cprof_call_context *context);
/* In a leave context: the argument with what it leads to now, if that has changed since
 * the entry; else NULL, as for arguments that are passed on the stack. */
CPROF_API const cprof_value *cprof_call_context_changed(cprof_call_context *context,
							size_t position);
CPROF_API size_t cprof_call_context_local_count(cprof_call_context *context);
CPROF_API const cprof_value *cprof_call_context_local(cprof_call_context *context, size_t position);

CPROF_API cprof_thread *cprof_call_context_thread(const cprof_call_context *context);
CPROF_API cprof_addr cprof_call_context_caller(const cprof_call_context *context); /* 0: unknown */
CPROF_API cprof_addr cprof_call_context_cfa(const cprof_call_context *context);
CPROF_API uint32_t cprof_call_context_depth(const cprof_call_context *context); /* 0: outermost */
/* Time of the event, and of the entry (in an enter context the same); monotonic ns. */
CPROF_API uint64_t cprof_call_context_timestamp(const cprof_call_context *context);
CPROF_API uint64_t cprof_call_context_enter_timestamp(const cprof_call_context *context);

/* A context with arguments and locals of any frame of a walk, by debug information; it
 * has no result and no call. Values come from what was captured, and from memory where
 * the thread stands still. NULL: the frame is of unknown code, or call context
 * introspection is not enabled. Without debug information there are no values, and the
 * error is NOT_FOUND. [cb] */
CPROF_API cprof_call_context *cprof_frame_info_call_context(const cprof_frame_info *frame);

/* The call of the event being delivered: known without a context, too. [cb] */
typedef struct cprof_call {
	uint64_t timestamp_ns; /* monotonic */
	uint64_t enter_ns; /* of the call that is left; enter: the same */
	/* What cprof's stops took of the time between, in this thread. Where that is
	 * not known to a tenth of the rest: overhead_ns is certain, and it may be up to
	 * uncertain_ns more. */
	uint64_t overhead_ns, uncertain_ns;
	uint64_t cpu_ns; /* CPU time of the thread between, if enabled and known; else 0 */
	uint64_t cfa;
	uint32_t depth;
	bool process_exit; /* unwound because the thread or process ended */
	bool lost; /* no unwinding: events are missing, and whether it is over is not known */
	bool unsure; /* unwound, or at rest while a coroutine runs: the stack could not be walked */
	/* 0: it is on its thread's own stack; else a number of the stack that it is on, a coroutine's
	 * or a signal handler's, which is its alone as long as a call is open there. Calls of one
	 * stack lie one within the other; the thread may be another when they end. */
	uint32_t stack;
} cprof_call;
CPROF_API bool cprof_current_call(cprof_call *ret);
/* Was the call of the event entered by another process, of which this one was forked
 * (then its enter_ns is the time of the fork)? *tid_ret, if not NULL: the thread that
 * entered it. [cb] */
CPROF_API bool cprof_current_call_inherited(int32_t *tid_ret);

/* Who called a function that is entered. */
typedef enum cprof_invoker {
	CPROF_INVOKER_TRACED = 0, /* a traced function, or its tail call */
	CPROF_INVOKER_START = 1, /* the program's start: it is _start or main */
	CPROF_INVOKER_THREAD = 2, /* it is what a new thread runs */
	CPROF_INVOKER_SIGNAL = 3, /* the kernel: it handles a signal */
	CPROF_INVOKER_CODE = 4 /* code that is not traced: of callbacks, constructors, ... */
} cprof_invoker;
typedef struct cprof_invocation {
	cprof_invoker by;
	int signal; /* SIGNAL: its number */
	cprof_addr caller; /* return address; 0: not known */
	const cprof_image *image; /* not TRACED: where `caller` is; NULL: no file, or not known */
	const cprof_function *function; /* likewise; NULL: has no name */
} cprof_invocation;
/* Who made the call that is entered: known in method_enter and method_begin_invoke,
 * elsewhere false. [cb] */
CPROF_API bool cprof_current_invocation(cprof_invocation *ret);

typedef struct cprof_call_statistics {
	uint64_t hits; /* stops at breakpoints of functions, and in detours that tell by one */
	uint64_t events; /* of them: events */
	uint64_t rejected_inside; /* jumps that stayed inside of their function */
	uint64_t rejected_condition; /* the condition did not hold */
	uint64_t rejected_late; /* on a breakpoint just removed */
	uint64_t unmatched; /* leaves of calls entered before tracing began */
	uint64_t functions, sites; /* armed */
	uint64_t trap_ns; /* what a stop takes unseen: the median of those measured */
	uint64_t trap_low_ns, trap_high_ns; /* a tenth takes less than this, a tenth more */
	uint64_t traps; /* how many were measured */
	uint64_t fast_functions; /* with detours; */
	uint64_t records, records_lost; /* told by those, and dropped because there was no room */
	uint64_t fast_sites; /* of `sites`, those with detours */
	/* What a call by detours takes more, by a trial when tracing began, where nobody read what
	 * was written; and how much of it lies between the times of its entry and exit. 0: not
	 * known. */
	uint64_t detour_ns, detour_within_ns;
	/* Of `records`: what pointers lead to was not read, for the program might have been
	 * alone by then. */
	uint64_t records_unread;
	/* Calls whose condition could not be evaluated: it named what they had not, or led to
	 * where nothing could be read. They are no events, and not among `rejected_condition`. */
	uint64_t condition_unknown;
} cprof_call_statistics;
CPROF_API void cprof_get_call_statistics(cprof_call_statistics *ret);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof/fetch.h - bytes that calls bring along, by the calling convention alone.
 *
 * A profiler that knows what a function takes says once what of it is to be copied when
 * that is called: "the string at argument 1", "16 bytes at argument 0", "64 bytes at the
 * result". It is copied in the program at that moment, by a detour or at the stop, as
 * arguments with types are: the thread is not held, no debug information is asked for, and
 * the callback reads bytes that nobody can have changed since.
 *
 *     static const cprof_fetch path = { .kind = CPROF_FETCH_STRING, .argument = 1, .size = 200 };
 *
 *     number = cprof_profiler_fetch(handle, spec, &path);                     in its init function
 *     text = cprof_call_context_fetched(context, number, NULL);               in method_enter
 */
#ifndef CPROF_FETCH_H
#define CPROF_FETCH_H

#include <cprof/calls.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_fetch_kind {
	CPROF_FETCH_VALUE = 0, /* the argument or result itself: 8 bytes */
	CPROF_FETCH_BYTES = 1, /* `size` bytes where it points */
	CPROF_FETCH_STRING = 2 /* the same up to a NUL, which is there even if the program's was
				  further away */
} cprof_fetch_kind;

#define CPROF_FETCH_RESULT (-1)
#define CPROF_FETCH_SIZE_MAX 4096u
#define CPROF_FETCH_STEPS_MAX 2u

typedef struct cprof_fetch {
	cprof_fetch_kind kind;
	/* From 0, among integers and pointers, as the calling convention passes them: `this`
	 * is argument 0, and so is the address of a result that is returned in memory. Floating
	 * point and structures by value don't count. Or CPROF_FETCH_RESULT: an integer or a
	 * pointer. */
	int32_t argument;
	uint32_t size; /* BYTES, STRING: at most so many, up to CPROF_FETCH_SIZE_MAX */
	/* BYTES, STRING: from pointer to pointer. At offsets[0] from the argument stands the
	 * next one, ..., and at offsets[steps] from the last, what is fetched:
	 * { .argument = 0, .steps = 1, .offsets = { 8, 0 } } is where a->second points. */
	uint32_t steps; /* up to CPROF_FETCH_STEPS_MAX */
	int32_t offsets[CPROF_FETCH_STEPS_MAX + 1];
	/* Of an argument: what is there when the function is left, which is read while the
	 * thread stands still. All else comes from the entry. */
	bool late;
} cprof_fetch;

/* Copies that at calls of all functions that are traced (cprof_profiler_trace(), a filter)
 * and that `spec` matches. Returns the number, from 0, by which it is asked for, or a
 * negative cprof_status: INVALID_ARGUMENT, CALL_ONLY_FROM_INIT, OUT_OF_MEMORY. Arguments
 * can be had in method_enter and method_leave, `late` ones and the result in method_leave;
 * in both, calls of these functions have a context whatever their flags say. [init] */
CPROF_API int cprof_profiler_fetch(cprof_profiler_handle handle, const cprof_callspec *spec,
				   const cprof_fetch *what);

/* What was copied: 8-aligned, with a NUL behind it; *size_ret, if not NULL: how many bytes
 * without that. Fewer than asked for where the program can't read there either. NULL, and 0:
 * nothing, because the pointer leads nowhere, the function is not among them, or nothing of
 * that number comes with this event (cprof_profiler_call_context_error(): UNREADABLE,
 * NOT_FOUND). [cb] */
CPROF_API const void *cprof_call_context_fetched(cprof_call_context *context, int number,
						 size_t *size_ret);
/* The number that a CPROF_FETCH_VALUE copied; 0: none. [cb] */
CPROF_API uint64_t cprof_call_context_fetched_value(cprof_call_context *context, int number);

#ifdef __cplusplus
}
#endif
#endif

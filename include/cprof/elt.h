/* SPDX-License-Identifier: MIT
 *
 * cprof/elt.h - enter, leave and tail call hooks after the CLR's ELT3, on top
 * of the method_* events of cprof/profiler.h.
 *
 * Without an id mapper the functions of the program are hooked, those of its
 * libraries are not. Other than with the CLR, hooks may be used on a process
 * that was attached to, and it is let go without them (small executable areas
 * stay mapped, and are used again).
 */
#ifndef CPROF_ELT_H
#define CPROF_ELT_H

#include <cprof/process.h>
#include <cprof/profiler.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Event mask, the CLR's values. IMMUTABLE bits can only be changed before
 * start-up is done. */
#define CPROF_MONITOR_NONE UINT64_C(0)
/* The CLR's bits for what registering a callback asks for here: kept, without effect. */
#define CPROF_MONITOR_MODULE_LOADS UINT64_C(0x4)
#define CPROF_MONITOR_JIT_COMPILATION UINT64_C(0x20)
#define CPROF_MONITOR_EXCEPTIONS UINT64_C(0x40)
#define CPROF_MONITOR_OBJECT_ALLOCATED UINT64_C(0x100)
#define CPROF_MONITOR_THREADS UINT64_C(0x200)
#define CPROF_MONITOR_CODE_TRANSITIONS UINT64_C(0x800)
#define CPROF_MONITOR_SUSPENDS UINT64_C(0x10000)
#define CPROF_ENABLE_OBJECT_ALLOCATED UINT64_C(0x800000)
#define CPROF_MONITOR_ENTERLEAVE UINT64_C(0x1000)
#define CPROF_ENABLE_FUNCTION_ARGS UINT64_C(0x2000000) /* slow path */
#define CPROF_ENABLE_FUNCTION_RETVAL UINT64_C(0x4000000) /* slow path */
#define CPROF_ENABLE_FRAME_INFO UINT64_C(0x8000000) /* slow path */
/* Walks in the hooks; not slow path. Set late: of images loaded from then on. */
#define CPROF_ENABLE_STACK_SNAPSHOT UINT64_C(0x10000000)
#define CPROF_SLOW_PATH_FLAGS \
	(CPROF_ENABLE_FUNCTION_ARGS | CPROF_ENABLE_FUNCTION_RETVAL | CPROF_ENABLE_FRAME_INFO)
#define CPROF_MONITOR_IMMUTABLE \
	(CPROF_MONITOR_CODE_TRANSITIONS | CPROF_ENABLE_OBJECT_ALLOCATED | CPROF_SLOW_PATH_FLAGS)

/* The function, or the value that the id mapper returned for it. */
typedef union cprof_function_or_client_id {
	const cprof_function *function;
	uintptr_t client_id;
} cprof_function_or_client_id;

typedef struct cprof_elt_info cprof_elt_info; /* [cb] */

/* Fast path: the function only, one stop without registers. The tail call
 * hook gets the function that jumps away. */
typedef void (*cprof_function_enter3_fn)(cprof_function_or_client_id id);
typedef void (*cprof_function_leave3_fn)(cprof_function_or_client_id id);
typedef void (*cprof_function_tailcall3_fn)(cprof_function_or_client_id id);
/* Slow path: with a handle for the functions below. */
typedef void (*cprof_function_enter3_with_info_fn)(cprof_function_or_client_id id,
						   cprof_elt_info *info);
typedef void (*cprof_function_leave3_with_info_fn)(cprof_function_or_client_id id,
						   cprof_elt_info *info);
typedef void (*cprof_function_tailcall3_with_info_fn)(cprof_function_or_client_id id,
						      cprof_elt_info *info);

/* CALL_ONLY_FROM_INIT: an IMMUTABLE bit would change too late.
 * INCONSISTENT_WITH_FLAGS: hooks are set that the mask would not fit: fast
 * ones and a slow-path bit, slow ones and none, or ENTERLEAVE cleared.
 * CLR: SetEventMask, GetEventMask. */
CPROF_API cprof_status cprof_set_event_mask(cprof_profiler_handle handle, uint64_t mask);
CPROF_API cprof_status cprof_get_event_mask(cprof_profiler_handle handle, uint64_t *mask);

/* Sets fast hooks, some of which may be NULL; all NULL: INVALID_ARGUMENT.
 * INCONSISTENT_WITH_FLAGS while a slow-path bit is set. They replace the hooks set
 * before, slow ones too. [init] CLR: SetEnterLeaveFunctionHooks3. */
CPROF_API cprof_status cprof_set_enter_leave_function_hooks3(cprof_profiler_handle handle,
							     cprof_function_enter3_fn enter,
							     cprof_function_leave3_fn leave,
							     cprof_function_tailcall3_fn tailcall);
/* Sets slow hooks likewise: INCONSISTENT_WITH_FLAGS while no slow-path bit is set
 * (ENABLE_STACK_SNAPSHOT is none). [init] */
CPROF_API cprof_status cprof_set_enter_leave_function_hooks3_with_info(
	cprof_profiler_handle handle, cprof_function_enter3_with_info_fn enter,
	cprof_function_leave3_with_info_fn leave, cprof_function_tailcall3_with_info_fn tailcall);

/* Decides for a function, when its image is loaded, whether it is hooked and
 * by what id the hooks know it (0: by the function itself). Called at least
 * once for each; the answers must agree. Settable once: after
 * that UNSUPPORTED_CALL_SEQUENCE. [init]
 * CLR: SetFunctionIDMapper2. */
typedef uintptr_t (*cprof_function_id_mapper2_fn)(const cprof_function *function, void *client_data,
						  bool *hook);
CPROF_API cprof_status cprof_set_function_id_mapper2(cprof_profiler_handle handle,
						     cprof_function_id_mapper2_fn mapper,
						     void *client_data);

#define CPROF_RANGE_SPILLED UINT32_C(1) /* captured: read it with cprof_read_range() */
#define CPROF_RANGE_INDIRECT UINT32_C(2) /* passed by invisible reference; these are its bytes */
#define CPROF_RANGE_UNKNOWN UINT32_C(4) /* no debug information: a raw argument register */
typedef struct cprof_function_argument_range {
	cprof_addr start; /* in the process; of a SPILLED one: in this event's captures */
	uint32_t length; /* bytes */
	uint32_t flags; /* CPROF_RANGE_* */
} cprof_function_argument_range;

typedef struct cprof_function_argument_info {
	uint32_t num_ranges; /* left to right, `this` first */
	uint32_t total_argument_size; /* sum of their lengths */
	cprof_function_argument_range ranges[1]; /* num_ranges of them */
} cprof_function_argument_info;

/* Only in the slow-path hook of that kind, with the info that it got; else
 * UNSUPPORTED_CALL_SEQUENCE. *size: in, bytes at `arguments`; out, bytes needed
 * (INSUFFICIENT_BUFFER when there are too few; ask with 0 and NULL). What its
 * ENABLE flag did not ask for is empty: no ranges, length 0, *frame NULL. */
CPROF_API cprof_status cprof_get_function_enter3_info(const cprof_function *function,
						      cprof_elt_info *info,
						      const cprof_frame_info **frame, size_t *size,
						      cprof_function_argument_info *arguments);
CPROF_API cprof_status cprof_get_function_leave3_info(const cprof_function *function,
						      cprof_elt_info *info,
						      const cprof_frame_info **frame,
						      cprof_function_argument_range *retval);
CPROF_API cprof_status cprof_get_function_tailcall3_info(const cprof_function *function,
							 cprof_elt_info *info,
							 const cprof_frame_info **frame);
/* Copies the bytes of a range, at most `size`. UNREADABLE: it has none,
 * as one of no length (of void), or was not captured. [cb] */
CPROF_API cprof_status cprof_read_range(const cprof_elt_info *info,
					const cprof_function_argument_range *range, void *buffer,
					size_t size);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof/types.h - versions, results and opaque handles of cprof's API.
 */
#ifndef CPROF_TYPES_H
#define CPROF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Incremented at every breaking change of these headers. */
#ifndef CPROF_PROFILER_API_VERSION
#define CPROF_PROFILER_API_VERSION 1
#endif

#define CPROF_VERSION_MAJOR 0
#define CPROF_VERSION_MINOR 1
#define CPROF_VERSION_PATCH 0
#define CPROF_VERSION "0.1.0"

#define CPROF_API __attribute__((visibility("default")))
#define CPROF_WARN_UNUSED __attribute__((warn_unused_result))

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t cprof_addr; /* an address in the profiled process */

typedef struct cprof_profiler cprof_profiler; /* defined by each module */
typedef struct cprof_profiler_desc *cprof_profiler_handle;

typedef struct cprof_session cprof_session; /* one controller */
typedef struct cprof_process cprof_process; /* "domain": one exec image of one process */
typedef struct cprof_thread cprof_thread;
typedef struct cprof_image cprof_image; /* one mapping of an ELF object */
typedef struct cprof_function cprof_function; /* "method": a function of an image */
typedef struct cprof_frame_info cprof_frame_info; /* [cb] */

/* Results. Negative values are errors; each names the CLR code it stands for. */
typedef enum cprof_status {
	CPROF_OK = 0, /* S_OK */
	CPROF_E_FAIL = -1, /* E_FAIL: e.g. not one known frame on the stack */
	CPROF_E_INVALID_ARGUMENT = -2, /* E_INVALIDARG */
	CPROF_E_UNEXPECTED = -3, /* E_UNEXPECTED: seed pointed into unreadable memory */
	CPROF_E_OUT_OF_MEMORY = -4, /* E_OUTOFMEMORY */
	CPROF_E_NOT_SUPPORTED = -5, /* E_NOTIMPL: no such thing in native code */
	CPROF_E_INSUFFICIENT_BUFFER = -6, /* the needed size was stored */
	CPROF_E_CALL_ONLY_FROM_INIT = -7, /* CORPROF_E_CALL_ONLY_FROM_INIT: too late */
	CPROF_E_INCONSISTENT_WITH_FLAGS = -8, /* CORPROF_E_INCONSISTENT_WITH_FLAGS */
	CPROF_E_UNSUPPORTED_CALL_SEQUENCE = -9, /* outside its callback, or wrong thread */
	CPROF_E_STACKSNAPSHOT_ABORTED = -10, /* the callback asked to stop */
	CPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD = -11, /* no such thread, or it has exited */
	CPROF_E_STACKSNAPSHOT_UNMANAGED_CTX = -12, /* seed does not point into known code */
	CPROF_E_STACKSNAPSHOT_UNSAFE = -13, /* thread cannot be stopped now (vfork, D state) */
	CPROF_E_DATA_INCOMPLETE = -14, /* CORPROF_E_DATAINCOMPLETE: no address yet */
	CPROF_E_LITERALS_HAVE_NO_ADDRESS = -15, /* it is a constant */
	CPROF_E_CLASS_IS_ARRAY = -16, /* CORPROF_E_CLASSID_IS_ARRAY */
	CPROF_E_CLASS_IS_STRING = -17, /* the layout of a string */
	CPROF_E_NO_DEBUG_INFO = -18, /* none for this function or type */
	CPROF_E_OPTIMIZED_OUT = -19, /* the value does not exist here */
	CPROF_E_UNREADABLE = -20, /* memory of the process is not readable */
	CPROF_E_NOT_FOUND = -21, /* module, symbol or type not found */
	CPROF_E_API_VERSION = -22, /* module built against another API version */
	CPROF_E_PERMISSION = -23, /* ptrace refused (Yama, credentials, already traced) */
	CPROF_E_GONE = -24 /* the process has exited */
} cprof_status;

/* Static, English description of `status`. */
CPROF_API const char *cprof_status_string(cprof_status status);

#ifdef __cplusplus
}
#endif
#endif

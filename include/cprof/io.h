/* SPDX-License-Identifier: MIT
 *
 * cprof/io.h - what the program reads and writes.
 *
 * fileio (cprof/events.h) comes from breakpoints in the C library's functions that
 * transfer bytes from or to a descriptor: read(), write(), pread(), readv(), recv(),
 * sendmsg(), recvmmsg(), sendfile(), splice(), copy_file_range() and their like, when
 * they return and have transferred something. stdio and streams come to them, too; what
 * goes from one descriptor to another is read and written. Not seen: what musl's stdio
 * writes and reads (it makes the system calls itself), memory-mapped files, io_uring
 * and aio, and programs that make system calls without a C library, or with one that
 * has no names left. What glibc's dynamic linker reads is its own.
 *
 * Two stops a call. The stack is captured: walk it with
 * cprof_do_stack_snapshot(cprof_current_thread(), ...). Times: cprof_current_call().
 */
#ifndef CPROF_IO_H
#define CPROF_IO_H

#include <cprof/functions.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cprof_fileio_kind { /* `kind` of fileio */
				 CPROF_FILEIO_READ = 0,
				 CPROF_FILEIO_WRITE = 1
} cprof_fileio_kind;

/* Without this call there is no fileio event. A function with more of them in a second
 * than cprof_profiler_set_max_rate() has for named functions is not watched any more,
 * with a method_disarmed. False: too late. [init] Mono: mono_profiler_enable_fileio. */
CPROF_API bool cprof_profiler_enable_fileio(void);

/* More of the event being delivered. [cb] */
typedef struct cprof_io {
	const cprof_function *function; /* the one that the program called; NULL: not known */
	int fd; /* the process's number for what was read or written */
	uint64_t begin_ns; /* monotonic: when the function was called */
} cprof_io;
CPROF_API bool cprof_current_io(cprof_io *ret);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof/trace.h - annotations: what the program itself has to say.
 *
 *     #include <cprof/trace.h>
 *
 *     void load(const char *file)
 *     {
 *             CPROF_TRACE_SCOPE("load");
 *             ...
 *             CPROF_TRACE_COUNTER("queued", n);
 *     }
 *
 * Including it is all there is to do: any number of files, C99 or C++11, no
 * library, no file that "implements" it (CPROF_TRACE_IMPLEMENTATION is accepted
 * and means nothing). Each executable and each shared library that is annotated
 * has a ring of its own. With CPROF_TRACE_DISABLE defined all of it compiles to
 * nothing, and no symbol is defined or referenced.
 *
 * The data model is Chrome tracing's: BEGIN and END of spans on a thread,
 * INSTANT, START and FINISH of async spans, COUNTER, FIBER_SWITCH. Events go
 * into a lock-free ring in the memory of *this* process; nothing is ever sent.
 * `cprof run --annotations` and `cprof attach --annotations` find the ring
 * through an ELF note (it survives strip), set one bit in it to turn recording
 * on, and copy the events out.
 *
 * While nobody records, an annotation is one load and one predicted branch; no
 * memory is allocated, no thread is started, no system call is made. While
 * somebody does, the first event maps the ring: 16384 events, or as many as the
 * environment variable CPROF_TRACE_EVENTS says.
 *
 * Strings are not copied, their addresses are recorded. `name`, `category` and
 * `object` must live as long as the program or library does (literals,
 * __func__, __FILE__), or come from cprof_trace_intern().
 *
 * "Async safe": may be called in signal handlers. All that record are.
 * Any thread may record at any time; a child of fork() goes on in a copy of the
 * ring that is its own.
 */
#ifndef CPROF_TRACE_H
#define CPROF_TRACE_H

#include <cprof/trace_format.h>

/* Incremented at every breaking change of this header. */
#define CPROF_TRACE_API_VERSION 1

/* Events that the ring holds (rounded down to a power of two) unless
 * cprof_trace_init() or the environment say otherwise. */
#ifndef CPROF_TRACE_DEFAULT_CAPACITY
#define CPROF_TRACE_DEFAULT_CAPACITY 16384u
#endif

#ifndef CPROF_TRACE_DISABLE
#include <cprof/trace_impl.h>
#else
#include <cprof/trace_disabled.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* In trace_impl.h, or as empty shells in trace_disabled.h:
 *
 * bool cprof_trace_enabled(void);
 *     True while events are recorded: after cprof_trace_set_enabled(true), with
 *     CPROF_TRACE=1 in the environment, or while cprof is attached. Async safe.
 * void cprof_trace_set_enabled(bool on);
 *     The application's own switch. Async safe.
 * bool cprof_trace_init(void *storage, uint32_t capacity);
 *     Sets the ring up, which the first event does otherwise: `capacity` events
 *     (rounded down to a power of two) in `storage` (64-byte aligned, capacity
 *     * 64 bytes, private memory, the caller's until shutdown), or in memory of
 *     its own if NULL. False: `capacity` < 2, misaligned, no memory, or there
 *     is a ring.
 * void cprof_trace_shutdown(void);
 *     Stops recording and drops the ring. Interned strings stay. No thread may
 *     be recording meanwhile. While cprof records, memory that is not `storage`
 *     stays, too, and recording goes on: what is in there would be lost.
 * const char *cprof_trace_intern(const char *s);
 *     A copy of `s` that stays; equal strings give the same pointer. NULL for
 *     NULL, or without memory. A hash lookup under a lock: keep it out of hot
 *     loops. Works while nothing is recorded. Not async safe.
 * void cprof_trace_submit(const cprof_trace_event *events, uint32_t count);
 *     Records events made elsewhere (a GPU's queue): their `sequence` is
 *     ignored, all the rest is taken as given.
 * void cprof_trace_copy(cprof_trace_event *dest, uint64_t start, uint32_t count,
 *                       uint64_t *actual_start, uint32_t *actual_count);
 *     Copies up to `count` events beginning with index `start`. *actual_start
 *     is greater than `start` if older ones are gone, *actual_count less than
 *     `count` if there are no more.
 * cprof_trace_buffer cprof_trace_get_buffer(void);
 *     The ring itself. Entries may be overwritten at any time: check `sequence`.
 */

/* Begins a span of this thread (or fiber); its id, for cprof_trace_end(), or 0
 * if nothing is recorded. */
CPROF_TRACE_INLINE_ uint64_t cprof_trace_begin(const char *name, const char *category,
					       const char *object)
{
	return cprof_trace_enabled()
		       ? cprof_trace_record(CPROF_TRACE_EVENT_BEGIN, 0, name, category, object, 0)
		       : 0;
}

/* Ends it. Nothing is done for 0. A span that is never ended, ends with the
 * one around it, its thread or its program in what is exported. */
CPROF_TRACE_INLINE_ void cprof_trace_end(uint64_t begin_id)
{
	if (begin_id != 0 && cprof_trace_enabled())
		(void)cprof_trace_record(CPROF_TRACE_EVENT_END, begin_id, CPROF_TRACE_NULL_,
					 CPROF_TRACE_NULL_, CPROF_TRACE_NULL_, 0);
}

CPROF_TRACE_INLINE_ void cprof_trace_instant(const char *name, const char *category,
					     const char *object)
{
	if (cprof_trace_enabled())
		(void)cprof_trace_record(CPROF_TRACE_EVENT_INSTANT, 0, name, category, object, 0);
}

/* Starts an async span, which need not nest and which any thread may finish. */
CPROF_TRACE_INLINE_ uint64_t cprof_trace_start(const char *name, const char *category,
					       const char *object)
{
	return cprof_trace_enabled()
		       ? cprof_trace_record(CPROF_TRACE_EVENT_START, 0, name, category, object, 0)
		       : 0;
}

CPROF_TRACE_INLINE_ void cprof_trace_finish(uint64_t start_id)
{
	if (start_id != 0 && cprof_trace_enabled())
		(void)cprof_trace_record(CPROF_TRACE_EVENT_FINISH, start_id, CPROF_TRACE_NULL_,
					 CPROF_TRACE_NULL_, CPROF_TRACE_NULL_, 0);
}

/* This thread leaves one fiber for another; its open spans go with the fiber. To be
 * called once for each switch, on either side of swapcontext() and the like. */
CPROF_TRACE_INLINE_ void cprof_trace_fiber_switch(uint32_t from_fiber, uint32_t to_fiber)
{
	if (cprof_trace_enabled())
		cprof_trace_record_fiber_switch(from_fiber, to_fiber);
}

/* The value of a counter from now on (extension). */
CPROF_TRACE_INLINE_ void cprof_trace_counter(const char *name, const char *category, int64_t value)
{
	if (cprof_trace_enabled())
		(void)cprof_trace_record(CPROF_TRACE_EVENT_COUNTER, 0, name, category,
					 CPROF_TRACE_NULL_, value);
}

/* What this thread, or a fiber, is called in what is exported (extension). */
CPROF_TRACE_INLINE_ void cprof_trace_thread_name(const char *name)
{
	if (cprof_trace_enabled())
		(void)cprof_trace_record(CPROF_TRACE_EVENT_THREAD_NAME, 0, name, CPROF_TRACE_NULL_,
					 CPROF_TRACE_NULL_, 0);
}

CPROF_TRACE_INLINE_ void cprof_trace_fiber_name(uint32_t fiber, const char *name)
{
	if (cprof_trace_enabled())
		(void)cprof_trace_record(CPROF_TRACE_EVENT_FIBER_NAME, fiber, name,
					 CPROF_TRACE_NULL_, CPROF_TRACE_NULL_, 0);
}

#ifdef __cplusplus
}
#endif

#include <cprof/trace_scope.h>

#endif

/* SPDX-License-Identifier: MIT
 *
 * cprof/trace_disabled.h - what cprof/trace.h is with CPROF_TRACE_DISABLE: the
 * same names, no code, no symbols.
 */
#ifndef CPROF_TRACE_DISABLED_H
#define CPROF_TRACE_DISABLED_H

#include <cprof/trace_format.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CPROF_TRACE_INLINE_ static inline

static inline bool cprof_trace_enabled(void)
{
	return false;
}

static inline void cprof_trace_set_enabled(bool on)
{
	(void)on;
}

static inline bool cprof_trace_init(void *storage, uint32_t capacity)
{
	(void)storage;
	(void)capacity;
	return false;
}

static inline void cprof_trace_shutdown(void)
{
}

static inline const char *cprof_trace_intern(const char *s)
{
	return s;
}

static inline void cprof_trace_submit(const cprof_trace_event *events, uint32_t count)
{
	(void)events;
	(void)count;
}

static inline void cprof_trace_copy(cprof_trace_event *dest, uint64_t start, uint32_t count,
				    uint64_t *actual_start, uint32_t *actual_count)
{
	(void)dest;
	(void)count;
	*actual_start = start;
	*actual_count = 0;
}

static inline cprof_trace_buffer cprof_trace_get_buffer(void)
{
	cprof_trace_buffer none = {
		0, { 0, 0 }, { CPROF_TRACE_NULL_, CPROF_TRACE_NULL_ }, { 0, 0 }
	};

	return none;
}

static inline uint64_t cprof_trace_record(uint32_t type, uint64_t id, const char *name,
					  const char *category, const char *object, int64_t value)
{
	(void)type;
	(void)id;
	(void)name;
	(void)category;
	(void)object;
	(void)value;
	return 0;
}

static inline void cprof_trace_record_fiber_switch(uint32_t from_fiber, uint32_t to_fiber)
{
	(void)from_fiber;
	(void)to_fiber;
}

#ifdef __cplusplus
}
#endif
#endif

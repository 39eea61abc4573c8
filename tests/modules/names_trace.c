/* SPDX-License-Identifier: MIT
 *
 * What cprof/trace.h brings in: every name, with its type or value. One that
 * goes or changes breaks who uses it: let it be meant, and told by
 * CPROF_TRACE_API_VERSION.
 */
#include <cprof/trace.h>

/* clang-format off */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define CONSTANT(name, value) typedef char c_##name[(name) == (value) ? 1 : -1];
#define TYPE(name) extern name *CAT(t_, __LINE__);
#define FIELD(type, name, size) \
	typedef char CAT(m_, __LINE__)[sizeof(((type *)0)->name) == (size) ? 1 : -1];
#define VARIABLE(type, name) type *v_##name = &name;
#define FUNCTION(result, name, ...) result (*f_##name)(__VA_ARGS__) = name;
/* Two declarations of one thing have to agree. */
#define CALLBACK(result, name, ...) extern name k_##name; extern result (*k_##name)(__VA_ARGS__);

#if !defined(CPROF_TRACE_API_VERSION) || \
	!defined(CPROF_TRACE_BEGIN_FUNC_SCOPE) || \
	!defined(CPROF_TRACE_BEGIN_FUNC_SCOPE_WITH_OBJECT) || \
	!defined(CPROF_TRACE_END_FUNC_SCOPE) || \
	!defined(CPROF_TRACE_END_FUNC_SCOPE_WITH) || \
	!defined(CPROF_TRACE_BEGIN_LOCAL_SCOPE) || \
	!defined(CPROF_TRACE_END_LOCAL_SCOPE) || \
	!defined(CPROF_TRACE_INSTANT) || \
	!defined(CPROF_TRACE_COUNTER) || \
	!defined(CPROF_TRACE_SCOPE)
#error "a macro is missing"
#endif

CONSTANT(CPROF_TRACE_EVENT_BEGIN, 0)
CONSTANT(CPROF_TRACE_EVENT_END, 1)
CONSTANT(CPROF_TRACE_EVENT_INSTANT, 2)
CONSTANT(CPROF_TRACE_EVENT_START, 3)
CONSTANT(CPROF_TRACE_EVENT_FINISH, 4)
CONSTANT(CPROF_TRACE_EVENT_FIBER_SWITCH, 5)
CONSTANT(CPROF_TRACE_EVENT_COUNTER, 6)
CONSTANT(CPROF_TRACE_EVENT_THREAD_NAME, 7)
CONSTANT(CPROF_TRACE_EVENT_FIBER_NAME, 8)
CONSTANT(CPROF_TRACE_ABI_VERSION, 1)
CONSTANT(CPROF_TRACE_MAGIC, INT64_C(0x315254464f525043))
CONSTANT(CPROF_TRACE_NOTE_TYPE, 1413698128)
CONSTANT(CPROF_TRACE_DEFAULT_CAPACITY, 16384)
CONSTANT(CPROF_TRACE_ENABLED_BY_APP, 1)
CONSTANT(CPROF_TRACE_ENABLED_BY_CONTROLLER, 2)

TYPE(cprof_trace_event_type)
TYPE(cprof_trace_event)
TYPE(cprof_trace_buffer)
TYPE(cprof_trace_root)
TYPE(enum cprof_trace_event_type)
TYPE(struct cprof_trace_event)
TYPE(struct cprof_trace_buffer)
TYPE(struct cprof_trace_root)

FIELD(struct cprof_trace_event, sequence, 8)
FIELD(struct cprof_trace_event, type, 4)
FIELD(struct cprof_trace_event, thread_id, 4)
FIELD(struct cprof_trace_event, timestamp, 8)
FIELD(struct cprof_trace_event, u.span.id, 8)
FIELD(struct cprof_trace_event, u.span.category, 8)
FIELD(struct cprof_trace_event, u.span.name, 8)
FIELD(struct cprof_trace_event, u.span.object, 8)
FIELD(struct cprof_trace_event, u.span.value, 8)
FIELD(struct cprof_trace_event, u.fiber.from_fiber, 4)
FIELD(struct cprof_trace_event, u.fiber.to_fiber, 4)
FIELD(struct cprof_trace_event, u.fiber.reserved, 32)
FIELD(struct cprof_trace_buffer, total_recorded, 8)
FIELD(struct cprof_trace_buffer, start, 16)
FIELD(struct cprof_trace_buffer, events, 16)
FIELD(struct cprof_trace_buffer, count, 8)
FIELD(struct cprof_trace_root, magic, 8)
FIELD(struct cprof_trace_root, version, 4)
FIELD(struct cprof_trace_root, root_size, 4)
FIELD(struct cprof_trace_root, event_size, 4)
FIELD(struct cprof_trace_root, capacity, 4)
FIELD(struct cprof_trace_root, enabled, 4)
FIELD(struct cprof_trace_root, clock_id, 4)
FIELD(struct cprof_trace_root, events, 8)
FIELD(struct cprof_trace_root, head, 8)
FIELD(struct cprof_trace_root, next_id, 8)
FIELD(struct cprof_trace_root, generation, 8)
FIELD(struct cprof_trace_root, pid, 4)
FIELD(struct cprof_trace_root, reserved, 4)

#ifndef CPROF_TRACE_DISABLE
VARIABLE(cprof_trace_root, cprof_trace_root_v1)
#endif
FUNCTION(bool, cprof_trace_enabled, void)
FUNCTION(bool, cprof_trace_init, void *, uint32_t)
FUNCTION(void, cprof_trace_shutdown, void)
FUNCTION(void, cprof_trace_set_enabled, bool)
FUNCTION(const char *, cprof_trace_intern, const char *)
FUNCTION(void, cprof_trace_submit, const cprof_trace_event *, uint32_t)
FUNCTION(void, cprof_trace_copy, cprof_trace_event *, uint64_t, uint32_t, uint64_t *, uint32_t *)
FUNCTION(cprof_trace_buffer, cprof_trace_get_buffer, void)
FUNCTION(uint64_t, cprof_trace_record, uint32_t, uint64_t, const char *, const char *, const char *, int64_t)
FUNCTION(void, cprof_trace_record_fiber_switch, uint32_t, uint32_t)
FUNCTION(uint64_t, cprof_trace_begin, const char *, const char *, const char *)
FUNCTION(void, cprof_trace_end, uint64_t)
FUNCTION(void, cprof_trace_instant, const char *, const char *, const char *)
FUNCTION(uint64_t, cprof_trace_start, const char *, const char *, const char *)
FUNCTION(void, cprof_trace_finish, uint64_t)
FUNCTION(void, cprof_trace_fiber_switch, uint32_t, uint32_t)
FUNCTION(void, cprof_trace_counter, const char *, const char *, int64_t)
FUNCTION(void, cprof_trace_thread_name, const char *)
FUNCTION(void, cprof_trace_fiber_name, uint32_t, const char *)

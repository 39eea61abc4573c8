/* SPDX-License-Identifier: MIT
 *
 * ELT3: enter, leave and tail call hooks in the CLR's manner. A profiler that uses them
 * gets a second profiler beside it, which takes method_* events and calls the hooks;
 * what the CLR's rules refuse is refused here.
 */
#include "engine/api/elt.h"

#include <cprof/elt.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls/context.h"
#include "engine/frames/frame.h"
#include "engine/frames/frame_values.h"
#include "engine/probes/sites.h"
#include "engine/target/live.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

enum kind { ENTER, LEAVE, TAIL_CALL };

/* What a cprof_elt_info stands for. */
struct elt_info {
	enum kind kind;
	const struct engine_elt *elt;
	const cprof_function *function;
	cprof_call_context *context; /* NULL: nothing was captured */
	const cprof_frame_info *frame_handle;
	struct engine_frame frame_info;
	struct cp_frame frame;
};

struct engine_elt {
	cprof_profiler_handle adapter; /* NULL: no hooks yet */
	cprof_callspec *program; /* what is hooked without a mapper */
	uint64_t mask;
	bool fast, slow;
	cprof_function_enter3_fn enter;
	cprof_function_leave3_fn leave;
	cprof_function_tailcall3_fn tail_call;
	cprof_function_enter3_with_info_fn enter_info;
	cprof_function_leave3_with_info_fn leave_info;
	cprof_function_tailcall3_with_info_fn tail_call_info;
	cprof_function_id_mapper2_fn mapper;
	void *mapper_data;
	struct cp_map ids; /* cprof_function * -> what the mapper said */
	struct cp_map hooked; /* cprof_function * -> is it hooked? Asked once for each */
};

/* cprof_profiler of the adapter. */
struct cprof_profiler {
	struct engine_elt elt;
};

static struct engine_elt *elt_of(cprof_profiler_handle handle)
{
	if (!handle->elt)
		handle->elt = calloc(1, sizeof(*handle->elt));
	return handle->elt;
}

void engine_elt_free(struct engine_elt *elt)
{
	if (!elt)
		return;
	cprof_callspec_free(elt->program);
	cp_map_free(&elt->ids);
	cp_map_free(&elt->hooked);
	free(elt);
}

static bool too_late(void)
{
	return !engine_may_ask(cprof_session_current());
}

/* ---- hooks ---- */

/* Is the function hooked? Its events come also where only another profiler wants them. */
static bool is_hooked(struct engine_elt *elt, const cprof_function *function)
{
	uint64_t *known = cp_map_get(&elt->hooked, (uintptr_t)function);
	bool hook = true;
	uintptr_t id;

	if (known)
		return *known;
	if (elt->mapper) {
		id = elt->mapper(function, elt->mapper_data, &hook);
		if (hook && id)
			cp_map_put(&elt->ids, (uintptr_t)function, id);
	} else {
		hook = elt->program && cprof_callspec_match(elt->program, function);
	}
	cp_map_put(&elt->hooked, (uintptr_t)function, hook);
	return hook;
}

static unsigned filter(cprof_profiler *prof, const cprof_function *function)
{
	struct engine_elt *elt = &prof->elt;
	unsigned flags = CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE |
			 CPROF_CALL_INSTRUMENTATION_TAIL_CALL;

	if (!(elt->mask & CPROF_MONITOR_ENTERLEAVE) || !is_hooked(elt, function))
		return 0;
	if (elt->mask & (CPROF_ENABLE_FUNCTION_ARGS | CPROF_ENABLE_FRAME_INFO))
		flags |= CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT;
	if (elt->mask & (CPROF_ENABLE_FUNCTION_RETVAL | CPROF_ENABLE_FRAME_INFO))
		flags |= CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT;
	if (elt->mask & CPROF_ENABLE_STACK_SNAPSHOT)
		flags |= CPROF_CALL_INSTRUMENTATION_STACK;
	return flags;
}

static cprof_function_or_client_id id_of(const struct engine_elt *elt, const cprof_function *f)
{
	uint64_t *known = cp_map_get(&elt->ids, (uintptr_t)f);

	if (known)
		return (cprof_function_or_client_id){ .client_id = (uintptr_t)*known };
	return (cprof_function_or_client_id){ .function = f };
}

static void slow(struct engine_elt *elt, enum kind kind, const cprof_function *f,
		 cprof_call_context *context)
{
	cprof_session *s = cprof_session_current();
	struct elt_info info = {
		.kind = kind,
		.elt = elt,
		.function = f,
		.context = context,
		.frame = { .pc = { s->current.capture.pc },
			   .cfa = { s->calls->current.cfa },
			   .flags = CP_FRAME_EXACT_PC,
			   .regs = s->current.capture.regs },
	};
	const cprof_function_or_client_id id = id_of(elt, f);
	cprof_elt_info *handle = engine_live_begin(s, ENGINE_LIVE_ELT, &info);

	info.frame_info = (struct engine_frame){
		.session = s,
		.image = f->image,
		.address = info.frame.pc.v - f->image->bias,
		.frame = &info.frame,
		.function = f,
		.run_length = 1,
		.thread = s->current.thread,
		.capture = &s->current.capture,
	};
	info.frame_handle = engine_live_begin(s, ENGINE_LIVE_FRAME, &info.frame_info);
	if (kind == ENTER && elt->enter_info)
		elt->enter_info(id, handle);
	else if (kind == LEAVE && elt->leave_info)
		elt->leave_info(id, handle);
	else if (kind == TAIL_CALL && elt->tail_call_info)
		elt->tail_call_info(id, handle);
	engine_live_end(s, handle);
	engine_frame_end(&info.frame_info);
}

static void on_enter(cprof_profiler *prof, const cprof_function *f, cprof_call_context *context)
{
	if (!is_hooked(&prof->elt, f))
		return;
	if (prof->elt.slow)
		slow(&prof->elt, ENTER, f, context);
	else if (prof->elt.enter)
		prof->elt.enter(id_of(&prof->elt, f));
}

static void on_leave(cprof_profiler *prof, const cprof_function *f, cprof_call_context *context)
{
	if (!is_hooked(&prof->elt, f))
		return;
	if (prof->elt.slow)
		slow(&prof->elt, LEAVE, f, context);
	else if (prof->elt.leave)
		prof->elt.leave(id_of(&prof->elt, f));
}

static void on_tail_call(cprof_profiler *prof, const cprof_function *f,
			 const cprof_function *target)
{
	(void)target;
	if (!is_hooked(&prof->elt, f))
		return;
	if (prof->elt.slow)
		slow(&prof->elt, TAIL_CALL, f, NULL);
	else if (prof->elt.tail_call)
		prof->elt.tail_call(id_of(&prof->elt, f));
}

/* Makes the second profiler, when there is none yet. */
static cprof_status adapt(struct engine_elt *elt)
{
	if (elt->adapter)
		return CPROF_OK;
	elt->program = cprof_callspec_parse("program", NULL);
	elt->adapter = cprof_profiler_create((cprof_profiler *)elt);
	if (!elt->adapter || !elt->program)
		return CPROF_E_OUT_OF_MEMORY;
	cprof_profiler_set_call_instrumentation_filter_callback(elt->adapter, filter);
	cprof_profiler_set_method_enter_callback(elt->adapter, on_enter);
	cprof_profiler_set_method_leave_callback(elt->adapter, on_leave);
	cprof_profiler_set_method_tail_call_callback(elt->adapter, on_tail_call);
	return CPROF_OK;
}

/* ---- settings ---- */

cprof_status cprof_set_event_mask(cprof_profiler_handle handle, uint64_t mask)
{
	struct engine_elt *elt = handle ? elt_of(handle) : NULL;

	if (!elt)
		return CPROF_E_INVALID_ARGUMENT;
	if ((elt->mask ^ mask) & CPROF_MONITOR_IMMUTABLE && too_late())
		return CPROF_E_CALL_ONLY_FROM_INIT;
	if ((elt->fast || elt->slow) && !(mask & CPROF_MONITOR_ENTERLEAVE))
		return CPROF_E_INCONSISTENT_WITH_FLAGS;
	if ((elt->fast && mask & CPROF_SLOW_PATH_FLAGS) ||
	    (elt->slow && !(mask & CPROF_SLOW_PATH_FLAGS)))
		return CPROF_E_INCONSISTENT_WITH_FLAGS;
	elt->mask = mask;
	if (mask & CPROF_SLOW_PATH_FLAGS && !too_late())
		cprof_profiler_enable_call_context_introspection();
	return CPROF_OK;
}

cprof_status cprof_get_event_mask(cprof_profiler_handle handle, uint64_t *mask)
{
	if (!handle || !mask)
		return CPROF_E_INVALID_ARGUMENT;
	*mask = handle->elt ? handle->elt->mask : CPROF_MONITOR_NONE;
	return CPROF_OK;
}

cprof_status cprof_set_enter_leave_function_hooks3(cprof_profiler_handle handle,
						   cprof_function_enter3_fn enter,
						   cprof_function_leave3_fn leave,
						   cprof_function_tailcall3_fn tailcall)
{
	struct engine_elt *elt = handle ? elt_of(handle) : NULL;

	if (!elt || (!enter && !leave && !tailcall))
		return CPROF_E_INVALID_ARGUMENT;
	if (too_late())
		return CPROF_E_CALL_ONLY_FROM_INIT;
	if (elt->mask & CPROF_SLOW_PATH_FLAGS)
		return CPROF_E_INCONSISTENT_WITH_FLAGS;
	elt->fast = true;
	elt->slow = false;
	elt->enter = enter;
	elt->leave = leave;
	elt->tail_call = tailcall;
	return adapt(elt);
}

cprof_status cprof_set_enter_leave_function_hooks3_with_info(
	cprof_profiler_handle handle, cprof_function_enter3_with_info_fn enter,
	cprof_function_leave3_with_info_fn leave, cprof_function_tailcall3_with_info_fn tailcall)
{
	struct engine_elt *elt = handle ? elt_of(handle) : NULL;

	if (!elt || (!enter && !leave && !tailcall))
		return CPROF_E_INVALID_ARGUMENT;
	if (too_late())
		return CPROF_E_CALL_ONLY_FROM_INIT;
	if (!(elt->mask & CPROF_SLOW_PATH_FLAGS))
		return CPROF_E_INCONSISTENT_WITH_FLAGS;
	elt->fast = false;
	elt->slow = true;
	elt->enter_info = enter;
	elt->leave_info = leave;
	elt->tail_call_info = tailcall;
	return adapt(elt);
}

cprof_status cprof_set_function_id_mapper2(cprof_profiler_handle handle,
					   cprof_function_id_mapper2_fn mapper, void *client_data)
{
	struct engine_elt *elt = handle ? elt_of(handle) : NULL;

	if (!elt || !mapper)
		return CPROF_E_INVALID_ARGUMENT;
	if (too_late())
		return CPROF_E_CALL_ONLY_FROM_INIT;
	if (elt->mapper)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	elt->mapper = mapper;
	elt->mapper_data = client_data;
	return CPROF_OK;
}

/* ---- what a slow hook may ask ---- */

static cprof_status check(const cprof_function *f, const cprof_elt_info *handle, enum kind kind,
			  const struct elt_info **ret)
{
	*ret = engine_live(ENGINE_LIVE_ELT, handle);
	if (!*ret || (*ret)->kind != kind)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	return f == (*ret)->function ? CPROF_OK : CPROF_E_INVALID_ARGUMENT;
}

static void give_frame(const struct elt_info *info, const cprof_frame_info **frame)
{
	if (frame)
		*frame = info->elt->mask & CPROF_ENABLE_FRAME_INFO ? info->frame_handle : NULL;
}

static cprof_function_argument_range range_of(const struct elt_info *info, const void *buffer,
					      int position, bool guessed)
{
	const struct engine_context *x = engine_live(ENGINE_LIVE_CONTEXT, info->context);
	bool indirect = x && x->signature && cp_signature_is_indirect(x->signature, position);

	return (cprof_function_argument_range){
		.start = position < 0 ? 0 : (cprof_addr)position,
		.length = (uint32_t)cprof_profiler_buffer_size(buffer),
		.flags = CPROF_RANGE_SPILLED | (guessed ? CPROF_RANGE_UNKNOWN : 0) |
			 (indirect ? CPROF_RANGE_INDIRECT : 0),
	};
}

cprof_status cprof_get_function_enter3_info(const cprof_function *f, cprof_elt_info *handle,
					    const cprof_frame_info **frame, size_t *size,
					    cprof_function_argument_info *arguments)
{
	const struct elt_info *info;
	cprof_status status = check(f, handle, ENTER, &info);
	size_t count = 0, needed = offsetof(cprof_function_argument_info, ranges), i;

	if (status)
		return status;
	if (!size)
		return CPROF_E_INVALID_ARGUMENT;
	if (info->context && info->elt->mask & CPROF_ENABLE_FUNCTION_ARGS)
		count = cprof_call_context_argument_count(info->context);
	needed += count * sizeof(arguments->ranges[0]);
	give_frame(info, frame);
	if (!arguments || *size < needed) {
		*size = needed;
		return CPROF_E_INSUFFICIENT_BUFFER;
	}
	*size = needed;
	arguments->num_ranges = (uint32_t)count;
	arguments->total_argument_size = 0;
	for (i = 0; i < count; i++) {
		const cprof_value *value = cprof_call_context_argument(info->context, i);
		void *bytes = cprof_profiler_call_context_get_argument(info->context, (uint32_t)i);

		arguments->ranges[i] = range_of(info, bytes, (int)i, value && value->guessed);
		arguments->total_argument_size += arguments->ranges[i].length;
		cprof_profiler_call_context_free_buffer(bytes);
	}
	return CPROF_OK;
}

cprof_status cprof_get_function_leave3_info(const cprof_function *f, cprof_elt_info *handle,
					    const cprof_frame_info **frame,
					    cprof_function_argument_range *retval)
{
	const struct elt_info *info;
	cprof_status status = check(f, handle, LEAVE, &info);
	void *bytes = NULL;

	if (status)
		return status;
	give_frame(info, frame);
	if (!retval)
		return CPROF_OK;
	if (info->context && info->elt->mask & CPROF_ENABLE_FUNCTION_RETVAL)
		bytes = cprof_profiler_call_context_get_result(info->context);
	*retval = range_of(info, bytes, -1, false);
	cprof_profiler_call_context_free_buffer(bytes);
	return CPROF_OK;
}

cprof_status cprof_get_function_tailcall3_info(const cprof_function *f, cprof_elt_info *handle,
					       const cprof_frame_info **frame)
{
	const struct elt_info *info;
	cprof_status status = check(f, handle, TAIL_CALL, &info);

	if (!status)
		give_frame(info, frame);
	return status;
}

cprof_status cprof_read_range(const cprof_elt_info *handle,
			      const cprof_function_argument_range *range, void *buffer, size_t size)
{
	const struct elt_info *info = engine_live(ENGINE_LIVE_ELT, handle);
	void *bytes = NULL;
	size_t got;

	if (!info)
		return CPROF_E_UNSUPPORTED_CALL_SEQUENCE;
	if (!range || !buffer)
		return CPROF_E_INVALID_ARGUMENT;
	if (!(range->flags & CPROF_RANGE_SPILLED))
		return cprof_read_memory(cprof_current_process(), range->start, buffer,
					 size < range->length ? size : range->length, &got);
	if (info->context)
		bytes = info->kind == LEAVE
				? cprof_profiler_call_context_get_result(info->context)
				: cprof_profiler_call_context_get_argument(info->context,
									   (uint32_t)range->start);
	got = cprof_profiler_buffer_size(bytes);
	if (got > range->length) /* none: the event mask did not ask for it */
		got = range->length;
	if (got)
		memcpy(buffer, bytes, got < size ? got : size);
	cprof_profiler_call_context_free_buffer(bytes);
	return got ? CPROF_OK : CPROF_E_UNREADABLE;
}

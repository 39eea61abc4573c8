/* SPDX-License-Identifier: MIT
 *
 * Values that profilers take along: copies of the bytes, which know what they
 * are copies of.
 *
 *     struct buffer │ bytes        the profiler has the address of the bytes
 */
#include <stdlib.h>
#include <string.h>

#include "engine/calls/context.h"
#include "engine/target/live.h"
#include "engine/target/state.h"

struct buffer {
	size_t size;
	uint64_t address;
	cprof_value *value; /* owned, or NULL */
	_Alignas(16) uint8_t bytes[];
};

static const struct buffer *buffer_of(const void *bytes)
{
	return (const void *)((const uint8_t *)bytes - offsetof(struct buffer, bytes));
}

/* A buffer with a copy of the bytes and of `value` (NULL: unknown). */
static void *new_buffer(struct engine_context *x, const struct cp_value_bytes *bytes,
			const cprof_value *value)
{
	struct buffer *b = malloc(sizeof(*b) + bytes->size);

	if (!b) {
		x->error = CPROF_E_OUT_OF_MEMORY;
		return NULL;
	}
	*b = (struct buffer){ .size = bytes->size, .address = bytes->address };
	if (bytes->size)
		memcpy(b->bytes, bytes->at, bytes->size);
	if (value)
		b->value = cp_value_copy(value);
	x->error = CPROF_OK;
	return b->bytes;
}

static struct engine_context *readable(const cprof_call_context *handle)
{
	struct engine_context *x = engine_live(ENGINE_LIVE_CONTEXT, handle);

	return x && engine_context_can_read(x) ? x : NULL;
}

/* Argument `position`, counting `this`. */
static void *argument(struct engine_context *x, size_t position)
{
	struct cp_value_bytes bytes;

	x->error = CPROF_E_NOT_FOUND;
	if (position > INT32_MAX || !engine_context_bytes(x, (int)position, &bytes))
		return NULL;
	engine_context_arguments(x);
	return new_buffer(x, &bytes, position < x->argument_count ? &x->arguments[position] : NULL);
}

void *cprof_profiler_call_context_get_this(cprof_call_context *handle)
{
	struct engine_context *x = readable(handle);

	if (!x)
		return NULL;
	x->error = CPROF_E_NOT_FOUND;
	return cp_signature_has_this(x->signature) ? argument(x, 0) : NULL;
}

void *cprof_profiler_call_context_get_argument(cprof_call_context *handle, uint32_t position)
{
	struct engine_context *x = readable(handle);

	return x ? argument(x, position) : NULL;
}

void *cprof_profiler_call_context_get_result(cprof_call_context *handle)
{
	struct engine_context *x = readable(handle);
	struct cp_value_bytes bytes;

	if (!x)
		return NULL;
	x->error = CPROF_E_NOT_FOUND;
	if (!engine_context_bytes(x, -1, &bytes))
		return NULL;
	engine_context_result(x);
	return new_buffer(x, &bytes, x->result);
}

void *cprof_profiler_call_context_get_local(cprof_call_context *handle, uint32_t position)
{
	struct engine_context *x = readable(handle);
	struct cp_value_bytes bytes;
	const cprof_value *v;

	if (!x)
		return NULL;
	x->error = CPROF_E_NOT_FOUND;
	engine_context_locals(x);
	v = position < x->local_count ? &x->locals[position] : NULL;
	if (engine_context_local_bytes(x, position, &bytes))
		return new_buffer(x, &bytes, v);
	if (v && v->kind == CPROF_VALUE_ERROR && v->error == CPROF_VALUE_OPTIMIZED_OUT)
		x->error = CPROF_E_OPTIMIZED_OUT;
	else if (v && v->kind == CPROF_VALUE_ERROR)
		x->error = CPROF_E_UNREADABLE;
	return NULL;
}

void cprof_profiler_call_context_free_buffer(void *buffer)
{
	struct buffer *b;

	if (!buffer)
		return;
	b = (void *)((uint8_t *)buffer - offsetof(struct buffer, bytes));
	free(b->value);
	free(b);
}

size_t cprof_profiler_buffer_size(const void *buffer)
{
	return buffer ? buffer_of(buffer)->size : 0;
}

cprof_addr cprof_profiler_buffer_address(const void *buffer)
{
	return buffer ? buffer_of(buffer)->address : 0;
}

char *cprof_profiler_buffer_format(const void *buffer, unsigned depth)
{
	const struct cp_value_style style = { .depth = depth };
	const struct buffer *b = buffer ? buffer_of(buffer) : NULL;
	struct cp_buf text = { 0 };

	if (!b || !b->value)
		return NULL;
	cp_value_print(&text, b->value, &style);
	cp_buf_u8(&text, 0);
	if (text.failed)
		cp_buf_free(&text);
	return text.bytes;
}

/* SPDX-License-Identifier: MIT */
#include "record/block_events.h"

#include <string.h>

#include "record/call_decode.h"
#include "record/kept.h"
#include "record/reader.h"

/* A copy with all parts; NULL without memory. */
static const cprof_value *keep(struct cp_arena *arena, const cprof_value *values, size_t count)
{
	cprof_value *ret = cp_arena_array(arena, count, sizeof(*ret));
	size_t i;

	if (!ret)
		return NULL;
	memcpy(ret, values, count * sizeof(*ret));
	for (i = 0; i < count; i++) {
		if (!values[i].count)
			continue;
		ret[i].items = keep(arena, values[i].items, values[i].count);
		if (!ret[i].items)
			return NULL;
	}
	return ret;
}

static bool add(struct cp_block_events *to, const struct cp_record_call *call)
{
	struct cp_call_entry entry = {
		.ts_ns = call->ts_ns,
		.duration_ns = call->duration_ns,
		.function = call->function,
		.depth = call->depth,
		.target = call->count ? call->count : call->target,
		.kind = call->kind,
		.flags = call->flags,
		.value_count = (uint16_t)call->value_count,
		.form = call->form,
	};

	if (call->value_count) {
		entry.values = keep(&to->values, call->values, call->value_count);
		if (!entry.values)
			return false;
	}
	to->thread = call->thread;
	return cp_vec_push(&to->entries, entry);
}

/* A chunk has many blocks. */
static bool load(const struct cp_record *r, const struct cp_record_call_block_at *at,
		 struct cp_block_events *to)
{
	bool no_memory = false;

	cp_buf_clear(&to->bytes);
	if (to->chunk != at->chunk + 1) {
		to->chunk = 0;
		if (!cp_record_unpack_kept(r, at->chunk, &to->raw, &no_memory))
			return !no_memory;
		to->chunk = at->chunk + 1;
	}
	cp_buf_add(&to->bytes, to->raw.bytes + at->offset, at->size);
	return !to->bytes.failed;
}

bool cp_block_events_read(const struct cp_record *r, const struct cp_record_call_block_at *at,
			  struct cp_block_events *to)
{
	enum cp_call_read got = CP_CALL_READ_BROKEN;
	struct cp_record_call call;

	to->entries.count = 0;
	cp_arena_reset(&to->values);
	if (!load(r, at, to))
		return false;
	if (cp_call_block_open(&to->reader, to->bytes.bytes, to->bytes.size))
		while ((got = cp_call_block_next(&to->reader, &call)) == CP_CALL_READ)
			if (cp_record_call_resolve(r, &call) && !add(to, &call))
				return false;
	return got != CP_CALL_READ_NOMEM;
}

void cp_block_events_free(struct cp_block_events *to)
{
	cp_call_block_reader_free(&to->reader);
	cp_buf_free(&to->raw);
	cp_buf_free(&to->bytes);
	cp_vec_free(&to->entries);
	cp_arena_free(&to->values);
}

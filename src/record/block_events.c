/* SPDX-License-Identifier: MIT */
#include "record/block_events.h"

#include <string.h>

#include "record/call_decode.h"
#include "record/kept.h"
#include "record/reader.h"

static bool add(struct cp_block_events *to, const struct cp_record_call *call)
{
	const struct cp_call_entry entry = {
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
	size_t end = to->values.count + call->value_count;

	if (!cp_vec_reserve(&to->values, end) || !cp_vec_push(&to->entries, entry))
		return false;
	if (call->value_count)
		memcpy(to->values.items + to->values.count, call->values,
		       call->value_count * sizeof(*call->values));
	to->values.count = end;
	to->thread = call->thread;
	return true;
}

/* Where they stay. */
static void set_values(struct cp_block_events *to)
{
	struct cp_call_entry *entry;
	size_t at = 0;

	cp_vec_for_each(&to->entries, entry) {
		entry->values = entry->value_count ? to->values.items + at : NULL;
		at += entry->value_count;
	}
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

	to->entries.count = to->values.count = 0;
	if (!load(r, at, to))
		return false;
	if (cp_call_block_open(&to->reader, to->bytes.bytes, to->bytes.size))
		while ((got = cp_call_block_next(&to->reader, &call)) == CP_CALL_READ)
			if (cp_record_call_resolve(r, &call) && !add(to, &call))
				return false;
	set_values(to);
	return got != CP_CALL_READ_NOMEM;
}

void cp_block_events_free(struct cp_block_events *to)
{
	cp_call_block_reader_free(&to->reader);
	cp_buf_free(&to->raw);
	cp_buf_free(&to->bytes);
	cp_vec_free(&to->entries);
	cp_vec_free(&to->values);
}

/* SPDX-License-Identifier: MIT */
#include "record/lives.h"

#include <string.h>

#include "record/reader.h"

#define NAME_MAX_BYTES CP_RECORD_STRING_MAX

static void put_text(struct cp_buf *out, const char *text)
{
	size_t size = strnlen(text, NAME_MAX_BYTES);

	cp_buf_uleb(out, size);
	cp_buf_add(out, text, size);
}

void cp_record_put_life(struct cp_buf *out, const struct cp_record_life *life)
{
	cp_buf_uleb(out, life->number);
	cp_buf_u8(out, life->thread);
	cp_buf_u8(out, (uint8_t)life->begin);
	cp_buf_u8(out, (uint8_t)life->end);
	cp_buf_uleb(out, (uint32_t)life->pid);
	cp_buf_uleb(out, (uint32_t)(life->thread ? life->tid : life->parent));
	cp_buf_uleb(out, life->start_ns);
	cp_buf_uleb(out, life->end_ns);
	cp_buf_uleb(out, (uint32_t)life->wait_status);
	cp_buf_uleb(out, life->cpu_ns);
	put_text(out, life->name);
	put_text(out, life->exe);
}

static const char *get_text(struct cp_record *r, struct cp_cursor *c, bool *no_memory_ret)
{
	uint64_t size = cp_cursor_uleb(c);
	const void *bytes =
		c->bad || size > cp_cursor_left(c) ? NULL : cp_cursor_bytes(c, (size_t)size);
	const char *text = bytes ? cp_record_copy(&r->arena, bytes, (size_t)size) : NULL;

	if (!bytes)
		c->bad = true;
	*no_memory_ret |= bytes && !text;
	return text;
}

/* A life; a begin or end that only a later version knows is the plainest one here. */
static struct cp_record_life get_life(struct cp_record *r, struct cp_cursor *c, bool *no_memory_ret)
{
	struct cp_record_life it = { .number = (uint32_t)cp_cursor_uleb(c) };
	uint8_t begin, end;
	int32_t id;

	it.thread = cp_cursor_u8(c) != 0;
	begin = cp_cursor_u8(c);
	end = cp_cursor_u8(c);
	it.begin = begin < CP_LIFE_BEGINS ? (enum cp_record_life_begin)begin : CP_LIFE_BEGAN;
	it.end = end < CP_LIFE_ENDS ? (enum cp_record_life_end)end : CP_LIFE_LASTS;
	it.pid = (int32_t)(uint32_t)cp_cursor_uleb(c);
	id = (int32_t)(uint32_t)cp_cursor_uleb(c);
	it.tid = it.thread ? id : 0;
	it.parent = it.thread ? 0 : id;
	it.start_ns = cp_cursor_uleb(c);
	it.end_ns = cp_cursor_uleb(c);
	it.wait_status = (int32_t)(uint32_t)cp_cursor_uleb(c);
	it.cpu_ns = cp_cursor_uleb(c);
	it.name = get_text(r, c, no_memory_ret);
	it.exe = get_text(r, c, no_memory_ret);
	return it;
}

bool cp_record_get_lives(struct cp_record *r, struct cp_cursor *c, bool *no_memory_ret)
{
	uint64_t part = cp_cursor_uleb(c), key, *known;

	if (c->bad || part >= CP_RECORD_PARTS_MAX)
		return false;
	while (cp_cursor_left(c)) {
		struct cp_record_life it = get_life(r, c, no_memory_ret);

		if (c->bad || *no_memory_ret)
			return false;
		key = part << 32 | it.number;
		known = cp_map_get(&r->life_places, key);
		if (known) {
			r->lives.items[*known] = it;
			continue;
		}
		if (!cp_vec_reserve(&r->life_parts, r->lives.count + 1) ||
		    !cp_map_put(&r->life_places, key, r->lives.count) ||
		    !cp_vec_push(&r->lives, it)) {
			*no_memory_ret = true;
			return false;
		}
		cp_vec_push(&r->life_parts, (uint32_t)part);
	}
	return true;
}

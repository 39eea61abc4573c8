/* SPDX-License-Identifier: MIT */
#include "record/counters.h"

#include <string.h>

#include "record/reader.h"

static void put_text(struct cp_buf *out, const char *text)
{
	cp_buf_uleb(out, strlen(text));
	cp_buf_add(out, text, strlen(text));
}

void cp_record_put_counters(struct cp_buf *out, const struct cp_record_counter *counters,
			    size_t count)
{
	size_t i;

	count = count < CP_RECORD_COUNTERS_MAX ? count : CP_RECORD_COUNTERS_MAX;
	cp_buf_uleb(out, count);
	for (i = 0; i < count; i++) {
		put_text(out, counters[i].module);
		put_text(out, counters[i].name);
		cp_buf_uleb(out, counters[i].value);
	}
}

static const char *get_text(struct cp_record *r, struct cp_cursor *c)
{
	uint64_t size = cp_cursor_uleb(c);
	const void *bytes = c->bad || size > cp_cursor_left(c) ? NULL : cp_cursor_bytes(c, size);

	if (!bytes)
		c->bad = true;
	return bytes ? cp_record_copy(&r->arena, bytes, size) : NULL;
}

bool cp_record_get_counters(struct cp_record *r, struct cp_cursor *c, bool *no_memory_ret)
{
	uint64_t count = cp_cursor_uleb(c), i;

	r->counters.count = 0;
	if (c->bad || count > CP_RECORD_COUNTERS_MAX)
		return false;
	for (i = 0; i < count; i++) {
		struct cp_record_counter it = { .module = get_text(r, c) };

		it.name = get_text(r, c);
		it.value = cp_cursor_uleb(c);
		if (c->bad)
			return false;
		if (!it.module || !it.name || !cp_vec_push(&r->counters, it)) {
			*no_memory_ret = true;
			return false;
		}
	}
	return true;
}

size_t cp_record_counter_count(const struct cp_record *r)
{
	return r->counters.count;
}

const struct cp_record_counter *cp_record_get_counter(const struct cp_record *r, size_t n)
{
	return &r->counters.items[n];
}

void cp_record_combine_counters(struct cp_record *const *inputs, size_t count, struct cp_buf *out)
{
	CP_VEC(struct cp_record_counter) sums = { 0 };
	const struct cp_record_counter *c;
	struct cp_record_counter *s;
	size_t i;
	bool known;

	for (i = 0; i < count; i++) {
		cp_vec_for_each(&inputs[i]->counters, c) {
			known = false;
			cp_vec_for_each(&sums, s) {
				if (strcmp(s->module, c->module) || strcmp(s->name, c->name))
					continue;
				s->value += c->value;
				known = true;
				break;
			}
			if (!known && !cp_vec_push(&sums, *c))
				out->failed = true;
		}
	}
	if (sums.count)
		cp_record_put_counters(out, sums.items, sums.count);
	cp_vec_free(&sums);
}

/* SPDX-License-Identifier: MIT */
#include "report/profile/left.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "record/lives.h"
#include "report/look/table.h"

#define NAMED 5

CP_ERROR cp_lefts_of(const struct cp_record *r, struct cp_lefts *ret)
{
	size_t count = cp_record_life_count(r), i;
	struct cp_lefts left = { 0 };

	for (i = 0; i < count; i++) {
		const struct cp_record_life *life = cp_record_get_life(r, (uint32_t)i);
		struct cp_left one = { .pid = life->pid };

		if (life->thread || life->end != CP_LIFE_LET_GO)
			continue;
		one.name = strdup(life->name);
		if (!one.name || !cp_vec_push(&left, one)) {
			free(one.name);
			cp_lefts_free(&left);
			return cp_error_nomem();
		}
	}
	*ret = left;
	return NULL;
}

void cp_lefts_free(struct cp_lefts *left)
{
	struct cp_left *one;

	cp_vec_for_each(left, one)
		free(one->name);
	cp_vec_free(left);
}

void cp_lefts_add_names(struct cp_buf *out, const struct cp_lefts *left)
{
	size_t i;

	for (i = 0; i < left->count && i < NAMED; i++) {
		cp_buf_str(out, i ? ", " : "");
		cp_add_name(out, left->items[i].name);
		cp_buf_printf(out, " (%d)", (int)left->items[i].pid);
	}
	if (left->count > NAMED) {
		cp_buf_str(out, " and ");
		cp_add_count(out, left->count - NAMED);
		cp_buf_str(out, " more");
	}
}

void cp_lefts_add(struct cp_buf *out, const struct cp_lefts *left)
{
	if (!left->count)
		return;
	cp_add_plural(out, left->count, "process", "processes");
	cp_buf_str(out, " lived on when the recording ended: ");
	cp_lefts_add_names(out, left);
}

void cp_lefts_json(struct cp_json *j, const struct cp_lefts *left)
{
	const struct cp_left *one;

	if (!left->count)
		return;
	cp_json_begin(j, "left", '[');
	cp_vec_for_each(left, one) {
		cp_json_begin(j, NULL, '{');
		cp_json_i64(j, "pid", one->pid);
		cp_json_str(j, "name", one->name);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

/* SPDX-License-Identifier: MIT
 *
 * What JSON can't say of a value where it stands: which parts are null, or not whole, and
 * why.
 */
#include "inspect/inspect.h"

#include <string.h>

#include "base/text.h"

#define DEPTH_MAX 64
#define LACKS_MAX 64 /* that are told */

struct lacks {
	struct cp_buf *out;
	struct cp_buf path;
	unsigned count;
	bool follows; /* pointers, as cp_value_json() does */
};

static void look(struct lacks *l, const cprof_value *v, unsigned depth);

static void tell(struct lacks *l, const char *why)
{
	if (l->count++ >= LACKS_MAX)
		return;
	cp_buf_str(l->out, l->count > 1 ? ",{\"at\":\"" : "[{\"at\":\"");
	cp_escape(l->out, CP_ESCAPE_JSON, (char *)l->path.bytes, l->path.size);
	cp_buf_str(l->out, "\",\"error\":\"");
	cp_buf_str(l->out, why);
	cp_buf_str(l->out, "\"}");
}

static void look_at_items(struct lacks *l, const cprof_value *v, unsigned depth)
{
	const bool row = v->kind == CPROF_VALUE_ARRAY;
	const size_t size = l->path.size;
	const cprof_value *item;
	uint64_t index = 0;
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		item = &v->items[i];
		if (row)
			cp_buf_printf(&l->path, "[%llu]", (unsigned long long)index);
		else if (item->name && *item->name)
			cp_buf_printf(&l->path, "%s%s", l->path.size ? "." : "", item->name);
		look(l, item, depth + 1);
		l->path.size = size;
		index += item->repeats > 1 ? item->repeats : 1;
	}
}

static void look(struct lacks *l, const cprof_value *v, unsigned depth)
{
	if (depth > DEPTH_MAX)
		return;
	if (v->kind == CPROF_VALUE_ERROR && l->follows && v->count) {
		look(l, v->items, depth + 1);
		return;
	}
	if (v->kind == CPROF_VALUE_ERROR) {
		tell(l, cp_value_error_name(v->error));
		return;
	}
	if (v->kind == CPROF_VALUE_POINTER && l->follows && v->count) {
		look(l, v->items, depth + 1);
		return;
	}
	if (v->kind == CPROF_VALUE_STRUCT || v->kind == CPROF_VALUE_UNION ||
	    v->kind == CPROF_VALUE_ARRAY)
		look_at_items(l, v, depth);
	if (v->cut)
		tell(l, "cut");
}

static void tell_all(struct lacks *l, const cprof_value *value)
{
	if (value->kind != CPROF_VALUE_ERROR || value->count)
		look(l, value, 0);
	if (l->count)
		cp_buf_u8(l->out, ']');
	cp_buf_free(&l->path);
}

void cp_value_json_lacks(struct cp_buf *out, const cprof_value *value)
{
	struct lacks l = { .out = out, .follows = true };

	tell_all(&l, value);
}

void cp_value_json_addresses_lacks(struct cp_buf *out, const cprof_value *value)
{
	struct lacks l = { .out = out };

	tell_all(&l, value->kind == CPROF_VALUE_POINTER && value->count ? value->items : value);
}

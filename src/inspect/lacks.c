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
	unsigned count;
	bool follows; /* pointers, as cp_value_json() does */
};

/* From a value to one of its items. */
struct step {
	const struct step *before; /* NULL: none */
	const char *name; /* NULL: it is an element */
	uint64_t index;
};

static void look(struct lacks *l, const cprof_value *v, const struct step *at, unsigned depth);

static void put_path(struct cp_buf *out, const struct step *at)
{
	if (!at)
		return;
	put_path(out, at->before);
	if (at->name) {
		cp_buf_str(out, at->before ? "." : "");
		cp_escape(out, CP_ESCAPE_JSON, at->name, strlen(at->name));
	} else {
		cp_buf_u8(out, '[');
		cp_buf_decimal(out, at->index);
		cp_buf_u8(out, ']');
	}
}

static void tell(struct lacks *l, const struct step *at, const char *why)
{
	if (l->count++ >= LACKS_MAX)
		return;
	cp_buf_str(l->out, l->count > 1 ? ",{\"at\":\"" : "[{\"at\":\"");
	put_path(l->out, at);
	cp_buf_str(l->out, "\",\"error\":\"");
	cp_buf_str(l->out, why);
	cp_buf_str(l->out, "\"}");
}

static void look_at_items(struct lacks *l, const cprof_value *v, const struct step *at,
			  unsigned depth)
{
	const bool row = v->kind == CPROF_VALUE_ARRAY;
	struct step step = { .before = at };
	const cprof_value *item;
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		item = &v->items[i];
		step.name = row ? NULL : item->name;
		look(l, item, row || (item->name && *item->name) ? &step : at, depth + 1);
		step.index += item->repeats > 1 ? item->repeats : 1;
	}
}

static void look(struct lacks *l, const cprof_value *v, const struct step *at, unsigned depth)
{
	if (depth > DEPTH_MAX)
		return;
	if (v->kind == CPROF_VALUE_ERROR && l->follows && v->count) {
		look(l, v->items, at, depth + 1);
		return;
	}
	if (v->kind == CPROF_VALUE_ERROR) {
		tell(l, at, cp_value_error_name(v->error));
		return;
	}
	if (v->kind == CPROF_VALUE_POINTER && l->follows && v->count) {
		look(l, v->items, at, depth + 1);
		return;
	}
	if (v->kind == CPROF_VALUE_STRUCT || v->kind == CPROF_VALUE_UNION ||
	    v->kind == CPROF_VALUE_ARRAY)
		look_at_items(l, v, at, depth);
	if (v->cut)
		tell(l, at, "cut");
}

static void tell_all(struct lacks *l, const cprof_value *value)
{
	if (value->kind != CPROF_VALUE_ERROR || value->count)
		look(l, value, NULL, 0);
	if (l->count)
		cp_buf_u8(l->out, ']');
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

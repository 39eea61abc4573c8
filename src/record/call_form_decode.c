/* SPDX-License-Identifier: MIT */
#include "record/call_form_decode.h"

#include <stdlib.h>
#include <string.h>

#include "record/call_encode.h"
#include "record/call_form.h"
#include "record/format.h"

/* A form, whatever block it is in. */
struct cp_call_form_row {
	uint32_t count;
	uint8_t flags[CP_CALL_VALUES_MAX]; /* CP_FORM_* */
	cprof_value values[];
};

struct cp_call_form_last {
	uint64_t value, address;
};

/* ---- forms ---- */

void cp_call_form_begin(struct cp_call_form_reader *r)
{
	r->rows.count = r->lasts.count = r->texts.count = 0;
}

/* A text with its NUL behind it. */
static const char *get_name(struct cp_cursor *c, size_t *size_ret)
{
	uint64_t size = cp_cursor_uleb(c);
	const char *bytes;

	bytes = !c->bad && size < cp_cursor_left(c) ? cp_cursor_bytes(c, (size_t)size + 1) : NULL;
	if (!bytes || bytes[size])
		return NULL;
	*size_ret = (size_t)size;
	return bytes;
}

static bool get_item(struct cp_call_form_reader *r, struct cp_cursor *c, bool keep, cprof_value *v,
		     uint8_t *flags)
{
	const char *name, *type;
	size_t name_size, type_size;

	*v = (cprof_value){ .kind = cp_cursor_u8(c) };
	v->source = cp_cursor_u8(c);
	v->error = cp_cursor_u8(c);
	*flags = cp_cursor_u8(c);
	v->size = cp_cursor_u8(c);
	name = get_name(c, &name_size);
	type = name ? get_name(c, &type_size) : NULL;
	if (!type || (v->kind != CPROF_VALUE_STRING && cp_record_value_numbers(v->kind) != 1))
		return false;
	v->guessed = *flags & CP_FORM_GUESSED;
	v->address = *flags & CP_FORM_ADDRESS ? 1 : 0;
	v->symbol = *flags & CP_FORM_NAMED ? "" : NULL;
	if (!keep)
		return true;
	v->name = cp_arena_copy(&r->names, name, name_size);
	v->type = cp_arena_copy(&r->names, type, type_size);
	r->no_memory |= !v->name || !v->type;
	return !r->no_memory;
}

/* Passes over a form; how many values it has, 0: it makes no sense. */
static uint32_t pass_row(struct cp_call_form_reader *r, struct cp_cursor *c)
{
	uint64_t count = cp_cursor_uleb(c), i;
	cprof_value value;
	uint8_t flags;

	if (c->bad || count > CP_CALL_VALUES_MAX)
		return 0;
	for (i = 0; i < count; i++)
		if (!get_item(r, c, false, &value, &flags))
			return 0;
	return (uint32_t)count;
}

/* NULL without memory. */
static struct cp_call_form_row *keep_row(struct cp_call_form_reader *r, struct cp_cursor c,
					 uint32_t count)
{
	struct cp_call_form_row *row = calloc(1, sizeof(*row) + count * sizeof(*row->values));
	uint32_t i;

	r->no_memory |= !row || !cp_vec_push(&r->all, row);
	if (r->no_memory) {
		free(row);
		return NULL;
	}
	cp_cursor_uleb(&c);
	row->count = count;
	for (i = 0; i < count; i++)
		if (!get_item(r, &c, true, &row->values[i], &row->flags[i]))
			return NULL;
	return row;
}

/* The row that stands next, once for all blocks. */
static const struct cp_call_form_row *next_row(struct cp_call_form_reader *r, struct cp_cursor *c)
{
	struct cp_cursor begin = *c;
	uint32_t count = pass_row(r, c), number;
	bool fresh;

	if (!count)
		return NULL;
	r->no_memory |=
		!cp_intern(&r->known, begin.at, (size_t)(c->at - begin.at), &number, &fresh);
	if (r->no_memory)
		return NULL;
	return fresh ? keep_row(r, begin, count) : r->all.items[number];
}

bool cp_call_form_get(struct cp_call_form_reader *r, struct cp_cursor *c, uint32_t *form_ret)
{
	uint64_t number = cp_cursor_uleb(c);
	struct cp_call_form_use use = { .last = r->lasts.count };
	size_t end;

	if (c->bad || number > r->rows.count + 1)
		return false;
	*form_ret = (uint32_t)number;
	if (number <= r->rows.count)
		return true;
	use.row = next_row(r, c);
	if (!use.row)
		return false;
	end = use.last + use.row->count;
	if (!cp_vec_push(&r->rows, use) || !cp_vec_reserve(&r->lasts, end)) {
		r->no_memory = true;
		return false;
	}
	memset(r->lasts.items + use.last, 0, use.row->count * sizeof(*r->lasts.items));
	r->lasts.count = end;
	return true;
}

/* ---- values ---- */

/* False: it makes no sense. `bytes` NULL: there is none. */
static bool get_text(struct cp_call_form_reader *r, struct cp_cursor *c,
		     struct cp_call_form_text *ret, bool *cut_ret)
{
	uint64_t code = cp_cursor_uleb(c), number = (code - 1) / 2;
	struct cp_call_form_text text = { 0 };
	size_t size = 0;

	*ret = text;
	*cut_ret = code && !(code & 1);
	if (c->bad || !code)
		return !c->bad;
	if (number > r->texts.count)
		return false;
	if (number == r->texts.count) {
		text.bytes = get_name(c, &size);
		text.size = (uint32_t)size;
		if (!text.bytes || !cp_vec_push(&r->texts, text))
			return false;
	}
	*ret = r->texts.items[number];
	return true;
}

static uint64_t get_less(struct cp_cursor *c, uint64_t *last)
{
	return *last += cp_record_unzigzag(cp_cursor_uleb(c));
}

static bool get_value(struct cp_call_form_reader *r, struct cp_cursor *c, unsigned flags,
		      struct cp_call_form_last *last, cprof_value *v)
{
	struct cp_call_form_text text;

	if (v->kind == CPROF_VALUE_STRING) {
		if (!get_text(r, c, &text, &v->cut))
			return false;
		if (!text.bytes) {
			v->kind = CPROF_VALUE_POINTER;
			v->address = 0;
			v->symbol = NULL;
			return true;
		}
		v->u.text.bytes = text.bytes;
		v->u.text.length = text.size;
	} else if (v->kind == CPROF_VALUE_FLOAT) {
		v->u.u = __builtin_bswap64(cp_cursor_uleb(c));
	} else {
		v->u.u = get_less(c, &last->value);
	}
	if (flags & CP_FORM_NAMED) {
		bool cut;

		if (!get_text(r, c, &text, &cut))
			return false;
		v->symbol = text.bytes;
	}
	if (flags & CP_FORM_ADDRESS)
		v->address = get_less(c, &last->address);
	return !c->bad;
}

bool cp_call_form_read(struct cp_call_form_reader *r, struct cp_cursor *c, uint32_t form,
		       struct cp_record_call *call)
{
	const struct cp_call_form_row *row;
	struct cp_call_form_last *last;
	uint32_t i;

	if (!form || form > r->rows.count)
		return false;
	row = r->rows.items[form - 1].row;
	last = r->lasts.items + r->rows.items[form - 1].last;
	if (!cp_vec_reserve(&r->values, row->count)) {
		r->no_memory = true;
		return false;
	}
	memcpy(r->values.items, row->values, row->count * sizeof(*row->values));
	for (i = 0; i < row->count; i++)
		if (!get_value(r, c, row->flags[i], &last[i], &r->values.items[i]))
			return false;
	call->values = r->values.items;
	call->value_count = row->count;
	call->form = row->values;
	return true;
}

void cp_call_form_reader_free(struct cp_call_form_reader *r)
{
	struct cp_call_form_row **row;

	cp_vec_for_each(&r->all, row)
		free(*row);
	cp_vec_free(&r->all);
	cp_vec_free(&r->rows);
	cp_vec_free(&r->lasts);
	cp_vec_free(&r->texts);
	cp_vec_free(&r->values);
	cp_interner_free(&r->known);
	cp_arena_free(&r->names);
}

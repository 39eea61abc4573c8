/* SPDX-License-Identifier: MIT */
#include "record/call_form_decode.h"

#include <stdlib.h>
#include <string.h>

#include "record/call_form.h"
#include "record/format.h"

/* A value of a form. */
struct item {
	uint8_t flags; /* CP_FORM_* */
	uint32_t first; /* part */
	uint64_t within; /* + 1; 0: it has no address by what it is part of */
};

/* A form, whatever block it is in. */
struct cp_call_form_row {
	uint32_t count; /* arguments, or 1 */
	uint32_t total; /* with all parts, which stand side by side, behind what they are of */
	struct item *items; /* owned; `total` of them */
	cprof_value *values; /* owned; as well */
	uint32_t numbers; /* that an event has, and nothing else; 0: it has other things, too */
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

static bool suits(const cprof_value *v, const struct item *item)
{
	return cp_form_suits(v) && (!(item->flags & CP_FORM_FOLDS) || v->count > 1);
}

static bool get_item(struct cp_call_form_reader *r, struct cp_cursor *c, bool keep, cprof_value *v,
		     struct item *item)
{
	const char *name, *type;
	size_t name_size, type_size;
	uint64_t count;

	*v = (cprof_value){ .kind = cp_cursor_u8(c) };
	v->source = cp_cursor_u8(c);
	v->error = cp_cursor_u8(c);
	item->flags = cp_cursor_u8(c);
	v->size = cp_cursor_u8(c);
	name = get_name(c, &name_size);
	type = name ? get_name(c, &type_size) : NULL;
	count = cp_cursor_uleb(c);
	item->within = cp_cursor_uleb(c);
	if (!type || c->bad || count > CP_CALL_VALUES_MAX)
		return false;
	v->count = (uint32_t)count;
	v->guessed = item->flags & CP_FORM_GUESSED;
	v->cut = item->flags & CP_FORM_CUT;
	v->symbol = item->flags & CP_FORM_NAMED ? "" : NULL;
	if (!keep)
		return suits(v, item);
	v->name = cp_arena_copy(&r->names, name, name_size);
	v->type = cp_arena_copy(&r->names, type, type_size);
	r->no_memory |= !v->name || !v->type;
	return !r->no_memory;
}

/* Passes over items and their parts; false: they make no sense. *total counts them. */
static bool pass_items(struct cp_call_form_reader *r, struct cp_cursor *c, uint64_t count,
		       unsigned depth, uint32_t *total)
{
	uint64_t i;

	if (c->bad || count > CP_CALL_VALUES_MAX - *total || depth > CP_FORM_DEEP)
		return false;
	*total += (uint32_t)count;
	for (i = 0; i < count; i++) {
		struct item item;
		cprof_value value;

		if (!get_item(r, c, false, &value, &item) ||
		    !pass_items(r, c, value.count, depth + 1, total))
			return false;
	}
	return true;
}

/* Passes over a form; how many values it has, 0: it makes no sense. */
static uint32_t pass_row(struct cp_call_form_reader *r, struct cp_cursor *c)
{
	uint64_t count = cp_cursor_uleb(c);
	uint32_t total = 0;

	return pass_items(r, c, count, 0, &total) ? total : 0;
}

/* A form that makes sense. */
static bool keep_items(struct cp_call_form_reader *r, struct cp_cursor *c,
		       struct cp_call_form_row *row, uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = first; i < first + count; i++) {
		struct item *item = &row->items[i];
		cprof_value *v = &row->values[i];

		if (!get_item(r, c, true, v, item))
			return false;
		item->first = row->total;
		row->total += v->count;
		if (!keep_items(r, c, row, item->first, v->count))
			return false;
		if (item->flags & CP_FORM_FOLDS)
			v->repeats = 1;
		v->address = item->flags & CP_FORM_ADDRESS ? 1 : 0;
		if (item->within)
			v->address = item->within + 1;
		v->items = v->count ? row->values + item->first : NULL;
	}
	return true;
}

static void free_row(struct cp_call_form_row *row)
{
	if (row) {
		free(row->items);
		free(row->values);
	}
	free(row);
}

/* Of values without parts and texts. */
static uint32_t count_numbers(const struct cp_call_form_row *row)
{
	uint32_t n = 0, i;

	for (i = 0; i < row->count; i++) {
		const cprof_value *v = &row->values[i];

		if (v->count || row->items[i].flags & (CP_FORM_FOLDS | CP_FORM_NAMED) ||
		    v->kind == CPROF_VALUE_STRING || cp_record_value_numbers(v->kind) != 1)
			return 0;
		n += 1 + !!(row->items[i].flags & CP_FORM_ADDRESS);
	}
	return n;
}

/* NULL without memory. */
static struct cp_call_form_row *keep_row(struct cp_call_form_reader *r, struct cp_cursor c,
					 uint32_t total)
{
	struct cp_call_form_row *row = calloc(1, sizeof(*row));

	if (row) {
		row->items = calloc(total, sizeof(*row->items));
		row->values = calloc(total, sizeof(*row->values));
	}
	r->no_memory |= !row || !row->items || !row->values || !cp_vec_push(&r->all, row);
	if (r->no_memory) {
		free_row(row);
		return NULL;
	}
	row->count = row->total = (uint32_t)cp_cursor_uleb(&c);
	if (!keep_items(r, &c, row, 0, row->count))
		return NULL;
	row->numbers = count_numbers(row);
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
	end = use.last + use.row->total;
	if (!cp_vec_push(&r->rows, use) || !cp_vec_reserve(&r->lasts, end)) {
		r->no_memory = true;
		return false;
	}
	memset(r->lasts.items + use.last, 0, use.row->total * sizeof(*r->lasts.items));
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
	bool cut;

	switch (v->kind) {
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
	case CPROF_VALUE_ERROR:
		break;
	case CPROF_VALUE_STRING:
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
		break;
	case CPROF_VALUE_FLOAT:
		v->u.u = __builtin_bswap64(cp_cursor_uleb(c));
		break;
	default:
		v->u.u = get_less(c, &last->value);
	}
	if (flags & CP_FORM_NAMED) {
		if (!get_text(r, c, &text, &cut))
			return false;
		v->symbol = text.bytes;
	}
	if (flags & CP_FORM_ADDRESS)
		v->address = get_less(c, &last->address);
	return !c->bad;
}

/* An event's values that are being read. */
struct values {
	const struct cp_call_form_row *row;
	struct cp_call_form_last *lasts;
	cprof_value *all;
};

static bool get_values(struct cp_call_form_reader *r, struct cp_cursor *c, const struct values *to,
		       uint32_t first, uint32_t count, uint64_t base);

/* Elements of which equal ones stand there once: the address of each is behind those. */
static bool get_folded(struct cp_call_form_reader *r, struct cp_cursor *c, const struct values *to,
		       uint32_t i)
{
	const struct item *items = to->row->items;
	cprof_value *v = &to->all[i];
	uint32_t first = items[i].first, n;
	uint64_t step = items[first + 1].within - items[first].within, done = 0;

	for (n = 0; n < v->count; n++) {
		cprof_value *element = &to->all[first + n];
		uint64_t repeats = cp_cursor_uleb(c);

		if (c->bad || repeats > UINT32_MAX || element->count ||
		    !get_value(r, c, items[first + n].flags, &to->lasts[first + n], element))
			return false;
		element->repeats = (uint32_t)repeats;
		element->address = items[first].within ? v->address + done * step : 0;
		done += repeats ? repeats : 1;
	}
	return true;
}

/* One with its parts. */
static bool get_one(struct cp_call_form_reader *r, struct cp_cursor *c, const struct values *to,
		    uint32_t i, uint64_t base)
{
	const struct item *item = &to->row->items[i];
	cprof_value *v = &to->all[i];
	uint64_t shown = 0;

	v->repeats = 0;
	if (item->flags & CP_FORM_FOLDS) {
		shown = cp_cursor_uleb(c);
		if (shown / 2 > v->count)
			return false;
		v->count = (uint32_t)(shown / 2);
		v->cut = shown & 1;
	}
	if (!get_value(r, c, item->flags, &to->lasts[i], v))
		return false;
	if (item->within)
		v->address = base + item->within - 1;
	if (i < to->row->count)
		base = v->address;
	if (!v->count || !cp_form_leads(v)) {
		v->count = 0;
		v->items = NULL;
		return true;
	}
	v->items = to->all + item->first;
	if (item->flags & CP_FORM_FOLDS)
		return get_folded(r, c, to, i);
	return get_values(r, c, to, item->first, v->count, cp_form_base(v, base));
}

static bool get_values(struct cp_call_form_reader *r, struct cp_cursor *c, const struct values *to,
		       uint32_t first, uint32_t count, uint64_t base)
{
	uint32_t i;

	for (i = first; i < first + count; i++)
		if (!get_one(r, c, to, i, base))
			return false;
	return true;
}

/* NULL: there is no such form. */
static const struct cp_call_form_row *row_of(const struct cp_call_form_reader *r, uint32_t form)
{
	return form && form <= r->rows.count ? r->rows.items[form - 1].row : NULL;
}

bool cp_call_form_read(struct cp_call_form_reader *r, struct cp_cursor *c, uint32_t form,
		       struct cp_record_call *call)
{
	const struct cp_call_form_row *row = row_of(r, form);
	struct values to;
	uint32_t i;

	if (!row)
		return false;
	if (!cp_vec_reserve(&r->values, row->total)) {
		r->no_memory = true;
		return false;
	}
	to = (struct values){ row, r->lasts.items + r->rows.items[form - 1].last, r->values.items };
	memcpy(to.all, row->values, row->total * sizeof(*to.all));
	for (i = 0; i < row->count; i++)
		if (!get_one(r, c, &to, i, 0))
			return false;
	call->values = to.all;
	call->value_count = row->count;
	call->form = row->values;
	return true;
}

/* ---- without what they are ---- */

static bool pass_rest(struct cp_call_form_reader *r, struct cp_cursor *c, unsigned flags)
{
	struct cp_call_form_text text;
	bool cut;

	if (flags & CP_FORM_NAMED && !get_text(r, c, &text, &cut))
		return false;
	if (flags & CP_FORM_ADDRESS)
		cp_cursor_uleb(c);
	return !c->bad;
}

/* As get_value() reads it; what numbers were last is nobody's business who passes. */
static bool pass_value(struct cp_call_form_reader *r, struct cp_cursor *c, unsigned flags,
		       uint8_t kind)
{
	struct cp_call_form_text text;
	bool cut;

	switch (kind) {
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
	case CPROF_VALUE_ERROR:
		break;
	case CPROF_VALUE_STRING:
		if (!get_text(r, c, &text, &cut))
			return false;
		if (!text.bytes)
			return true;
		break;
	default:
		cp_cursor_uleb(c);
	}
	return pass_rest(r, c, flags);
}

/* A row that is passed over. */
struct passed {
	const struct cp_call_form_row *row;
	struct cp_call_form_last *lasts; /* values of pointers that may lead to parts, no others */
};

static bool pass_folded(struct cp_call_form_reader *r, struct cp_cursor *c, const struct passed *p,
			uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = first; i < first + count; i++)
		if (cp_cursor_uleb(c) > UINT32_MAX || p->row->values[i].count ||
		    !pass_value(r, c, p->row->items[i].flags, p->row->values[i].kind))
			return false;
	return true;
}

static bool pass_values(struct cp_call_form_reader *r, struct cp_cursor *c, const struct passed *p,
			uint32_t first, uint32_t count);

/* As get_one() reads it. */
static bool pass_one(struct cp_call_form_reader *r, struct cp_cursor *c, const struct passed *p,
		     uint32_t i)
{
	const struct item *item = &p->row->items[i];
	const cprof_value *v = &p->row->values[i];
	uint32_t count = v->count;
	bool leads = true;

	if (item->flags & CP_FORM_FOLDS) {
		uint64_t shown = cp_cursor_uleb(c) / 2;

		if (shown > count)
			return false;
		count = (uint32_t)shown;
	}
	if (v->kind == CPROF_VALUE_POINTER && v->count) {
		leads = get_less(c, &p->lasts[i].value);
		if (!pass_rest(r, c, item->flags))
			return false;
	} else if (!pass_value(r, c, item->flags, v->kind)) {
		return false;
	}
	if (!count || !leads)
		return true;
	return item->flags & CP_FORM_FOLDS ? pass_folded(r, c, p, item->first, count)
					   : pass_values(r, c, p, item->first, count);
}

static bool pass_values(struct cp_call_form_reader *r, struct cp_cursor *c, const struct passed *p,
			uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = first; i < first + count; i++)
		if (!pass_one(r, c, p, i))
			return false;
	return true;
}

bool cp_call_form_pass(struct cp_call_form_reader *r, struct cp_cursor *c, uint32_t form)
{
	const struct cp_call_form_row *row = row_of(r, form);
	struct passed p = { .row = row };

	if (!row)
		return false;
	if (row->numbers) {
		cp_record_pass_numbers(c, row->numbers);
		return !c->bad;
	}
	p.lasts = r->lasts.items + r->rows.items[form - 1].last;
	return pass_values(r, c, &p, 0, row->count);
}

void cp_call_form_reader_free(struct cp_call_form_reader *r)
{
	struct cp_call_form_row **row;

	cp_vec_for_each(&r->all, row)
		free_row(*row);
	cp_vec_free(&r->all);
	cp_vec_free(&r->rows);
	cp_vec_free(&r->lasts);
	cp_vec_free(&r->texts);
	cp_vec_free(&r->values);
	cp_interner_free(&r->known);
	cp_arena_free(&r->names);
}

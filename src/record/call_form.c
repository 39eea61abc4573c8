/* SPDX-License-Identifier: MIT */
#include "record/call_form.h"

#include <stdlib.h>
#include <string.h>

#include "record/format.h"

#define NEAR 256
#define VALUE_MAX 50 /* bytes, but for its texts */

struct item {
	uint8_t kind, flags; /* CP_FORM_* */
	uint32_t first, count; /* its parts */
	uint64_t last, last_address; /* of the block under way */
};

struct form {
	uint64_t block; /* that has it; else none */
	uint32_t number; /* there, + 1 */
	uint32_t count; /* arguments, or 1 */
	uint32_t total; /* with all parts */
	bool texts; /* some values have them */
	bool plain; /* all are numbers, and no more than that */
	struct item *items; /* owned */
	struct cp_buf bytes; /* as they stand in a block */
};

struct cp_call_forms {
	CP_VEC(struct form) all;
	struct cp_map numbers; /* of who has them: what `form` pointed to -> number + 1; 0: can't */
	struct {
		const cprof_value *form;
		uint32_t number; /* + 1 */
	} near[NEAR];
	uint64_t block; /* of what follows */
	uint32_t count; /* of forms there */
	struct cp_interner texts;
};

/* ---- forms ---- */

static void put_name(struct cp_buf *out, const char *text)
{
	size_t size = text ? strlen(text) : 0;

	cp_buf_uleb(out, size);
	cp_buf_add(out, text ? text : "", size + 1);
}

/* Are its equal elements shown once? */
static bool folds(const cprof_value *v)
{
	return v->kind == CPROF_VALUE_ARRAY && v->repeats;
}

static bool set_items(struct form *form, const cprof_value *values, uint32_t count, uint32_t first,
		      unsigned depth);

static bool set_item(struct form *form, uint32_t number, const cprof_value *v, unsigned depth)
{
	struct item *item = &form->items[number];

	item->kind = v->kind;
	item->flags =
		(uint8_t)((v->address == 1 ? CP_FORM_ADDRESS : 0) |
			  (v->symbol ? CP_FORM_NAMED : 0) | (v->guessed ? CP_FORM_GUESSED : 0) |
			  (v->cut ? CP_FORM_CUT : 0) | (folds(v) ? CP_FORM_FOLDS : 0));
	item->count = v->count;
	item->first = form->total;
	cp_buf_u8(&form->bytes, v->kind);
	cp_buf_u8(&form->bytes, v->source);
	cp_buf_u8(&form->bytes, v->error);
	cp_buf_u8(&form->bytes, item->flags);
	cp_buf_u8(&form->bytes, v->size);
	put_name(&form->bytes, v->name);
	put_name(&form->bytes, v->type);
	cp_buf_uleb(&form->bytes, v->count);
	cp_buf_uleb(&form->bytes, cp_form_within(v->address));
	form->texts |= v->kind == CPROF_VALUE_STRING || v->symbol;
	form->plain &= v->kind != CPROF_VALUE_STRING && v->kind != CPROF_VALUE_FLOAT &&
		       !(item->flags & (CP_FORM_NAMED | CP_FORM_ADDRESS));
	form->total += v->count;
	return cp_form_suits(v) && set_items(form, v->items, v->count, item->first, depth + 1);
}

static bool set_items(struct form *form, const cprof_value *values, uint32_t count, uint32_t first,
		      unsigned depth)
{
	uint32_t i;

	if (depth > CP_FORM_DEEP || form->total > CP_CALL_VALUES_MAX)
		return false;
	for (i = 0; i < count; i++)
		if (!set_item(form, first + i, &values[i], depth))
			return false;
	return true;
}

/* The number of a form + 1; 0: a block can't have it. */
static uint32_t add_form(struct cp_call_forms *forms, const struct cp_call_values *e)
{
	struct form form = { .count = e->count, .total = e->count };
	struct item *items = calloc(CP_CALL_VALUES_MAX, sizeof(*items));

	form.items = items;
	form.plain = true;
	cp_buf_uleb(&form.bytes, form.count);
	if (items && set_items(&form, e->form, form.count, 0, 0) && !form.bytes.failed) {
		items = realloc(items, form.total * sizeof(*items));
		form.items = items ? items : form.items;
		if (cp_vec_push(&forms->all, form))
			return (uint32_t)forms->all.count;
	}
	free(form.items);
	cp_buf_free(&form.bytes);
	return 0;
}

static uint32_t number_of(struct cp_call_forms *forms, const struct cp_call_values *e)
{
	const uint64_t *number = cp_map_get(&forms->numbers, (uintptr_t)e->form);
	uint32_t fresh;

	if (number)
		return (uint32_t)*number;
	fresh = add_form(forms, e);
	return cp_map_put(&forms->numbers, (uintptr_t)e->form, fresh) ? fresh : 0;
}

/* Bytes of texts. */
static size_t texts_of(const cprof_value *values, uint32_t count)
{
	size_t size = 0, i;

	for (i = 0; i < count; i++) {
		const cprof_value *v = &values[i];

		if (v->kind == CPROF_VALUE_STRING)
			size += v->u.text.length;
		else if (v->symbol)
			size += strlen(v->symbol);
		size += texts_of(v->items, v->count);
	}
	return size;
}

/* Bytes of texts, symbols among them. */
static size_t texts_among(const cprof_value *form, uint32_t count, const uint64_t *numbers)
{
	size_t size = 0, i;

	for (i = 0; i < count; numbers += cprof_value_words(&form[i]), i++) {
		if (form[i].kind == CPROF_VALUE_STRING)
			size += (uint32_t)numbers[2];
		else if (form[i].symbol && numbers[1])
			size += strlen((const char *)(uintptr_t)numbers[1]);
	}
	return size;
}

/* Bytes that it and values take at most, but for texts. */
static size_t most_of(const struct form *form)
{
	return form->bytes.size + 16 + (size_t)form->total * VALUE_MAX;
}

size_t cp_call_form_plain_size(const struct cp_call_coder *coder, uint32_t number)
{
	const struct form *form = &coder->forms->all.items[number - 1];

	return form->texts ? SIZE_MAX : most_of(form);
}

size_t cp_call_form_size(const struct cp_call_coder *coder, uint32_t number,
			 const struct cp_call_values *v)
{
	const struct form *form = &coder->forms->all.items[number - 1];
	size_t size = most_of(form);

	if (!form->texts)
		return size;
	return size + (v->numbers ? texts_among(v->form, v->count, v->numbers)
				  : texts_of(v->values, v->count));
}

uint32_t cp_call_form_of(struct cp_call_coder *coder, const struct cp_call_values *e)
{
	size_t at = ((uintptr_t)e->form >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 56;
	struct cp_call_forms *forms;

	if (!e->form)
		return 0;
	if (!coder->forms)
		coder->forms = calloc(1, sizeof(*coder->forms));
	forms = coder->forms;
	if (!forms)
		return 0;
	if (forms->near[at].form != e->form) {
		forms->near[at].number = number_of(forms, e);
		forms->near[at].form = e->form;
	}
	return forms->near[at].number;
}

/* ---- in a block ---- */

static struct form *in_block(struct cp_call_coder *coder, uint32_t number, bool *fresh_ret)
{
	struct cp_call_forms *forms = coder->forms;
	struct form *form = &forms->all.items[number - 1];
	uint32_t i;

	if (forms->block != coder->block) {
		forms->block = coder->block;
		forms->count = 0;
		cp_interner_free(&forms->texts);
	}
	*fresh_ret = form->block != coder->block;
	if (!*fresh_ret)
		return form;
	form->block = coder->block;
	form->number = ++forms->count;
	for (i = 0; i < form->total; i++)
		form->items[i].last = form->items[i].last_address = 0;
	return form;
}

uint8_t *cp_call_form_put(struct cp_call_coder *coder, uint32_t number, uint8_t *at)
{
	bool fresh;
	const struct form *form;

	if (!number)
		return cp_record_put_uleb(at, 0);
	form = in_block(coder, number, &fresh);
	at = cp_record_put_uleb(at, form->number);
	if (!fresh)
		return at;
	memcpy(at, form->bytes.bytes, form->bytes.size);
	return at + form->bytes.size;
}

static uint8_t *put_text(struct cp_call_forms *forms, const char *bytes, size_t size, bool cut,
			 uint8_t *at)
{
	uint32_t number;
	bool fresh;

	if (!bytes || !cp_intern(&forms->texts, bytes, size, &number, &fresh))
		return cp_record_put_uleb(at, 0);
	at = cp_record_put_uleb(at, 1 + cut + 2 * (uint64_t)number);
	if (!fresh)
		return at;
	at = cp_record_put_uleb(at, size);
	memcpy(at, bytes, size);
	at[size] = 0;
	return at + size + 1;
}

static uint8_t *put_less(uint64_t *last, uint64_t value, uint8_t *at)
{
	uint64_t step = value - *last;

	*last = value;
	return cp_record_put_uleb(at, cp_record_zigzag(step));
}

/* NULL: the pointer is. */
static const char *text_of(const cprof_value *v)
{
	return v->kind == CPROF_VALUE_STRING ? v->u.text.bytes : NULL;
}

static uint8_t *put_value(struct cp_call_forms *forms, struct item *item, const cprof_value *v,
			  uint8_t *at)
{
	switch (item->kind) {
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
	case CPROF_VALUE_ERROR:
		break;
	case CPROF_VALUE_STRING:
		at = put_text(forms, text_of(v), v->u.text.length, v->cut, at);
		if (!text_of(v))
			return at;
		break;
	case CPROF_VALUE_FLOAT:
		at = cp_record_put_uleb(at, __builtin_bswap64(v->u.u));
		break;
	default:
		at = put_less(&item->last, v->u.u, at);
	}
	if (item->flags & CP_FORM_NAMED)
		at = put_text(forms, v->symbol, v->symbol ? strlen(v->symbol) : 0, false, at);
	if (item->flags & CP_FORM_ADDRESS)
		at = put_less(&item->last_address, v->address, at);
	return at;
}

/* With their parts. */
static uint8_t *put_values(struct cp_call_forms *forms, struct item *items, struct item *first,
			   const cprof_value *values, uint32_t count, bool folded, uint8_t *at)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		const cprof_value *v = &values[i];
		struct item *item = &first[i];
		bool folds = item->flags & CP_FORM_FOLDS;

		if (folded)
			at = cp_record_put_uleb(at, v->repeats);
		if (folds)
			at = cp_record_put_uleb(at, v->cut + 2 * (uint64_t)v->count);
		at = put_value(forms, item, v, at);
		if (v->count && cp_form_leads(v))
			at = put_values(forms, items, items + item->first, v->items, v->count,
					folds, at);
	}
	return at;
}

/* Values without parts, of their numbers. */
static uint8_t *put_numbers(struct cp_call_forms *forms, const struct form *form, const uint64_t *n,
			    uint8_t *at)
{
	struct item *item = form->items, *end = item + form->count;

	for (; item < end; item++) {
		uint64_t number = *n++;

		if (item->kind == CPROF_VALUE_STRING) {
			const char *bytes = (const char *)(uintptr_t)n[0];

			at = put_text(forms, number ? bytes : NULL, (uint32_t)n[1], n[1] >> 32 & 1,
				      at);
			if (number && item->flags & CP_FORM_ADDRESS)
				at = put_less(&item->last_address, number, at);
			n += 2;
			continue;
		}
		at = item->kind == CPROF_VALUE_FLOAT
			     ? cp_record_put_uleb(at, __builtin_bswap64(number))
			     : put_less(&item->last, number, at);
		if (item->flags & CP_FORM_NAMED) {
			const char *name = (const char *)(uintptr_t)*n++;

			at = put_text(forms, name, name ? strlen(name) : 0, false, at);
		}
		if (item->flags & CP_FORM_ADDRESS)
			at = put_less(&item->last_address, *n++, at);
	}
	return at;
}

/* Likewise, where they are no more than that. */
static uint8_t *put_plain(const struct form *form, const uint64_t *n, uint8_t *at)
{
	struct item *item = form->items, *end = item + form->count;

	for (; item < end; item++, n++) {
		uint64_t step = cp_record_zigzag(*n - item->last);

		item->last = *n;
		if (step < 0x80)
			*at++ = (uint8_t)step;
		else
			at = cp_record_put_uleb(at, step);
	}
	return at;
}

uint8_t *cp_call_form_values(struct cp_call_coder *coder, uint32_t number,
			     const struct cp_call_values *v, uint8_t *at)
{
	struct form *form = &coder->forms->all.items[number - 1];

	if (v->numbers && form->plain)
		return put_plain(form, v->numbers, at);
	if (v->numbers)
		return put_numbers(coder->forms, form, v->numbers, at);
	return put_values(coder->forms, form->items, form->items, v->values, form->count, false,
			  at);
}

void cp_call_forms_free(struct cp_call_forms *forms)
{
	struct form *form;

	if (!forms)
		return;
	cp_vec_for_each(&forms->all, form) {
		free(form->items);
		cp_buf_free(&form->bytes);
	}
	cp_vec_free(&forms->all);
	cp_map_free(&forms->numbers);
	cp_interner_free(&forms->texts);
	free(forms);
}

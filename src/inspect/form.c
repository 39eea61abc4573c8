/* SPDX-License-Identifier: MIT */
#include "inspect/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "inspect/form_trial.h"
#include "inspect/readable.h"
#include "inspect/scalar.h"

#define NAMES_MOST 1024 /* different values of enumerations */
#define NAMES_NEAR 64

/* A value of an enumeration, and what it is called. */
struct name {
	uint64_t number;
	cprof_value value;
	uint32_t item; /* + 1; 0: none */
};

struct cp_form_names {
	struct cp_arena arena;
	struct cp_map *numbers; /* owned, by item -> place in `all` */
	CP_VEC(struct name) all;
	struct name near[NAMES_NEAR];
};

/* ---- making ---- */

static bool is_small_number(const struct cp_type *t)
{
	switch (t->kind) {
	case CP_TYPE_BOOL:
	case CP_TYPE_CHAR:
	case CP_TYPE_INT:
	case CP_TYPE_UINT:
		return t->size && t->size <= 8 && !(t->flags & CP_TYPE_BITINT);
	default:
		return false;
	}
}

/* WHOLE: it is no such number. */
static enum cp_form_what number_of(const struct cp_type *t)
{
	const struct cp_type *to;

	if (!t || is_small_number(t))
		return CP_FORM_NUMBER;
	if (t->kind == CP_TYPE_FLOAT && !(t->flags & (CP_TYPE_DECIMAL | CP_TYPE_BFLOAT)))
		return t->size == 8   ? CP_FORM_DOUBLE
		       : t->size == 4 ? CP_FORM_SINGLE
				      : CP_FORM_WHOLE;
	if (t->kind == CP_TYPE_ENUM && t->size && t->size <= 8)
		return CP_FORM_ENUM;
	if (t->kind != CP_TYPE_POINTER && t->kind != CP_TYPE_REFERENCE)
		return CP_FORM_WHOLE;
	to = cp_type_strip(t->target);
	return to && to->kind == CP_TYPE_FUNCTION ? CP_FORM_FUNCTION : CP_FORM_NUMBER;
}

/* False: no form has that. */
static bool set_what(const struct cp_form_trial *trial, const struct cp_note *note,
		     struct cp_form_item *item)
{
	const cprof_value *v = note->value;
	struct cp_form_item text = { 0 };

	item->bits = note->bits;
	item->type = note->type;
	item->is_signed = note->type && is_small_number(note->type) &&
			  note->type->kind != CP_TYPE_BOOL && note->type->flags & CP_TYPE_SIGNED;
	if (note->bits) {
		item->what = (uint8_t)number_of(note->type);
		if (note->text) {
			item->what = CP_FORM_TEXT;
			if (!cp_form_trial_find(trial, note->text, 0, 8, &text) ||
			    text.where != CP_FORM_BLOCK || text.offset)
				return false;
			item->text = text.number;
		}
		return item->what != CP_FORM_WHOLE;
	}
	if (note->text) {
		item->what = CP_FORM_CHARACTERS;
		item->size = (uint32_t)note->type->size;
		item->ends = note->whole;
		return true;
	}
	if (note->folds) {
		const struct cp_type *element = cp_type_strip(note->type->target);

		item->what = CP_FORM_FOLDED;
		item->size = (uint32_t)element->size;
		item->elements = (uint32_t)note->type->count;
		return v->count > 1 && v->kind == CPROF_VALUE_ARRAY && !v->items[0].count;
	}
	return v->kind == CPROF_VALUE_STRUCT || v->kind == CPROF_VALUE_UNION ||
	       v->kind == CPROF_VALUE_ARRAY || v->kind == CPROF_VALUE_ERROR;
}

static bool set_where(const struct cp_form_trial *trial, const struct cp_note *note,
		      struct cp_form_item *item)
{
	unsigned bits = item->what == CP_FORM_CHARACTERS ? 8 * item->size
			: item->what == CP_FORM_FOLDED	 ? 8 * item->size * item->elements
							 : item->bits;

	item->addressed = note->value->address != 0;
	if (!bits && !item->addressed)
		return true;
	if (!note->at || !cp_form_trial_find(trial, note->at, note->shift, bits, item))
		return false;
	return item->where == CP_FORM_BLOCK ||
	       (item->what != CP_FORM_CHARACTERS && item->what != CP_FORM_FOLDED);
}

/* The signature may go before. */
static bool keep_name(struct cp_form *form, cprof_value *value)
{
	if (value->name && *value->name)
		value->name = cp_arena_copy(&form->names->arena, value->name, strlen(value->name));
	return value->name != NULL;
}

/* As it is of nothing but zeros; `base`: the trial's address of what it is part of. */
static bool set_value(struct cp_form *form, const struct cp_form_item *item, const cprof_value *v,
		      uint64_t base, cprof_value *to)
{
	*to = *v;
	memset(&to->u, 0, sizeof(to->u));
	if (item->what == CP_FORM_TEXT || (!item->parent && item->addressed))
		to->address = CP_FORM_OWN;
	else
		to->address = item->addressed ? CP_FORM_WITHIN + v->address - base : 0;
	to->symbol = item->what == CP_FORM_ENUM || item->what == CP_FORM_FUNCTION ? "" : NULL;
	to->items = v->count ? form->values + item->first : NULL;
	to->repeats = item->what == CP_FORM_FOLDED;
	return !v->repeats && !v->entry && keep_name(form, to);
}

/* Elements that can be folded. */
static bool is_plain(const struct cp_form_item *item)
{
	return item->what == CP_FORM_NUMBER || item->what == CP_FORM_SINGLE ||
	       item->what == CP_FORM_DOUBLE || item->what == CP_FORM_ENUM;
}

/* Notes stand in the order in which values were made: each before its parts. */
static bool add(struct cp_form_trial *trial, struct cp_form *form, const cprof_value *v,
		uint32_t index, uint32_t parent, uint64_t base)
{
	const struct cp_note *note = cp_form_trial_next(trial);
	struct cp_form_item *item = &form->items[index];
	bool leads;
	uint32_t i;

	if (!note || note->value != v)
		return false;
	item->parent = (uint16_t)parent;
	item->first = (uint16_t)form->total;
	form->total += v->count;
	if (!set_what(trial, note, item) || !set_where(trial, note, item) ||
	    !set_value(form, item, v, base, &form->values[index]))
		return false;
	leads = item->bits && v->count;
	if (!parent)
		base = v->address;
	for (i = 0; i < v->count; i++)
		if (!add(trial, form, &v->items[i], item->first + i, index + 1,
			 leads ? v->u.u : base))
			return false;
	return item->what != CP_FORM_FOLDED || is_plain(&form->items[item->first]);
}

static struct cp_form *create(uint32_t count, size_t total)
{
	struct cp_form *form = calloc(1, sizeof(*form));

	if (!form)
		return NULL;
	form->count = form->total = count;
	form->values = calloc(total, sizeof(*form->values));
	form->items = calloc(total, sizeof(*form->items));
	form->names = calloc(1, sizeof(*form->names));
	if (form->names)
		form->names->numbers = calloc(total, sizeof(*form->names->numbers));
	if (form->values && form->items && form->names && form->names->numbers)
		return form;
	cp_form_destroy(form);
	return NULL;
}

struct cp_form *cp_form_create(const struct cp_signature *s, bool leave,
			       const struct cp_capture_list *list, const struct cp_shapes *shapes)
{
	struct cp_form_trial *trial = cp_form_trial_make(s, leave, list, shapes);
	struct cp_form *form = NULL;
	const cprof_value *values;
	size_t count, total;
	uint32_t i;

	if (!trial)
		return NULL;
	values = cp_form_trial_values(trial, &count, &total);
	if (values && count && total <= CP_FORM_VALUES)
		form = create((uint32_t)count, total);
	if (form)
		form->text_most = cp_form_trial_text_most(trial);
	for (i = 0; form && i < count; i++) {
		if (add(trial, form, &values[i], i, 0, 0))
			continue;
		cp_form_destroy(form);
		form = NULL;
	}
	cp_form_trial_free(trial);
	return form;
}

void cp_form_destroy(struct cp_form *form)
{
	size_t i;

	if (!form)
		return;
	for (i = 0; form->names && form->names->numbers && i < form->total; i++)
		cp_map_free(&form->names->numbers[i]);
	if (form->names) {
		free(form->names->numbers);
		cp_arena_free(&form->names->arena);
		cp_vec_free(&form->names->all);
	}
	free(form->names);
	free(form->values);
	free(form->items);
	free(form);
}

/* ---- enumerators ---- */

static const struct name *find_name(struct cp_form *form, size_t item, uint64_t number)
{
	struct cp_form_names *names = form->names;
	const struct cp_type *t = form->items[item].type;
	const uint64_t *place = cp_map_get(&names->numbers[item], number);
	struct name name = { .number = number, .item = (uint32_t)item + 1 };
	struct cp_build b = { .arena = &names->arena };

	if (place)
		return &names->all.items[*place];
	if (names->all.count >= NAMES_MOST)
		return NULL;
	cp_build_enum(&b, &name.value, t, (const uint8_t *)&number, form->items[item].bits);
	if (!cp_map_put(&names->numbers[item], number, names->all.count) ||
	    !cp_vec_push(&names->all, name))
		return NULL;
	return &names->all.items[names->all.count - 1];
}

static bool set_enum(struct cp_form *form, size_t item, uint64_t number, cprof_value *value)
{
	struct name *near = &form->names->near[(number + item) % NAMES_NEAR];

	if (near->item != item + 1 || near->number != number) {
		const struct name *name = find_name(form, item, number);

		if (!name)
			return false;
		*near = *name;
	}
	value->u.i = near->value.u.i;
	value->symbol = near->value.symbol;
	return true;
}

/* ---- a call's ---- */

bool cp_form_set(struct cp_form *form, size_t i, uint64_t number, cprof_value *value)
{
	const struct cp_form_item *item = &form->items[i];
	unsigned unused = 64u - item->bits;
	float single;

	switch ((enum cp_form_what)item->what) {
	case CP_FORM_SINGLE:
		memcpy(&single, &number, sizeof(single));
		value->u.f = (double)single;
		return true;
	case CP_FORM_ENUM:
		return set_enum(form, i, number << unused >> unused, value);
	case CP_FORM_NUMBER:
		if (item->is_signed)
			value->u.i = (int64_t)(number << unused) >> unused;
		else
			value->u.u = number << unused >> unused;
		return true;
	case CP_FORM_DOUBLE:
	case CP_FORM_FUNCTION:
	case CP_FORM_TEXT:
		value->u.u = number;
		break;
	case CP_FORM_WHOLE:
	case CP_FORM_CHARACTERS:
	case CP_FORM_FOLDED:
		break;
	}
	return true;
}

void cp_form_set_text(const struct cp_form *form, uint64_t address, const char *bytes,
		      uint32_t size, bool ended, cprof_value *value)
{
	const char *end = memchr(bytes, 0, size);
	uint32_t length = end ? (uint32_t)(end - bytes) : size;

	value->cut = !end && !ended;
	if (length > form->text_most) {
		length = form->text_most;
		value->cut = true;
	}
	value->address = address;
	value->u.text.bytes = bytes;
	value->u.text.length = length;
}

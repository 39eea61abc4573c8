/* SPDX-License-Identifier: MIT */
#include "inspect/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "inspect/readable.h"
#include "inspect/scalar.h"
#include "inspect/value.h"
#include "inspect/variadic.h"

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
	struct cp_map numbers[CP_FORM_VALUES]; /* -> place in `all` */
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

/* A pointer that leads nowhere: to what has no size, or what nobody looks into. */
static bool is_bare_pointer(const struct cp_signature *s, const struct cp_type *t)
{
	const struct cp_type *to = cp_type_strip(t->target);

	if (t->kind == CP_TYPE_POINTER && to && cp_type_characters(t))
		return false;
	return !to || !to->size || cp_type_is_reserved(to) ||
	       (t->kind == CP_TYPE_POINTER && !s->limits.pointers);
}

static enum cp_form_what what_of(const struct cp_signature *s, const struct cp_type *t)
{
	const struct cp_type *to = cp_type_strip(t->target);

	if (is_small_number(t))
		return CP_FORM_NUMBER;
	if (t->kind == CP_TYPE_FLOAT && !(t->flags & (CP_TYPE_DECIMAL | CP_TYPE_BFLOAT)))
		return t->size == 8   ? CP_FORM_DOUBLE
		       : t->size == 4 ? CP_FORM_SINGLE
				      : CP_FORM_NOTHING;
	if (t->kind == CP_TYPE_ENUM && t->size && t->size <= 8)
		return CP_FORM_ENUM;
	if (t->kind != CP_TYPE_POINTER && t->kind != CP_TYPE_REFERENCE)
		return CP_FORM_NOTHING;
	if (to && to->kind == CP_TYPE_FUNCTION)
		return CP_FORM_FUNCTION;
	if (t->kind == CP_TYPE_POINTER && to && cp_type_characters(t))
		return CP_FORM_TEXT;
	return is_bare_pointer(s, t) ? CP_FORM_NUMBER : CP_FORM_NOTHING;
}

/* Where all of it is; false: it is not in one place that a number can be taken from. */
static bool set_where(const struct cp_signature *s, const struct cp_parameter *p, uint64_t size,
		      struct cp_form_item *item)
{
	const struct cp_piece *piece = &p->place.pieces[0];

	if (p->place.how != CP_PLACE_DIRECT || p->place.count != 1 || p->place.promoted ||
	    piece->at || piece->skip || piece->size < size)
		return false;
	item->number = piece->number;
	item->offset = (int32_t)piece->offset;
	switch (piece->where) {
	case CP_PIECE_REGISTER:
		item->where = CP_FORM_REGISTER;
		return piece->number < CP_REG_MAX;
	case CP_PIECE_VECTOR:
		item->where = CP_FORM_VECTOR;
		return piece->number < CP_ARCH_VECTORS;
	case CP_PIECE_MEMORY:
		item->where = CP_FORM_STACK;
		return piece->number == s->arch->sp && piece->offset == item->offset;
	default:
		return false;
	}
}

/* The value as it is of nothing but zeros. */
static void set_value(const struct cp_signature *s, const struct cp_parameter *p, cprof_value *ret)
{
	static const uint8_t zeros[8];
	const struct cp_capture none = { 0 };
	struct cp_value_arena arena = { 0 };
	struct cp_value_request request = { s, &none, &arena };
	struct cp_build b = cp_build_live(&request, &s->limits, p->source);

	b.live = false;
	*ret = (cprof_value){ .name = p->name, .source = p->source, .guessed = p->guessed };
	cp_build_value(&b, ret, p->type,
		       (struct cp_bytes){ .at = zeros, .size = cp_type_strip(p->type)->size }, 0,
		       0);
	cp_arena_free(&arena.memory);
}

/* The signature may go before. */
static bool keep_name(struct cp_form *form, cprof_value *value)
{
	if (value->name && *value->name)
		value->name = cp_arena_copy(&form->names->arena, value->name, strlen(value->name));
	return value->name != NULL;
}

static bool add_item(struct cp_form *form, const struct cp_signature *s,
		     const struct cp_parameter *p)
{
	struct cp_form_item *item = &form->items[form->count];
	cprof_value *value = &form->values[form->count];
	const struct cp_type *t = cp_type_strip(p->type);

	if (form->count == CP_FORM_VALUES || (p->type && !t))
		return false;
	item->what = (uint8_t)(t ? what_of(s, t) : CP_FORM_NUMBER);
	item->bits = t ? (uint8_t)(8 * t->size) : 64;
	item->is_signed =
		t && is_small_number(t) && t->kind != CP_TYPE_BOOL && t->flags & CP_TYPE_SIGNED;
	item->type = t;
	if (item->what == CP_FORM_NOTHING || !set_where(s, p, item->bits / 8, item) ||
	    (item->what == CP_FORM_TEXT && item->where != CP_FORM_REGISTER) ||
	    (item->where == CP_FORM_VECTOR) !=
		    (item->what == CP_FORM_SINGLE || item->what == CP_FORM_DOUBLE))
		return false;
	if (t)
		set_value(s, p, value);
	else
		*value = (cprof_value){ .kind = CPROF_VALUE_UINT,
					.size = 8,
					.name = p->name,
					.type = "",
					.source = p->source,
					.guessed = p->guessed };
	value->symbol = item->what == CP_FORM_ENUM || item->what == CP_FORM_FUNCTION ? "" : NULL;
	value->address = item->where == CP_FORM_STACK || item->what == CP_FORM_TEXT;
	if (item->what == CP_FORM_TEXT)
		value->kind = CPROF_VALUE_STRING;
	form->count++;
	return value->kind != CPROF_VALUE_ERROR && keep_name(form, value);
}

struct cp_form *cp_form_create(const struct cp_signature *s, bool leave)
{
	struct cp_form *form = calloc(1, sizeof(*form));
	bool good = leave ? s->has_result && !cp_signature_result_is_kept(s)
			  : s->parameter_count && !cp_signature_is_variadic(s);
	size_t i;

	if (form)
		form->names = calloc(1, sizeof(*form->names));
	if (!form || !form->names) {
		free(form);
		return NULL;
	}
	form->text_most = s->limits.string;
	if (good && leave)
		good = add_item(form, s, &s->result);
	for (i = 0; good && !leave && i < s->parameter_count; i++)
		good = add_item(form, s, &s->parameters[i]);
	if (good)
		return form;
	cp_form_destroy(form);
	return NULL;
}

void cp_form_destroy(struct cp_form *form)
{
	size_t i;

	if (!form)
		return;
	cp_arena_free(&form->names->arena);
	for (i = 0; i < CP_FORM_VALUES; i++)
		cp_map_free(&form->names->numbers[i]);
	cp_vec_free(&form->names->all);
	free(form->names);
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
	case CP_FORM_NOTHING:
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

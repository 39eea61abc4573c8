/* SPDX-License-Identifier: MIT
 *
 * What changed behind a pointer: two values of the same type, made of what was
 * captured at different times. What was not captured one of these times has
 * not changed as far as anybody knows.
 */
#include <string.h>

#include "inspect/signature.h"

static bool changed(const cprof_value *a, const cprof_value *b, unsigned depth);

static bool text_changed(const cprof_value *a, const cprof_value *b)
{
	uint32_t least = a->u.text.length < b->u.text.length ? a->u.text.length : b->u.text.length;

	if (memcmp(a->u.text.bytes, b->u.text.bytes, least) != 0)
		return true;
	return a->u.text.length != b->u.text.length &&
	       !(a->u.text.length < b->u.text.length ? a->cut : b->cut);
}

static bool items_changed(const cprof_value *a, const cprof_value *b, unsigned depth)
{
	uint32_t i;

	if (a->count != b->count)
		return !a->cut && !b->cut;
	for (i = 0; i < a->count; i++) {
		if (a->items[i].repeats != b->items[i].repeats ||
		    changed(&a->items[i], &b->items[i], depth + 1))
			return true;
	}
	return false;
}

/* A container that is known once by how many elements it has alone, once by them. */
static bool number_changed(const cprof_value *number, const cprof_value *elements)
{
	const cprof_value *size = number->count == 1 ? number->items : NULL;

	return size && size->name && !strcmp(size->name, "size") && size->u.u != elements->count &&
	       !elements->cut;
}

static bool changed(const cprof_value *a, const cprof_value *b, unsigned depth)
{
	if (a->kind == CPROF_VALUE_ERROR || b->kind == CPROF_VALUE_ERROR || depth > CP_VALUE_DEPTH)
		return false;
	if (a->kind == CPROF_VALUE_STRUCT && b->kind == CPROF_VALUE_ARRAY)
		return number_changed(a, b);
	if (a->kind == CPROF_VALUE_ARRAY && b->kind == CPROF_VALUE_STRUCT)
		return number_changed(b, a);
	if (a->kind != b->kind)
		return true; /* a pointer that leads to text now */
	switch ((cprof_value_kind)a->kind) {
	case CPROF_VALUE_STRING:
		return a->address != b->address || text_changed(a, b);
	case CPROF_VALUE_RAW:
	case CPROF_VALUE_LONG_DOUBLE:
		return text_changed(a, b);
	case CPROF_VALUE_INT128:
	case CPROF_VALUE_UINT128:
		return memcmp(a->u.wide, b->u.wide, sizeof(a->u.wide)) != 0;
	case CPROF_VALUE_POINTER:
		return a->u.u != b->u.u || (a->count && b->count && items_changed(a, b, depth));
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
	case CPROF_VALUE_COMPLEX:
		return items_changed(a, b, depth);
	case CPROF_VALUE_INT:
	case CPROF_VALUE_UINT:
	case CPROF_VALUE_BOOL:
	case CPROF_VALUE_CHAR:
	case CPROF_VALUE_FLOAT:
	case CPROF_VALUE_ENUM:
		return a->u.u != b->u.u;
	case CPROF_VALUE_VOID:
	case CPROF_VALUE_ERROR:
		break;
	}
	return false;
}

/* Is it not in the argument itself? */
static bool is_outside(const cprof_value *v, const struct cp_value_bytes *own)
{
	return v->address && (!own->address || v->address - own->address >= own->size);
}

static bool leads(const cprof_value *before, const cprof_value *now,
		  const struct cp_value_bytes *own, unsigned depth)
{
	bool same = before->address == now->address, any = false;
	uint32_t i;

	if (before->kind != now->kind || depth > CP_VALUE_DEPTH)
		return false;
	if (before->kind == CPROF_VALUE_POINTER)
		return before->u.u == now->u.u && before->count && now->count &&
		       items_changed(before, now, 0);
	if (before->kind == CPROF_VALUE_STRING)
		return same && is_outside(before, own) && text_changed(before, now);
	/* A span, a slice. */
	if (before->kind == CPROF_VALUE_ARRAY)
		return same && is_outside(before, own) && items_changed(before, now, 0);
	/* One on the stack is not what it was. */
	if (before->kind != CPROF_VALUE_STRUCT || own->address || before->count != now->count)
		return false;
	for (i = 0; i < before->count && !any; i++)
		any = leads(&before->items[i], &now->items[i], own, depth + 1);
	return any;
}

bool cp_value_leads_elsewhere(const cprof_value *before, const cprof_value *now,
			      const struct cp_value_bytes *own)
{
	return leads(before, now, own, 0);
}

/* SPDX-License-Identifier: MIT
 *
 * What calling conventions want to know of types, whichever they are.
 */
#include "inspect/classify.h"

#include <string.h>

#include "base/map.h"

/* Itanium C++ ABI, 1.1: non-trivial for the purposes of calls. */
bool cp_type_is_nontrivial(const struct cp_type *type, unsigned *budget)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d;
	uint32_t i;

	while (t && t->kind == CP_TYPE_ARRAY && cp_classify_spend(budget))
		t = cp_type_strip(t->target);
	if (!t || !(t->flags & CP_TYPE_CLASSES) || !cp_classify_spend(budget) ||
	    (t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION))
		return false;
	if (t->flags & (CP_TYPE_BY_VALUE | CP_TYPE_BY_REFERENCE))
		return t->flags & CP_TYPE_BY_REFERENCE;
	d = cp_type_details(t);
	if (!d)
		return false;
	if (d->flags & (CP_DETAILS_NONTRIVIAL | CP_DETAILS_VIRTUAL))
		return true;
	for (i = 0; i < d->member_count; i++) {
		if ((d->members[i].flags & CP_MEMBER_VIRTUAL) ||
		    cp_type_is_nontrivial(d->members[i].type, budget))
			return true;
	}
	return false;
}

bool cp_type_is_transparent(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_type_details *d = t ? cp_type_details(t) : NULL;

	return d && t->kind == CP_TYPE_UNION && t->size && !d->member_count;
}

static uint32_t natural(uint64_t size)
{
	return size > 16 ? 16 : size ? (uint32_t)size : 1;
}

static uint32_t members_alignment(const struct cp_type *t, unsigned *budget)
{
	const struct cp_type_details *d = cp_type_details(t);
	uint32_t most = 1, one, i;

	for (i = 0; d && i < d->member_count && cp_classify_spend(budget); i++) {
		one = cp_type_alignment(d->members[i].type, budget);
		/* A packed member has no alignment of its own. */
		if (!(d->members[i].flags & CP_MEMBER_BITS) && d->members[i].offset % one)
			return 1;
		most = one > most ? one : most;
	}
	return t->size % most ? 1 : most;
}

uint32_t cp_type_alignment(const struct cp_type *type, unsigned *budget)
{
	const struct cp_type *t = type;

	while (t && !t->align && t->kind == CP_TYPE_ALIAS && cp_classify_spend(budget))
		t = t->target;
	while (t && !t->align && t->kind == CP_TYPE_ARRAY && cp_classify_spend(budget))
		t = cp_type_strip(t->target);
	if (!t || !cp_classify_spend(budget))
		return 1;
	if (t->align)
		return t->align;
	switch (t->kind) {
	case CP_TYPE_STRUCT:
	case CP_TYPE_UNION:
		return members_alignment(t, budget);
	case CP_TYPE_COMPLEX:
		return natural(t->size / 2);
	case CP_TYPE_VECTOR:
		return t->size > 64 ? 64 : t->size ? (uint32_t)t->size : 1;
	case CP_TYPE_MEMBER_POINTER:
		return 8;
	default:
		return natural(t->size);
	}
}

#define PARTS_DEEP 32

/* Each type once: what is made to confuse has itself in it, twice. */
static void complete_parts(struct cp_image *image, const struct cp_type *type, unsigned depth,
			   struct cp_map *seen)
{
	const struct cp_type *t = cp_type_strip(cp_type_complete(image, cp_type_strip(type)));
	const struct cp_type_details *d = t ? cp_type_details(t) : NULL;
	uint64_t key = (uint64_t)(uintptr_t)t;
	uint32_t i;

	if (!t || depth == PARTS_DEEP || cp_map_get(seen, key) || !cp_map_put(seen, key, 1))
		return;
	if (t->kind == CP_TYPE_ARRAY)
		complete_parts(image, t->target, depth + 1, seen);
	for (i = 0; d && i < d->member_count; i++)
		complete_parts(image, d->members[i].type, depth + 1, seen);
	for (i = 0; d && i < d->variant_count; i++)
		complete_parts(image, d->variants[i].member.type, depth + 1, seen);
}

void cp_type_complete_parts(struct cp_image *image, const struct cp_type *type)
{
	struct cp_map seen = { 0 };

	complete_parts(image, type, 0, &seen);
	cp_map_free(&seen);
}

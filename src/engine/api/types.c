/* SPDX-License-Identifier: MIT
 *
 * Types and values of objects, as profilers ask for them.
 */
#include <cprof/type.h>
#include <string.h>

#include "base/arena.h"
#include "engine/api/lookup.h"
#include "engine/frames/places.h"
#include "engine/target/memory.h"
#include "engine/target/state.h"
#include "engine/target/types.h"
#include "image/find.h"
#include "image/templates.h"
#include "inspect/classify.h"
#include "inspect/shape_ops.h"
#include "inspect/thing.h"

/* ---- found ---- */

struct search {
	const char *name;
	const struct cp_type *found;
};

static bool search_image(cprof_image *image, void *data)
{
	struct search *search = data;

	search->found = engine_type_named(image->assembly, search->name);
	return !search->found;
}

const cprof_type *cprof_type_from_name(const cprof_image *image, const char *name)
{
	struct search search = { .name = name };

	if (!name || !*name)
		return NULL;
	if (image)
		search.found = engine_type_named(image->assembly, name);
	else
		engine_asked_images(search_image, &search);
	return engine_type_told(search.found ? search.found : cp_type_of_c(name));
}

static const cprof_type *type_in(const cprof_function *f, int position)
{
	const struct cp_signature *signature = f ? engine_function_signature(f) : NULL;

	return signature ? engine_type_told(cp_signature_type(signature, position)) : NULL;
}

const cprof_type *cprof_function_result_type(const cprof_function *f)
{
	return type_in(f, -1);
}

const cprof_type *cprof_function_argument_type(const cprof_function *f, uint32_t position)
{
	return position > INT32_MAX ? NULL : type_in(f, (int)position);
}

/* ---- what it is ---- */

/* Behind typedefs, with its details read; NULL for NULL. */
static const struct cp_type *whole(const cprof_type *type)
{
	const struct cp_type *t = cp_type_strip(engine_type_of(type));
	struct cp_image *image = t ? cp_type_image(t) : NULL;

	return image ? cp_type_strip(cp_type_complete(image, t)) : t;
}

static const struct cp_type_details *details_of(const cprof_type *type)
{
	const struct cp_type *t = whole(type);

	return t ? cp_type_details(t) : NULL;
}

const char *cprof_type_name(const cprof_type *type)
{
	return type ? cp_type_full_name(engine_type_of(type)) : "";
}

cprof_type_kind cprof_type_kind_of(const cprof_type *type)
{
	static const cprof_type_kind kinds[] = {
		[CP_TYPE_UNKNOWN] = CPROF_TYPE_UNKNOWN,
		[CP_TYPE_VOID] = CPROF_TYPE_VOID,
		[CP_TYPE_INT] = CPROF_TYPE_INT,
		[CP_TYPE_UINT] = CPROF_TYPE_UINT,
		[CP_TYPE_BOOL] = CPROF_TYPE_BOOL,
		[CP_TYPE_CHAR] = CPROF_TYPE_CHAR,
		[CP_TYPE_FLOAT] = CPROF_TYPE_FLOAT,
		[CP_TYPE_COMPLEX] = CPROF_TYPE_COMPLEX,
		[CP_TYPE_POINTER] = CPROF_TYPE_POINTER,
		[CP_TYPE_REFERENCE] = CPROF_TYPE_REFERENCE,
		[CP_TYPE_MEMBER_POINTER] = CPROF_TYPE_MEMBER_POINTER,
		[CP_TYPE_ENUM] = CPROF_TYPE_ENUM,
		[CP_TYPE_STRUCT] = CPROF_TYPE_STRUCT,
		[CP_TYPE_UNION] = CPROF_TYPE_UNION,
		[CP_TYPE_ARRAY] = CPROF_TYPE_ARRAY,
		[CP_TYPE_VECTOR] = CPROF_TYPE_VECTOR,
		[CP_TYPE_FUNCTION] = CPROF_TYPE_FUNCTION,
		[CP_TYPE_ALIAS] = CPROF_TYPE_ALIAS,
	};

	return type ? kinds[engine_type_of(type)->kind] : CPROF_TYPE_UNKNOWN;
}

uint64_t cprof_type_size(const cprof_type *type)
{
	const struct cp_type *t = whole(type);

	return t ? t->size : 0;
}

uint32_t cprof_type_alignment(const cprof_type *type)
{
	const struct cp_type *t = whole(type);
	unsigned budget = CP_CLASSIFY_BUDGET;

	if (!t || t->flags & CP_TYPE_DECLARED || !t->size)
		return 0;
	if (cp_type_image(t))
		cp_type_complete_parts(cp_type_image(t), t);
	return cp_type_alignment(t, &budget);
}

const cprof_type *cprof_type_target(const cprof_type *type)
{
	return type ? engine_type_told(engine_type_of(type)->target) : NULL;
}

uint64_t cprof_type_count(const cprof_type *type)
{
	const struct cp_type *t = whole(type);

	return t && (t->kind == CP_TYPE_ARRAY || t->kind == CP_TYPE_VECTOR) ? t->count : 0;
}

unsigned cprof_type_flags(const cprof_type *type)
{
	static const struct {
		unsigned own, told;
	} flags[] = {
		{ CP_TYPE_SIGNED, CPROF_TYPE_SIGNED },	 { CP_TYPE_DECLARED, CPROF_TYPE_DECLARED },
		{ CP_TYPE_COUNTED, CPROF_TYPE_COUNTED }, { CP_TYPE_CLASS, CPROF_TYPE_CLASS },
		{ CP_TYPE_UNNAMED, CPROF_TYPE_UNNAMED },
	};
	const struct cp_type *t = whole(type);
	const struct cp_type_details *d = t ? cp_type_details(t) : NULL;
	unsigned ret = d && d->flags & CP_DETAILS_VIRTUAL ? CPROF_TYPE_POLYMORPHIC : 0;
	size_t i;

	for (i = 0; t && i < CP_ARRAY_SIZE(flags); i++)
		ret |= t->flags & flags[i].own ? flags[i].told : 0;
	return ret;
}

/* ---- what it consists of ---- */

static void tell_member(const struct cp_type_member *m, cprof_member *ret)
{
	bool bits = m->flags & CP_MEMBER_BITS;

	*ret = (cprof_member){
		.name = m->name,
		.type = engine_type_told(m->type),
		.offset = m->offset,
		.bit_offset = bits ? m->bit_offset : 0,
		.bit_size = bits ? m->bit_size : 0,
		.flags = m->flags & (CPROF_MEMBER_BASE | CPROF_MEMBER_VIRTUAL | CPROF_MEMBER_BITS |
				     CPROF_MEMBER_ARTIFICIAL),
	};
}

_Static_assert(CPROF_MEMBER_BASE == CP_MEMBER_BASE && CPROF_MEMBER_VIRTUAL == CP_MEMBER_VIRTUAL &&
		       CPROF_MEMBER_BITS == CP_MEMBER_BITS &&
		       CPROF_MEMBER_ARTIFICIAL == CP_MEMBER_ARTIFICIAL,
	       "members' flags are told as they are");

uint32_t cprof_type_member_count(const cprof_type *type)
{
	const struct cp_type_details *d = details_of(type);

	return d ? d->member_count : 0;
}

bool cprof_type_member(const cprof_type *type, uint32_t position, cprof_member *ret)
{
	const struct cp_type_details *d = details_of(type);

	if (!d || position >= d->member_count)
		return false;
	tell_member(&d->members[position], ret);
	return true;
}

uint32_t cprof_type_enumerator_count(const cprof_type *type)
{
	const struct cp_type_details *d = details_of(type);

	return d ? d->enumerator_count : 0;
}

bool cprof_type_enumerator(const cprof_type *type, uint32_t position, cprof_enumerator *ret)
{
	const struct cp_type_details *d = details_of(type);

	if (!d || position >= d->enumerator_count)
		return false;
	*ret = (cprof_enumerator){ d->enumerators[position].name, d->enumerators[position].value };
	return true;
}

uint32_t cprof_type_variant_count(const cprof_type *type)
{
	const struct cp_type_details *d = details_of(type);

	return d ? d->variant_count : 0;
}

bool cprof_type_variant(const cprof_type *type, uint32_t position, cprof_variant *ret)
{
	const struct cp_type_details *d = details_of(type);

	if (!d || position >= d->variant_count)
		return false;
	*ret = (cprof_variant){ .value = d->variants[position].value,
				.otherwise = d->variants[position].otherwise };
	tell_member(&d->variants[position].member, &ret->member);
	return true;
}

bool cprof_type_discriminant(const cprof_type *type, cprof_member *ret)
{
	const struct cp_type_details *d = details_of(type);

	if (!d || !d->discriminant)
		return false;
	tell_member(d->discriminant, ret);
	return true;
}

/* ---- templates ---- */

/* The argument at a position; answers how many there are. */
static size_t argument(const cprof_type *type, uint32_t position, struct cp_type_argument *ret)
{
	struct cp_type_argument some[64];
	const struct cp_type *t = whole(type);
	size_t count;

	if (!t || !cp_type_image(t))
		return 0;
	count = cp_type_arguments(cp_type_image(t), t, some, CP_ARRAY_SIZE(some));
	count = count < CP_ARRAY_SIZE(some) ? count : CP_ARRAY_SIZE(some);
	if (position < count)
		*ret = some[position];
	return count;
}

uint32_t cprof_type_argument_count(const cprof_type *type)
{
	struct cp_type_argument unused;

	return (uint32_t)argument(type, UINT32_MAX, &unused);
}

bool cprof_type_argument_at(const cprof_type *type, uint32_t position, cprof_type_argument *ret)
{
	struct cp_type_argument found;

	if (position >= argument(type, position, &found))
		return false;
	*ret = (cprof_type_argument){ .name = found.name,
				      .type = engine_type_told(found.type),
				      .value = found.value,
				      .is_value = found.is_value };
	return true;
}

size_t cprof_type_template(const cprof_type *type, char *buffer, size_t size)
{
	const struct cp_type *t = whole(type);
	const char *name = t ? cp_type_full_name(t) : "", *last = cp_name_last_part(name);
	const char *end = strchr(last, '<');
	size_t length = end && end != last ? (size_t)(end - name) : 0;

	if (size)
		buffer[0] = 0;
	if (size && length) {
		size = length < size - 1 ? length : size - 1;
		memcpy(buffer, name, size);
		buffer[size] = 0;
	}
	return length;
}

/* ---- objects ---- */

static const struct cp_shapes shapes = { .ops = &cp_shape_ops };

cprof_status cprof_object_value(const cprof_object *object, const cprof_value **ret)
{
	cprof_session *s = cprof_session_current();
	cprof_process *p = engine_asked_process(s);
	struct cp_arena arena = { 0 };
	struct cp_expression_env env = { .arena = &arena, .shapes = &shapes };
	struct cp_thing thing;

	if (!object || !ret || !p)
		return CPROF_E_INVALID_ARGUMENT;
	if (!object->type)
		return CPROF_E_NO_DEBUG_INFO;
	if (!engine_open_memory(p))
		return CPROF_E_GONE;
	if (!s->object_arena)
		s->object_arena = cp_value_arena_create();
	if (!s->object_arena)
		return CPROF_E_OUT_OF_MEMORY;
	cp_value_arena_reset(s->object_arena);
	env.memory = &p->memory;
	env.values = s->object_arena;
	env.limits = &s->limits;
	thing = cp_thing_at(engine_type_of(object->type), object->address);
	*ret = cp_thing_value(&env, &thing);
	cp_arena_free(&arena);
	return *ret ? CPROF_OK : CPROF_E_OUT_OF_MEMORY;
}

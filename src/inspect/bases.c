/* SPDX-License-Identifier: MIT
 *
 * Bases of objects, virtual ones among them, which each object's vtable says the place of:
 *
 *     object ─► vptr ─► │ offset of the base │ ... │ offset to top │ type_info │ functions
 *                       └───── m->below ──────────────────────────────────────►
 *
 * From a base to what it is in leads the vtable where there is one, as it says what the
 * whole object is; elsewhere only the types do, and only to what has it at one place.
 */
#include "inspect/bases.h"

#include <string.h>

#include "inspect/build.h"
#include "inspect/dynamic.h"

#define DEPTH 16
#define STEPS 4096 /* bases that are looked at */
#define PLACES 8 /* of one class in an object */

static const struct cp_type *completed(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t ? cp_type_complete(cp_type_image(t), t) : NULL;
}

static bool is_class(const struct cp_type *t)
{
	return t && t->kind == CP_TYPE_STRUCT;
}

/* The same class, by whichever unit's debug information. */
static bool is_same(const struct cp_type *a, const struct cp_type *b)
{
	return a == b || (a->size == b->size && a->text && b->text && !strcmp(a->text, b->text));
}

/* ---- from an object to its bases ---- */

/* How far a base is from the beginning of the object whose vtable that is. */
static uint8_t virtual_offset(const struct cp_reader *memory, uint64_t vtable,
			      const struct cp_type_member *m, uint64_t *ret)
{
	int64_t offset;

	if (!m->below)
		return CPROF_VALUE_UNAVAILABLE;
	if (!vtable)
		return CPROF_VALUE_NOT_CONSTRUCTED;
	if (!cp_read_exact(memory, vtable - m->below, &offset, sizeof(offset)))
		return CPROF_VALUE_UNREADABLE;
	*ret = (uint64_t)offset;
	return cp_base_is_near(offset) ? CPROF_VALUE_OK : CPROF_VALUE_UNAVAILABLE;
}

/* The same of an object in memory. */
static uint8_t offset_in(const struct cp_reader *memory, uint64_t object,
			 const struct cp_type_member *m, uint64_t *ret)
{
	uint64_t vtable;

	*ret = m->offset;
	if (!(m->flags & CP_MEMBER_VIRTUAL))
		return CPROF_VALUE_OK;
	if (!cp_read_exact(memory, object, &vtable, sizeof(vtable)))
		return CPROF_VALUE_UNREADABLE;
	return virtual_offset(memory, vtable, m, ret);
}

struct cp_thing cp_base_of(const struct cp_expression_env *env, const struct cp_thing *object,
			   const struct cp_type_member *m)
{
	struct cp_thing base = { .type = m->type,
				 .in_memory = object->in_memory,
				 .address = object->address,
				 .source = object->source };
	uint64_t offset = m->offset;
	const struct cp_type *t;

	if (object->in_memory) {
		base.error = offset_in(env->memory, object->address, m, &offset);
		base.address += base.error ? 0 : offset;
		return base;
	}
	if (object->size < 8)
		base.error = CPROF_VALUE_UNAVAILABLE;
	else if (m->flags & CP_MEMBER_VIRTUAL)
		base.error =
			virtual_offset(env->memory, cp_build_number(object->bytes, 8), m, &offset);
	t = completed(m->type);
	if (!base.error && (!t || offset > object->size || t->size > object->size - offset))
		base.error = CPROF_VALUE_UNAVAILABLE;
	if (base.error)
		return base;
	base.bytes = object->bytes + offset;
	base.gaps = object->gaps;
	base.within = object->within + (uint64_t)offset;
	base.size = t->size;
	return base;
}

/* Where objects of a class are among the bases of one. */
struct search {
	const struct cp_reader *memory; /* NULL: virtual bases are left out */
	const struct cp_type *wanted;
	uint64_t places[PLACES];
	unsigned count, left;
	uint8_t error; /* of a base that may have had it */
};

static void add_place(struct search *s, uint64_t address)
{
	unsigned i;

	for (i = 0; i < s->count; i++)
		if (s->places[i] == address)
			return;
	if (s->count < PLACES)
		s->places[s->count++] = address;
}

static void search(struct search *s, const struct cp_type *type, uint64_t address, unsigned depth)
{
	const struct cp_type *t = completed(type);
	const struct cp_type_details *d = is_class(t) ? cp_type_details(t) : NULL;
	const struct cp_type_member *m;
	uint64_t offset;
	uint8_t error;
	uint32_t i;

	if (is_class(t) && is_same(t, s->wanted))
		add_place(s, address);
	for (i = 0; d && i < d->member_count && depth < DEPTH && s->left; i++) {
		m = &d->members[i];
		if (!(m->flags & CP_MEMBER_BASE))
			continue;
		s->left--;
		if (m->flags & CP_MEMBER_VIRTUAL && !s->memory)
			continue;
		error = offset_in(s->memory, address, m, &offset);
		s->error = error ? error : s->error;
		if (!error)
			search(s, m->type, address + offset, depth + 1);
	}
}

static struct search search_in(const struct cp_reader *memory, const struct cp_type *wanted,
			       const struct cp_type *type, uint64_t address)
{
	struct search s = { .memory = memory, .wanted = wanted, .left = STEPS };

	search(&s, type, address, 0);
	return s;
}

/* Is a class one of the bases of another? */
static bool has_base(const struct cp_type *type, const struct cp_type *wanted, unsigned depth,
		     unsigned *left)
{
	const struct cp_type *t = completed(type);
	const struct cp_type_details *d = is_class(t) ? cp_type_details(t) : NULL;
	uint32_t i;

	for (i = 0; d && i < d->member_count && depth < DEPTH && *left; i++) {
		const struct cp_type *base = completed(d->members[i].type);

		if (!(d->members[i].flags & CP_MEMBER_BASE) || !is_class(base))
			continue;
		(*left)--;
		if (is_same(base, wanted) || has_base(base, wanted, depth + 1, left))
			return true;
	}
	return false;
}

static CP_ERROR ambiguous(const struct cp_type *whole, const struct cp_type *base)
{
	return cp_error_new(CP_ERR_USAGE, 0, "%s is a base of %s more than once",
			    base->text ? base->text : "it", whole->text ? whole->text : "that");
}

/* ---- from a base to what it is in ---- */

struct named {
	const struct cp_expression_env *env;
};

static char *variable_at(void *ctx, uint64_t address, uint64_t *offset_ret)
{
	const struct cp_expression_env *env = ((struct named *)ctx)->env;

	return env->variable_at ? env->variable_at(env->ctx, address, offset_ret) : NULL;
}

static const struct cp_type *type_named(void *ctx, const char *name)
{
	const struct cp_expression_env *env = ((struct named *)ctx)->env;
	const struct cp_type *type = NULL;
	struct cp_error *err = env->type(env->ctx, name, &type);

	cp_error_free(err);
	return err ? NULL : type;
}

char *cp_base_class_of(const struct cp_expression_env *env, const struct cp_type *type,
		       uint64_t address)
{
	struct named named = { env };
	const struct cp_dynamic_env dynamic = {
		.memory = env->memory, .variable_at = variable_at, .type = type_named, .ctx = &named
	};

	return cp_dynamic_class(&dynamic, type, address);
}

bool cp_base_whole(const struct cp_expression_env *env, const struct cp_thing *base,
		   struct cp_thing *ret)
{
	struct named named = { env };
	const struct cp_dynamic_env dynamic = {
		.memory = env->memory, .variable_at = variable_at, .type = type_named, .ctx = &named
	};
	const struct cp_type *whole;
	uint64_t at;

	if (!env->variable_at || base->error || !base->in_memory || base->bits ||
	    !is_class(completed(base->type)) ||
	    cp_dynamic_type(&dynamic, base->type, base->address, &whole, &at) != CP_DYNAMIC_FOUND ||
	    is_same(completed(whole), completed(base->type)))
		return false;
	*ret = cp_thing_at(whole, at);
	return true;
}

/* In the whole object that the vtable tells; false: it does not, or has no such thing. */
static bool in_whole(const struct cp_expression_env *env, const struct cp_type *from,
		     const struct cp_type *to, uint64_t *address)
{
	struct named named = { env };
	const struct cp_dynamic_env dynamic = {
		.memory = env->memory, .variable_at = variable_at, .type = type_named, .ctx = &named
	};
	const struct cp_type *whole;
	struct search all, own;
	uint64_t at;
	unsigned i, k;

	if (cp_dynamic_type(&dynamic, from, *address, &whole, &at) != CP_DYNAMIC_FOUND)
		return false;
	all = search_in(env->memory, to, whole, at);
	/* Of several the one that it is a base of. */
	for (i = 0; all.count > 1 && i < all.count; i++) {
		own = search_in(env->memory, from, to, all.places[i]);
		for (k = 0; k < own.count; k++)
			if (own.places[k] == *address) {
				*address = all.places[i];
				return true;
			}
	}
	if (all.count)
		*address = all.places[0];
	return all.count;
}

CP_ERROR cp_base_cast(const struct cp_expression_env *env, const struct cp_type *from,
		      const struct cp_type *to, uint64_t *address, uint8_t *error_ret)
{
	unsigned left = STEPS;
	struct search s;

	*error_ret = CPROF_VALUE_OK;
	from = completed(from);
	to = completed(to);
	if (!*address || !is_class(from) || !is_class(to) || is_same(from, to))
		return NULL;
	if (has_base(from, to, 0, &left)) {
		s = search_in(env->memory, to, from, *address);
		if (s.count > 1)
			return ambiguous(from, to);
		*error_ret = s.count ? CPROF_VALUE_OK : s.error;
		*address = s.count ? s.places[0] : *address;
		return NULL;
	}
	left = STEPS;
	if (!has_base(to, from, 0, &left) || in_whole(env, from, to, address))
		return NULL;
	s = search_in(NULL, from, to, 0);
	if (s.count > 1)
		return ambiguous(to, from);
	*error_ret = s.count ? CPROF_VALUE_OK : CPROF_VALUE_UNAVAILABLE;
	*address -= s.count ? s.places[0] : 0;
	return NULL;
}

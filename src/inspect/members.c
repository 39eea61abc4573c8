/* SPDX-License-Identifier: MIT */
#include "inspect/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/find.h"
#include "image/typenames.h"
#include "inspect/bases.h"
#include "inspect/build.h"
#include "inspect/number.h"
#include "inspect/rust.h"
#include "inspect/shapes.h"
#include "inspect/value.h"

#define SOMEWHERE 0x10000u /* an address that is not NULL */

#define SEARCH_DEPTH 16
#define SEARCH_MAX 20000
#define BASES_MAX 64 /* that are looked at for a static member */

struct search {
	const struct cp_expression_env *env;
	const char *name;
	struct cp_text_near near;
	unsigned left;
	bool ambiguous; /* two of its bases have such a one each */
};

/* A member, and the class in whose object it was found. */
struct found {
	struct cp_thing member, object;
};

static const struct cp_type *completed(const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);

	return t ? cp_type_complete(cp_type_image(t), t) : NULL;
}

static struct cp_thing part(const struct cp_thing *of, uint64_t offset, const struct cp_type *type)
{
	const struct cp_type *t = completed(type);
	struct cp_thing p = { .type = type,
			      .in_memory = of->in_memory,
			      .address = of->address + offset,
			      .source = of->source };

	if (of->in_memory)
		return p;
	p.address = 0;
	if (offset > of->size || !t || t->size > of->size - offset) {
		p.error = CPROF_VALUE_UNAVAILABLE;
		return p;
	}
	p.bytes = of->bytes + offset;
	p.size = t->size;
	p.gaps = of->gaps;
	p.within = of->within + offset;
	return p;
}

/* A bit-field is of what holds it, from its beginning. */
static struct cp_thing bits(const struct cp_thing *of, const struct cp_type_member *m)
{
	struct cp_thing p = *of;

	p.type = m->type;
	p.bits = m;
	return p;
}

static struct cp_thing member(const struct search *s, const struct cp_thing *in,
			      const struct cp_type_member *m)
{
	if (m->flags & CP_MEMBER_VIRTUAL)
		return cp_base_of(s->env, in, m);
	return m->flags & CP_MEMBER_BITS ? bits(in, m) : part(in, m->offset, m->type);
}

/* Is `base`, as an object, one of the virtual bases of what is in the other? Then that
 * one's members hide its own, whichever way leads to them. */
static bool is_hidden(const struct search *s, const struct cp_thing *base,
		      const struct cp_thing *object, unsigned depth)
{
	const struct cp_type *t = completed(object->type), *wanted = completed(base->type);
	const struct cp_type_details *d = t ? cp_type_details(t) : NULL;
	struct cp_thing inner;
	uint32_t i;

	for (i = 0; d && i < d->member_count && depth < SEARCH_DEPTH; i++) {
		if (!(d->members[i].flags & CP_MEMBER_BASE))
			continue;
		if (d->members[i].flags & CP_MEMBER_VIRTUAL &&
		    completed(d->members[i].type) == wanted)
			return true;
		inner = member(s, object, &d->members[i]);
		if (is_hidden(s, base, &inner, depth + 1))
			return true;
	}
	return false;
}

static bool is_same(const struct cp_thing *a, const struct cp_thing *b)
{
	if (a->error || b->error) /* whether they are is not known */
		return completed(a->type) == completed(b->type);
	return completed(a->type) == completed(b->type) && a->in_memory == b->in_memory &&
	       a->address == b->address && a->bytes == b->bytes;
}

/* Of two of that name, which bases have, the one that is meant. */
static void choose(struct search *s, const struct found *other, struct found *ret)
{
	if (is_same(&ret->object, &other->object) || is_hidden(s, &other->object, &ret->object, 0))
		return;
	if (is_hidden(s, &ret->object, &other->object, 0))
		*ret = *other;
	else
		s->ambiguous = true;
}

static bool find(struct search *s, const struct cp_thing *in, unsigned depth, struct found *ret);

/* In bases, and in structs and unions without a name. */
static bool find_within(struct search *s, const struct cp_thing *in,
			const struct cp_type_details *d, unsigned depth, struct found *ret)
{
	const struct cp_type_member *m;
	struct cp_thing inner;
	struct found found;
	bool any = false;
	uint32_t i;

	for (i = 0; i < d->member_count && depth < SEARCH_DEPTH && s->left; i++) {
		m = &d->members[i];
		if ((*m->name && !(m->flags & CP_MEMBER_BASE)) || m->flags & CP_MEMBER_BITS)
			continue;
		inner = member(s, in, m);
		if (!find(s, &inner, depth + 1, &found))
			continue;
		if (inner.error) { /* it has one, but nobody knows where */
			found.member.error = inner.error;
			found.member.address = inner.address;
		}
		if (any)
			choose(s, &found, ret);
		else
			*ret = found;
		any = true;
	}
	return any;
}

static bool find(struct search *s, const struct cp_thing *in, unsigned depth, struct found *ret)
{
	const struct cp_type *t = completed(in->type);
	const struct cp_type_details *d = t ? cp_type_details(t) : NULL;
	const struct cp_type_member *m;
	uint32_t i;

	for (i = 0; d && i < d->member_count && s->left; i++, s->left--) {
		m = &d->members[i];
		if (*m->name && !(m->flags & CP_MEMBER_BASE))
			cp_text_near_try(&s->near, m->name);
		if (strcmp(m->name, s->name))
			continue;
		*ret = (struct found){ member(s, in, m), *in };
		return true;
	}
	if (d && find_within(s, in, d, depth, ret))
		return true;
	for (i = 0; d && i < d->variant_count && s->left; i++, s->left--) {
		m = &d->variants[i].member;
		if (strcmp(m->name, s->name))
			continue;
		*ret = (struct found){ part(in, m->offset, m->type), *in };
		return true;
	}
	return false;
}

CP_ERROR cp_member_find(const struct cp_expression_env *env, const struct cp_thing *thing,
			const char *name, struct cp_thing *ret)
{
	struct search s = { .env = env,
			    .name = name,
			    .near = cp_text_near(name, strlen(name)),
			    .left = SEARCH_MAX };
	const struct cp_type *t = completed(thing->type);
	const char *text = thing->type && thing->type->text ? thing->type->text : "(unknown)";
	struct cp_thing whole;
	struct cp_error *err;
	struct found found;

	if (!thing->type)
		return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
						  "no debug information tells the type of what %s "
						  "is looked for in",
						  name),
				     "where another file tells of the type, cast it: "
				     "((struct node *)&NAME)->%s; else read it by its distance: "
				     "*(int *)((char *)&NAME + 8); debug information that is "
				     "elsewhere: --debug-dir=DIR",
				     name);
	if (!t || (t->kind != CP_TYPE_STRUCT && t->kind != CP_TYPE_UNION))
		return cp_error_new(CP_ERR_USAGE, 0,
				    "what %s is looked for in is of type %s, which has no members",
				    name, text);
	if (find(&s, thing, 0, &found)) {
		if (s.ambiguous)
			return cp_error_hint(
				cp_error_new(CP_ERR_USAGE, 0,
					     "more than one base of %s has a member %s", text,
					     name),
				"say which base: ((BASE *)p)->%s", name);
		*ret = found.member;
		return NULL;
	}
	if (t->flags & CP_TYPE_DECLARED) {
		*ret = (struct cp_thing){ .error = CPROF_VALUE_INCOMPLETE };
		return NULL;
	}
	/* It may be one of the class that the object really is of. */
	if (cp_base_whole(env, thing, &whole) && find(&s, &whole, 0, &found) && !s.ambiguous) {
		*ret = found.member;
		return NULL;
	}
	err = cp_error_new(CP_ERR_NOT_FOUND, 0, "%s has no member %s", text, name);
	if (s.near.best)
		cp_error_hint(err, "did you mean %s?", s.near.best);
	return err;
}

static CP_ERROR static_within(const struct cp_expression_env *env, const struct cp_type *t,
			      const char *name, unsigned *left, struct cp_thing *ret,
			      bool *done_ret)
{
	const struct cp_type_details *d = cp_type_details(t);
	const char *full = cp_type_full_name(t);
	struct cp_error *err = NULL;
	CP_FREE char *text = NULL;
	uint32_t i;

	if (!full || asprintf(&text, "::%s::%s", full, name) < 0)
		return NULL;
	err = env->variable(env->ctx, text, NULL, ret);
	*done_ret = !err;
	if (!err || err->code != CP_ERR_NOT_FOUND)
		return err;
	cp_error_free(err);
	for (i = 0; d && i < d->member_count && !*done_ret && *left; i++) {
		t = d->members[i].flags & CP_MEMBER_BASE ? completed(d->members[i].type) : NULL;
		*left -= t != NULL;
		if (t)
			CP_TRY(static_within(env, t, name, left, ret, done_ret));
	}
	return NULL;
}

CP_ERROR cp_member_static(const struct cp_expression_env *env, const struct cp_type *type,
			  const char *name, struct cp_thing *ret, bool *done_ret)
{
	const struct cp_type *t = type ? completed(type) : NULL;
	unsigned left = BASES_MAX;

	*done_ret = false;
	if (!t || !(t->flags & CP_TYPE_CLASSES) || cp_name_last_part(name) != name)
		return NULL;
	return static_within(env, t, name, &left, ret, done_ret);
}

CP_ERROR cp_member_count(const struct cp_expression_env *env, const struct cp_thing *thing,
			 const char *name, struct cp_thing *ret, bool *done_ret)
{
	static const char *const names[] = { "size", "length", "empty", "len", "is_empty", NULL };
	bool empty = strstr(name, "empty");
	uint64_t count = 0;

	*done_ret = false;
	if (!env->shapes || !cp_is_any(name, names))
		return NULL;
	CP_TRY(env->shapes->ops->count(env, thing, ret, &count, done_ret));
	if (!*done_ret || ret->error)
		return NULL;
	CP_TRY(cp_number_thing(env,
			       (struct cp_number){ CP_NUMBER_INTEGER,
						   .i = empty ? !count : (cp_wide)count },
			       cp_type_of_c(empty ? "bool" : "unsigned long"), ret));
	ret->source = CPROF_SOURCE_MEMORY;
	return NULL;
}

/* ---- pointers to members ---- */

/* A virtual function that the class itself declares. */
static const struct cp_type_method *method_of(const struct cp_type *t, const char *name)
{
	const struct cp_type_details *d = cp_type_details(t);
	uint32_t i;

	for (i = 0; d && i < d->method_count; i++)
		if (!strcmp(d->methods[i].name, name))
			return &d->methods[i];
	return NULL;
}

static CP_ERROR pointer_to(const struct cp_expression_env *env, const struct cp_type *class,
			   const struct cp_type *type, uint64_t value, struct cp_thing *ret)
{
	return cp_number_thing(env, (struct cp_number){ CP_NUMBER_INTEGER, .i = (cp_wide)value },
			       cp_type_member_pointer_to(env->arena, type, class), ret);
}

static CP_ERROR member_pointer(const struct cp_expression_env *env, const struct cp_type *class,
			       const char *name, struct cp_thing *ret)
{
	static const struct cp_type function = { .kind = CP_TYPE_FUNCTION,
						 .text = "? (...)",
						 .split = 2 };
	const struct cp_thing whole = cp_thing_at(class, 0);
	const struct cp_type_method *m = method_of(class, name);
	struct cp_thing found;

	/* What a virtual one adds to `this` is 0: the second word. */
	if (m)
		return pointer_to(env, class, &function, 1 + 8 * m->slot, ret);
	CP_TRY(cp_member_find(env, &whole, name, &found));
	if (found.bits)
		return cp_error_new(CP_ERR_USAGE, 0, "a bit-field has no address");
	if (found.error) {
		*ret = found;
		return NULL;
	}
	return pointer_to(env, class, found.type, found.address, ret);
}

const struct cp_type *cp_name_scope(const struct cp_expression_env *env, const char *name,
				    const char **last_ret)
{
	const char *last = cp_name_last_part(name);
	const struct cp_type *type = NULL;
	struct cp_error *err;
	char *in;

	*last_ret = last;
	if (last < name + 3)
		return NULL;
	in = cp_arena_copy(env->arena, name, (size_t)(last - name) - 2);
	err = in ? env->type(env->ctx, in, &type) : cp_error_nomem();
	type = err ? NULL : type;
	cp_error_free(err);
	return type;
}

CP_ERROR cp_member_pointer(const struct cp_expression_env *env, const char *name,
			   struct cp_error *why, struct cp_thing *ret, bool *done_ret)
{
	const char *last;
	const struct cp_type *type = cp_name_scope(env, name, &last);

	type = type ? completed(type) : NULL;
	if (!type || (type->kind != CP_TYPE_STRUCT && type->kind != CP_TYPE_UNION))
		return why;
	cp_error_free(why);
	CP_TRY(member_pointer(env, type, last, ret));
	*done_ret = true;
	return NULL;
}

/* ---- forms of enums ---- */

static const struct cp_type_variant *form_of(const struct cp_expression_env *env,
					     const struct cp_thing *thing,
					     const struct cp_type_details *d)
{
	struct cp_thing discriminant;
	const struct cp_type *t;
	const uint8_t *bytes;

	if (!d->discriminant)
		return d->variants;
	discriminant = part(thing, d->discriminant->offset, d->discriminant->type);
	t = cp_type_strip(discriminant.type);
	bytes = cp_thing_bytes(env, &discriminant);
	return bytes ? cp_variant_by(d, cp_build_number(bytes, t->size), t->size) : NULL;
}

void cp_member_holds(const struct cp_expression_env *env, const struct cp_thing *thing, bool *ret,
		     bool *done_ret)
{
	const struct cp_type *t = completed(thing->type);
	const struct cp_type_details *d =
		t && t->kind == CP_TYPE_STRUCT && !thing->bits ? cp_type_details(t) : NULL;
	const struct cp_type_variant *form =
		d && cp_rust_is_option(d) ? form_of(env, thing, d) : NULL;

	*done_ret = form != NULL;
	if (form)
		*ret = !cp_rust_is_none(form);
}

void cp_member_form(const struct cp_expression_env *env, const struct cp_thing *thing,
		    struct cp_thing *ret, bool *done_ret)
{
	const struct cp_type *t = completed(thing->type);
	const struct cp_type_details *d =
		t && t->kind == CP_TYPE_STRUCT && !thing->bits ? cp_type_details(t) : NULL;
	const struct cp_type_variant *form;

	*done_ret = d && d->variant_count && !d->member_count;
	if (!*done_ret)
		return;
	form = form_of(env, thing, d);
	t = form ? completed(form->member.type) : NULL;
	d = t ? cp_type_details(t) : NULL;
	if (!d) {
		*ret = (struct cp_thing){ .error = CPROF_VALUE_UNAVAILABLE };
		return;
	}
	*ret = part(thing, form->member.offset, form->member.type);
	if (!d->member_count && !d->variant_count)
		*ret = (struct cp_thing){ .error = CPROF_VALUE_NOT_CONSTRUCTED };
	else if (d->member_count == 1 && !strcmp(d->members[0].name, "__0"))
		*ret = part(ret, d->members[0].offset, d->members[0].type);
}

CP_ERROR cp_member_pointed(const struct cp_expression_env *env, const struct cp_thing *thing,
			   struct cp_thing *pointer, struct cp_thing *ret)
{
	const struct cp_type *t = cp_type_strip(pointer->type);
	struct cp_number offset;

	if (!t || t->kind != CP_TYPE_MEMBER_POINTER || t->size != 8 || !t->target)
		return cp_error_new(CP_ERR_USAGE, 0, "no pointer to a member: it is of type %s",
				    t && t->text ? t->text : "(unknown)");
	offset = cp_number_of(env, pointer);
	*ret = *pointer;
	if (!pointer->error)
		*ret = part(thing, (uint64_t)offset.i, t->target);
	if (!pointer->error && (uint64_t)offset.i == UINT64_MAX) /* NULL */
		*ret = (struct cp_thing){ .error = CPROF_VALUE_UNAVAILABLE };
	return NULL;
}

/* ---- of this ---- */

bool cp_member_of_this(const struct cp_expression_env *env, struct cp_thing *object,
		       const char *name, struct cp_thing *ret)
{
	const struct cp_type *t = cp_type_strip(object->type);
	struct cp_thing whole;
	struct cp_error *err;
	const uint8_t *bytes;
	uint64_t address = SOMEWHERE;

	if (!t || t->kind != CP_TYPE_POINTER || !t->target)
		return false;
	bytes = cp_thing_bytes(env, object);
	if (bytes)
		memcpy(&address, bytes, sizeof(address));
	whole = cp_thing_at(t->target, address);
	err = cp_member_find(env, &whole, name, ret);
	cp_error_free(err);
	/* That the name is a member's is so wherever the object is. */
	if (!err && !bytes)
		*ret = (struct cp_thing){ .type = ret->type,
					  .error = object->error ? object->error
								 : CPROF_VALUE_UNAVAILABLE,
					  .source = object->source };
	return !err;
}

/* The member that has the byte at `offset`; NULL: none has. */
static const struct cp_type_member *member_at(const struct cp_type *t, uint64_t offset)
{
	const struct cp_type_details *d = cp_type_details(t);
	const struct cp_type *of;
	uint32_t i;

	for (i = 0; d && i < d->member_count; i++) {
		of = completed(d->members[i].type);
		if (of && !(d->members[i].flags & (CP_MEMBER_BITS | CP_MEMBER_VIRTUAL)) &&
		    offset >= d->members[i].offset && offset - d->members[i].offset < of->size)
			return &d->members[i];
	}
	return NULL;
}

void cp_member_path(const struct cp_type *type, uint64_t offset, struct cp_buf *out)
{
	const struct cp_type_member *m;
	const struct cp_type *t = completed(type), *of;
	unsigned depth;

	for (depth = 0; t && depth < SEARCH_DEPTH; depth++, t = completed(type)) {
		of = t->kind == CP_TYPE_ARRAY ? completed(t->target) : NULL;
		m = member_at(t, offset);
		if (of && of->size) {
			cp_buf_printf(out, "[%llu]", (unsigned long long)(offset / of->size));
			offset %= of->size;
			type = t->target;
		} else if (m) {
			if (*m->name && !(m->flags & CP_MEMBER_BASE))
				cp_buf_printf(out, ".%s", m->name);
			offset -= m->offset;
			type = m->type;
		} else {
			break;
		}
	}
	if (offset)
		cp_buf_printf(out, "+%llu", (unsigned long long)offset);
}

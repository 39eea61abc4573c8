/* SPDX-License-Identifier: MIT
 *
 * Values of things, and the types of C.
 */
#include "inspect/thing.h"

#include <stdio.h>
#include <string.h>

#include "inspect/bytes.h"
#include "inspect/scalar.h"
#include "inspect/value.h"

static size_t read_nothing(void *ctx, uint64_t address, void *buffer, size_t size)
{
	(void)ctx;
	(void)address;
	(void)buffer;
	(void)size;
	return 0;
}

const struct cp_reader cp_no_memory = { read_nothing, NULL };

/* ---- types of C ---- */

#define NUMBER(word, type_kind, bytes, type_flags) \
	{ \
		.kind = type_kind, .size = bytes, .flags = type_flags, .name = word, .text = word, \
		.split = sizeof(word) - 1 \
	}

static const struct cp_type of_c[] = {
	NUMBER("void", CP_TYPE_VOID, 0, 0),
	NUMBER("bool", CP_TYPE_BOOL, 1, 0),
	NUMBER("char", CP_TYPE_CHAR, 1, CP_TYPE_SIGNED),
	NUMBER("signed char", CP_TYPE_CHAR, 1, CP_TYPE_SIGNED),
	NUMBER("unsigned char", CP_TYPE_CHAR, 1, 0),
	NUMBER("short", CP_TYPE_INT, 2, CP_TYPE_SIGNED),
	NUMBER("unsigned short", CP_TYPE_UINT, 2, 0),
	NUMBER("int", CP_TYPE_INT, 4, CP_TYPE_SIGNED),
	NUMBER("unsigned int", CP_TYPE_UINT, 4, 0),
	NUMBER("long", CP_TYPE_INT, 8, CP_TYPE_SIGNED),
	NUMBER("unsigned long", CP_TYPE_UINT, 8, 0),
	NUMBER("long long", CP_TYPE_INT, 8, CP_TYPE_SIGNED),
	NUMBER("unsigned long long", CP_TYPE_UINT, 8, 0),
	NUMBER("__int128", CP_TYPE_INT, 16, CP_TYPE_SIGNED),
	NUMBER("unsigned __int128", CP_TYPE_UINT, 16, 0),
	NUMBER("float", CP_TYPE_FLOAT, 4, 0),
	NUMBER("double", CP_TYPE_FLOAT, 8, 0),
	NUMBER("long double", CP_TYPE_FLOAT, 16, 0),
	NUMBER("_Complex float", CP_TYPE_COMPLEX, 8, 0),
	NUMBER("_Complex double", CP_TYPE_COMPLEX, 16, 0),
	NUMBER("_Complex long double", CP_TYPE_COMPLEX, 32, 0),
	NUMBER("int8_t", CP_TYPE_INT, 1, CP_TYPE_SIGNED),
	NUMBER("uint8_t", CP_TYPE_UINT, 1, 0),
	NUMBER("int16_t", CP_TYPE_INT, 2, CP_TYPE_SIGNED),
	NUMBER("uint16_t", CP_TYPE_UINT, 2, 0),
	NUMBER("int32_t", CP_TYPE_INT, 4, CP_TYPE_SIGNED),
	NUMBER("uint32_t", CP_TYPE_UINT, 4, 0),
	NUMBER("int64_t", CP_TYPE_INT, 8, CP_TYPE_SIGNED),
	NUMBER("uint64_t", CP_TYPE_UINT, 8, 0),
	NUMBER("size_t", CP_TYPE_UINT, 8, 0),
	NUMBER("ssize_t", CP_TYPE_INT, 8, CP_TYPE_SIGNED),
	NUMBER("intptr_t", CP_TYPE_INT, 8, CP_TYPE_SIGNED),
	NUMBER("uintptr_t", CP_TYPE_UINT, 8, 0),
};

/* Words in any order, "int" left out or not: "long unsigned int". */
static bool read_words(const char *name, unsigned count[5])
{
	static const char *const words[] = { "unsigned", "signed", "long", "short", "int" };
	size_t i, n;

	while (*name) {
		name += strspn(name, " ");
		n = strcspn(name, " ");
		for (i = 0; i < 5 && (strlen(words[i]) != n || memcmp(words[i], name, n)); i++)
			;
		if (n && i == 5)
			return false;
		if (n)
			count[i]++;
		name += n;
	}
	return count[2] <= 2 && count[3] <= 1 && count[4] <= 1 && count[0] + count[1] <= 1;
}

const struct cp_type *cp_type_of_c(const char *name)
{
	unsigned count[5] = { 0 };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(of_c); i++)
		if (!strcmp(of_c[i].text, name))
			return &of_c[i];
	if (!*name || !read_words(name, count))
		return NULL;
	return cp_type_of_c(count[2] > 1 ? count[0] ? "unsigned long long" : "long long"
			    : count[2]	 ? count[0] ? "unsigned long" : "long"
			    : count[3]	 ? count[0] ? "unsigned short" : "short"
			    : count[0]	 ? "unsigned int"
					 : "int");
}

/* ---- bytes ---- */

const uint8_t *cp_thing_bytes(const struct cp_expression_env *env, struct cp_thing *thing)
{
	const struct cp_type *t = cp_type_strip(thing->type);
	uint64_t size = t ? t->size : 0;
	const struct cp_gap *gap;
	uint8_t *to;

	if (thing->error)
		return NULL;
	if (!size || size > env->limits->value) {
		thing->error = CPROF_VALUE_UNAVAILABLE;
		return NULL;
	}
	if (!thing->in_memory) {
		gap = cp_gap_at(thing->gaps, thing->within * 8, size * 8);
		if (gap || thing->size < size)
			thing->error = gap ? gap->error : CPROF_VALUE_UNAVAILABLE;
		return thing->error ? NULL : thing->bytes;
	}
	to = cp_arena_alloc(env->arena, size);
	if (to && cp_read_exact(env->memory, thing->address, to, size))
		return to;
	thing->error = to ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE;
	return NULL;
}

bool cp_thing_implied(const struct cp_thing *thing, const struct cp_type *type, int64_t at,
		      struct cp_thing *ret)
{
	const struct cp_type *t = cp_type_strip(thing->type), *of;
	const struct cp_bytes *leads = t && !thing->in_memory && !thing->error && !thing->bits
					       ? cp_gap_leads(thing->gaps, thing->within, t->size)
					       : NULL;
	const uint64_t skip = (uint64_t)at;

	if (!leads)
		return false;
	if (leads->address) {
		*ret = cp_thing_at(type, leads->address + skip);
		return true;
	}
	of = type ? cp_type_complete(cp_type_image(type), cp_type_strip(type)) : NULL;
	*ret = (struct cp_thing){ .type = type, .source = CPROF_SOURCE_DWARF };
	if (!of || at < 0 || skip > leads->size || of->size > leads->size - skip) {
		ret->error = CPROF_VALUE_OPTIMIZED_OUT;
		return true;
	}
	ret->bytes = leads->at + skip;
	ret->size = of->size;
	ret->gaps = leads->gaps;
	ret->within = leads->within + skip;
	return true;
}

struct cp_thing cp_thing_referred(const struct cp_expression_env *env, struct cp_thing thing)
{
	const struct cp_type *t = cp_type_strip(thing.type);
	struct cp_thing implied;
	const uint8_t *bytes;

	if (thing.error || !t || t->kind != CP_TYPE_REFERENCE)
		return thing;
	if (cp_thing_implied(&thing, t->target, 0, &implied))
		return implied;
	bytes = cp_thing_bytes(env, &thing);
	if (!bytes)
		return thing;
	return (struct cp_thing){ .type = t->target,
				  .in_memory = true,
				  .address = cp_build_number(bytes, 8),
				  .source = CPROF_SOURCE_MEMORY };
}

struct cp_thing cp_thing_elements(const struct cp_expression_env *env, struct cp_thing thing)
{
	const struct cp_thing a = cp_thing_referred(env, thing);
	const struct cp_type *t = cp_type_strip(a.type);
	struct cp_thing implied, pointer = a;
	const uint8_t *bytes;

	if (a.error || !t || t->kind != CP_TYPE_POINTER || t->language != CP_LANGUAGE_RUST ||
	    !t->name || *t->name != '&' || !t->target)
		return a;
	if (cp_thing_implied(&a, t->target, 0, &implied))
		return implied;
	bytes = cp_thing_bytes(env, &pointer);
	return bytes ? cp_thing_at(t->target, cp_build_number(bytes, 8)) : pointer;
}

/* ---- values ---- */

/* As much of it as the limits allow: of an array at least what is shown of it. */
static struct cp_bytes read_bytes(struct cp_build *b, const struct cp_thing *thing, uint64_t size)
{
	struct cp_bytes from = { thing->bytes, thing->size, 0, thing->gaps, thing->within };
	bool tried;

	if (!thing->in_memory)
		return from;
	size = size < b->limits->value ? size : b->limits->value;
	from = cp_build_memory(b, thing->address, size, &tried);
	from.address = thing->address;
	return from;
}

const cprof_value *cp_thing_value(const struct cp_expression_env *env, const struct cp_thing *thing)
{
	struct cp_capture capture = { .memory = env->memory,
				      .shapes = env->shapes,
				      .symbol = env->symbol,
				      .symbol_ctx = env->ctx };
	struct cp_value_request request = { .capture = &capture, .arena = env->values };
	struct cp_build b;
	const struct cp_type *t;
	struct cp_bytes from;
	uint64_t size;
	cprof_value *v = cp_arena_alloc(&env->values->memory, sizeof(*v));

	if (!v)
		return NULL;
	b = cp_build_live(&request, env->limits, thing->source);
	v->name = "";
	v->type = thing->type && thing->type->text ? thing->type->text : "";
	v->source = thing->source;
	if (thing->error) {
		cp_build_error(v, thing->error, thing->address);
		return v;
	}
	t = cp_type_complete(cp_type_image(thing->type), cp_type_strip(thing->type));
	if (thing->bits) {
		from = read_bytes(&b, thing,
				  thing->bits->offset +
					  (thing->bits->bit_offset + thing->bits->bit_size + 7u) /
						  8);
		cp_build_bits(&b, v, thing->bits, from);
		return v;
	}
	size = t ? t->size : 0;
	size = thing->extent > size ? thing->extent : size;
	b.clipped = size > env->limits->value;
	from = read_bytes(&b, thing, size);
	if (thing->in_memory && t && t->size && !from.size)
		cp_build_error(v, CPROF_VALUE_UNREADABLE, thing->address);
	else
		cp_build_value(&b, v, thing->type, from, 0, 0);
	v->source = thing->source;
	return v;
}

/* SPDX-License-Identifier: MIT
 *
 * Names in a frame. A variable is where debug information says, in memory or in pieces
 * of registers; those become bytes.
 */
#include "inspect/scope.h"

#include <string.h>

#include "inspect/frame.h"
#include "inspect/value.h"

static struct cp_scope_name static_name(const struct cp_function_info *f, uint32_t i)
{
	return (struct cp_scope_name){ &f->statics[i], .local = true, .fixed = true };
}

size_t cp_scope_names(const struct cp_scope *scope, struct cp_arena *arena,
		      const struct cp_scope_name **ret)
{
	const struct cp_function_info *f = scope->signature ? &scope->signature->function : NULL;
	struct cp_scope_name *names;
	size_t n = 0, position = 0;
	uint32_t i;

	*ret = NULL;
	if (!f || !scope->signature->described)
		return 0;
	names = cp_arena_array(arena,
			       (size_t)f->parameter_count + f->local_count + f->static_count + 1,
			       sizeof(*names));
	for (i = 0; names && i < f->parameter_count; i++)
		names[n++] = (struct cp_scope_name){ &f->parameters[i], false, i };
	for (i = 0; names && i < f->local_count; i++)
		if (cp_variable_in_scope(&f->locals[i], scope->frame.pc.v))
			names[n++] = (struct cp_scope_name){ &f->locals[i], true, position++ };
	for (i = 0; names && i < f->static_count; i++)
		if (cp_variable_in_scope(&f->statics[i], scope->frame.pc.v))
			names[n++] = static_name(f, i);
	*ret = names;
	return n;
}

/* How much code sees it: a block has less of that than what it is in. */
static uint64_t extent_of(const struct cp_scope_name *name)
{
	const struct cp_extent *e;
	uint64_t size = 0;

	if (!name->local)
		return UINT64_MAX;
	for (e = name->variable->scope; e; e = e->next)
		size += e->high - e->low;
	return name->variable->scope ? size : UINT64_MAX - 1;
}

static bool is_told(const struct cp_variable *v, uint64_t pc)
{
	return v->constant || cp_location_at(&v->locations, pc) != NULL;
}

/* Of two in the same block that which is declared later, unless nothing tells where that is
 * and of the other something does: rustc has a pattern's names twice, for its guard. */
static bool means_rather(const struct cp_scope_name *name, const struct cp_scope_name *other,
			 uint64_t pc)
{
	uint64_t mine = extent_of(name), theirs = extent_of(other);

	if (mine != theirs || name->variable->line != other->variable->line)
		return mine <= theirs;
	return is_told(name->variable, pc) || !is_told(other->variable, pc);
}

/* Puts one in before those that more code sees. */
static void put(struct cp_scope_name *found, size_t n, struct cp_scope_name name, uint64_t pc)
{
	size_t k;

	for (k = n; k && means_rather(&name, &found[k - 1], pc); k--)
		found[k] = found[k - 1];
	found[k] = name;
}

/* The function's own of blocks that the frame is not in. */
static size_t put_statics(const struct cp_scope *scope, const char *name,
			  struct cp_scope_name *found, size_t n)
{
	const struct cp_function_info *f = &scope->signature->function;
	uint32_t i;

	for (i = 0; i < f->static_count; i++)
		if (!strcmp(f->statics[i].name, name))
			put(found, n++, static_name(f, i), scope->frame.pc.v);
	return n;
}

size_t cp_scope_find(const struct cp_scope *scope, struct cp_arena *arena, const char *name,
		     const struct cp_scope_name **ret)
{
	const bool described = scope->signature && scope->signature->described;
	const size_t statics = described ? scope->signature->function.static_count : 0;
	const struct cp_scope_name *all;
	struct cp_scope_name *found;
	size_t count = cp_scope_names(scope, arena, &all), i, n = 0;

	found = cp_arena_array(arena, count + statics + 1, sizeof(*found));
	*ret = found;
	if (!found)
		return 0;
	for (i = 0; i < count; i++)
		if (!strcmp(all[i].variable->name, name))
			put(found, n++, all[i], scope->frame.pc.v);
	return n || !statics ? n : put_statics(scope, name, found, n);
}

/* An object without members has bytes that nobody cares for. */
static bool take_empty(const struct cp_parameter *p, struct cp_arena *arena, struct cp_thing *ret)
{
	const struct cp_type *t = cp_type_strip(p->type);

	if (p->place.how != CP_PLACE_EMPTY || !t)
		return false;
	ret->size = t->size < 16 ? t->size : 0;
	ret->bytes = cp_arena_alloc(arena, 16);
	return ret->bytes != NULL;
}

struct cp_thing cp_scope_thing(const struct cp_scope *scope, const struct cp_expression_env *env,
			       const struct cp_scope_name *name)
{
	struct cp_value_frame frame = scope->frame;
	struct cp_value_request request = { scope->signature, &scope->capture, env->values, NULL,
					    &frame };
	struct cp_thing thing = { .type = name->variable->type, .source = CPROF_SOURCE_DWARF };
	const struct cp_parameter *p;
	struct cp_bytes bytes;

	frame.locals = name->local;
	p = cp_frame_parameter(&request, &frame, name->position);
	if (!p) {
		thing.error = CPROF_VALUE_UNAVAILABLE;
		return thing;
	}
	thing.type = p->type; /* its size may be the frame's to tell */
	thing.source = p->source;
	if (take_empty(p, env->arena, &thing))
		return thing;
	bytes = cp_parameter_known(&request, p, &thing.error);
	if (bytes.size)
		thing.error = CPROF_VALUE_OK;
	thing.in_memory = bytes.address != 0;
	thing.address = bytes.address;
	if (!bytes.size || thing.in_memory)
		return thing;
	thing.size = bytes.size;
	thing.bytes = (const uint8_t *)cp_arena_copy(env->arena, bytes.at, bytes.size);
	thing.gaps = cp_gaps_copy(env->arena, bytes.gaps);
	if (!thing.bytes || (bytes.gaps && !thing.gaps))
		thing.error = CPROF_VALUE_UNAVAILABLE;
	return thing;
}

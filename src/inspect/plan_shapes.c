/* SPDX-License-Identifier: MIT
 *
 * What a stop has to read of types that are declared by expressions (shapes.c). A term is
 * evaluated before there is a value: over memory that is made up, in which each word is
 * an address of its own, so that where it leads to says which words it came by.
 *
 *     Vec<Point>     at = ($1 *)buf.inner.ptr.pointer.pointer
 *
 *     the value      ┌─────┬─────┬─────┐
 *     region 0       │  0  │  8  │ 16  │     `at` is the address of region 1, which the
 *                    └──┬──┴─────┴─────┘     word at 8 of region 0 led to: so there is a
 *     region 1          └─► at - ..., +...   fetch from that word
 *
 * What is computed otherwise is no address of a region any more, and nothing is read for
 * it. Both ways of a condition are planned.
 */
#include "inspect/plan_shapes.h"

#include "inspect/shape_build.h"
#include "inspect/shape_walk.h"
#include "inspect/shapes.h"

#define REGIONS_MAX 32
#define PLACES_MAX 64
#define STEPS 256 /* slots and parts that are looked at */
#define REGION_BITS 40 /* what is computed of several addresses is in none */
#define REGION_MIDDLE (INT64_C(1) << (REGION_BITS - 1))
#define REGION_REACH (INT64_C(1) << 20)
#define HELD_MOST 256 /* bytes of what nothing tells the size of */

struct region {
	unsigned from; /* the region with the word that leads to it */
	int64_t at; /* of the word */
	int64_t low, high; /* what is read there */
	uint32_t text; /* bytes of text at `text_at`; 0: there is none */
	int64_t text_at;
	bool terminated;
	int fetch;
};

/* A value whose own parts are planned when all regions are. */
struct place {
	const struct cp_type *type;
	unsigned region;
	int64_t offset;
	unsigned depth;
};

struct imagined {
	struct cp_plan *plan;
	struct region regions[REGIONS_MAX];
	struct place places[PLACES_MAX];
	unsigned region_count, place_count;
	unsigned depth;
	uint64_t size; /* of the value */
	bool failed, nodes;
};

/* ---- memory that is made up ---- */

static uint64_t address_of(unsigned region, int64_t offset)
{
	return ((uint64_t)region + 1) << REGION_BITS | (uint64_t)(offset + REGION_MIDDLE);
}

/* False: it is no address of a region. */
static bool region_of(const struct imagined *m, uint64_t address, unsigned *region_ret,
		      int64_t *offset_ret)
{
	uint64_t region = (address >> REGION_BITS) - 1;

	if (region >= m->region_count)
		return false;
	*region_ret = (unsigned)region;
	*offset_ret = (int64_t)(address & ((UINT64_C(1) << REGION_BITS) - 1)) - REGION_MIDDLE;
	return *offset_ret > -REGION_REACH && *offset_ret < REGION_REACH;
}

/* `size` bytes of a region are wanted. False: they are too far from others. */
static bool want(struct imagined *m, unsigned region, int64_t offset, uint64_t size)
{
	struct region *r = &m->regions[region];
	int64_t low, high;

	if (!region)
		return offset >= 0 && (uint64_t)offset + size <= m->size;
	low = r->high > r->low && r->low < offset ? r->low : offset;
	high = r->high > r->low && r->high > offset + (int64_t)size ? r->high
								    : offset + (int64_t)size;
	if (high - low > (int64_t)m->plan->signature->limits.value)
		return false;
	r->low = low;
	r->high = high;
	return true;
}

/* The address that the word there leads to. */
static uint64_t led_to(struct imagined *m, unsigned region, int64_t offset)
{
	unsigned i;

	for (i = 1; i < m->region_count; i++)
		if (m->regions[i].from == region && m->regions[i].at == offset)
			return address_of(i, 0);
	if (m->region_count == REGIONS_MAX)
		return 0;
	m->regions[m->region_count] = (struct region){ .from = region, .at = offset, .fetch = -1 };
	return address_of(m->region_count++, 0);
}

static size_t read_imagined(void *ctx, uint64_t address, void *buffer, size_t size)
{
	struct imagined *m = ctx;
	unsigned region;
	int64_t offset;
	uint64_t word;

	if (!region_of(m, address, &region, &offset)) {
		m->failed = true;
		return 0;
	}
	if (!want(m, region, offset, size))
		return 0;
	memset(buffer, 0, size);
	if (size != sizeof(word))
		return size;
	word = led_to(m, region, offset);
	memcpy(buffer, &word, sizeof(word));
	return size;
}

/* ---- what declarations ask for ---- */

/* Notes a value that is read; its own parts are planned later. */
static bool note(struct imagined *m, const struct cp_type *type, uint64_t address, uint64_t size,
		 unsigned depth)
{
	struct place *p = &m->places[m->place_count];

	if (m->place_count == PLACES_MAX || !region_of(m, address, &p->region, &p->offset) ||
	    !want(m, p->region, p->offset, size))
		return false;
	p->type = type;
	p->depth = depth;
	m->place_count++;
	return true;
}

static bool note_thing(struct imagined *m, const struct cp_thing *thing, unsigned depth)
{
	const struct cp_type *t = cp_type_strip(thing->type);

	if (thing->error || !t)
		return false;
	t = cp_type_complete(m->plan->image, t);
	return !thing->in_memory || thing->bits ||
	       note(m, thing->type, thing->address, t->size, depth);
}

static CP_ERROR no_plan(void)
{
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "nothing can be read for it");
}

static CP_ERROR ask_number(struct cp_shape_scope *scope, enum cp_shape_term term, uint64_t *ret)
{
	struct cp_thing thing;
	int64_t n = 0;

	if (!scope->row->terms[term])
		return NULL;
	CP_TRY(cp_shape_number(scope, term, &n, &thing));
	*ret = (uint64_t)n;
	return thing.error ? no_plan() : NULL;
}

static CP_ERROR ask_row(struct imagined *m, struct cp_shape_scope *scope)
{
	const struct cp_value_limits *limits = &m->plan->signature->limits;
	const bool text = scope->row->kind == CP_SHAPE_TEXT;
	const struct cp_type *target = NULL;
	struct cp_thing thing;
	uint64_t pointer = 0, ignored, size, i;
	unsigned region;
	int64_t offset;

	CP_TRY(cp_shape_row_at(scope, &target, &pointer, &ignored, &thing));
	if (thing.error || !region_of(m, pointer, &region, &offset))
		return no_plan();
	size = cp_type_strip(target)->size;
	if (text && region) {
		m->regions[region].text = (uint32_t)((limits->string + 1) * size);
		m->regions[region].text_at = offset;
		m->regions[region].terminated =
			size == 1 && cp_shape_fits("basic_string<*", scope->row->type);
		return NULL;
	}
	for (i = 0; !text && size && i < limits->elements && (i + 1) * size <= limits->value; i++)
		if (!note(m, target, pointer + i * size, size, m->depth + 1))
			want(m, region, offset + (int64_t)(i * size), size);
	return NULL;
}

/* Any of the types that its template names can be there. */
static CP_ERROR ask_variant(struct imagined *m, struct cp_shape_scope *scope)
{
	const struct cp_type *type;
	uint64_t at = 0, index = 0, i;

	CP_TRY(ask_number(scope, CP_TERM_index, &index));
	CP_TRY(ask_number(scope, CP_TERM_at, &at));
	for (i = 0; cp_shape_argument(scope, NULL, i, &type); i++) {
		const struct cp_type *t = cp_type_strip(type);

		note(m, type, at, t ? cp_type_complete(m->plan->image, t)->size : 0, m->depth);
	}
	return NULL;
}

/* What is held is of a type that nobody knows yet. */
static CP_ERROR ask_held(struct imagined *m, struct cp_shape_scope *scope)
{
	uint64_t at = 0, ignored;
	unsigned region;
	int64_t offset;

	CP_TRY(ask_number(scope, CP_TERM_when, &ignored));
	CP_TRY(ask_number(scope, CP_TERM_code, &ignored));
	CP_TRY(ask_number(scope, CP_TERM_at, &at));
	if (region_of(m, at, &region, &offset) && region)
		want(m, region, offset, HELD_MOST);
	return NULL;
}

static CP_ERROR ask_one(struct imagined *m, struct cp_shape_scope *scope)
{
	struct cp_thing thing;
	uint64_t ignored;

	CP_TRY(ask_number(scope, CP_TERM_when, &ignored));
	CP_TRY(cp_shape_term(scope, CP_TERM_value, &thing));
	if (!note_thing(m, &thing, m->depth))
		return no_plan();
	if (!scope->row->terms[CP_TERM_other])
		return NULL;
	CP_TRY(cp_shape_term(scope, CP_TERM_other, &thing));
	return note_thing(m, &thing, m->depth + 1) ? NULL : no_plan();
}

static bool visit(void *ctx, const struct cp_thing *key, const struct cp_thing *value)
{
	struct imagined *m = ctx;

	return (!key || note_thing(m, key, m->depth + 1)) && note_thing(m, value, m->depth + 1);
}

/* Nodes are not followed: how many they are is what types tell. */
static CP_ERROR ask_elements(struct imagined *m, struct cp_shape_scope *scope)
{
	uint64_t ignored;

	CP_TRY(ask_number(scope, CP_TERM_length, &ignored));
	if (scope->row->kind == CP_SHAPE_ITEMS || scope->row->kind == CP_SHAPE_PARTS)
		return cp_shape_walk(scope, STEPS, visit, m);
	m->nodes = true;
	return NULL;
}

static struct cp_error *(*const asks[CP_SHAPE_KINDS])(struct imagined *m,
						      struct cp_shape_scope *scope) = {
	[CP_SHAPE_TEXT] = ask_row,	  [CP_SHAPE_ROW] = ask_row,
	[CP_SHAPE_VALUE] = ask_one,	  [CP_SHAPE_CHOICE] = ask_one,
	[CP_SHAPE_VARIANT] = ask_variant, [CP_SHAPE_DURATION] = ask_one,
	[CP_SHAPE_DATE] = ask_one,	  [CP_SHAPE_HELD] = ask_held,
	[CP_SHAPE_ITEMS] = ask_elements,  [CP_SHAPE_CHAIN] = ask_elements,
	[CP_SHAPE_TREE] = ask_elements,	  [CP_SHAPE_BTREE] = ask_elements,
	[CP_SHAPE_PARTS] = ask_elements,
};

/* ---- from what is imagined to fetches ---- */

/* The bytes of a region, as what is planned begins with; false: there is no fetch. */
static bool source_of(const struct imagined *m, const struct cp_plan_source *s, uint64_t at,
		      unsigned region, struct cp_plan_source *ret, int64_t *at_ret)
{
	const struct region *r = &m->regions[region];

	*ret = *s;
	*at_ret = (int64_t)at;
	if (!region)
		return true;
	if (r->fetch < 0)
		return false;
	*ret = (struct cp_plan_source){
		.block = (uint16_t)r->fetch,
		.level = (uint16_t)(m->plan->to->list.items[r->fetch].level + 1),
		.size = m->plan->to->list.items[r->fetch].size
	};
	*at_ret = -r->low;
	return true;
}

static void fetch_regions(struct imagined *m, const struct cp_plan_source *s, uint64_t at)
{
	struct cp_plan_source source;
	struct cp_fetch f;
	int64_t base;
	unsigned i;

	for (i = 1; i < m->region_count; i++) {
		struct region *r = &m->regions[i];

		if ((r->high <= r->low && !r->text) ||
		    !source_of(m, s, at, r->from, &source, &base) || base + r->at < 0 ||
		    !cp_plan_pointer(&source, (uint64_t)(base + r->at), &f))
			continue;
		if (r->high > r->low) {
			f.offset = (int32_t)r->low;
			f.size = (uint32_t)(r->high - r->low);
			r->fetch = cp_plan_add(m->plan, f);
		}
		if (r->text) {
			f.offset = (int32_t)r->text_at;
			f.size = r->text;
			f.flags = r->terminated ? CP_FETCH_STRING : 0;
			cp_plan_add(m->plan, f);
		}
	}
}

static void plan_places(struct imagined *m, const struct cp_plan_source *s, uint64_t at,
			unsigned hops)
{
	const struct cp_plan_room room = cp_plan_share(m->plan);
	struct cp_plan_source source;
	int64_t base;
	unsigned i;

	for (i = 0; i < m->place_count; i++) {
		const struct place *p = &m->places[i];

		if (source_of(m, s, at, p->region, &source, &base) && base + p->offset >= 0)
			cp_plan_type(m->plan, p->type, &source, (uint64_t)(base + p->offset),
				     p->depth, hops);
	}
	cp_plan_share_end(m->plan, room);
}

bool cp_plan_shape(struct cp_plan *p, const struct cp_type *t, const struct cp_shape_row *row,
		   const struct cp_plan_source *s, uint64_t at, unsigned depth, unsigned hops)
{
	struct imagined m = { .plan = p, .region_count = 1, .depth = depth, .size = t->size };
	struct cp_value_arena *arena = cp_value_arena_create();
	const struct cp_reader reader = { read_imagined, &m };
	struct cp_shape_scope scope;
	struct cp_error *err = NULL;

	if (arena) {
		const struct cp_expression_env env = { .arena = &arena->memory,
						       .memory = &reader,
						       .values = arena,
						       .limits = &p->signature->limits };
		const struct cp_thing self = cp_thing_at(t, address_of(0, 0));

		if (cp_shape_scope_init(&scope, &env, NULL, row, &self)) {
			scope.endless = true;
			err = asks[row->kind] ? asks[row->kind](&m, &scope) : no_plan();
			cp_shape_scope_deinit(&scope);
		}
		if (!err && !m.failed) {
			fetch_regions(&m, s, at);
			plan_places(&m, s, at, hops);
			p->to->beyond |= m.nodes;
		}
	}
	cp_value_arena_destroy(arena);
	cp_error_free(err);
	return !err;
}

/* SPDX-License-Identifier: MIT
 *
 * What has to be read when a function is entered or left, worked out once from
 * types. Pointers lead on, level by level; the tracer reads each level in one
 * call:
 *
 *     f(struct row *r, const char *s)     level 0: *rdi, string at rsi
 *       struct row { char *name; ... }    level 1: string at (block 0) + 0
 *
 * How far it goes are the limits; a cycle of types ends there, too.
 */
#include "inspect/plan.h"

#include <string.h>

#include "inspect/readable.h"
#include "inspect/shapes.h"

#define FETCHES_MAX 256
#define CHAINS_TOTAL (128u << 10) /* bytes of one event's, what types ask for included */
#define MEMBERS_MAX 256 /* looked at in one struct */

static uint64_t bytes_of(const struct cp_fetches *fetches)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < fetches->list.count; i++)
		total += fetches->list.items[i].size;
	return total;
}

struct cp_plan_room cp_plan_share(struct cp_plan *p)
{
	const struct cp_plan_room before = { p->most, p->most_bytes };
	const uint64_t bytes = bytes_of(p->to);
	const size_t count = p->to->list.count;

	p->most -= p->most > count ? (p->most - count) / 2 : 0;
	p->most_bytes -= p->most_bytes > bytes ? (p->most_bytes - bytes) / 2 : 0;
	return before;
}

void cp_plan_share_end(struct cp_plan *p, struct cp_plan_room before)
{
	p->most = before.most;
	p->most_bytes = before.most_bytes;
}

int cp_plan_add(struct cp_plan *p, struct cp_fetch f)
{
	if (!f.size)
		return -1;
	if (p->to->list.count >= p->most || bytes_of(p->to) + f.size > p->most_bytes) {
		p->to->beyond = true;
		return -1;
	}
	if (!cp_vec_push(&p->to->list, f)) {
		p->failed = true;
		return -1;
	}
	return (int)p->to->list.count - 1;
}

bool cp_plan_pointer(const struct cp_plan_source *s, uint64_t at, struct cp_fetch *ret)
{
	const struct cp_piece *piece;
	unsigned i;

	*ret = (struct cp_fetch){ .level = s->level };
	if (!s->place) {
		ret->from = (uint16_t)(CP_FETCH_BLOCK + s->block);
		ret->at = (uint16_t)at;
		return at + 8 <= s->size && at <= UINT16_MAX;
	}
	for (i = 0; i < s->place->count; i++) {
		piece = &s->place->pieces[i];
		ret->from = piece->number;
		if (piece->where == CP_PIECE_REGISTER && piece->at == at && piece->size == 8 &&
		    !piece->skip)
			return true;
	}
	return false;
}

static uint32_t at_most(uint64_t size, uint32_t limit)
{
	return size < limit ? (uint32_t)size : limit;
}

/* Plans what a pointer `at` bytes into the source leads to. */
static void plan_pointer(struct cp_plan *p, const struct cp_type *t, const struct cp_plan_source *s,
			 uint64_t at, unsigned depth, unsigned hops)
{
	const struct cp_value_limits *limits = &p->signature->limits;
	const struct cp_type *to = cp_type_strip(t->target);
	struct cp_plan_source next = { .level = (uint16_t)(s->level + 1) };
	struct cp_fetch f;
	uint64_t wide;
	int index;

	if (!to || !cp_plan_pointer(s, at, &f))
		return;
	wide = t->kind == CP_TYPE_POINTER ? cp_type_wide_characters(t) : 0;
	if (wide) {
		f.size = (limits->string + 1) * (uint32_t)wide;
		cp_plan_add(p, f);
		return;
	}
	if (t->kind == CP_TYPE_POINTER && cp_type_characters(t)) {
		f.flags = CP_FETCH_STRING;
		f.size = limits->string + 1; /* to see whether it ends there */
		cp_plan_add(p, f);
		return;
	}
	if (t->kind == CP_TYPE_POINTER && hops++ >= limits->pointers)
		return;
	to = cp_type_complete(p->image, to);
	if (cp_type_is_reserved(to))
		return;
	f.size = at_most(to->size, limits->value);
	index = cp_plan_add(p, f);
	if (index < 0)
		return;
	next.block = (uint16_t)index;
	next.size = f.size;
	cp_plan_type(p, t->target, &next, 0, depth + 1, hops);
}

/* Plans what a type alone tells of what a library's type holds. */
static void plan_by_type(struct cp_plan *p, const struct cp_shape *shape,
			 const struct cp_plan_source *s, uint64_t at, unsigned depth, unsigned hops)
{
	const struct cp_value_limits *limits = &p->signature->limits;
	struct cp_plan_source next = { .level = (uint16_t)(s->level + 1) };
	const struct cp_type *element;
	struct cp_fetch f;
	struct cp_plan_room room;
	uint64_t i;
	int index;

	p->to->beyond |= shape->counted;
	if (shape->row->kind >= CP_SHAPE_VALUE && shape->row->kind <= CP_SHAPE_DATE)
		cp_plan_type(p, shape->type, s, at + shape->pointer, depth, hops);
	if (shape->row->kind == CP_SHAPE_TEXT && cp_plan_pointer(s, at + shape->pointer, &f)) {
		f.flags = shape->terminated ? CP_FETCH_STRING : 0;
		f.size = limits->string + 1;
		cp_plan_add(p, f);
	}
	element = shape->row->kind == CP_SHAPE_ROW
			  ? cp_type_strip(cp_type_strip(shape->type)->target)
			  : NULL;
	if (!element || !element->size || !cp_plan_pointer(s, at + shape->pointer, &f))
		return;
	f.size = element->size < limits->value
			 ? at_most(element->size * limits->elements, limits->value)
			 : limits->value;
	index = cp_plan_add(p, f);
	next.block = (uint16_t)index;
	next.size = f.size;
	room = cp_plan_share(p);
	for (i = 0; index >= 0 && (i + 1) * element->size <= f.size && p->steps; i++)
		cp_plan_type(p, cp_type_strip(shape->type)->target, &next, i * element->size,
			     depth + 1, hops);
	cp_plan_share_end(p, room);
}

/* Plans what a library's type holds, if it is one that is known. What holds a value of
 * any type may do so in several ways. */
static bool plan_shape(struct cp_plan *p, const struct cp_type *t, const struct cp_plan_source *s,
		       uint64_t at, unsigned depth, unsigned hops)
{
	const struct cp_shape_ops *shapes = p->signature->limits.shapes;
	const struct cp_shape_row *row = NULL;
	struct cp_shape shape;
	bool planned = false;

	while ((row = cp_shape_next(NULL, t, row)) && (!planned || row->kind == CP_SHAPE_HELD)) {
		if (cp_shape_by_type(p->image, t, row, &shape)) {
			plan_by_type(p, &shape, s, at, depth, hops);
			return true;
		}
		planned |= shapes && shapes->plan(p, t, row, s, at, depth, hops);
	}
	return planned;
}

/* Is that virtual base planned already, where another base has it, too? */
static bool is_planned(struct cp_plan *p, const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	unsigned i;

	for (i = p->shared_first; i < p->shared_count; i++)
		if (p->shared[i] == t)
			return true;
	if (p->shared_count < CP_PLAN_SHARED)
		p->shared[p->shared_count++] = t;
	return false;
}

/* Where a virtual base is says the vtable: how far from the object, be it behind what is
 * read of that. */
static void plan_virtual_base(struct cp_plan *p, const struct cp_type_member *m,
			      const struct cp_plan_source *s, uint64_t at, unsigned depth,
			      unsigned hops)
{
	const struct cp_type *t = cp_type_complete(p->image, cp_type_strip(m->type));
	struct cp_plan_source next = { 0 };
	struct cp_fetch f;
	int index;

	if (!m->below || at > INT32_MAX || is_planned(p, m->type) || !cp_plan_pointer(s, at, &f))
		return;
	f.offset = -(int32_t)m->below;
	f.size = 8;
	index = cp_plan_add(p, f);
	if (index < 0 || s->place || !t->size)
		return;
	f = (struct cp_fetch){ .from = (uint16_t)(CP_FETCH_BLOCK + index),
			       .at = s->block,
			       .flags = CP_FETCH_BESIDE,
			       .level = (uint16_t)(f.level + 1),
			       .offset = (int32_t)at,
			       .size = at_most(t->size, p->signature->limits.value) };
	index = cp_plan_add(p, f);
	if (index < 0)
		return;
	next.block = (uint16_t)index;
	next.level = (uint16_t)(f.level + 1);
	next.size = f.size;
	p->is_base = true;
	cp_plan_type(p, m->type, &next, 0, depth + 1, hops);
}

static void plan_members(struct cp_plan *p, const struct cp_type *t, const struct cp_plan_source *s,
			 uint64_t at, unsigned depth, unsigned hops)
{
	const struct cp_type_details *d = cp_type_details(t);
	uint32_t i;

	for (i = 0; d && i < d->member_count && i < MEMBERS_MAX; i++) {
		p->is_base = d->members[i].flags & CP_MEMBER_BASE;
		if (d->members[i].flags & CP_MEMBER_VIRTUAL)
			plan_virtual_base(p, &d->members[i], s, at, depth, hops);
		else if (!(d->members[i].flags & CP_MEMBER_BITS))
			cp_plan_type(p, d->members[i].type, s, at + d->members[i].offset, depth + 1,
				     hops);
		p->is_base = false;
	}
	for (i = 0; d && i < d->variant_count && i < MEMBERS_MAX; i++)
		cp_plan_type(p, d->variants[i].member.type, s, at + d->variants[i].member.offset,
			     depth, hops);
}

static void plan_elements(struct cp_plan *p, const struct cp_type *t,
			  const struct cp_plan_source *s, uint64_t at, unsigned depth,
			  unsigned hops)
{
	const struct cp_type *element = cp_type_strip(t->target);
	uint64_t i;

	if (!element || !element->size)
		return;
	for (i = 0; i < t->count && i < p->signature->limits.elements && p->steps; i++)
		cp_plan_type(p, t->target, s, at + i * element->size, depth + 1, hops);
}

void cp_plan_type(struct cp_plan *p, const struct cp_type *type, const struct cp_plan_source *s,
		  uint64_t at, unsigned depth, unsigned hops)
{
	const unsigned first = p->shared_first, count = p->shared_count;
	const struct cp_type *t = cp_type_strip(type);
	const bool is_base = p->is_base;

	p->is_base = false;
	if (!t || !p->steps || at > INT32_MAX || depth > CP_VALUE_DEPTH)
		return;
	p->steps--;
	p->shared_first = is_base ? first : count;
	t = cp_type_complete(p->image, t);
	switch (t->kind) {
	case CP_TYPE_POINTER:
	case CP_TYPE_REFERENCE:
		if (depth <= p->signature->limits.depth)
			plan_pointer(p, t, s, at, depth, hops);
		break;
	case CP_TYPE_STRUCT:
	case CP_TYPE_UNION:
		if ((depth < p->signature->limits.depth || cp_shape_is_plain(t)) &&
		    !plan_shape(p, t, s, at, depth, hops))
			plan_members(p, t, s, at, depth, hops);
		break;
	case CP_TYPE_ARRAY:
		if (depth < p->signature->limits.depth)
			plan_elements(p, t, s, at, depth, hops);
		break;
	default:
		break;
	}
	p->shared_first = first;
	p->shared_count = is_base ? p->shared_count : count;
}

static int stack_fetch(struct cp_plan *p, const struct cp_piece *piece)
{
	return cp_plan_add(p, (struct cp_fetch){
				      .from = piece->number,
				      .offset = (int32_t)piece->offset,
				      .size = at_most(piece->size, p->signature->limits.value) });
}

/* A value that an address in a register or on the stack leads to. */
static void plan_indirect(struct cp_plan *p, const struct cp_parameter *parameter)
{
	const struct cp_piece *piece = &parameter->place.pieces[0];
	struct cp_fetch f = { .size = at_most(cp_type_strip(parameter->type)->size,
					      p->signature->limits.value) };
	struct cp_plan_source s = { .level = 1 };
	int index;

	if (piece->where == CP_PIECE_MEMORY) {
		index = stack_fetch(p, piece);
		if (index < 0)
			return;
		f.from = (uint16_t)(CP_FETCH_BLOCK + index);
		f.level = 1;
		s.level = 2;
	} else {
		f.from = piece->number;
		if (parameter == &p->signature->result && cp_signature_result_is_kept(p->signature))
			f.flags = CP_FETCH_KEPT;
	}
	index = cp_plan_add(p, f);
	if (index < 0)
		return;
	s.block = (uint16_t)index;
	s.size = f.size;
	cp_plan_type(p, parameter->type, &s, 0, 0, 0);
}

static void plan_direct(struct cp_plan *p, const struct cp_parameter *parameter, unsigned *flags)
{
	const struct cp_place *place = &parameter->place;
	struct cp_plan_source s = { .place = place };
	unsigned i;
	int index;

	for (i = 0; i < place->count; i++) {
		if (place->pieces[i].where == CP_PIECE_VECTOR ||
		    place->pieces[i].where == CP_PIECE_X87)
			*flags |= CP_SITE_VECTOR;
		if (place->pieces[i].where != CP_PIECE_MEMORY)
			continue;
		index = stack_fetch(p, &place->pieces[i]);
		if (index >= 0 && place->count == 1) {
			s.place = NULL;
			s.block = (uint16_t)index;
			s.level = 1;
			s.size = p->to->list.items[index].size;
		}
	}
	if (parameter->type)
		cp_plan_type(p, parameter->type, &s, 0, 0, 0);
}

/* Where pointers lead to, from the one that the place is; nothing else of what they are in. */
static void plan_led(struct cp_plan *p, const struct cp_parameter *parameter)
{
	struct cp_plan_source s = { .place = &parameter->place };
	struct cp_fetch f;
	int index;
	unsigned i;

	if (parameter->place.how != CP_PLACE_DIRECT)
		return;
	if (parameter->place.pieces[0].where == CP_PIECE_MEMORY) {
		index = stack_fetch(p, &parameter->place.pieces[0]);
		if (index < 0)
			return;
		s = (struct cp_plan_source){ NULL, (uint16_t)index, 1, 8 };
	}
	for (i = 0; i < parameter->lead_count; i++) {
		if (!cp_plan_pointer(&s, 0, &f))
			return;
		f.offset = parameter->leads[i];
		f.size = i + 1u < parameter->lead_count ? 8
							: at_most(cp_parameter_size(parameter),
								  p->signature->limits.value);
		index = cp_plan_add(p, f);
		if (index < 0)
			return;
		s = (struct cp_plan_source){ NULL, (uint16_t)index, (uint16_t)(f.level + 1),
					     f.size };
	}
	if (!parameter->bits)
		cp_plan_type(p, parameter->type, &s, 0, 0, 0);
}

bool cp_plan_parameter(const struct cp_signature *signature, struct cp_image *image,
		       const struct cp_parameter *parameter, struct cp_fetches *to, unsigned *flags)
{
	struct cp_plan p = { .signature = signature,
			     .image = image,
			     .to = to,
			     .steps = 2000,
			     .most = FETCHES_MAX,
			     .most_bytes = signature->limits.total };

	*flags |= CP_SITE_REGS;
	if (parameter->lead_count)
		plan_led(&p, parameter);
	else if (parameter->place.how == CP_PLACE_DIRECT)
		plan_direct(&p, parameter, flags);
	else if (parameter->place.how == CP_PLACE_INDIRECT)
		plan_indirect(&p, parameter);
	return !p.failed;
}

int cp_plan_fetch(const struct cp_signature *signature, struct cp_fetches *to, struct cp_fetch f)
{
	struct cp_plan p = { .signature = signature,
			     .to = to,
			     .most = FETCHES_MAX,
			     .most_bytes = signature->limits.total };

	return cp_plan_add(&p, f);
}

/* The number of a link of a chain whose pointer is in the fetch `before` (-1: in a
 * register); -1: it is not there. */
static int find_link(const struct cp_fetch *fetches, size_t count, struct cp_fetch link, int before)
{
	size_t i;

	if (before >= 0)
		link.from = (uint16_t)(CP_FETCH_BLOCK + before);
	for (i = 0; i < count; i++)
		if (fetches[i].from == link.from && fetches[i].at == link.at &&
		    fetches[i].flags == link.flags && fetches[i].offset == link.offset &&
		    fetches[i].size == link.size && fetches[i].guard == link.guard)
			return (int)i;
	return -1;
}

int cp_plan_find(const struct cp_fetch *fetches, size_t fetch_count, const struct cp_fetch *chain,
		 size_t count)
{
	int number = -1;
	size_t i;

	for (i = 0; i < count && (!i || number >= 0); i++)
		number = find_link(fetches, fetch_count, chain[i], number);
	return number;
}

bool cp_plan_chain(struct cp_fetches *to, const struct cp_fetch *chain, size_t count)
{
	uint64_t total = 0;
	int number = -1, before;
	size_t i;

	for (i = 0; i < to->list.count; i++)
		total += to->list.items[i].size;
	for (i = 0; i < count; i++) {
		struct cp_fetch link = chain[i];

		before = number;
		number = find_link(to->list.items, to->list.count, link, before);
		if (number >= 0)
			continue;
		if (before >= 0)
			link.from = (uint16_t)(CP_FETCH_BLOCK + before);
		total += link.size;
		number = (int)to->list.count;
		if (number >= FETCHES_MAX || total > CHAINS_TOTAL || !cp_vec_push(&to->list, link))
			return false;
	}
	return true;
}

/* Counting by level keeps the order within each; block numbers follow. */
bool cp_plan_finish(struct cp_fetches *fetches)
{
	struct cp_fetch sorted[FETCHES_MAX];
	uint16_t place[FETCHES_MAX];
	size_t count = fetches->list.count, i, n = 0;
	unsigned level;

	for (level = 0; n < count && level <= FETCHES_MAX; level++) {
		for (i = 0; i < count; i++) {
			if (fetches->list.items[i].level != level)
				continue;
			place[i] = (uint16_t)n;
			sorted[n++] = fetches->list.items[i];
		}
	}
	if (n != count)
		return false;
	for (i = 0; i < n; i++) {
		if (sorted[i].from >= CP_FETCH_BLOCK)
			sorted[i].from =
				(uint16_t)(CP_FETCH_BLOCK + place[sorted[i].from - CP_FETCH_BLOCK]);
		if (sorted[i].flags & CP_FETCH_BESIDE)
			sorted[i].at = place[sorted[i].at];
	}
	if (n)
		memcpy(fetches->list.items, sorted, n * sizeof(*sorted));
	return true;
}

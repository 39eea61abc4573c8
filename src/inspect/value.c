/* SPDX-License-Identifier: MIT
 *
 * Values out of captures: types say how bytes read, pointers lead on to what
 * else was fetched at the stop.
 */
#include "inspect/value.h"

#include <stdlib.h>

#include "base/text.h"
#include "inspect/bytes.h"
#include "inspect/classify.h"
#include "inspect/made_types.h"
#include "inspect/member_pointers.h"
#include "inspect/notes.h"
#include "inspect/readable.h"
#include "inspect/rust.h"
#include "inspect/scalar.h"
#include "inspect/shape_values.h"
#include "inspect/shapes.h"
#include "inspect/wide.h"

#define VALUES_MAX 20000 /* of one argument */
#define MEMBERS_MAX 1024

/* ---- text ---- */

static void set_characters(struct cp_build *b, cprof_value *v, struct cp_bytes from,
			   uint64_t length)
{
	if (length > b->limits->string) {
		length = b->limits->string;
		v->cut = true;
	}
	v->kind = CPROF_VALUE_STRING;
	v->address = from.address;
	v->u.text.length = (uint32_t)length;
	v->u.text.bytes = cp_arena_copy(b->arena, from.at, length);
	if (!v->u.text.bytes)
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
}

/* Text that begins with what is at hand, up to a NUL; `whole`: it can't go on behind that. */
static void set_text(struct cp_build *b, cprof_value *v, struct cp_bytes from, bool whole)
{
	const uint8_t *end = from.size ? memchr(from.at, 0, from.size) : NULL;
	uint64_t length = end ? (uint64_t)(end - from.at) : from.size;

	cp_note_text(b, v, from.at, whole);
	v->cut = !end && !whole;
	set_characters(b, v, from, length);
}

/* ---- what has parts ---- */

static bool is_around(struct cp_build *b, uint64_t address, const struct cp_type *t)
{
	unsigned i;

	for (i = 0; address && i < b->around_count; i++) {
		if (b->around[i].address == address && b->around[i].type == t)
			return true;
	}
	return false;
}

struct cp_bytes cp_build_part(struct cp_bytes from, uint64_t offset, uint64_t size)
{
	struct cp_bytes p = { .address = from.address ? from.address + offset : 0,
			      .gaps = from.gaps,
			      .within = from.within + offset };

	if (offset < from.size) {
		p.at = from.at + offset;
		p.size = from.size - offset < size ? from.size - offset : size;
	}
	return p;
}

void cp_build_bits(struct cp_build *b, cprof_value *v, const struct cp_type_member *m,
		   struct cp_bytes from)
{
	const struct cp_type *t = cp_type_strip(m->type);
	uint64_t needed = (m->bit_offset + (uint64_t)m->bit_size + 7) / 8;
	struct cp_bytes p = cp_build_part(from, m->offset, needed);
	const struct cp_gap *gap = cp_gap_in(&p, m->bit_offset, m->bit_size);
	unsigned __int128 wide = 0;
	struct cp_type narrow;
	uint8_t bytes[16];

	if (b->live)
		t = cp_type_complete(cp_type_image(t), t);
	v->type = m->type->text;
	if (gap || p.size < needed || needed > 16 || m->bit_size > 64) {
		cp_build_error(v, gap ? gap->error : CPROF_VALUE_UNAVAILABLE, 0);
		return;
	}
	memcpy(&wide, p.at, needed);
	wide >>= m->bit_offset;
	wide &= m->bit_size < 64 ? (UINT64_C(1) << m->bit_size) - 1 : UINT64_MAX;
	memcpy(bytes, &wide, sizeof(bytes));
	cp_note_number(b, v, t, p.at, m->bit_offset, m->bit_size);
	if (t->kind == CP_TYPE_ENUM) {
		cp_build_enum(b, v, t, bytes, m->bit_size);
		return;
	}
	narrow = *t;
	narrow.size = 8;
	cp_build_integer(v, &narrow, bytes, m->bit_size);
	v->size = (uint8_t)t->size;
	if (t->kind == CP_TYPE_BOOL)
		v->kind = CPROF_VALUE_BOOL;
}

/* Is that virtual base told already, where another base has it, too? */
static bool is_told(struct cp_build *b, const struct cp_type *type)
{
	const struct cp_type *t = cp_type_strip(type);
	unsigned i;

	for (i = b->shared_first; i < b->shared_count; i++)
		if (b->shared[i] == t)
			return true;
	if (b->shared_count < CP_VALUE_SHARED)
		b->shared[b->shared_count++] = t;
	return false;
}

/* A virtual base is where the vtable says, be it behind what is at hand (bases.h). */
static void build_virtual_base(struct cp_build *b, cprof_value *v, const struct cp_type_member *m,
			       struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_bytes vptr = cp_build_part(from, 0, 8);
	const uint64_t size = cp_type_strip(m->type)->size;
	const struct cp_gap *gap = cp_gap_in(&vptr, 0, 64);
	const uint64_t vtable = vptr.size == 8 ? cp_build_number(vptr.at, 8) : 0;
	const uint64_t at = vtable - m->below;
	struct cp_bytes word = { 0 }, base;
	bool tried = false;
	int64_t offset;

	cp_note_depends(b);
	if (gap) {
		cp_build_error(v, gap->error, gap->address);
		return;
	}
	if (vptr.size == 8 && !vtable) {
		cp_build_error(v, CPROF_VALUE_NOT_CONSTRUCTED, 0);
		return;
	}
	if (vtable && m->below)
		word = cp_build_memory(b, at, sizeof(offset), &tried);
	offset = word.size == sizeof(offset) ? (int64_t)cp_build_number(word.at, 8) : 0;
	if (word.size < sizeof(offset) || !cp_base_is_near(offset)) {
		cp_build_error(v,
			       tried && !word.size ? CPROF_VALUE_UNREADABLE
						   : CPROF_VALUE_UNAVAILABLE,
			       tried && !word.size ? at : 0);
		return;
	}
	base = cp_build_part(from, (uint64_t)offset, size);
	if (base.size < size && base.address)
		base = cp_build_memory(b, base.address,
				       size < b->limits->value ? size : b->limits->value, &tried);
	cp_build_value(b, v, m->type, base, depth, hops);
}

static void build_member(struct cp_build *b, cprof_value *v, const struct cp_type_member *m,
			 struct cp_bytes from, unsigned depth, unsigned hops)
{
	const uint64_t size =
		cp_type_is_flexible(m->type) ? UINT64_MAX : cp_type_strip(m->type)->size;

	v->name = m->name;
	v->source = b->source;
	b->is_base = m->flags & CP_MEMBER_BASE;
	if (m->flags & CP_MEMBER_BITS)
		cp_build_bits(b, v, m, from);
	else if (m->flags & CP_MEMBER_VIRTUAL)
		build_virtual_base(b, v, m, from, depth, hops);
	else
		cp_build_value(b, v, m->type, cp_build_part(from, m->offset, size), depth, hops);
}

const struct cp_type_variant *cp_variant_by(const struct cp_type_details *d, uint64_t value,
					    uint64_t size)
{
	const uint64_t mask = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
	const struct cp_type_variant *otherwise = NULL;
	uint32_t i;

	for (i = 0; i < d->variant_count; i++) {
		if (d->variants[i].otherwise)
			otherwise = &d->variants[i];
		else if (!((d->variants[i].value ^ value) & mask))
			return &d->variants[i];
	}
	return otherwise;
}

/* The form of a Rust enum that its discriminant says; NULL: it can't be read. */
static const struct cp_type_variant *variant_of(const struct cp_type_details *d,
						struct cp_bytes from, uint64_t *value_ret)
{
	const struct cp_type *t = d->discriminant ? cp_type_strip(d->discriminant->type) : NULL;
	struct cp_bytes at;

	*value_ret = 0;
	if (!t)
		return d->variants;
	at = cp_build_part(from, d->discriminant->offset, t->size);
	if (!at.size || at.size < t->size || cp_gap_in(&at, 0, t->size * 8))
		return NULL;
	*value_ret = cp_build_number(at.at, at.size);
	return cp_variant_by(d, *value_ret, at.size);
}

static void build_variant(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			  struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type_variant *found;
	const struct cp_type_details *inner;
	const struct cp_type *form;
	cprof_value *item = cp_arena_alloc(b->arena, sizeof(*item));
	uint64_t value;

	cp_note_depends(b);
	found = variant_of(cp_type_details(t), from, &value);
	if (!item || !found) {
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, from.address);
		return;
	}
	form = cp_type_strip(found->member.type);
	inner = cp_type_details(b->live ? cp_type_complete(cp_type_image(form), form) : form);
	if (inner && !inner->member_count && !inner->variant_count) {
		v->kind = CPROF_VALUE_ENUM;
		v->symbol = found->member.name;
		v->u.u = value;
		v->size = !(cp_rust_is_option(cp_type_details(t)) && cp_rust_is_none(found));
		return;
	}
	/* The member of a variant is as deep as the enum itself. */
	build_member(b, item, &found->member, from, depth, hops);
	v->kind = CPROF_VALUE_STRUCT;
	v->address = from.address;
	v->items = item;
	v->count = 1;
}

/* The library's own, which says nothing but that it is there: std::pair's. */
static bool is_empty_base(const struct cp_build *b, const struct cp_type_member *m)
{
	const struct cp_type *t = m->flags & CP_MEMBER_BASE ? cp_type_strip(m->type) : NULL;
	const struct cp_type_details *d;

	if (!t || !t->name || strncmp(t->name, "__", 2) != 0)
		return false;
	if (b->live)
		t = cp_type_complete(cp_type_image(t), t);
	d = cp_type_details(t);
	return d && !d->member_count && !d->variant_count && t->size == 1;
}

static void build_members(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			  struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type_details *d = cp_type_details(t);
	const struct cp_type_member *m;
	cprof_value *items;
	uint32_t i, n = 0;

	if (!d) {
		cp_build_error(v, CPROF_VALUE_TOO_DEEP, from.address);
		return;
	}
	if (cp_type_is_transparent(t)) {
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, from.address);
		return;
	}
	if (d->variant_count && !d->member_count) {
		build_variant(b, v, t, from, depth, hops);
		return;
	}
	items = cp_arena_array(b->arena,
			       d->member_count < MEMBERS_MAX ? d->member_count : MEMBERS_MAX,
			       sizeof(*items));
	for (i = 0; items && i < d->member_count && n < MEMBERS_MAX; i++) {
		m = &d->members[i];
		if ((m->flags & CP_MEMBER_BITS && !*m->name) || (m->flags & CP_MEMBER_ARTIFICIAL) ||
		    is_empty_base(b, m) || (m->flags & CP_MEMBER_VIRTUAL && is_told(b, m->type)))
			continue;
		build_member(b, &items[n++], m, from, depth + 1, hops);
	}
	v->kind = t->kind == CP_TYPE_UNION ? CPROF_VALUE_UNION : CPROF_VALUE_STRUCT;
	v->address = from.address;
	v->items = items;
	v->count = items ? n : 0;
	v->cut = i < d->member_count || (d->flags & CP_DETAILS_CUT);
}

/* How many elements from number i on are the same; those of no size all are. */
static uint64_t same_from(struct cp_bytes from, uint64_t i, uint64_t there, uint64_t size)
{
	uint64_t run;

	if (!size)
		return there - i < UINT32_MAX ? there - i : UINT32_MAX;
	for (run = 1; i + run < there; run++) {
		if (from.gaps || memcmp(from.at + i * size, from.at + (i + run) * size, size))
			break;
	}
	return run;
}

void cp_build_elements(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		       struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type *element = cp_type_strip(t->target);
	uint64_t size = element ? element->size : 0, there, i, run;
	cprof_value *items;
	const bool flexible = cp_type_is_flexible(t);
	uint32_t n = 0, max = b->limits->elements;

	v->kind = CPROF_VALUE_ARRAY;
	v->address = from.address;
	v->cut = flexible; /* nobody says how many there are */
	if (!cp_type_has_size(element) || (!size && flexible))
		return;
	there = size && (from.size / size < t->count || flexible) ? from.size / size : t->count;
	if (there >= CP_VALUE_FOLD)
		cp_note_folds(b, v);
	items = cp_arena_array(b->arena, there < max ? there : max, sizeof(*items));
	for (i = 0; items && i < there && n < max && b->left; i += run) {
		run = same_from(from, i, there, size);
		run = run < CP_VALUE_FOLD || b->notes ? 1 : run;
		items[n].repeats = run > 1 ? (uint32_t)run : 0;
		items[n].source = b->source;
		cp_build_value(b, &items[n], t->target, cp_build_part(from, i * size, size),
			       depth + 1, hops);
		items[n++].name = "";
	}
	v->items = items;
	v->count = items ? n : 0;
	v->cut = flexible ? !there || i < there || b->clipped : i < t->count;
}

/* The same of characters of `unit` bytes. */
static void set_wide(struct cp_build *b, cprof_value *v, struct cp_bytes from, uint64_t unit,
		     bool whole)
{
	bool ended;
	uint64_t length = cp_wide_length(from, unit, &ended), most = b->limits->string;

	cp_note_depends(b);
	cp_build_wide(b, v, from, unit, length < most ? length : most);
	v->cut = length > most || (!ended && !whole);
}

/* Characters of C in a row, which are one value as a number is; not numbers of one byte. */
static bool is_text(const struct cp_type *t)
{
	const struct cp_type *of =
		t->kind == CP_TYPE_ARRAY && cp_type_characters(t) ? cp_type_strip(t->target) : NULL;

	return of && of->name && !strcmp(of->name, "char");
}

/* Has it something to say behind a NUL: as what was asked for by number, or as a constant,
 * whose characters were all written, which those of a buffer need not be? */
static bool goes_behind_nul(const struct cp_build *b, const struct cp_type *t)
{
	return t->flags & CP_TYPE_ASKED ||
	       (b->live && t->target->text && cp_starts_with(t->target->text, "const "));
}

/* Characters of `wide` bytes, or 0: of one, up to the last one that is not NUL. */
static void set_behind_nul(struct cp_build *b, cprof_value *v, struct cp_bytes from, uint64_t wide)
{
	const uint64_t unit = wide ? wide : 1, most = b->limits->string;
	uint64_t n = from.size / unit;

	cp_note_depends(b);
	while (n && !cp_build_number(from.at + (n - 1) * unit, unit))
		n--;
	if (wide)
		cp_build_wide(b, v, from, unit, n < most ? n : most);
	else
		set_characters(b, v, from, n);
	v->cut |= n > most;
}

static void build_array(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			struct cp_bytes from, unsigned depth, unsigned hops)
{
	const uint64_t wide = t->kind == CP_TYPE_ARRAY ? cp_type_wide_characters(t) : 0;
	const bool flexible = cp_type_is_flexible(t);
	bool tried;

	/* Text up to a NUL, as where a pointer leads to. */
	if (flexible && is_text(t) && !from.size && from.address && cp_build_is_whole(b))
		from = cp_build_memory(b, from.address, b->limits->string + UINT64_C(1), &tried);
	if ((wide || is_text(t)) && from.size && from.size == t->size && !from.gaps &&
	    goes_behind_nul(b, t)) {
		set_behind_nul(b, v, from, wide);
		return;
	}
	if (wide && from.size && !from.gaps) {
		set_wide(b, v, from, wide, from.size == t->size);
		return;
	}
	if (is_text(t) && from.size && !from.gaps) {
		set_text(b, v, from, from.size == t->size && !flexible);
		return;
	}
	cp_build_elements(b, v, t, from, depth, hops);
}

/* ---- pointers ---- */

static void build_text_at(struct cp_build *b, cprof_value *v, uint64_t address, uint64_t wide)
{
	const uint64_t most = ((uint64_t)b->limits->string + 1) * (wide ? wide : 1);
	bool tried;
	struct cp_bytes at = cp_build_memory(b, address, most, &tried);
	cprof_value *item;

	if (wide && at.size >= wide) {
		set_wide(b, v, at, wide, false);
		return;
	}
	if (at.size && !wide) {
		set_text(b, v, at, false);
		return;
	}
	item = tried ? cp_arena_alloc(b->arena, sizeof(*item)) : NULL;
	if (item) {
		cp_build_error(item, CPROF_VALUE_UNREADABLE, address);
		v->items = item;
		v->count = 1;
	}
}

/* Of which class an object of C++ really is, for those who tell people. */
static void name_class(struct cp_build *b, cprof_value *v, const struct cp_type *type)
{
	const struct cp_shapes *s = b->live ? b->shapes : NULL;
	char *name;

	if (!s || !s->class_of || v->kind != CPROF_VALUE_STRUCT || v->symbol || !v->address)
		return;
	name = s->class_of(s->ctx, type, v->address);
	v->symbol = name ? cp_arena_copy(b->arena, name, strlen(name) + 1) : NULL;
	free(name);
}

static void build_pointee(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			  unsigned depth, unsigned hops)
{
	const struct cp_type *to =
		b->live ? cp_type_complete(cp_type_image(t->target), cp_type_strip(t->target))
			: cp_type_strip(t->target);
	uint64_t want = to->size < b->limits->value ? to->size : b->limits->value;
	struct cp_bytes at;
	cprof_value *item;
	bool tried;

	if (!want || (t->kind == CP_TYPE_POINTER && hops++ >= b->limits->pointers) ||
	    depth > b->limits->depth)
		return;
	at = cp_build_memory(b, v->u.u, want, &tried);
	if (!at.size && !tried)
		return;
	item = cp_arena_alloc(b->arena, sizeof(*item));
	if (!item)
		return;
	item->name = "";
	item->source = CPROF_SOURCE_MEMORY;
	if (!at.size)
		cp_build_error(item, CPROF_VALUE_UNREADABLE, v->u.u);
	else if (is_around(b, v->u.u, to))
		cp_build_error(item, CPROF_VALUE_CYCLE, v->u.u);
	else
		cp_build_value(b, item, t->target, at, depth + 1, hops);
	name_class(b, item, t->target);
	v->items = item;
	v->count = 1;
}

static void build_pointer(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			  const uint8_t *at, unsigned depth, unsigned hops)
{
	const struct cp_capture *c = b->request->capture;
	const struct cp_type *to = cp_type_strip(t->target);
	uint64_t wide;

	v->kind = CPROF_VALUE_POINTER;
	v->reference = t->kind == CP_TYPE_REFERENCE;
	v->size = (uint8_t)t->size;
	v->u.u = cp_build_number(at, t->size);
	if (!v->u.u || !to)
		return;
	if (to->kind == CP_TYPE_FUNCTION) {
		v->symbol = c->symbol ? c->symbol(c->symbol_ctx, v->u.u) : NULL;
		return;
	}
	wide = t->kind == CP_TYPE_POINTER ? cp_type_wide_characters(t) : 0;
	if (wide)
		cp_note_depends(b);
	if (wide || (t->kind == CP_TYPE_POINTER && cp_type_characters(t)))
		build_text_at(b, v, v->u.u, wide);
	else if (!cp_type_is_reserved(to))
		build_pointee(b, v, t, depth, hops);
}

/* A pointer of Rust's to what has a trait leads to what its vtable was made for. */
static bool build_trait(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_shapes *s = b->live ? b->shapes : NULL;
	const struct cp_type *to, *pointer;
	struct cp_rust_trait words;
	const char *name = NULL;

	if (!s || !s->type_of_vtable || from.size < 2 * sizeof(uint64_t) ||
	    !cp_rust_is_trait(t, &words))
		return false;
	to = s->type_of_vtable(s->ctx, cp_build_number(from.at + words.vtable, 8), &name);
	pointer = to ? cp_type_pointer_to(b->arena, to) : NULL;
	if (!pointer)
		return false;
	build_pointer(b, v, pointer, from.at + words.pointer, depth, hops);
	v->symbol = name;
	return true;
}

/* What is not known; of a pointer, though, what it leads to may be. */
static void build_gap(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		      const struct cp_bytes *from, const struct cp_gap *gap, unsigned depth,
		      unsigned hops)
{
	const bool pointer = t->kind == CP_TYPE_POINTER;
	const struct cp_bytes *leads = pointer || t->kind == CP_TYPE_REFERENCE
					       ? cp_gap_leads(from->gaps, from->within, t->size)
					       : NULL;
	cprof_value *item;

	cp_build_error(v, gap->error, gap->address);
	if (!leads || !t->target || (pointer && hops++ >= b->limits->pointers) ||
	    depth > b->limits->depth)
		return;
	item = cp_arena_alloc(b->arena, sizeof(*item));
	if (!item)
		return;
	cp_type_complete(cp_type_image(t->target), cp_type_strip(t->target));
	item->name = "";
	item->source = b->source;
	cp_build_value(b, item, t->target, *leads, depth + 1, hops);
	v->items = item;
	v->count = 1;
}

/* ---- any value ---- */

static void build_aggregate(struct cp_build *b, cprof_value *v, const struct cp_type *t,
			    struct cp_bytes from, unsigned depth, unsigned hops)
{
	const unsigned first = b->shared_first, count = b->shared_count;
	const bool is_base = b->is_base;
	const struct cp_gap *gap;
	bool shaped;

	b->is_base = false;
	gap = cp_gap_in(&from, 0, t->size * 8);
	if (gap && cp_gaps_are_all(&from, t->size)) {
		cp_build_error(v, gap->error, gap->address);
		return;
	}
	cp_note_whole(b, v, t, from);
	if (b->notes && cp_shape_next(b->shapes, t, NULL))
		cp_note_depends(b);
	if (b->around_count == CP_VALUE_DEPTH ||
	    (depth >= b->limits->depth && !(b->live && cp_shape_is_plain(t)) && !is_text(t) &&
	     !(t->kind == CP_TYPE_ARRAY && cp_type_wide_characters(t)))) {
		cp_build_error(v, CPROF_VALUE_TOO_DEEP, from.address);
		return;
	}
	b->shared_first = is_base ? first : count;
	b->around[b->around_count].address = from.address;
	b->around[b->around_count++].type = t;
	shaped = (!gap && build_trait(b, v, t, from, depth, hops)) ||
		 cp_build_shape(b, v, t, from, depth, hops);
	if (gap && shaped && v->kind == CPROF_VALUE_ERROR) { /* it takes what is not known */
		v->error = CPROF_VALUE_OK;
		shaped = false;
	}
	if (shaped)
		;
	else if (t->kind == CP_TYPE_ARRAY || t->kind == CP_TYPE_VECTOR)
		build_array(b, v, t, from, depth, hops);
	else
		build_members(b, v, t, from, depth, hops);
	b->around_count--;
	b->shared_first = first;
	b->shared_count = is_base ? b->shared_count : count;
}

static bool is_aggregate(const struct cp_type *t)
{
	return t->kind == CP_TYPE_STRUCT || t->kind == CP_TYPE_UNION || t->kind == CP_TYPE_ARRAY ||
	       t->kind == CP_TYPE_VECTOR;
}

void cp_build_value(struct cp_build *b, cprof_value *v, const struct cp_type *type,
		    struct cp_bytes from, unsigned depth, unsigned hops)
{
	const struct cp_type *t = cp_type_strip(type);
	const struct cp_gap *gap;

	v->type = type && type->text ? type->text : "";
	v->name = v->name ? v->name : "";
	v->address = from.address;
	if (!b->left || !t || t->kind == CP_TYPE_UNKNOWN || t->kind == CP_TYPE_FUNCTION) {
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
		return;
	}
	b->left--;
	if (b->live)
		t = cp_type_complete(cp_type_image(t), t);
	if (b->live && t->flags & CP_TYPE_DECLARED) {
		cp_build_error(v, CPROF_VALUE_INCOMPLETE, from.address);
	} else if (t->kind == CP_TYPE_VOID) {
		v->kind = CPROF_VALUE_VOID;
	} else if (!t->size && t->name && !strcmp(t->name, "()")) {
		v->kind = CPROF_VALUE_STRUCT; /* Rust's: a tuple of nothing */
	} else if (is_aggregate(t)) {
		build_aggregate(b, v, t, from, depth, hops);
	} else if ((gap = cp_gap_in(&from, 0, t->size * 8))) {
		build_gap(b, v, t, &from, gap, depth, hops);
	} else if (from.size < t->size || !t->size) {
		cp_build_error(v, from.size ? CPROF_VALUE_UNREADABLE : CPROF_VALUE_UNAVAILABLE,
			       from.address);
	} else if (t->kind == CP_TYPE_POINTER || t->kind == CP_TYPE_REFERENCE) {
		cp_note_number(b, v, t, from.at, 0, (unsigned)t->size * 8);
		build_pointer(b, v, t, from.at, depth, hops);
	} else if (t->kind == CP_TYPE_MEMBER_POINTER) {
		cp_build_member_pointer(b, v, t, from);
	} else {
		cp_note_number(b, v, t, from.at, 0, (unsigned)t->size * 8);
		cp_build_scalar(b, v, type, t, from.at);
	}
}

struct cp_build cp_build_live(const struct cp_value_request *request,
			      const struct cp_value_limits *limits, uint8_t source)
{
	return (struct cp_build){ .request = request,
				  .limits = limits,
				  .shapes = request->capture->shapes,
				  .arena = &request->arena->memory,
				  .notes = request->notes,
				  .source = source,
				  .live = true,
				  .left = VALUES_MAX };
}

static struct cp_build start(const struct cp_value_request *request, const struct cp_parameter *p)
{
	return (struct cp_build){ .request = request,
				  .limits = &request->signature->limits,
				  .shapes = request->capture->shapes,
				  .live = request->capture->shapes,
				  .arena = &request->arena->memory,
				  .notes = request->notes,
				  .source = p->source,
				  .left = VALUES_MAX };
}

static bool is_number(const cprof_value *v)
{
	return (v->kind >= CPROF_VALUE_INT && v->kind <= CPROF_VALUE_FLOAT) ||
	       v->kind == CPROF_VALUE_ENUM || (v->kind == CPROF_VALUE_POINTER && !v->count);
}

void cp_value_of_parameter(const struct cp_value_request *request, const struct cp_parameter *p,
			   cprof_value *ret)
{
	struct cp_build b = start(request, p);
	struct cp_bytes from;
	uint8_t error;

	*ret = (cprof_value){ .name = p->name,
			      .type = p->type && p->type->text ? p->type->text : "",
			      .source = p->source,
			      .guessed = p->guessed };
	from = cp_build_bytes(&b, p, &error);
	if (from.gaps)
		cp_note_depends(&b);
	cp_note_parameter(&b, p, from);
	if (!from.size && p->place.how != CP_PLACE_EMPTY) {
		cp_build_error(ret, error, from.address);
	} else if (!p->type) {
		cp_note_number(&b, ret, NULL, from.at, 0, 64);
		ret->kind = CPROF_VALUE_UINT;
		ret->size = 8;
		ret->u.u = cp_build_number(from.at, 8);
	} else if (p->bits) {
		cp_build_bits(&b, ret, p->bits, from);
	} else {
		cp_build_value(&b, ret, p->type, from, 0, 0);
	}
	/* It is told for an argument: a number is one wherever it was read. */
	if (p->lead_count && is_number(ret))
		ret->address = 0;
}

const uint8_t *cp_parameter_bytes(const struct cp_value_request *request,
				  const struct cp_parameter *p, size_t *size_ret,
				  uint64_t *address_ret, uint8_t *error_ret)
{
	struct cp_build b = start(request, p);
	struct cp_bytes from = cp_build_bytes(&b, p, error_ret);

	*size_ret = from.size;
	*address_ret = from.address;
	if (from.gaps)
		*error_ret = from.gaps->error;
	return from.size && !from.gaps ? from.at : NULL;
}

struct cp_bytes cp_parameter_known(const struct cp_value_request *request,
				   const struct cp_parameter *p, uint8_t *error_ret)
{
	struct cp_build b = start(request, p);

	return cp_build_bytes(&b, p, error_ret);
}

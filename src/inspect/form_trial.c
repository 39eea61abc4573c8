/* SPDX-License-Identifier: MIT */
#include "inspect/form_trial.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/value.h"
#include "inspect/variadic.h"

/* Far enough from each other for any offset; nothing is there. */
#define REGISTERS (UINT64_C(1) << 40)
#define POINTERS (UINT64_C(2) << 40)
#define APART 24 /* bits */

struct cp_form_trial {
	const struct cp_signature *signature;
	struct cp_value_arena arena;
	struct cp_notes notes;
	size_t noted; /* that were taken */
	const cprof_value *values;
	size_t count;
	struct cp_hit_vector vector;
	uint8_t *fetched; /* owned */
	struct cp_capture capture;
};

/* ---- what was captured ---- */

static size_t size_of(const struct cp_fetch *f)
{
	return sizeof(struct cp_fetched) + cp_align8(f->size);
}

/* Where a fetch finds its bytes; what it begins with is made to lead there. 0: nowhere. */
static uint64_t lead_to(struct cp_form_trial *t, const struct cp_capture_list *list, size_t number)
{
	const struct cp_fetch *f = &list->fetches[number];
	uint64_t pointer = POINTERS + ((uint64_t)number << APART);
	size_t at = 0, i;
	uint8_t *word;

	if (f->from < CP_FETCH_BLOCK)
		return f->from < CP_REG_MAX
			       ? t->capture.regs.r[f->from] + (uint64_t)(int64_t)f->offset
			       : 0;
	if ((size_t)f->from - CP_FETCH_BLOCK >= number)
		return 0;
	for (i = 0; i < (size_t)f->from - CP_FETCH_BLOCK; i++)
		at += size_of(&list->fetches[i]);
	if (f->at + sizeof(pointer) > list->fetches[i].size)
		return 0;
	word = t->fetched + at + sizeof(struct cp_fetched) + f->at;
	if (cp_build_number(word, 8))
		pointer = cp_build_number(word, 8);
	memcpy(word, &pointer, sizeof(pointer));
	return pointer + (uint64_t)(int64_t)f->offset;
}

static bool capture(struct cp_form_trial *t, const struct cp_capture_list *list)
{
	struct cp_capture *c = &t->capture;
	size_t size = 0, at = 0, i;

	*c = (struct cp_capture){ .vector = &t->vector,
				  .shapes = c->shapes,
				  .fetches = list->fetches,
				  .fetch_count = list->fetch_count };
	c->regs.known = UINT64_MAX;
	for (i = 0; i < CP_REG_MAX; i++)
		c->regs.r[i] = REGISTERS + ((uint64_t)i << APART);
	for (i = 0; i < list->fetch_count; i++)
		size += size_of(&list->fetches[i]);
	t->fetched = calloc(1, size + 1);
	for (i = 0; t->fetched && i < list->fetch_count; i++) {
		struct cp_fetched block = { (uint32_t)i, list->fetches[i].size,
					    lead_to(t, list, i) };

		if (!block.address)
			return false;
		memcpy(t->fetched + at, &block, sizeof(block));
		at += size_of(&list->fetches[i]);
	}
	c->fetched = t->fetched;
	c->fetched_size = size;
	return t->fetched != NULL;
}

/* ---- values ---- */

static void make_values(struct cp_form_trial *t, bool leave)
{
	const struct cp_signature *s = t->signature;
	struct cp_value_request request = { s, &t->capture, &t->arena, &t->notes };
	const struct cp_parameter *all = leave ? &s->result : s->chosen ? s->shown : s->parameters;
	cprof_value *values;
	size_t i;

	t->count = leave ? s->has_result : s->chosen ? s->shown_count : s->parameter_count;
	values = cp_arena_array(&t->arena.memory, t->count, sizeof(*values));
	for (i = 0; values && i < t->count; i++)
		cp_value_of_parameter(&request, &all[i], &values[i]);
	t->values = t->notes.failed ? NULL : values;
}

struct cp_form_trial *cp_form_trial_make(const struct cp_signature *s, bool leave,
					 const struct cp_capture_list *list,
					 const struct cp_shapes *shapes)
{
	struct cp_form_trial *t;

	if (leave ? cp_signature_result_is_kept(s) : !s->chosen && cp_signature_is_variadic(s))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->signature = s;
	t->capture.shapes = shapes;
	if (capture(t, list))
		make_values(t, leave);
	return t;
}

static size_t count_all(const cprof_value *values, size_t count)
{
	size_t all = count, i;

	for (i = 0; i < count && all <= CP_FORM_VALUES; i++)
		all += count_all(values[i].items, values[i].count);
	return all;
}

const cprof_value *cp_form_trial_values(const struct cp_form_trial *t, size_t *count_ret,
					size_t *total_ret)
{
	*count_ret = t->count;
	*total_ret = t->values ? count_all(t->values, t->count) : 0;
	return t->values;
}

uint32_t cp_form_trial_text_most(const struct cp_form_trial *t)
{
	return t->signature->limits.string;
}

const struct cp_note *cp_form_trial_next(struct cp_form_trial *t)
{
	return t->noted < t->notes.all.count ? &t->notes.all.items[t->noted++] : NULL;
}

void cp_form_trial_free(struct cp_form_trial *t)
{
	cp_arena_free(&t->arena.memory);
	cp_decoder_destroy(t->arena.decoder);
	cp_notes_free(&t->notes);
	free(t->fetched);
	free(t);
}

/* ---- where ---- */

static bool find_block(const struct cp_form_trial *t, const uint8_t *at, unsigned bits,
		       struct cp_form_item *ret)
{
	struct cp_fetched block;
	const uint8_t *bytes;
	size_t from = 0;

	while (cp_fetched_next(t->fetched, t->capture.fetched_size, &from, &block, &bytes)) {
		if (at < bytes || at >= bytes + block.size)
			continue;
		ret->where = CP_FORM_BLOCK;
		ret->number = (uint8_t)block.index;
		ret->offset = (int32_t)(at - bytes);
		return block.index <= UINT8_MAX &&
		       (uint64_t)(at - bytes) * 8 + bits <= block.size * UINT64_C(8);
	}
	return false;
}

static bool find_piece(const struct cp_form_trial *t, const struct cp_piece *piece,
		       unsigned offset /* in it */, struct cp_form_item *ret)
{
	unsigned shift = ret->shift + 8 * (offset + piece->skip);

	ret->number = piece->number;
	switch (piece->where) {
	case CP_PIECE_REGISTER:
		ret->where = CP_FORM_REGISTER;
		ret->shift = (uint8_t)shift;
		return piece->number < CP_REG_MAX && shift + ret->bits <= 64;
	case CP_PIECE_VECTOR:
		ret->where = CP_FORM_VECTOR;
		ret->shift = (uint8_t)shift;
		return piece->number < CP_ARCH_VECTORS && shift < 128 &&
		       shift % 64 + ret->bits <= 64;
	case CP_PIECE_MEMORY:
		ret->where = CP_FORM_STACK;
		ret->offset = (int32_t)piece->offset + (int32_t)offset;
		return piece->number == t->signature->arch->sp &&
		       piece->offset == (int32_t)piece->offset && !piece->skip;
	default:
		return false;
	}
}

static bool find_in(const struct cp_form_trial *t, const struct cp_place *place, uint64_t offset,
		    unsigned bits, struct cp_form_item *ret)
{
	unsigned i;

	for (i = 0; place->how == CP_PLACE_DIRECT && !place->promoted && i < place->count; i++) {
		const struct cp_piece *piece = &place->pieces[i];

		if (offset >= piece->at && offset - piece->at < piece->size)
			return (offset - piece->at) * 8 + bits <= piece->size * UINT64_C(8) &&
			       find_piece(t, piece, (unsigned)(offset - piece->at), ret);
	}
	return false;
}

bool cp_form_trial_find(const struct cp_form_trial *t, const uint8_t *at, unsigned shift,
			unsigned bits, struct cp_form_item *ret)
{
	const struct cp_noted_bytes *bytes;

	ret->shift = (uint8_t)shift;
	if (shift + (bits <= 64 ? bits : 0) > 64)
		return false;
	if (find_block(t, at, shift + bits, ret))
		return true;
	cp_vec_for_each(&t->notes.bytes, bytes)
		if (at >= bytes->at && at < bytes->at + bytes->size)
			return find_in(t, &bytes->parameter->place, (uint64_t)(at - bytes->at),
				       shift + bits, ret);
	return false;
}

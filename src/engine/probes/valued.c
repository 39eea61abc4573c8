/* SPDX-License-Identifier: MIT */
#include "engine/probes/valued.h"

#include <stdlib.h>
#include <string.h>

#include "engine/probes/hide.h"
#include "engine/probes/values.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/state.h"

#define VALUES_MOST 4096 /* of a block */
#define TEXT_MOST (128u << 10)
#define ENTRY_WORDS 2 /* of each entry: its caller, and where it was called */

/* ---- of a site ---- */

/* Words before those of vectors; `number`: only of registers below it. */
static unsigned registers(uint64_t general, unsigned number)
{
	return (unsigned)__builtin_popcountll(general & ((UINT64_C(1) << number) - 1));
}

static unsigned register_words(const struct engine_site *site)
{
	return (unsigned)__builtin_popcountll(site->uses.general) +
	       2 * (unsigned)__builtin_popcount(site->uses.vectors) + (site->uses.x87 ? 2 : 0);
}

/* Behind all registers, fetches of words one after the other. */
static bool find_fetch(const struct engine_site *site, const struct cp_form_item *item,
		       uint16_t *word)
{
	unsigned at = register_words(site);
	size_t i;

	for (i = 0; i < site->list.fetch_count; i++) {
		const struct cp_fetch *f = &site->list.fetches[i];

		if (engine_fetch_as(f) != ENGINE_FETCH_WORDS)
			continue;
		if (f->offset == item->offset && f->size >= item->bits / 8u) {
			*word = (uint16_t)at;
			return true;
		}
		at += engine_fetch_words(f);
	}
	return false;
}

static bool find_word(const struct engine_site *site, const struct cp_form_item *item,
		      uint16_t *word)
{
	const struct cp_uses *uses = &site->uses;

	switch ((enum cp_form_where)item->where) {
	case CP_FORM_REGISTER:
		*word = (uint16_t)registers(uses->general, item->number);
		return uses->general >> item->number & 1;
	case CP_FORM_VECTOR:
		*word = (uint16_t)(__builtin_popcountll(uses->general) +
				   2 * (int)registers(uses->vectors, item->number));
		return uses->vectors >> item->number & 1;
	case CP_FORM_STACK:
		return find_fetch(site, item, word);
	}
	return false;
}

/* The item whose text a fetch brings; -1: none. */
static int item_of(const struct cp_form *form, const struct cp_fetch *f)
{
	uint32_t i;

	for (i = 0; i < form->count; i++)
		if (form->items[i].what == CP_FORM_TEXT && form->items[i].number == f->from &&
		    !f->offset && !f->level)
			return (int)i;
	return -1;
}

/* All fetches are words of the stack, and texts of the form; texts in their order. */
static bool set_texts(const struct engine_site *site, struct engine_valued *v)
{
	uint32_t texts = 0, i;

	for (i = 0; i < site->list.fetch_count; i++) {
		const struct cp_fetch *f = &site->list.fetches[i];
		int item = engine_fetch_as(f) == ENGINE_FETCH_STRING ? item_of(v->form, f) : -1;

		if (engine_fetch_as(f) == ENGINE_FETCH_WORDS)
			continue;
		if (item < 0 || v->text_count == CP_FORM_VALUES)
			return false;
		v->texts[v->text_count++] = (uint8_t)item;
	}
	for (i = 0; i < v->form->count; i++)
		texts += v->form->items[i].what == CP_FORM_TEXT;
	return texts == v->text_count;
}

static struct engine_valued *create(const struct engine_site *site,
				    const struct cp_signature *signature)
{
	bool entry = site->kind == ENGINE_SITE_ENTRY, good;
	struct engine_valued *v = calloc(1, sizeof(*v));
	uint32_t i;

	if (!v)
		return NULL;
	v->form = cp_form_create(signature, !entry);
	good = v->form && set_texts(site, v);
	for (i = 0; good && i < v->form->count; i++) {
		good = find_word(site, &v->form->items[i], &v->words[i]);
		v->words[i] = (uint16_t)(v->words[i] + (entry ? ENTRY_WORDS : 0));
	}
	v->first_text = site->words;
	if (good)
		return v;
	engine_valued_free(v);
	return NULL;
}

const struct engine_valued *engine_valued_of(cprof_session *s, struct engine_site *site)
{
	const struct engine_traced *t = s->calls->traced.items[site->traced];
	struct engine_valued *v;

	if (site->formed)
		return site->form;
	site->formed = true;
	site->form = NULL;
	if (!t->signature || t->fetching || site->judged || site->walked || site->sampled)
		return NULL;
	v = create(site, t->signature);
	/* What was told refers to it. */
	if (v && !cp_vec_push(&s->calls->forms, v)) {
		engine_valued_free(v);
		return NULL;
	}
	return site->form = v;
}

void engine_valued_free(struct engine_valued *v)
{
	if (v)
		cp_form_destroy(v->form);
	free(v);
}

/* ---- of a record ---- */

static const char *name_function(cprof_session *s, const cprof_process *p, uint64_t address)
{
	const struct engine_text *text = address ? engine_find_text(p, address) : NULL;
	const cprof_function *f =
		text ? engine_function_at(s, text->image, address - text->image->bias) : NULL;

	return f && f->start == address ? cprof_function_name(f) : NULL;
}

static bool reserve(struct engine_ring *ring)
{
	if (!ring->values.items && !cp_vec_reserve(&ring->values, VALUES_MOST))
		return false;
	if (!ring->text.items && !cp_vec_reserve(&ring->text, TEXT_MOST))
		return false;
	return true;
}

/* Numbers, and the pointers of texts; the program may write to the record meanwhile. */
static bool read_numbers(cprof_session *s, const cprof_process *p, const struct engine_valued *v,
			 const struct cp_record_plain *r, uint64_t sp, cprof_value *to)
{
	struct cp_form *form = v->form;
	uint32_t i;

	memcpy(to, form->values, form->count * sizeof(*to));
	for (i = 0; i < form->count; i++) {
		const struct cp_form_item *item = &form->items[i];

		if (v->words[i] >= r->words ||
		    !cp_form_set(form, i, r->values[v->words[i]], &to[i]))
			return false;
		if (item->where == CP_FORM_STACK)
			to[i].address = sp + (uint64_t)(int64_t)item->offset;
		if (item->what == CP_FORM_FUNCTION)
			to[i].symbol = name_function(s, p, to[i].u.u);
	}
	return true;
}

/* `at` moves behind the text's words. False: it could not be read, or not all of it. */
static bool read_text(const cprof_process *p, struct engine_ring *ring,
		      const struct engine_valued *v, const struct cp_record_plain *r, unsigned *at,
		      cprof_value *to)
{
	uint64_t address = to->u.u;
	struct cp_detour_reached reached;
	char *text = ring->text.items + ring->text.count;

	if (*at >= r->words)
		return false;
	memcpy(&reached, r->values + *at, sizeof(reached));
	*at += 1 + (reached.size + 7) / 8;
	if (!address) {
		to->kind = CPROF_VALUE_POINTER;
		to->address = 0;
		return true;
	}
	if (reached.how > CP_DETOUR_READ_CUT || *at > r->words ||
	    reached.size > CP_DETOUR_REACH_MAX)
		return false;
	memcpy(text, r->values + *at - (reached.size + 7) / 8, reached.size);
	engine_hide_breakpoints(p, address, (uint8_t *)text, reached.size);
	cp_form_set_text(v->form, address, text, reached.size, reached.how == CP_DETOUR_READ, to);
	ring->text.count += reached.size;
	return true;
}

bool engine_valued_fits(const struct engine_ring *ring, const struct engine_valued *v,
			const struct cp_record_plain *r)
{
	return ring->values.count + v->form->count <= VALUES_MOST &&
	       (!v->text_count || ring->text.count + r->words * 8u <= TEXT_MOST);
}

const cprof_value *engine_valued_read(cprof_session *s, const cprof_process *p,
				      struct engine_ring *ring, const struct engine_valued *v,
				      const struct cp_record_plain *r, uint64_t sp)
{
	size_t count = v->form->count, text;
	unsigned at = v->first_text, i;
	cprof_value *to;

	if (!reserve(ring))
		return NULL;
	to = ring->values.items + ring->values.count;
	text = ring->text.count;
	if (!read_numbers(s, p, v, r, sp, to))
		return NULL;
	for (i = 0; i < v->text_count; i++)
		if (!read_text(p, ring, v, r, &at, &to[v->texts[i]])) {
			ring->text.count = text;
			return NULL;
		}
	ring->values.count += count;
	return to;
}

void engine_valued_drop(struct engine_ring *ring, const struct engine_valued *v)
{
	ring->values.count -= v->form->count; /* of its text there is room enough */
}

void engine_valued_clear(struct engine_ring *ring)
{
	ring->values.count = ring->text.count = 0;
}

void engine_valued_release(struct engine_ring *ring)
{
	cp_vec_free(&ring->block);
	cp_vec_free(&ring->values);
	cp_vec_free(&ring->text);
}

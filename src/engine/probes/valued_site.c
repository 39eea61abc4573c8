/* SPDX-License-Identifier: MIT */
#include "engine/probes/valued_site.h"

#include <stdlib.h>

#include "engine/probes/values.h"
#include "engine/target/shapes.h"
#include "engine/target/state.h"

#define ENTRY_WORDS 2 /* of each entry: its caller, and where it was called */

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

/* Behind all registers, what fetches bring, but for texts: those come last. */
static void place_fetches(const struct engine_site *site, struct engine_valued *v, unsigned word)
{
	unsigned i;

	for (i = 0; i < v->fetch_count; i++) {
		const struct cp_fetch *f = &site->list.fetches[i];
		enum engine_fetch_as as = engine_fetch_as(f);
		struct engine_valued_fetch *to = &v->fetches[i];

		*to = (struct engine_valued_fetch){ .as = (uint8_t)as,
						    .word = (uint16_t)word,
						    .size = (uint16_t)f->size,
						    .at = f->at,
						    .offset = f->offset };
		if (as != ENGINE_FETCH_STRING)
			word += engine_fetch_words(f) + (as == ENGINE_FETCH_BYTES);
	}
}

/* Where each has its pointer; false: not where a record has it. */
static bool lead_fetches(const struct engine_site *site, struct engine_valued *v, unsigned before)
{
	const struct cp_uses *uses = &site->uses;
	unsigned i;

	for (i = 0; i < v->fetch_count; i++) {
		const struct cp_fetch *f = &site->list.fetches[i];
		struct engine_valued_fetch *to = &v->fetches[i];

		if (f->flags & CP_FETCH_BESIDE)
			return false;
		if (f->from >= CP_FETCH_BLOCK) {
			to->from = (uint8_t)(f->from - CP_FETCH_BLOCK + 1);
			if (to->from > i || to->at + 8u > v->fetches[to->from - 1].size)
				return false;
		} else if (f->from == cp_arch_host()->sp) {
			to->pointer = ENGINE_VALUED_SP;
		} else {
			to->pointer = (uint16_t)(registers(uses->general, f->from) + before);
			if (!(uses->general >> f->from & 1))
				return false;
		}
		if (to->as == ENGINE_FETCH_NOT)
			return false;
	}
	return true;
}

/* The fetch that has an item of the stack; its words, or it stands in a block. */
static bool find_on_stack(const struct engine_valued *v, struct cp_form_item *item, uint16_t *word)
{
	int32_t end = item->offset + (item->shift + item->bits + 7) / 8;
	unsigned i;

	for (i = 0; i < v->fetch_count; i++) {
		const struct engine_valued_fetch *f = &v->fetches[i];
		int32_t at = item->offset - f->offset;

		if (f->from || f->pointer != ENGINE_VALUED_SP || at < 0 ||
		    end > f->offset + f->size)
			continue;
		if (f->as == ENGINE_FETCH_WORDS && at % 8 + (end - item->offset) <= 8) {
			*word = (uint16_t)(f->word + at / 8);
			item->shift = (uint8_t)(item->shift + at % 8 * 8);
			return true;
		}
		item->where = CP_FORM_BLOCK;
		item->number = (uint8_t)i;
		item->offset = at;
		return f->as != ENGINE_FETCH_STRING;
	}
	return false;
}

static bool find_word(const struct engine_site *site, const struct engine_valued *v,
		      unsigned before, struct cp_form_item *item, uint16_t *word)
{
	const struct cp_uses *uses = &site->uses;

	switch ((enum cp_form_where)item->where) {
	case CP_FORM_REGISTER:
		*word = (uint16_t)(registers(uses->general, item->number) + before);
		return uses->general >> item->number & 1;
	case CP_FORM_VECTOR:
		*word = (uint16_t)((unsigned)__builtin_popcountll(uses->general) +
				   2 * registers(uses->vectors, item->number) + item->shift / 64 +
				   before);
		item->shift %= 64;
		return uses->vectors >> item->number & 1;
	case CP_FORM_STACK:
		return !item->bits || find_on_stack(v, item, word);
	case CP_FORM_BLOCK:
		return item->number < v->fetch_count &&
		       v->fetches[item->number].as != ENGINE_FETCH_STRING;
	case CP_FORM_NOWHERE:
		break;
	}
	return item->what == CP_FORM_WHOLE;
}

static bool find_all(const struct engine_site *site, struct engine_valued *v, unsigned before)
{
	uint32_t i;

	for (i = 0; i < v->form->total; i++) {
		struct cp_form_item *item = &v->form->items[i];

		if (!find_word(site, v, before, item, &v->words[i]))
			return false;
		if (item->what == CP_FORM_TEXT &&
		    (item->text >= v->fetch_count ||
		     v->fetches[item->text].as != ENGINE_FETCH_STRING))
			return false;
	}
	return true;
}

/* Do all that take blocks read numbers? */
static bool read_numbers(const cprof_session *s)
{
	const struct cprof_profiler_desc *p;

	for (p = s->profilers; p; p = p->next)
		if (p->method_block && !p->block_numbers)
			return false;
	return true;
}

/* Numbers of values that have no parts; 0: they can have some. */
static uint16_t count_numbers(const struct cp_form *form)
{
	size_t n = 0;
	uint32_t i;

	if (form->total != form->count)
		return 0;
	for (i = 0; i < form->count; i++) {
		uint8_t what = form->items[i].what;

		if (what == CP_FORM_WHOLE || what == CP_FORM_CHARACTERS || what == CP_FORM_FOLDED)
			return 0;
		n += cprof_value_words(&form->values[i]);
	}
	return (uint16_t)n;
}

/* Is it a number that means what the form says? */
static bool is_by_form(const struct cp_form_item *item)
{
	return item->what == CP_FORM_ENUM || item->what == CP_FORM_SINGLE;
}

/* Where in the record a number stands that a fetch brings; false: not in one word. */
static bool find_in_block(struct engine_valued *v, uint32_t i, uint8_t *shift_ret)
{
	const struct cp_form_item *item = &v->form->items[i];
	const struct engine_valued_fetch *f = &v->fetches[item->number];
	uint32_t at = (uint32_t)item->offset, shift = at % 8 * 8 + item->shift;

	if (item->offset < 0 || shift + item->bits > 64 ||
	    (item->what != CP_FORM_NUMBER && item->what != CP_FORM_DOUBLE && !is_by_form(item)))
		return false;
	v->words[i] = (uint16_t)(f->word + 1 + at / 8);
	*shift_ret = (uint8_t)shift;
	return true;
}

/* Is all that fetches bring bytes at addresses that words of the record are? */
static bool are_blocks(struct engine_valued *v)
{
	unsigned i;

	for (i = 0; i < v->fetch_count; i++) {
		struct engine_valued_fetch *f = &v->fetches[i];

		if (f->as != ENGINE_FETCH_BYTES)
			return false;
		v->end = (uint16_t)(f->word + 1 + (f->size + 7) / 8);
		if (!f->from && f->pointer == ENGINE_VALUED_SP)
			return false;
		if (!f->from)
			continue;
		if (f->at % 8)
			return false;
		f->pointer = (uint16_t)(v->fetches[f->from - 1].word + 1 + f->at / 8);
	}
	return v->fetch_count != 0;
}

/* Is it no more than bits of a word, or the text that a word leads to, the next in the record? */
static bool is_plain_item(const struct engine_valued *v, uint32_t i, unsigned texts)
{
	const struct cp_form_item *item = &v->form->items[i];
	const struct engine_valued_fetch *f = &v->fetches[item->text];

	if (item->where != CP_FORM_REGISTER && item->where != CP_FORM_VECTOR)
		return false;
	if (item->what == CP_FORM_TEXT)
		return item->text == texts && !f->from && !f->offset && f->pointer == v->words[i] &&
		       !item->shift;
	return item->what == CP_FORM_NUMBER || item->what == CP_FORM_DOUBLE;
}

/* All numbers that are so; nothing else is read. */
static void find_plain(struct engine_valued *v)
{
	const struct cp_form *form = v->form;
	unsigned texts = 0, named = 0;
	uint32_t i;

	if (!v->numbers)
		return;
	v->blocks = are_blocks(v);
	v->plain = calloc(form->count, sizeof(*v->plain));
	for (i = 0; v->plain && i < form->count; i++) {
		const struct cp_form_item *item = &form->items[i];
		bool text = item->what == CP_FORM_TEXT;
		uint8_t shift = item->shift;

		if (v->blocks && item->where == CP_FORM_BLOCK ? !find_in_block(v, i, &shift)
							      : !is_plain_item(v, i, texts))
			break;
		v->plain[i] = (struct engine_valued_number){
			v->words[i],	 shift, (uint8_t)(64 - item->bits),
			item->is_signed, text,	is_by_form(item)
		};
		v->by_form |= is_by_form(item);
		named += item->what == CP_FORM_ENUM;
		if (v->words[i] > v->most)
			v->most = v->words[i];
		texts += text;
	}
	v->texts = texts != 0;
	if (i == form->count && (v->blocks ? !texts : texts == v->fetch_count) &&
	    v->numbers == form->count + 2 * texts + named)
		return;
	v->blocks = false;
	free(v->plain);
	v->plain = NULL;
}

static struct engine_valued *create(cprof_process *p, const struct engine_site *site,
				    const struct cp_signature *signature)
{
	bool entry = site->kind == ENGINE_SITE_ENTRY;
	unsigned before = entry ? ENTRY_WORDS : 0;
	struct engine_valued *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->fetch_count = (uint16_t)site->list.fetch_count;
	v->first_text = site->words;
	v->form = cp_form_create(signature, !entry, &site->list, engine_shapes(p));
	if (v->form && v->fetch_count <= ENGINE_VALUED_FETCHES) {
		v->words = calloc(v->form->total, sizeof(*v->words));
		v->fetches = calloc(v->fetch_count + 1u, sizeof(*v->fetches));
	}
	if (v->words && v->fetches) {
		place_fetches(site, v, register_words(site) + before);
		v->numbers = read_numbers(p->session) ? count_numbers(v->form) : 0;
		if (lead_fetches(site, v, before) && find_all(site, v, before)) {
			find_plain(v);
			return v;
		}
	}
	engine_valued_free(v);
	return NULL;
}

const struct engine_valued *engine_valued_of(cprof_process *p, struct engine_site *site)
{
	cprof_session *s = p->session;
	const struct engine_traced *t = s->calls->traced.items[site->traced];
	struct engine_valued *v;

	if (site->formed)
		return site->form;
	site->formed = true;
	site->form = NULL;
	if (!t->signature || t->fetching || site->judged || site->walked || site->sampled)
		return NULL;
	v = create(p, site, t->signature);
	/* What was told refers to it. */
	if (v && !cp_vec_push(&s->calls->forms, v)) {
		engine_valued_free(v);
		return NULL;
	}
	return site->form = v;
}

void engine_valued_free(struct engine_valued *v)
{
	if (!v)
		return;
	cp_form_destroy(v->form);
	free(v->words);
	free(v->fetches);
	free(v->plain);
	free(v);
}

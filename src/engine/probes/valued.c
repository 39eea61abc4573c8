/* SPDX-License-Identifier: MIT */
#include "engine/probes/valued.h"

#include <stdlib.h>
#include <string.h>

#include "engine/probes/hide.h"
#include "engine/probes/values.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/shapes.h"
#include "engine/target/state.h"
#include "inspect/value.h"
#include "link/records_plain.h"

#define VALUES_MOST 8192 /* of a block */
#define NUMBERS_MOST 8192
#define TEXT_MOST (128u << 10)
#define FETCHES_MOST 64
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

/* All numbers that are no more than bits of words. */
static void find_plain(struct engine_valued *v)
{
	const struct cp_form *form = v->form;
	uint32_t i;

	if (v->numbers != form->count || v->fetch_count)
		return;
	v->plain = calloc(form->count, sizeof(*v->plain));
	for (i = 0; v->plain && i < form->count; i++) {
		const struct cp_form_item *item = &form->items[i];

		if ((item->what != CP_FORM_NUMBER && item->what != CP_FORM_DOUBLE) ||
		    (item->where != CP_FORM_REGISTER && item->where != CP_FORM_VECTOR)) {
			free(v->plain);
			v->plain = NULL;
			return;
		}
		v->plain[i] = (struct engine_valued_number){ v->words[i], item->shift,
							     (uint8_t)(64 - item->bits),
							     item->is_signed };
		if (v->words[i] > v->most)
			v->most = v->words[i];
	}
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
	if (v->form && v->fetch_count <= FETCHES_MOST) {
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

/* ---- of a record ---- */

static bool reserve(struct engine_ring *ring)
{
	if (!ring->values.items && !cp_vec_reserve(&ring->values, VALUES_MOST))
		return false;
	if (!ring->numbers.items && !cp_vec_reserve(&ring->numbers, NUMBERS_MOST))
		return false;
	if (!ring->text.items && !cp_vec_reserve(&ring->text, TEXT_MOST))
		return false;
	return true;
}

/* What a fetch brought, copied: the program may write to the record meanwhile. */
struct block {
	const char *bytes;
	uint32_t size;
	uint64_t address; /* 0: its pointer is NULL, or was not read */
	bool ended; /* a text's end is there */
};

/* A record that is being read. */
struct reading {
	cprof_session *session;
	const cprof_process *process;
	struct engine_ring *ring;
	const struct engine_valued *valued;
	const struct cp_record_plain *record;
	uint64_t sp;
	struct block blocks[FETCHES_MOST];
};

/* Where a fetch begins. */
static uint64_t address_of(const struct reading *r, const struct engine_valued_fetch *f)
{
	uint64_t pointer = 0;

	if (f->from) {
		const struct block *b = &r->blocks[f->from - 1];

		if (f->at + 8u <= b->size)
			memcpy(&pointer, b->bytes + f->at, sizeof(pointer));
	} else if (f->pointer == ENGINE_VALUED_SP) {
		pointer = r->sp;
	} else if (f->pointer < r->record->words) {
		pointer = r->record->values[f->pointer];
	}
	return pointer ? pointer + (uint64_t)(int64_t)f->offset : 0;
}

/* Breakpoints are where code is; who reads looks mostly where that is not. */
static void hide_breakpoints(const struct reading *r, uint64_t address, char *text, uint32_t size)
{
	struct engine_bare *bare = &r->ring->bare;

	if (bare->made == r->process->texts_made && address >= bare->start && address < bare->end &&
	    size <= bare->end - address)
		return;
	engine_hide_breakpoints(r->process, address, (uint8_t *)text, size);
	*bare = engine_bare_around(r->process, address);
}

/* Copies `size` bytes from a word on; false: the record has not so many. */
static bool copy(struct reading *r, unsigned word, uint32_t size, struct block *to)
{
	struct engine_ring *ring = r->ring;
	char *text = ring->text.items + ring->text.count;

	if (word > r->record->words || size > (r->record->words - word) * 8u)
		return false;
	memcpy(text, r->record->values + word, size);
	hide_breakpoints(r, to->address, text, size);
	ring->text.count += size;
	to->bytes = text;
	to->size = size;
	return true;
}

/* Reads the head of what was reached. */
static bool read_head(const struct reading *r, unsigned word, struct cp_detour_reached *ret)
{
	if (word >= r->record->words)
		return false;
	memcpy(ret, r->record->values + word, sizeof(*ret));
	return ret->size <= CP_DETOUR_REACH_MAX;
}

/* A fetch, in the order in which they lead on; *text: the word of the next text. */
static bool read_fetch(struct reading *r, unsigned number, unsigned *text)
{
	const struct engine_valued_fetch *f = &r->valued->fetches[number];
	struct block *to = &r->blocks[number];
	struct cp_detour_reached reached;
	unsigned word = f->word;

	*to = (struct block){ .address = address_of(r, f) };
	if (f->as == ENGINE_FETCH_WORDS)
		return copy(r, word, f->size, to);
	if (f->as == ENGINE_FETCH_STRING)
		word = *text;
	if (!read_head(r, word, &reached))
		return false;
	if (f->as == ENGINE_FETCH_STRING)
		*text += 1 + (reached.size + 7) / 8;
	if (!to->address)
		return true;
	to->ended = reached.how == CP_DETOUR_READ;
	if (reached.how > CP_DETOUR_READ_CUT ||
	    (f->as == ENGINE_FETCH_BYTES && reached.size != f->size))
		return false;
	return copy(r, word + 1, reached.size, to);
}

/* Bits of what a fetch brought, and what is behind them; false: it did not. */
static bool read_bits(const struct block *b, const struct cp_form_item *item, uint64_t *ret)
{
	uint32_t size = (item->shift + item->bits + 7u) / 8, at = (uint32_t)item->offset;

	if (b->size < size || at > b->size - size)
		return false;
	if (b->size - at >= sizeof(*ret)) { /* one load, where a size is known */
		memcpy(ret, b->bytes + at, sizeof(*ret));
	} else {
		*ret = 0;
		memcpy(ret, b->bytes + at, size);
	}
	*ret >>= item->shift;
	return true;
}

static bool read_number(const struct reading *r, uint32_t i, uint64_t *ret)
{
	const struct cp_form_item *item = &r->valued->form->items[i];

	if (item->where == CP_FORM_BLOCK)
		return read_bits(&r->blocks[item->number], item, ret);
	if (r->valued->words[i] >= r->record->words)
		return false;
	*ret = r->record->values[r->valued->words[i]] >> item->shift;
	return true;
}

/* False: it could not be read. */
static bool set_text(const struct reading *r, const struct cp_form_item *item, cprof_value *v)
{
	const struct block *b = &r->blocks[item->text];

	if (v->u.u) {
		cp_form_set_text(r->valued->form, v->u.u, b->bytes, b->size, b->ended, v);
		return b->bytes != NULL;
	}
	v->kind = CPROF_VALUE_POINTER;
	v->address = 0;
	return true;
}

static bool set_characters(const struct reading *r, const struct cp_form_item *item, cprof_value *v)
{
	const struct block *b = &r->blocks[item->number];

	if (b->size < item->size || (uint32_t)item->offset > b->size - item->size)
		return false;
	cp_form_set_text(r->valued->form, v->address, b->bytes + item->offset, item->size,
			 item->ends, v);
	return true;
}

/* How many elements from `at` on are alike, if they are shown as one. */
static uint32_t run_of(const char *at, uint32_t size, uint32_t left)
{
	uint32_t run = 1;

	while (run < left && !memcmp(at, at + (size_t)run * size, size))
		run++;
	return run < CP_VALUE_FOLD ? 1 : run;
}

static bool set_folded(const struct reading *r, uint32_t i, cprof_value *all)
{
	struct cp_form *form = r->valued->form;
	const struct cp_form_item *item = &form->items[i];
	const struct block *b = &r->blocks[item->number];
	const char *at = b->bytes + item->offset;
	uint32_t most = all[i].count, n = 0, done = 0, run;

	if (b->size < (uint64_t)item->offset + (uint64_t)item->size * item->elements)
		return false;
	for (; done < item->elements && n < most; n++, done += run) {
		struct cp_form_item place = form->items[item->first];
		cprof_value *v = &all[item->first + n];
		uint64_t number;

		run = run_of(at + (size_t)done * item->size, item->size, item->elements - done);
		place.offset += (int32_t)(done * item->size);
		if (!read_bits(b, &place, &number) || !cp_form_set(form, item->first, number, v))
			return false;
		v->repeats = run > 1 ? run : 0;
		v->address = all[i].address + (uint64_t)done * item->size;
	}
	all[i].count = n;
	all[i].cut = done < item->elements;
	return true;
}

/* Does a pointer lead to what it is part of? */
static bool goes_round(const struct cp_form *form, uint32_t i, const cprof_value *all)
{
	uint32_t up;

	for (up = form->items[i].parent; up; up = form->items[up - 1].parent)
		if (!form->items[up - 1].bits && all[up - 1].address == all[i].u.u)
			return true;
	return false;
}

static bool set_one(const struct reading *r, uint32_t i, cprof_value *all)
{
	struct cp_form *form = r->valued->form;
	const struct cp_form_item *item = &form->items[i];
	cprof_value *v = &all[i];
	uint64_t number;

	v->items = v->count ? all + item->first : NULL;
	v->repeats = 0;
	if (item->addressed)
		v->address =
			(item->where == CP_FORM_STACK ? r->sp : r->blocks[item->number].address) +
			(uint64_t)(int64_t)item->offset;
	if (item->what == CP_FORM_WHOLE)
		return true;
	if (item->what == CP_FORM_CHARACTERS)
		return set_characters(r, item, v);
	if (item->what == CP_FORM_FOLDED)
		return set_folded(r, i, all);
	if (!read_number(r, i, &number) || !cp_form_set(form, i, number, v))
		return false;
	if (item->what == CP_FORM_TEXT)
		return set_text(r, item, v);
	if (item->what == CP_FORM_FUNCTION)
		v->symbol = engine_name_of_start(r->session, r->process, v->u.u);
	return !v->count || !item->parent || !goes_round(form, i, all);
}

/* All values of a form; what a NULL leads to is not there. */
static bool set_all(const struct reading *r)
{
	cprof_value *all = r->ring->values.items + r->ring->values.count;
	const struct cp_form *form = r->valued->form;
	bool gone[CP_FORM_VALUES]; /* its parts are not there, or were set with it */
	uint32_t i;

	memcpy(all, form->values, form->total * sizeof(*all));
	for (i = 0; i < form->total; i++) {
		const struct cp_form_item *item = &form->items[i];

		gone[i] = item->parent && gone[item->parent - 1];
		if (gone[i])
			continue;
		if (!set_one(r, i, all))
			return false;
		if (item->bits && all[i].count && !all[i].u.u) {
			all[i].items = NULL;
			all[i].count = 0;
			gone[i] = true;
		}
		gone[i] |= item->what == CP_FORM_FOLDED;
	}
	return true;
}

/* The three numbers of a text; false: it could not be read. */
static bool set_text_numbers(const struct reading *r, const struct cp_form_item *item,
			     uint64_t pointer, uint64_t *to)
{
	const struct block *b = &r->blocks[item->text];
	cprof_value v;

	to[0] = pointer;
	to[1] = to[2] = 0;
	if (!pointer)
		return true;
	if (!b->bytes)
		return false;
	cp_form_set_text(r->valued->form, pointer, b->bytes, b->size, b->ended, &v);
	to[1] = (uintptr_t)v.u.text.bytes;
	to[2] = v.u.text.length | (uint64_t)v.cut << 32;
	return true;
}

/* Those of a value that is no text; *to_ret: behind them. */
static inline bool set_numbers(const struct reading *r, uint32_t i, uint64_t number,
			       uint64_t **to_ret)
{
	struct cp_form *form = r->valued->form;
	const struct cp_form_item *item = &form->items[i];
	unsigned unused = 64u - item->bits;
	uint64_t *to = *to_ret;
	cprof_value v;

	if (item->what == CP_FORM_NUMBER) {
		*to++ = item->is_signed ? (uint64_t)((int64_t)(number << unused) >> unused)
					: number << unused >> unused;
	} else {
		v.symbol = NULL;
		if (!cp_form_set(form, i, number, &v))
			return false;
		if (item->what == CP_FORM_FUNCTION)
			v.symbol = engine_name_of_start(r->session, r->process, v.u.u);
		*to++ = v.u.u;
		if (form->values[i].symbol)
			*to++ = (uintptr_t)v.symbol;
	}
	if (form->values[i].address == CP_FORM_OWN)
		*to++ = (item->where == CP_FORM_STACK ? r->sp : r->blocks[item->number].address) +
			(uint64_t)(int64_t)item->offset;
	*to_ret = to;
	return true;
}

static bool set_all_numbers(const struct reading *r)
{
	uint64_t *to = r->ring->numbers.items + r->ring->numbers.count;
	const struct cp_form *form = r->valued->form;
	uint64_t number;
	uint32_t i;

	for (i = 0; i < form->count; i++) {
		const struct cp_form_item *item = &form->items[i];

		if (!read_number(r, i, &number))
			return false;
		if (item->what == CP_FORM_TEXT) {
			if (!set_text_numbers(r, item, number, to))
				return false;
			to += 3;
		} else if (!set_numbers(r, i, number, &to)) {
			return false;
		}
	}
	return true;
}

bool engine_valued_fits(const struct engine_ring *ring, const struct engine_valued *v,
			const struct cp_record_plain *r)
{
	return (v->numbers ? ring->numbers.count + v->numbers <= NUMBERS_MOST
			   : ring->values.count + v->form->total <= VALUES_MOST) &&
	       (!v->fetch_count || ring->text.count + r->words * 8u <= TEXT_MOST);
}

/* What its fetches brought; false: not so. */
static bool read_fetches(struct reading *r)
{
	unsigned text = r->valued->first_text, i;

	for (i = 0; i < r->valued->fetch_count; i++)
		if (!read_fetch(r, i, &text))
			return false;
	return true;
}

/* Numbers of a record that are no more than bits of its words, where there is room; NULL: it has
 * not so many words. */
static inline const uint64_t *take_plain(struct engine_ring *ring, const struct engine_valued *v,
					 const struct cp_record_plain *record)
{
	uint64_t *ret = ring->numbers.items + ring->numbers.count;
	uint32_t i;

	if (v->most >= record->words)
		return NULL;
	for (i = 0; i < v->numbers; i++) {
		const struct engine_valued_number *n = &v->plain[i];
		uint64_t bits = record->values[n->word] >> n->shift << n->unused;

		ret[i] = n->is_signed ? (uint64_t)((int64_t)bits >> n->unused) : bits >> n->unused;
	}
	ring->numbers.count += v->numbers;
	return ret;
}

bool engine_valued_read(cprof_session *s, const cprof_process *p, struct engine_ring *ring,
			const struct engine_valued *v, const struct cp_record_plain *record,
			uint64_t sp, struct engine_valued_told *ret)
{
	size_t before = ring->text.count;
	struct reading r;

	*ret = (struct engine_valued_told){ 0 };
	if (!reserve(ring))
		return false;
	if (v->plain) {
		ret->numbers = take_plain(ring, v, record);
		return ret->numbers != NULL;
	}
	r.session = s;
	r.process = p;
	r.ring = ring;
	r.valued = v;
	r.record = record;
	r.sp = sp;
	if (v->numbers)
		ret->numbers = ring->numbers.items + ring->numbers.count;
	else
		ret->values = ring->values.items + ring->values.count;
	if (!read_fetches(&r) || !(v->numbers ? set_all_numbers(&r) : set_all(&r))) {
		ring->text.count = before;
		return false;
	}
	ring->numbers.count += v->numbers;
	ring->values.count += v->numbers ? 0 : v->form->total;
	return true;
}

void engine_valued_drop(struct engine_ring *ring, const struct engine_valued *v)
{
	if (v->numbers) /* of its text there is room enough */
		ring->numbers.count -= v->numbers;
	else
		ring->values.count -= v->form->total;
}

bool engine_valued_two_fit(const struct engine_ring *ring, const struct engine_valued_two *two)
{
	return (!two->first || engine_valued_fits(ring, two->first, two->begins)) &&
	       (!two->last || engine_valued_fits(ring, two->last, two->ends));
}

static bool is_plain(const struct engine_valued *v)
{
	return !v || v->plain;
}

/* One that is told as numbers; NULL: not so. */
static inline const uint64_t *read_as_numbers(cprof_session *s, const cprof_process *p,
					      struct engine_ring *ring,
					      const struct engine_valued *v,
					      const struct cp_record_plain *record, uint64_t sp)
{
	struct engine_valued_told told;

	return engine_valued_read(s, p, ring, v, record, sp, &told) ? told.numbers : NULL;
}

bool engine_valued_read_two(cprof_session *s, const cprof_process *p, struct engine_ring *ring,
			    const struct engine_valued_two *two, uint64_t sp, const uint64_t **ret)
{
	bool plain = is_plain(two->first) && is_plain(two->last) && ring->numbers.items;
	const uint64_t *first = NULL, *last = NULL;

	if (two->first) {
		first = plain ? take_plain(ring, two->first, two->begins)
			      : read_as_numbers(s, p, ring, two->first, two->begins, sp);
		if (!first)
			return false;
	}
	if (two->last) {
		last = plain ? take_plain(ring, two->last, two->ends)
			     : read_as_numbers(s, p, ring, two->last, two->ends, sp);
		if (!last && first)
			engine_valued_drop(ring, two->first);
		if (!last)
			return false;
	}
	*ret = first ? first : last;
	return true;
}

void engine_valued_clear(struct engine_ring *ring)
{
	ring->values.count = ring->numbers.count = ring->text.count = 0;
}

void engine_valued_release(struct engine_ring *ring)
{
	cp_vec_free(&ring->block);
	cp_vec_free(&ring->values);
	cp_vec_free(&ring->numbers);
	cp_vec_free(&ring->text);
}

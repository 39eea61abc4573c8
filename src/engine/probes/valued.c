/* SPDX-License-Identifier: MIT
 *
 * Values of a record that goes into a block (probes/valued.h).
 */
#include "engine/probes/valued.h"

#include <string.h>

#include "engine/probes/hide.h"
#include "engine/probes/values.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "inspect/value.h"
#include "link/records_plain.h"

#define VALUES_MOST 8192 /* of a block */
#define NUMBERS_MOST 8192
#define TEXT_MOST (128u << 10)

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
	struct block blocks[ENGINE_VALUED_FETCHES];
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
static void hide_breakpoints(struct engine_ring *ring, const cprof_process *p, uint64_t address,
			     char *text, uint32_t size)
{
	struct engine_bare *bare = &ring->bare;

	if (bare->made == p->texts_made && address >= bare->start && address < bare->end &&
	    size <= bare->end - address)
		return;
	engine_hide_breakpoints(p, address, (uint8_t *)text, size);
	*bare = engine_bare_around(p, address);
}

/* Copies `size` bytes from a word on; false: the record has not so many. */
static bool copy(struct reading *r, unsigned word, uint32_t size, struct block *to)
{
	struct engine_ring *ring = r->ring;
	char *text = ring->text.items + ring->text.count;

	if (word > r->record->words || size > (r->record->words - word) * 8u)
		return false;
	memcpy(text, r->record->values + word, size);
	hide_breakpoints(ring, r->process, to->address, text, size);
	ring->text.count += size;
	to->bytes = text;
	to->size = size;
	return true;
}

/* Reads the head of what was reached. */
static bool read_head(const struct cp_record_plain *record, unsigned word,
		      struct cp_detour_reached *ret)
{
	if (word >= record->words)
		return false;
	memcpy(ret, record->values + word, sizeof(*ret));
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
	if (!read_head(r->record, word, &reached))
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

/* The three numbers of a text whose head is at *word, which is moved behind it. False: it could
 * not be read. */
static bool take_text(struct engine_ring *ring, const cprof_process *p,
		      const struct engine_valued *v, const struct cp_record_plain *record,
		      uint64_t pointer, unsigned *word, uint64_t *to)
{
	char *text = ring->text.items + ring->text.count;
	struct cp_detour_reached reached;
	unsigned at = *word + 1;
	cprof_value value;

	to[0] = pointer;
	to[1] = to[2] = 0;
	if (!read_head(record, *word, &reached))
		return false;
	*word = at + (reached.size + 7) / 8;
	if (!pointer)
		return true;
	if (reached.how > CP_DETOUR_READ_CUT || at > record->words ||
	    reached.size > (record->words - at) * 8u)
		return false;
	memcpy(text, record->values + at, reached.size);
	hide_breakpoints(ring, p, pointer, text, reached.size);
	ring->text.count += reached.size;
	cp_form_set_text(v->form, pointer, text, reached.size, reached.how == CP_DETOUR_READ,
			 &value);
	to[1] = (uintptr_t)text;
	to[2] = value.u.text.length | (uint64_t)value.cut << 32;
	return true;
}

static inline uint64_t number_of(const struct engine_valued_number *n, uint64_t word)
{
	uint64_t bits = word >> n->shift << n->unused;

	return n->is_signed ? (uint64_t)((int64_t)bits >> n->unused) : bits >> n->unused;
}

/* Numbers of a record that are no more than bits of its words, where there is room; NULL: it has
 * not so many words. */
__attribute__((always_inline)) static inline const uint64_t *take_numbers(
	struct engine_ring *ring, const struct engine_valued *v,
	const struct cp_record_plain *record)
{
	uint64_t *ret = ring->numbers.items + ring->numbers.count;
	uint32_t i;

	if (v->most >= record->words)
		return NULL;
	for (i = 0; i < v->numbers; i++)
		ret[i] = number_of(&v->plain[i], record->values[v->plain[i].word]);
	ring->numbers.count += v->numbers;
	return ret;
}

/* Likewise, where a form says of some what they mean; NULL also if it does not know. */
static const uint64_t *take_by_form(struct engine_ring *ring, const struct engine_valued *v,
				    const struct cp_record_plain *record)
{
	uint64_t *ret = ring->numbers.items + ring->numbers.count, *to = ret;
	cprof_value value;
	uint32_t i;

	for (i = 0; i < v->form->count; i++) {
		const struct engine_valued_number *n = &v->plain[i];
		uint64_t word = record->values[n->word];

		if (!n->by_form) {
			*to++ = number_of(n, word);
			continue;
		}
		value.symbol = NULL;
		if (!cp_form_set(v->form, i, word >> n->shift, &value))
			return NULL;
		*to++ = value.u.u;
		if (v->form->values[i].symbol)
			*to++ = (uintptr_t)value.symbol;
	}
	ring->numbers.count += v->numbers;
	return ret;
}

/* Likewise, with texts; NULL also if one could not be read. */
static const uint64_t *take_texts(struct engine_ring *ring, const cprof_process *p,
				  const struct engine_valued *v,
				  const struct cp_record_plain *record)
{
	uint64_t *ret = ring->numbers.items + ring->numbers.count, *to = ret;
	size_t before = ring->text.count;
	unsigned word = v->first_text;
	uint32_t i;

	if (v->most >= record->words)
		return NULL;
	for (i = 0; i < v->form->count; i++) {
		const struct engine_valued_number *n = &v->plain[i];

		if (!n->is_text) {
			*to++ = number_of(n, record->values[n->word]);
			continue;
		}
		if (!take_text(ring, p, v, record, record->values[n->word], &word, to)) {
			ring->text.count = before;
			return NULL;
		}
		to += 3;
	}
	ring->numbers.count += v->numbers;
	return ret;
}

/* Did all fetches bring what they should, from where no breakpoint is? */
__attribute__((always_inline)) static inline bool are_whole(const struct engine_ring *ring,
							    const cprof_process *p,
							    const struct engine_valued *v,
							    const struct cp_record_plain *r)
{
	const struct engine_bare *bare = &ring->bare;
	const struct engine_valued_fetch *f = v->fetches, *end = f + v->fetch_count;

	if (v->end > r->words || bare->made != p->texts_made)
		return false;
	for (; f < end; f++) {
		uint64_t address = r->values[f->pointer] + (uint64_t)(int64_t)f->offset;

		/* The head of what was read and is not cut: no more than its size. */
		if (r->values[f->word] != f->size || address < bare->start ||
		    address >= bare->end || f->size > bare->end - address)
			return false;
	}
	return true;
}

/* NULL also where what fetches brought has to be looked at. */
__attribute__((always_inline)) static inline const uint64_t *take_plain(
	struct engine_ring *ring, const cprof_process *p, const struct engine_valued *v,
	const struct cp_record_plain *record)
{
	if (v->blocks && !are_whole(ring, p, v, record))
		return NULL;
	if (v->by_form)
		return take_by_form(ring, v, record);
	return v->texts ? take_texts(ring, p, v, record) : take_numbers(ring, v, record);
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
		ret->numbers = take_plain(ring, p, v, record);
		if (ret->numbers || !v->blocks)
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
	bool plain = is_plain(two->first) && is_plain(two->last) && ring->text.items;
	const uint64_t *first = NULL, *last = NULL;

	if (two->first) {
		first = plain ? take_plain(ring, p, two->first, two->begins) : NULL;
		if (!first && (!plain || two->first->blocks))
			first = read_as_numbers(s, p, ring, two->first, two->begins, sp);
		if (!first)
			return false;
	}
	if (two->last) {
		last = plain ? take_plain(ring, p, two->last, two->ends) : NULL;
		if (!last && (!plain || two->last->blocks))
			last = read_as_numbers(s, p, ring, two->last, two->ends, sp);
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

/* SPDX-License-Identifier: MIT
 *
 * A name that is looked for is in few units, and to walk the DIEs of all others is what
 * a look-up in a large program would take its time for. What a unit can refer to a name
 * by is a few bytes that stand in it:
 *
 *     .debug_str          .debug_info
 *     ...\0 counter \0    unit 0 | ... DW_FORM_strp   00 12 34 56 ...
 *           ^ 0x56341200  unit 1 | ...
 *                         unit 2 | ... DW_FORM_string "ctr\0" ...
 *
 * or, where strings have numbers (DW_FORM_strx), an entry of the unit's own table. So
 * the section is looked through for these bytes, a piece at a time, of which none is
 * kept. A few bytes, as of a name of two letters, are in most units for another reason; so
 * before them has to stand what the unit's abbreviations have before the name of such a
 * DIE, its code first. What is found may still be something else, and then that unit is
 * walked for nothing.
 * A file whose units take names from elsewhere (dwz, LTO, split units) has them all
 * walked.
 */
#include "image/dwarf/mention.h"

#include <stdlib.h>
#include <string.h>

#include "image/dwarf/root.h"
#include "image/dwarf/unit.h"

#define PATTERNS_MAX 16
#define NAME_MAX 4096
#define LISTED_MAX 65536 /* entries of tables of strings */
#define BLOCK sizeof(words)
#define WORD sizeof(uint32_t)
#define CODE_MAX 5 /* bytes of an abbreviation's code */

typedef uint32_t words __attribute__((vector_size(16)));

struct pattern {
	uint32_t value, mask;
};

/* What stands before the name of a DIE. */
struct before {
	uint8_t code[CODE_MAX], size;
	uint16_t skip; /* bytes of attributes between the code and the name */
	bool is_text; /* the name itself stands there, and not where it is */
};

struct look {
	struct cp_dwarf *dwarf;
	const char *name;
	enum cp_mention_of of;
	size_t size; /* of the name and its NUL */
	struct pattern patterns[PATTERNS_MAX]; /* the first: how the name begins */
	size_t count;
	CP_VEC(uint64_t) entries; /* of .debug_str_offsets that are the name's */
	size_t unit; /* that the section is looked through in */
	CP_VEC(struct before) before; /* of the unit before `listed` */
	size_t listed;
	bool anything; /* may stand before a name there */
	uint64_t *units;
	bool failed; /* in any way: all units are meant */
};

static uint32_t word_at(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* ---- what is to be found ---- */

static void add_pattern(struct look *l, uint32_t value, uint32_t mask)
{
	if (l->count == PATTERNS_MAX)
		l->failed = true;
	else
		l->patterns[l->count++] = (struct pattern){ value & mask, mask };
}

/* The end of a longer string may be the name, too. */
static bool find_strings(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes, *end = bytes + size;
	struct look *l = ctx;

	while (!l->failed && (at = memmem(at, (size_t)(end - at), l->name, l->size))) {
		add_pattern(l, (uint32_t)(offset + (uint64_t)(at - bytes)), UINT32_MAX);
		at++;
	}
	return !l->failed;
}

/* ---- what stands before names ---- */

/* Is it a kind of DIE that is looked for? */
static bool is_meant(const struct look *l, const struct cp_abbrevs *all, const struct cp_abbrev *a)
{
	uint32_t i;

	switch (a->tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_type_unit:
		return false;
	case DW_TAG_variable:
		return l->of != CP_MENTION_OF_FUNCTIONS;
	case DW_TAG_subprogram:
		return l->of != CP_MENTION_OF_VARIABLES;
	case DW_TAG_member: /* one of an object is no variable */
		for (i = 0; i < a->count; i++)
			if (all->specs.items[a->first + i].name == DW_AT_data_member_location)
				return l->of == CP_MENTION_OF_ALL;
		return l->of != CP_MENTION_OF_FUNCTIONS;
	default:
		return l->of == CP_MENTION_OF_ALL;
	}
}

static uint8_t put_code(uint64_t code, uint8_t ret[CODE_MAX])
{
	uint8_t size = 0;

	do {
		ret[size++] = (uint8_t)((code & 0x7f) | (code > 0x7f ? 0x80 : 0));
		code >>= 7;
	} while (code && size < CODE_MAX);
	return code ? 0 : size;
}

/* Lists what stands before names of these DIEs; false: it can't be told. */
static bool list_before(struct look *l, const struct cp_unit *unit, const struct cp_abbrevs *all,
			const struct cp_abbrev *a)
{
	struct before b = { .size = put_code(a->code, b.code) };
	uint32_t i, skip = 0;
	int size;

	for (i = 0; i < a->count; i++) {
		const struct cp_attr_spec *spec = &all->specs.items[a->first + i];

		if (spec->name != DW_AT_name) {
			size = cp_unit_form_size(unit, spec->form);
			skip = size < 0 || skip > UINT16_MAX / 2 ? UINT16_MAX
								 : skip + (uint32_t)size;
			continue;
		}
		if (spec->form != DW_FORM_string && spec->form != DW_FORM_strp)
			return true;
		b.is_text = spec->form == DW_FORM_string;
		b.skip = (uint16_t)skip;
		return b.size && skip < UINT16_MAX && cp_vec_push(&l->before, b);
	}
	return true;
}

/* Of the unit that is looked through. */
static void list_unit(struct look *l)
{
	const struct cp_unit *unit = l->dwarf->units.items[l->unit];
	struct cp_abbrevs *all = cp_unit_parse_abbrevs(unit, 0);
	const struct cp_abbrev *a;

	l->listed = l->unit + 1;
	l->before.count = 0;
	l->anything = !all;
	if (!all)
		return;
	cp_vec_for_each(&all->list, a)
		if (is_meant(l, all, a))
			l->anything |= !list_before(l, unit, all, a);
	cp_abbrevs_destroy(all);
}

/* ---- looking through bytes ---- */

/* True when some of the bytes from `at` on, BLOCK and three, may be a pattern. */
static bool is_near(const struct look *l, const uint8_t *at)
{
	words seen = { 0 }, w;
	uint64_t halves[2];
	size_t i, n;

	for (i = 0; i < WORD; i++) {
		memcpy(&w, at + i, sizeof(w));
		for (n = 0; n < l->count; n++)
			seen |= (words)((w & l->patterns[n].mask) == l->patterns[n].value);
	}
	memcpy(halves, &seen, sizeof(halves));
	return halves[0] | halves[1];
}

/* Can a DIE's name stand at `at`, behind `behind` bytes of the unit or of a piece? */
static bool is_name(struct look *l, const uint8_t *at, size_t behind, bool is_text)
{
	const struct before *b;

	if (l->listed != l->unit + 1)
		list_unit(l);
	if (l->anything)
		return true;
	cp_vec_for_each(&l->before, b) {
		size_t size = (size_t)b->size + b->skip;

		if (b->is_text == is_text &&
		    (behind < size || !memcmp(at - size, b->code, b->size)))
			return true;
	}
	return false;
}

static bool is_match(struct look *l, const uint8_t *at, size_t behind, size_t left)
{
	uint32_t word = word_at(at);
	size_t n;

	if ((word & l->patterns[0].mask) == l->patterns[0].value && left >= l->size &&
	    !memcmp(at, l->name, l->size) && is_name(l, at, behind, true))
		return true;
	for (n = 1; n < l->count; n++)
		if (word == l->patterns[n].value)
			return is_name(l, at, behind, false);
	return false;
}

/* The first match of `size` bytes, or `size`. */
static size_t first_match(struct look *l, const uint8_t *bytes, size_t size)
{
	uint8_t rest[BLOCK + WORD];
	size_t i = 0, k;

	for (; size - i >= sizeof(rest); i += BLOCK) {
		if (!is_near(l, bytes + i))
			continue;
		for (k = i; k < i + BLOCK; k++)
			if (is_match(l, bytes + k, k, size - k))
				return k;
	}
	for (; i < size; i++) {
		memset(rest, 0xff, WORD);
		memcpy(rest, bytes + i, size - i < WORD ? size - i : WORD);
		if (size - i < WORD ? is_match(l, rest, 0, WORD)
				    : is_match(l, bytes + i, i, size - i))
			return i;
	}
	return size;
}

/* Notes the units that have a match; the rest of each is passed over. */
static bool find_units(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size)
{
	struct look *l = ctx;
	const struct cp_unit *unit;
	size_t at = 0, end;

	while (at < size && l->unit < l->dwarf->units.count) {
		unit = l->dwarf->units.items[l->unit];
		if (unit->end <= offset + at) {
			l->unit++;
			continue;
		}
		if (unit->die > offset + at)
			at = unit->die - offset < size ? unit->die - offset : size;
		end = unit->end - offset < size ? unit->end - offset : size;
		at += first_match(l, bytes + at, end - at);
		if (at < end) {
			l->units[l->unit / 64] |= UINT64_C(1) << (l->unit % 64);
			l->unit++;
		}
	}
	return l->unit < l->dwarf->units.count;
}

/* ---- tables of strings ---- */

static bool find_entries(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size)
{
	struct look *l = ctx;
	size_t i, n;

	for (i = (size_t)(-offset % WORD); i + WORD <= size; i += WORD)
		for (n = 1; n < l->count; n++)
			if (word_at(bytes + i) == l->patterns[n].value)
				l->failed |= l->entries.count == LISTED_MAX ||
					     !cp_vec_push(&l->entries, offset + i);
	return !l->failed;
}

/* Is the name in the unit's own part of the table? What makes no sense counts as such. */
static bool has_entry(struct look *l, struct cp_unit *unit)
{
	struct cp_dwarf *d = l->dwarf;
	uint64_t base, end;
	const uint8_t *at;
	size_t n;

	if (unit->version < 5)
		return false;
	if (!cp_unit_root(unit) || unit->offset_size != WORD || unit->str_base < 2 * WORD)
		return true;
	base = unit->str_base;
	at = cp_elf_need(d->elf, d->str_offsets, base - 2 * WORD, 2 * WORD);
	if (!at)
		return true;
	end = base - WORD + word_at(at);
	n = cp_vec_partition(&l->entries, it, *it < base);
	return n < l->entries.count && l->entries.items[n] < end;
}

static void find_by_tables(struct look *l)
{
	struct cp_dwarf *d = l->dwarf;
	size_t i;

	if (l->count < 2 || !cp_elf_length(d->elf, d->str_offsets))
		return;
	l->failed |= !cp_elf_each_piece(d->elf, d->str_offsets, WORD - 1, find_entries, l);
	for (i = 0; i < d->units.count && !l->failed; i++)
		if (has_entry(l, d->units.items[i]))
			l->units[i / 64] |= UINT64_C(1) << (i % 64);
}

/* ---- names from elsewhere ---- */

static bool leads_elsewhere(uint64_t name, uint64_t form)
{
	switch (form) {
	case DW_FORM_ref_addr:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		return name == DW_AT_specification || name == DW_AT_abstract_origin;
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return true;
	default:
		return name == DW_AT_dwo_name || name == DW_AT_GNU_dwo_name;
	}
}

/* Does any abbreviation have a variable, an enumerator, a unit or (`functions`) a function
 * that takes its name from elsewhere?
 * One table comes after another, with zeros between them. */
static bool has_strangers(struct cp_dwarf *d, bool functions)
{
	uint64_t size = cp_elf_length(d->elf, d->abbrev), code, tag, name, form;
	const uint8_t *bytes = cp_elf_need(d->elf, d->abbrev, 0, size);
	struct cp_cursor c = cp_cursor(bytes, bytes ? size : 0);
	bool asked;

	while (cp_cursor_left(&c) && !c.bad) {
		code = cp_cursor_uleb(&c);
		if (!code)
			continue;
		tag = cp_cursor_uleb(&c);
		cp_cursor_u8(&c);
		asked = tag == DW_TAG_variable || tag == DW_TAG_member ||
			tag == DW_TAG_enumerator || tag == DW_TAG_compile_unit ||
			tag == DW_TAG_skeleton_unit || (functions && tag == DW_TAG_subprogram);
		do {
			name = cp_cursor_uleb(&c);
			form = cp_cursor_uleb(&c);
			if (form == DW_FORM_implicit_const)
				cp_cursor_sleb(&c);
			if (asked && leads_elsewhere(name, form))
				return true;
		} while (!c.bad && (name || form));
	}
	return c.bad || !bytes;
}

/* ---- the look ---- */

static void look_through(struct look *l)
{
	struct cp_dwarf *d = l->dwarf;
	size_t overlap = l->size > WORD ? l->size - 1 : WORD - 1;
	uint32_t word = 0;

	memcpy(&word, l->name, l->size < WORD ? l->size : WORD);
	add_pattern(l, word, l->size < WORD ? (UINT32_C(1) << 8 * l->size) - 1 : UINT32_MAX);
	if (cp_elf_length(d->elf, d->str))
		l->failed |= !cp_elf_each_piece(d->elf, d->str, l->size - 1, find_strings, l);
	if (!l->failed)
		find_by_tables(l);
	if (!l->failed)
		l->failed = !cp_elf_each_piece(d->elf, d->info, overlap, find_units, l);
}

void cp_dwarf_mentions(struct cp_dwarf *dwarf, const char *name, enum cp_mention_of of,
		       struct cp_mentions *to)
{
	const bool functions = of == CP_MENTION_OF_FUNCTIONS;
	struct look l = { .dwarf = dwarf, .name = name, .of = of, .size = strlen(name) + 1 };

	cp_mentions_free(to);
	cp_dwarf_walk(dwarf);
	l.units = calloc(dwarf->units.count / 64 + 1, sizeof(*l.units));
	l.failed = !l.units || l.size < 2 || l.size > NAME_MAX || has_strangers(dwarf, functions);
	if (!l.failed)
		look_through(&l);
	cp_vec_free(&l.entries);
	cp_vec_free(&l.before);
	*to = (struct cp_mentions){ l.failed, l.units };
}

void cp_dwarf_mentions_function(struct cp_dwarf *dwarf, const char *name, struct cp_mentions *to)
{
	struct cp_mentions function = { 0 };
	size_t i;

	if (to->all || !to->units)
		return;
	cp_dwarf_mentions(dwarf, name, CP_MENTION_OF_FUNCTIONS, &function);
	for (i = 0; !function.all && i < dwarf->units.count / 64 + 1; i++)
		to->units[i] &= function.units[i];
	cp_mentions_free(&function);
}

void cp_mentions_free(struct cp_mentions *mentions)
{
	free(mentions->units);
	*mentions = (struct cp_mentions){ 0 };
}

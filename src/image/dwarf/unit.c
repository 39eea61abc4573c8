/* SPDX-License-Identifier: MIT */
#include "image/dwarf/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define MAX_UNITS (1u << 19)
#define MAX_UNIT_SIZE (UINT64_C(512) << 20)
#define MAX_ATTRS 512 /* of one kind of DIE: compilers use 30 */
#define MAX_ABBREVS (1u << 20)

bool cp_dwarf_step(struct cp_dwarf *dwarf, uint64_t steps)
{
	struct cp_debuginfo *all = dwarf->all;

	if (all->steps < steps) {
		if (!all->exhausted)
			cp_debug("image %s: its debug information takes too long to read, and is "
				 "left alone",
				 all->image->build_id);
		all->steps = 0;
		all->exhausted = true;
		return false;
	}
	all->steps -= steps;
	return true;
}

/* ---- a file ---- */

static struct cp_elf_section *section(struct cp_elf *elf, const char *name)
{
	static const char *const around[][2] = { { ".debug_", "" },
						 { ".zdebug_", "" },
						 { ".debug_", ".dwo" } };
	struct cp_elf_section *s;
	char full[32];
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(around); i++) {
		/* Sections of this type are touched by no other part of the room. */
		snprintf(full, sizeof(full), "%s%s%s", around[i][0], name, around[i][1]);
		s = cp_elf_section(elf, full);
		if (s && s->type == SHT_PROGBITS)
			return s;
	}
	return NULL;
}

/* The last section of a name: files that were not linked have one for each type, before
 * the one that the unit is in. */
static struct cp_elf_section *last_of(struct cp_elf *elf, struct cp_elf_section *first)
{
	size_t i;

	for (i = elf->section_count; first && i > 0; i--)
		if (elf->sections[i - 1].type == SHT_PROGBITS &&
		    !strcmp(elf->sections[i - 1].name, first->name))
			return &elf->sections[i - 1];
	return first;
}

/* The same file again, for each section that has types besides .debug_info. */
static void add_types(struct cp_dwarf *of)
{
	struct cp_elf_section *named = section(of->elf, "types"), *s;
	struct cp_dwarf *dwarf;
	size_t i;

	for (i = 0; i < of->elf->section_count; i++) {
		s = &of->elf->sections[i];
		if (s == of->info || s->type != SHT_PROGBITS ||
		    (strcmp(s->name, of->info->name) && (!named || strcmp(s->name, named->name))))
			continue;
		dwarf = cp_elf_length(of->elf, s) ? malloc(sizeof(*dwarf)) : NULL;
		if (!dwarf)
			continue;
		*dwarf = *of;
		dwarf->owns_elf = false;
		dwarf->info = s;
		dwarf->types_of = of;
		of->types = dwarf; /* which has the one before as its own */
		of->all->has_type_units = true;
	}
}

struct cp_dwarf *cp_dwarf_create(struct cp_debuginfo *all, struct cp_elf *elf, bool owns_elf)
{
	struct cp_dwarf *dwarf = calloc(1, sizeof(*dwarf));

	if (!dwarf)
		return NULL;
	dwarf->all = all;
	dwarf->elf = elf;
	dwarf->info = last_of(elf, section(elf, "info"));
	dwarf->abbrev = section(elf, "abbrev");
	dwarf->str = section(elf, "str");
	dwarf->line = section(elf, "line");
	dwarf->line_str = section(elf, "line_str");
	dwarf->ranges = section(elf, "ranges");
	dwarf->rnglists = section(elf, "rnglists");
	dwarf->addr = section(elf, "addr");
	dwarf->str_offsets = section(elf, "str_offsets");
	dwarf->aranges = section(elf, "aranges");
	dwarf->loc = section(elf, "loc");
	dwarf->loclists = section(elf, "loclists");
	if (!cp_elf_length(elf, dwarf->info) || !cp_elf_length(elf, dwarf->abbrev)) {
		free(dwarf);
		return NULL;
	}
	dwarf->owns_elf = owns_elf;
	add_types(dwarf);
	return dwarf;
}

void cp_abbrevs_destroy(struct cp_abbrevs *a)
{
	cp_vec_free(&a->list);
	cp_vec_free(&a->specs);
	cp_map_free(&a->by_code);
	free(a);
}

static void destroy_unit(struct cp_unit *unit)
{
	cp_vec_free(&unit->functions);
	cp_vec_free(&unit->scopes);
	cp_spans_free(&unit->function_spans);
	if (unit->lines)
		unit->destroy_lines(unit->lines);
	free(unit);
}

static void destroy_types(struct cp_dwarf *types)
{
	struct cp_dwarf *next;

	for (; types; types = next) {
		next = types->types;
		cp_dwarf_destroy(types);
	}
}

void cp_dwarf_destroy(struct cp_dwarf *dwarf)
{
	uint64_t key, value;
	size_t i, at = 0;

	if (!dwarf)
		return;
	for (i = 0; i < dwarf->units.count; i++)
		destroy_unit(dwarf->units.items[i]);
	cp_vec_free(&dwarf->units);
	for (i = 0; i < dwarf->type_units.count; i++)
		destroy_unit(dwarf->type_units.items[i]);
	cp_vec_free(&dwarf->type_units);
	cp_map_free(&dwarf->signatures);
	if (!dwarf->types_of)
		destroy_types(dwarf->types);
	while (cp_map_next(&dwarf->abbrevs, &at, &key, &value))
		cp_abbrevs_destroy((struct cp_abbrevs *)(uintptr_t)value);
	cp_map_free(&dwarf->abbrevs);
	cp_map_free(&dwarf->names);
	cp_map_free(&dwarf->nodes);
	cp_vec_free(&dwarf->parts);
	cp_map_free(&dwarf->packed);
	if (dwarf->owns_elf)
		cp_elf_destroy(dwarf->elf);
	free(dwarf);
}

/* ---- unit headers ---- */

static uint64_t offset_of_size(struct cp_cursor *c, uint8_t size)
{
	return size == 8 ? cp_cursor_u64(c) : cp_cursor_u32(c);
}

static bool holds_type(const struct cp_unit *unit)
{
	return unit->type == DW_UT_type || unit->type == DW_UT_split_type;
}

/* The parts of the unit that begins at `at`. */
static const struct cp_part *part_of(const struct cp_dwarf *dwarf, uint64_t at)
{
	static const struct cp_part whole;
	size_t n = cp_vec_partition(&dwarf->parts, it, it->end <= at);

	return n < dwarf->parts.count && dwarf->parts.items[n].start <= at ? &dwarf->parts.items[n]
									   : &whole;
}

/* Reads the header of a unit from its version on; false when the unit is of no use. */
static bool read_unit_header(struct cp_cursor *c, struct cp_unit *u)
{
	u->version = cp_cursor_u16(c);
	if (u->version < 2 || u->version > 5)
		return false;
	u->type = u->dwarf->types_of ? DW_UT_type : DW_UT_compile;
	if (u->version == 5) {
		u->type = cp_cursor_u8(c);
		u->address_size = cp_cursor_u8(c);
		u->abbrev_offset = offset_of_size(c, u->offset_size);
	} else {
		u->abbrev_offset = offset_of_size(c, u->offset_size);
		u->address_size = cp_cursor_u8(c);
	}
	u->abbrev_offset += u->part->abbrev;
	if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile || holds_type(u))
		u->id = cp_cursor_u64(c);
	if (holds_type(u))
		u->type_die = u->offset + offset_of_size(c, u->offset_size);
	return !c->bad && (u->address_size == 8 || u->address_size == 4);
}

/* A header at `at`; *next_ret is where the next one is. */
static struct cp_unit *unit_at(struct cp_dwarf *dwarf, uint64_t at, uint64_t *next_ret)
{
	uint64_t total = cp_elf_length(dwarf->elf, dwarf->info), length;
	size_t window = total - at < 64 ? total - at : 64;
	uint8_t bytes[64];
	struct cp_cursor c;
	struct cp_unit u = { .dwarf = dwarf,
			     .offset = at,
			     .offset_size = 4,
			     .stmt_list = CP_NO_OFFSET,
			     .part = part_of(dwarf, at) };
	struct cp_unit *unit;

	*next_ret = total;
	/* What is around it may never be wanted. */
	if (!cp_elf_copy(dwarf->elf, dwarf->info, at, bytes, window))
		return NULL;
	c = cp_cursor(bytes, window);
	length = cp_cursor_u32(&c);
	if (length == 0xffffffff) {
		u.offset_size = 8;
		length = cp_cursor_u64(&c);
	}
	u.end = at + (uint64_t)(c.at - bytes);
	if (c.bad || !length || length > total - u.end)
		return NULL;
	u.end += length;
	*next_ret = u.end;
	if (length > MAX_UNIT_SIZE || !read_unit_header(&c, &u))
		return NULL;
	u.die = at + (uint64_t)(c.at - bytes);
	if (u.die >= u.end)
		return NULL;
	unit = malloc(sizeof(*unit));
	if (unit)
		*unit = u;
	return unit;
}

static bool keep_unit(struct cp_dwarf *dwarf, struct cp_unit *unit)
{
	if (!holds_type(unit))
		return cp_vec_push(&dwarf->units, unit);
	if (!cp_vec_push(&dwarf->type_units, unit))
		return false;
	dwarf->all->has_type_units = true;
	/* Copies of a type have one signature, and any of them will do. */
	if (!cp_map_get(&dwarf->signatures, unit->id))
		cp_map_put(&dwarf->signatures, unit->id, (uintptr_t)unit);
	return true;
}

void cp_dwarf_walk(struct cp_dwarf *dwarf)
{
	uint64_t total = cp_elf_length(dwarf->elf, dwarf->info), at = 0, next;
	struct cp_unit *unit;

	if (dwarf->walked)
		return;
	dwarf->walked = true;
	for (; at < total && dwarf->units.count + dwarf->type_units.count < MAX_UNITS; at = next) {
		unit = unit_at(dwarf, at, &next);
		if (unit && !keep_unit(dwarf, unit)) {
			free(unit);
			return;
		}
		if (!cp_dwarf_step(dwarf, 16))
			return;
	}
}

struct cp_unit *cp_dwarf_unit_at(struct cp_dwarf *dwarf, uint64_t offset)
{
	size_t n;

	cp_dwarf_walk(dwarf);
	n = cp_vec_partition(&dwarf->units, it, (*it)->end <= offset);
	if (n < dwarf->units.count && dwarf->units.items[n]->die <= offset)
		return dwarf->units.items[n];
	n = cp_vec_partition(&dwarf->type_units, it, (*it)->end <= offset);
	if (n < dwarf->type_units.count && dwarf->type_units.items[n]->die <= offset)
		return dwarf->type_units.items[n];
	return NULL;
}

bool cp_unit_cursor(const struct cp_unit *unit, uint64_t offset, struct cp_cursor *ret)
{
	const uint8_t *bytes;

	if (offset < unit->die || offset >= unit->end)
		return false;
	bytes = cp_elf_need(unit->dwarf->elf, unit->dwarf->info, offset, unit->end - offset);
	if (!bytes)
		return false;
	*ret = cp_cursor(bytes, unit->end - offset);
	return true;
}

/* ---- abbreviations ---- */

int cp_unit_form_size(const struct cp_unit *unit, uint16_t form)
{
	switch (form) {
	case DW_FORM_implicit_const:
	case DW_FORM_flag_present:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version == 2 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	default:
		return -1;
	}
}

/* Reads an abbreviation; false at the end of the table. */
static bool read_abbrev(struct cp_cursor *c, const struct cp_unit *unit, struct cp_abbrevs *to)
{
	struct cp_abbrev a = { .first = (uint32_t)to->specs.count };
	struct cp_attr_spec s;
	uint64_t name, form;
	int64_t fixed = 0;
	int size;

	a.code = cp_cursor_uleb(c);
	if (!a.code || c->bad)
		return false;
	a.tag = (uint16_t)cp_cursor_uleb(c);
	a.children = cp_cursor_u8(c) == DW_CHILDREN_yes;
	for (;;) {
		name = cp_cursor_uleb(c);
		form = cp_cursor_uleb(c);
		s = (struct cp_attr_spec){ (uint16_t)name, (uint16_t)form, 0 };
		if (form == DW_FORM_implicit_const)
			s.implicit = cp_cursor_sleb(c);
		if (c->bad || (!name && !form))
			break;
		if (name > UINT16_MAX || form > UINT16_MAX || a.count == MAX_ATTRS ||
		    !cp_vec_push(&to->specs, s))
			c->bad = true;
		size = cp_unit_form_size(unit, s.form);
		fixed = size < 0 || fixed < 0 ? -1 : fixed + size;
		a.count++;
	}
	a.fixed = fixed > 0 && fixed < 65536 ? (uint32_t)fixed : 0;
	if (a.code != to->list.count + 1)
		to->numbered = false;
	if (!c->bad && !cp_vec_push(&to->list, a))
		c->bad = true;
	return !c->bad && to->list.count < MAX_ABBREVS;
}

static bool index_codes(struct cp_abbrevs *a)
{
	size_t i;

	for (i = 0; !a->numbered && i < a->list.count; i++) {
		if (!cp_map_put(&a->by_code, a->list.items[i].code, i))
			return false;
	}
	return true;
}

struct cp_abbrevs *cp_unit_parse_abbrevs(const struct cp_unit *unit, uint64_t until)
{
	struct cp_dwarf *dwarf = unit->dwarf;
	uint64_t total = cp_elf_length(dwarf->elf, dwarf->abbrev), window;
	struct cp_abbrevs *a = calloc(1, sizeof(*a));
	const uint8_t *bytes;
	struct cp_cursor c;

	if (!a || unit->abbrev_offset >= total)
		goto fail;
	total -= unit->abbrev_offset;
	/* The size of the table is only known at its end. */
	for (window = 16384;; window *= 4) {
		window = window < total ? window : total;
		bytes = cp_elf_need(dwarf->elf, dwarf->abbrev, unit->abbrev_offset, window);
		if (!bytes)
			goto fail;
		c = cp_cursor(bytes, window);
		a->list.count = a->specs.count = 0;
		a->numbered = true;
		while (read_abbrev(&c, unit, a)) {
			if (until && a->list.items[a->list.count - 1].code == until)
				break;
			if (!cp_dwarf_step(dwarf, 1 + a->list.items[a->list.count - 1].count / 4))
				goto fail;
		}
		if (!c.bad || window == total)
			break;
	}
	if (index_codes(a))
		return a;
fail:
	if (a)
		cp_abbrevs_destroy(a);
	return NULL;
}

bool cp_unit_abbrevs(struct cp_unit *unit)
{
	/* Sizes in a table are of one address and offset size. */
	uint64_t key = unit->abbrev_offset << 8 | unit->address_size << 4 | unit->offset_size |
		       (unit->version == 2);
	uint64_t *known;
	struct cp_abbrevs *a;

	if (unit->abbrevs)
		return true;
	known = cp_map_get(&unit->dwarf->abbrevs, key);
	if (known) {
		unit->abbrevs = (struct cp_abbrevs *)(uintptr_t)*known;
		return true;
	}
	a = cp_unit_parse_abbrevs(unit, 0);
	if (!a)
		return false;
	if (!cp_map_put(&unit->dwarf->abbrevs, key, (uintptr_t)a)) {
		cp_abbrevs_destroy(a);
		return false;
	}
	unit->abbrevs = a;
	return true;
}

const struct cp_abbrev *cp_abbrev_find(const struct cp_abbrevs *abbrevs, uint64_t code)
{
	const uint64_t *index;

	if (abbrevs->numbered)
		return code - 1 < abbrevs->list.count ? &abbrevs->list.items[code - 1] : NULL;
	index = cp_map_get(&abbrevs->by_code, code);
	return index ? &abbrevs->list.items[*index] : NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * From an address to the functions it is in. In a unit, functions and what
 * was inlined into them nest as DIEs:
 *
 *     subprogram main                     0x1000-0x1100
 *       lexical_block                     0x1010-0x1080
 *         inlined_subroutine  -> parse    0x1010-0x1040   call_line 12
 *           inlined_subroutine -> skip    0x1018-0x1020   call_line 40
 *
 * For 0x1019 the answer is skip (line from the line program), parse (line 40,
 * where skip was called), main (line 12). A DIE's name may be behind a chain
 * of references: the inlined copy, its abstract instance, its declaration.
 *
 * A unit's functions are listed at the first lookup in it; the nest inside
 * one is walked at each lookup (who asks twice keeps the answer).
 */
#include "image/dwarf/frames.h"

#include <stdlib.h>
#include <string.h>

#include "image/debugfile.h"
#include "image/dwarf/line.h"
#include "image/dwarf/name.h"
#include "image/dwarf/package.h"
#include "image/dwarf/ranges.h"
#include "image/dwarf/root.h"
#include "image/dwarf/unit.h"
#include "image/dwarf/walk.h"

/* Steps of one lookup. The largest units of real programs (linked with
 * optimisation) take some 10 million, once; this many take about a second. */
#define STEPS UINT64_C(50000000)
#define SPLIT_UNITS 64

/* ---- the functions of a unit ---- */

struct function_spans {
	CP_VEC(struct cp_span) list;
};

static bool add_function(struct cp_unit *unit, uint64_t die, const struct cp_ranges *ranges,
			 struct function_spans *spans)
{
	size_t number = unit->functions.count, i;

	if (!ranges->list.count)
		return true;
	if (!cp_vec_push(&unit->functions, (struct cp_function){ die }))
		return false;
	for (i = 0; i < ranges->list.count; i++) {
		/* A function inside another comes after it, and wins. */
		if (!cp_vec_push(&spans->list, (struct cp_span){ ranges->list.items[i].low,
								 ranges->list.items[i].high, number,
								 (uint32_t)number }))
			return false;
	}
	return true;
}

static void list_functions(struct cp_unit *unit)
{
	struct function_spans spans = { 0 };
	struct cp_ranges ranges = { 0 };
	struct cp_die_attrs a;
	struct cp_walk w;
	struct cp_die die;
	bool ok = cp_walk_from(unit, unit->die, &w);

	while (ok && cp_walk_next(&w, &die)) {
		if (!die.abbrev)
			continue;
		if (die.abbrev->tag != DW_TAG_subprogram) {
			cp_walk_skip_attrs(&w, die.abbrev);
			continue;
		}
		cp_walk_attrs(&w, die.abbrev, &a);
		ranges.list.count = 0;
		ok = !w.c.bad && cp_unit_ranges(unit, &a.low, &a.high, &a.ranges, &ranges) &&
		     add_function(unit, die.offset, &ranges, &spans);
	}
	cp_spans_build(spans.list.items, spans.list.count, &unit->function_spans);
	cp_vec_free(&spans.list);
	cp_vec_free(&ranges.list);
}

const struct cp_function *cp_unit_function(struct cp_unit *unit, uint64_t at)
{
	const struct cp_span *span;

	if (!unit->functions_tried) {
		unit->functions_tried = true;
		if (cp_unit_root(unit))
			list_functions(unit);
	}
	span = cp_spans_find(&unit->function_spans, at);
	return span ? &unit->functions.items[span->value] : NULL;
}

/* ---- inlined calls ---- */

struct call {
	uint64_t die;
	uint64_t file, line, column; /* where it was called, when inlined */
};

struct chain {
	struct call calls[CP_DWARF_DEPTH]; /* the function, then inwards */
	size_t count;
};

static bool covers(struct cp_unit *unit, const struct cp_die_attrs *a, uint64_t at)
{
	struct cp_ranges ranges = { 0 };
	bool found = false;
	size_t i;

	if (cp_unit_ranges(unit, &a->low, &a->high, &a->ranges, &ranges)) {
		for (i = 0; i < ranges.list.count && !found; i++)
			found = at >= ranges.list.items[i].low && at < ranges.list.items[i].high;
	}
	cp_vec_free(&ranges.list);
	return found;
}

static bool is_scope(uint16_t tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static void add_call(struct chain *chain, const struct cp_die *die, const struct cp_die_attrs *a)
{
	if (chain->count < CP_DWARF_DEPTH)
		chain->calls[chain->count++] = (struct call){ die->offset, a->call_file.u,
							      a->call_line.u, a->call_column.u };
}

/* Looks at the DIE just read: goes into it, or passes over it. False when the
 * walk is over. */
static bool look(struct cp_walk *w, const struct cp_die *die, uint64_t at, struct chain *chain,
		 unsigned *depth)
{
	struct cp_die_attrs a;
	bool placed;

	cp_walk_attrs(w, die->abbrev, &a);
	if (w->c.bad)
		return false;
	if (is_scope(die->abbrev->tag)) {
		placed = a.low.form || a.ranges.form;
		if (placed && covers(w->unit, &a, at)) {
			if (die->abbrev->tag == DW_TAG_inlined_subroutine)
				add_call(chain, die, &a);
			*depth = 1; /* nothing outside of it matters any more */
			return die->abbrev->children;
		}
		if (!placed && die->abbrev->tag != DW_TAG_inlined_subroutine) {
			*depth += die->abbrev->children;
			return true;
		}
	}
	return !die->abbrev->children || cp_walk_skip_children(w, &a.sibling);
}

static void inlined_at(struct cp_unit *unit, uint64_t function, uint64_t at, struct chain *chain)
{
	unsigned depth = 1;
	struct cp_walk w;
	struct cp_die die;

	chain->calls[0] = (struct call){ .die = function };
	chain->count = 1;
	if (!cp_walk_from(unit, function, &w) || !cp_walk_next(&w, &die) || !die.abbrev ||
	    !die.abbrev->children)
		return;
	cp_walk_skip_attrs(&w, die.abbrev);
	while (depth && cp_walk_next(&w, &die)) {
		if (!die.abbrev)
			depth--;
		else if (!look(&w, &die, at, chain, &depth))
			return;
	}
}

bool cp_unit_inlined(struct cp_unit *unit, const struct cp_function *function, uint64_t at,
		     size_t level, uint64_t *die_ret)
{
	struct chain chain;

	inlined_at(unit, function->die, at, &chain);
	if (level >= chain.count)
		return false;
	*die_ret = chain.calls[chain.count - 1 - level].die;
	return true;
}

/* ---- split DWARF ---- */

static struct cp_unit *split_in(struct cp_dwarf *dwarf, struct cp_unit *skeleton)
{
	struct cp_unit *unit;
	size_t i;

	cp_dwarf_walk(dwarf);
	for (i = 0; i < dwarf->units.count && i < SPLIT_UNITS; i++) {
		unit = dwarf->units.items[i];
		if (!unit->skeleton && cp_unit_root(unit) && unit->id == skeleton->id &&
		    unit->version == skeleton->version)
			return unit;
	}
	return NULL;
}

struct cp_unit *cp_unit_with_dies(struct cp_unit *unit)
{
	struct cp_debuginfo *all = unit->dwarf->all;
	struct cp_dwarf *dwarf;
	struct cp_elf *elf;

	if (unit->split || unit->split_tried)
		return unit->split ? unit->split : unit;
	unit->split_tried = true;
	if (!cp_unit_root(unit) || !unit->split_name)
		return unit;
	unit->split = cp_package_unit(all, unit);
	if (unit->split) {
		unit->split->skeleton = unit;
		return unit->split;
	}
	elf = cp_debug_split(all->image, unit->comp_dir ? unit->comp_dir : "", unit->split_name);
	if (!elf)
		return unit;
	dwarf = cp_dwarf_create(all, elf, true);
	if (!dwarf) {
		cp_elf_destroy(elf);
		return unit;
	}
	if (!cp_vec_push(&all->others, dwarf)) {
		cp_dwarf_destroy(dwarf);
		return unit;
	}
	unit->split = split_in(dwarf, unit);
	if (!unit->split)
		return unit;
	unit->split->skeleton = unit;
	return unit->split;
}

/* ---- frames ---- */

static uint32_t number(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : 0;
}

/* Innermost first; each inlined call says where the next frame is. */
static void fill(struct cp_unit *lines, struct cp_unit *unit, uint64_t pc,
		 const struct chain *chain, struct cp_line at, struct cp_inline_frame *frames,
		 size_t max)
{
	struct cp_inline_frame *f = frames;
	struct cp_die_name named;
	size_t i;

	for (i = chain->count; i-- && f < frames + max; f++) {
		named = cp_unit_function_name(unit, chain->calls[i].die, i ? 0 : pc);
		*f = (struct cp_inline_frame){
			.function = named.name,
			.file = at.file,
			.line = at.line,
			.column = at.column,
			.decl_line = named.decl_line,
			.inlined = i > 0,
		};
		if (!i)
			break;
		at.file = cp_unit_file(lines, chain->calls[i].file);
		at.line = number(chain->calls[i].line);
		at.column = number(chain->calls[i].column);
	}
}

static size_t lookup(struct cp_debuginfo *all, uint64_t at, struct cp_inline_frame *frames,
		     size_t max)
{
	struct cp_unit *unit = cp_debuginfo_unit(all, at), *with;
	const struct cp_function *function;
	struct cp_line line = { 0 };
	struct chain chain;
	bool has_line;

	if (!unit)
		return 0;
	has_line = cp_unit_line(unit, at, &line);
	with = cp_unit_with_dies(unit);
	function = cp_unit_function(with, at);
	if (!function) {
		if (has_line && max)
			frames[0] = (struct cp_inline_frame){ .file = line.file,
							      .line = line.line,
							      .column = line.column };
		return has_line;
	}
	inlined_at(with, function->die, at, &chain);
	fill(unit, with, at, &chain, line, frames, max);
	return chain.count;
}

size_t cp_debug_frames(struct cp_image *image, struct cp_vaddr at, struct cp_inline_frame *frames,
		       size_t max)
{
	struct cp_debuginfo *all;
	size_t count = 0;

	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, STEPS);
	if (all)
		count = lookup(all, at.v, frames, max);
	pthread_mutex_unlock(&image->debug_lock);
	return count;
}

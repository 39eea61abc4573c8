/* SPDX-License-Identifier: MIT
 *
 * Call sites: DWARF 5's, and GNU's of before under other numbers.
 *
 *     subprogram                         call_all_calls
 *       call_site                        call_return_pc, call_origin, call_tail_call
 *         call_site_parameter            location (a register), call_value
 *         call_site_parameter            call_parameter (of a clone without it), call_value
 */
#include "image/callsite.h"

#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/location.h"
#include "image/dwarf/name.h"
#include "image/dwarf/ranges.h"
#include "image/dwarf/root.h"

/* Steps of one lookup, as for variables. */
#define STEPS UINT64_C(50000000)
#define REACHED_MAX 64 /* functions, by tail calls */

struct attrs {
	struct cp_attr target, return_pc, low, origin, abstract, sibling, tail, location, value;
	struct cp_attr parameter, all_calls, ranges, high, frame_base;
};

static struct cp_attr *slot(void *to, uint16_t name)
{
	struct attrs *a = to;

	switch (name) {
	case DW_AT_call_return_pc:
		return &a->return_pc;
	case DW_AT_low_pc:
		return &a->low;
	case DW_AT_high_pc:
		return &a->high;
	case DW_AT_ranges:
		return &a->ranges;
	case DW_AT_frame_base:
		return &a->frame_base;
	case DW_AT_call_origin:
		return &a->origin;
	case DW_AT_abstract_origin:
		return &a->abstract;
	case DW_AT_sibling:
		return &a->sibling;
	case DW_AT_call_target:
	case DW_AT_GNU_call_site_target:
		return &a->target;
	case DW_AT_call_tail_call:
	case DW_AT_GNU_tail_call:
		return &a->tail;
	case DW_AT_location:
		return &a->location;
	case DW_AT_call_parameter:
		return &a->parameter;
	case DW_AT_call_value:
	case DW_AT_GNU_call_site_value:
		return &a->value;
	case DW_AT_call_all_calls:
	case DW_AT_call_all_tail_calls:
	case DW_AT_GNU_all_call_sites:
	case DW_AT_GNU_all_tail_call_sites:
		return &a->all_calls;
	default:
		return NULL;
	}
}

static bool read_attrs(struct cp_walk *w, const struct cp_abbrev *abbrev, struct attrs *ret)
{
	*ret = (struct attrs){ 0 };
	cp_walk_slots(w, abbrev, slot, ret);
	return !w->c.bad;
}

static bool is_site(uint16_t tag)
{
	return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

static bool is_parameter(uint16_t tag)
{
	return tag == DW_TAG_call_site_parameter || tag == DW_TAG_GNU_call_site_parameter;
}

/* True for DIEs that call sites can be in: blocks and inlined calls. */
static bool is_scope(uint16_t tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* The next call site of a function whose DIE was read; *depth counts from 1. */
static bool next_site(struct cp_walk *w, unsigned *depth, struct cp_die *die, struct attrs *a)
{
	while (*depth && cp_walk_next(w, die)) {
		if (!die->abbrev) {
			--*depth;
			continue;
		}
		if (!read_attrs(w, die->abbrev, a))
			return false;
		if (is_site(die->abbrev->tag))
			return true;
		if (!die->abbrev->children)
			continue;
		if (is_scope(die->abbrev->tag))
			++*depth;
		else if (!cp_walk_skip_children(w, &a->sibling))
			return false;
	}
	return false;
}

/* Behind a call site's DIE: what is in it is passed over. */
static bool leave_site(struct cp_walk *w, const struct cp_die *die, const struct attrs *a)
{
	return !die->abbrev->children || cp_walk_skip_children(w, &a->sibling);
}

/* ---- one site ---- */

static bool returns_to(struct cp_unit *unit, const struct attrs *a, uint64_t address)
{
	uint64_t at;

	return cp_attr_address(unit, a->return_pc.form ? &a->return_pc : &a->low, &at) &&
	       at == address;
}

static void read_callee(struct cp_unit *unit, const struct attrs *site, struct cp_arena *arena,
			struct cp_call_site *ret)
{
	struct cp_locations target = cp_unit_locations(unit, &site->target, arena);
	struct attrs a;
	struct cp_walk w;
	struct cp_die die;
	uint64_t at;

	if (target.count == 1)
		ret->target = *target.items;
	unit = cp_attr_reference(unit, site->origin.form ? &site->origin : &site->abstract, &at);
	if (!unit || !cp_unit_root(unit) || !cp_walk_from(unit, at, &w) ||
	    !cp_walk_next(&w, &die) || !die.abbrev || die.abbrev->tag != DW_TAG_subprogram ||
	    !read_attrs(&w, die.abbrev, &a))
		return;
	ret->callee = cp_unit_extents(unit, &a.low, &a.high, &a.ranges, arena);
	ret->callee_name = cp_unit_function_name(unit, at, 0).name;
}

/* What stands for a parameter: a register, or its DIE. */
static bool read_passed(struct cp_unit *unit, const struct attrs *a, struct cp_arena *arena,
			struct cp_call_parameter *ret)
{
	const struct cp_attr *origin = a->parameter.form ? &a->parameter : &a->abstract;
	const struct cp_locations where = cp_unit_locations(unit, &a->location, arena);
	const struct cp_locations value = cp_unit_locations(unit, &a->value, arena);
	const uint8_t *op = where.count == 1 && where.items->size == 1 ? where.items->expr : NULL;

	if (value.count != 1)
		return false;
	*ret = (struct cp_call_parameter){ .number = CP_CALL_BY_DIE, .value = *value.items };
	if (op && *op >= DW_OP_reg0 && *op <= DW_OP_reg31)
		ret->number = (uint8_t)(*op - DW_OP_reg0);
	else if (where.count || !cp_attr_reference(unit, origin, &ret->die))
		return false;
	return true;
}

static void read_parameters(struct cp_unit *unit, struct cp_walk *w, struct cp_arena *arena,
			    struct cp_call_site *ret)
{
	struct cp_die die;
	struct attrs a;

	while (cp_walk_next(w, &die) && die.abbrev && read_attrs(w, die.abbrev, &a)) {
		if (is_parameter(die.abbrev->tag) && ret->count < CP_CALL_PARAMETERS &&
		    read_passed(unit, &a, arena, &ret->parameters[ret->count]))
			ret->count++;
		if (die.abbrev->children && !cp_walk_skip_children(w, &a.sibling))
			return;
	}
}

/* Moves the walk before the children of the DIE of the function that covers `at`;
 * *depth_ret: 1, or 0 where it has none. */
static struct cp_unit *function_at(struct cp_debuginfo *all, uint64_t at, struct cp_walk *w,
				   struct attrs *a, unsigned *depth_ret)
{
	struct cp_unit *unit = cp_debuginfo_unit(all, at);
	const struct cp_function *function;
	struct cp_die die;

	if (!unit || !cp_unit_root(unit))
		return NULL;
	unit = cp_unit_with_dies(unit);
	function = cp_unit_function(unit, at);
	if (!function || !cp_walk_from(unit, function->die, w) || !cp_walk_next(w, &die) ||
	    !die.abbrev || !read_attrs(w, die.abbrev, a))
		return NULL;
	*depth_ret = die.abbrev->children;
	return unit;
}

static bool find_site(struct cp_debuginfo *all, uint64_t address, struct cp_arena *arena,
		      struct cp_call_site *ret)
{
	struct attrs function, a;
	unsigned depth = 0;
	struct cp_walk w;
	struct cp_die die;
	struct cp_unit *unit = function_at(all, address - 1, &w, &function, &depth);

	while (unit && next_site(&w, &depth, &die, &a)) {
		if (!returns_to(unit, &a, address)) {
			if (!leave_site(&w, &die, &a))
				return false;
			continue;
		}
		if (cp_attr_flag(&a.tail))
			return false;
		read_callee(unit, &a, arena, ret);
		if (die.abbrev->children)
			read_parameters(unit, &w, arena, ret);
		ret->frame_base = cp_unit_locations(unit, &function.frame_base, arena);
		return true;
	}
	return false;
}

/* ---- tail calls ---- */

struct reached {
	CP_VEC(uint64_t) entries; /* of functions, each once; the first may not come again */
	struct cp_arena arena;
};

/* Notes that `entry` is reached. False: it is the first one, or can't be told. */
static bool reach(struct reached *r, uint64_t entry)
{
	size_t i;

	if (r->entries.count && entry == r->entries.items[0])
		return false;
	for (i = 1; i < r->entries.count; i++)
		if (r->entries.items[i] == entry)
			return true;
	return r->entries.count < REACHED_MAX && cp_vec_push(&r->entries, entry);
}

/* Follows the jumps by which the function at `entry` ends. */
static bool follow_tail_calls(struct cp_debuginfo *all, uint64_t entry, struct reached *r)
{
	struct attrs function, a;
	unsigned depth = 0;
	struct cp_walk w;
	struct cp_die die;
	struct cp_unit *unit = function_at(all, entry, &w, &function, &depth);

	if (!unit || !cp_attr_flag(&function.all_calls))
		return false;
	while (next_site(&w, &depth, &die, &a)) {
		struct cp_call_site site = { 0 };

		if (cp_attr_flag(&a.tail)) {
			read_callee(unit, &a, &r->arena, &site);
			if (!site.callee || site.callee->next || !reach(r, site.callee->low))
				return false;
		}
		if (!leave_site(&w, &die, &a))
			return false;
	}
	return !w.c.bad && !depth;
}

static bool never_comes_back(struct cp_debuginfo *all, uint64_t entry)
{
	struct reached r = { 0 };
	bool never = reach(&r, entry);
	size_t i;

	for (i = 0; never && i < r.entries.count; i++)
		never = follow_tail_calls(all, r.entries.items[i], &r);
	cp_vec_free(&r.entries);
	cp_arena_free(&r.arena);
	return never;
}

/* Reads the jump to `to` of the function at `from`; where its others lead is noted. */
static bool read_tail_calls(struct cp_debuginfo *all, uint64_t from, uint64_t to,
			    struct reached *others, struct cp_arena *arena,
			    struct cp_call_site *ret)
{
	struct attrs function, a;
	unsigned depth = 0, found = 0;
	struct cp_walk w;
	struct cp_die die;
	struct cp_unit *unit = function_at(all, from, &w, &function, &depth);

	if (!unit || !cp_attr_flag(&function.all_calls))
		return false;
	while (next_site(&w, &depth, &die, &a)) {
		struct cp_call_site site = { 0 };

		if (cp_attr_flag(&a.tail))
			read_callee(unit, &a, arena, &site);
		if (site.callee && site.callee->low == to && !site.callee->next) {
			*ret = site;
			found++;
			if (die.abbrev->children)
				read_parameters(unit, &w, arena, ret);
			continue;
		}
		if (cp_attr_flag(&a.tail) &&
		    (!site.callee || site.callee->next || !reach(others, site.callee->low)))
			return false;
		if (!leave_site(&w, &die, &a))
			return false;
	}
	return !w.c.bad && !depth && found == 1;
}

static bool only_tail_call(struct cp_debuginfo *all, uint64_t from, uint64_t to,
			   struct cp_arena *arena, struct cp_call_site *ret)
{
	struct reached others = { 0 };
	bool only = reach(&others, to) && read_tail_calls(all, from, to, &others, arena, ret) &&
		    never_comes_back(all, from);
	size_t i;

	for (i = 1; only && i < others.entries.count; i++)
		only = follow_tail_calls(all, others.entries.items[i], &others);
	cp_vec_free(&others.entries);
	cp_arena_free(&others.arena);
	return only;
}

bool cp_image_tail_call(struct cp_image *image, struct cp_vaddr from, struct cp_vaddr to,
			struct cp_arena *arena, struct cp_call_site *ret)
{
	struct cp_debuginfo *all;
	bool only;

	*ret = (struct cp_call_site){ 0 };
	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, STEPS);
	only = all && only_tail_call(all, from.v, to.v, arena, ret);
	pthread_mutex_unlock(&image->debug_lock);
	return only;
}

bool cp_image_call_site(struct cp_image *image, struct cp_vaddr address, struct cp_arena *arena,
			struct cp_call_site *ret)
{
	struct cp_debuginfo *all;
	bool found;

	*ret = (struct cp_call_site){ 0 };
	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, STEPS);
	found = all && find_site(all, address.v, arena, ret);
	pthread_mutex_unlock(&image->debug_lock);
	return found;
}

bool cp_image_never_comes_back(struct cp_image *image, struct cp_vaddr entry)
{
	struct cp_debuginfo *all;
	bool never;

	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, STEPS);
	never = all && never_comes_back(all, entry.v);
	pthread_mutex_unlock(&image->debug_lock);
	return never;
}

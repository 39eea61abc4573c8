/* SPDX-License-Identifier: MIT
 *
 * What a DIE lies in. DIEs don't know their parents, so the first question
 * about a unit walks it once and keeps what can hold a function and has
 * children, as the offsets between which those lie:
 *
 *     outer  [----------------------------)
 *     Square     [-----------)   [--)            each knows the one around it
 *     target           ^
 */
#include "image/dwarf/scope.h"

#include "base/vec.h"
#include "image/dwarf/walk.h"

static bool names_what_is_in_it(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

/* The place of a walk: the scope of each list of children that is open. */
struct open {
	uint32_t scopes[CP_DWARF_DEPTH]; /* or CP_NO_SCOPE */
	unsigned depth; /* what is deeper has no scopes of its own */
};

static uint32_t innermost(const struct open *open)
{
	unsigned i = open->depth < CP_DWARF_DEPTH ? open->depth : CP_DWARF_DEPTH;

	while (i-- > 0)
		if (open->scopes[i] != CP_NO_SCOPE)
			return open->scopes[i];
	return CP_NO_SCOPE;
}

static bool enter(struct cp_unit *unit, struct open *open, const struct cp_die *die)
{
	struct cp_scope scope = { .start = die->offset,
				  .end = unit->end,
				  .outer = innermost(open),
				  .tag = die->abbrev->tag };
	uint32_t number = CP_NO_SCOPE;

	if (open->depth < CP_DWARF_DEPTH) {
		if (names_what_is_in_it(scope.tag)) {
			number = (uint32_t)unit->scopes.count;
			if (!cp_vec_push(&unit->scopes, scope))
				return false;
		}
		open->scopes[open->depth] = number;
	}
	open->depth++;
	return true;
}

static bool leave(struct cp_unit *unit, struct open *open, uint64_t offset)
{
	if (!open->depth)
		return false;
	open->depth--;
	if (open->depth < CP_DWARF_DEPTH && open->scopes[open->depth] != CP_NO_SCOPE)
		unit->scopes.items[open->scopes[open->depth]].end = offset;
	return true;
}

void cp_unit_read_scopes(struct cp_unit *unit)
{
	struct open open = { .depth = 0 };
	struct cp_walk w;
	struct cp_die die;

	if (unit->scopes_tried)
		return;
	unit->scopes_tried = true;
	if (!cp_walk_from(unit, unit->die, &w))
		return;
	while (cp_walk_next(&w, &die)) {
		if (!die.abbrev) {
			if (!leave(unit, &open, die.offset))
				break;
			continue;
		}
		cp_walk_skip_attrs(&w, die.abbrev);
		if (die.abbrev->children && !enter(unit, &open, &die))
			break;
	}
}

const struct cp_scope *cp_unit_scope_around(struct cp_unit *unit, uint64_t offset)
{
	const struct cp_scope *s;
	size_t before;

	cp_unit_read_scopes(unit);
	before = cp_vec_partition(&unit->scopes, it, it->start < offset);
	if (!before)
		return NULL;
	/* The last one that begins before may have ended: then those around it. */
	for (s = &unit->scopes.items[before - 1]; s->end <= offset;) {
		if (s->outer == CP_NO_SCOPE)
			return NULL;
		s = &unit->scopes.items[s->outer];
	}
	return s;
}

/* SPDX-License-Identifier: MIT
 *
 * Definitions of what a unit only declares. clang leaves classes out where
 * they are not needed in full, C programs have opaque structs: the definition
 * is in some other unit. For the first few that are missed the units are walked that
 * have the name, then all, once; types go by their names with what they are in:
 *
 *     namespace outer / class Widget / struct Part     -> hash of the three
 *
 * Two definitions of different sizes under one name are as good as none.
 */
#include "image/dwarf/define.h"

#include <string.h>

#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/context.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/mention.h"
#include "image/dwarf/root.h"
#include "image/dwarf/type_unit.h"
#include "image/dwarf/unit.h"

#define AMBIGUOUS CP_NO_OFFSET
#define MAX_TYPES (1u << 20)
#define ONE_BY_ONE 4 /* names */
#define FILE_BITS 14 /* split units are each in a file of their own */

struct visit {
	struct cp_debuginfo *all;
	uint64_t target; /* DIE whose name is wanted, or CP_NO_OFFSET: list definitions */
	uint64_t found; /* the hash of its name */
	size_t file; /* what is visited is in: of all->defined_in */
	bool full;
};

static uint64_t named(uint64_t outer, const char *name)
{
	return cp_hash_u64(outer * 31 + cp_hash_bytes(name, strlen(name)));
}

static bool is_class(uint16_t tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static void add(struct visit *v, uint64_t hash, uint64_t die, uint64_t size)
{
	struct cp_map *map = &v->all->definitions;
	uint64_t *known = cp_map_get(map, hash), place = die << FILE_BITS | v->file;

	/* Offset, its file and the lowest bits of the size in one word. */
	if (!known)
		v->full = map->count >= MAX_TYPES ||
			  !cp_map_put(map, hash, place << 16 | (size & 0xffff));
	else if (*known != AMBIGUOUS && (*known & 0xffff) != (size & 0xffff))
		*known = AMBIGUOUS;
}

/* Looks at a DIE that has a name or is a namespace; false when the walk is over. */
static bool look(struct visit *v, struct cp_walk *w, const struct cp_die *die,
		 const struct cp_attrs *a, uint64_t outer, uint64_t *hash_ret)
{
	const char *name = cp_attr_string(w->unit, &a->name);
	uint64_t size;

	*hash_ret = named(outer, name ? name : "");
	if (die->offset == v->target) {
		v->found = *hash_ret;
		return false;
	}
	if (v->target == CP_NO_OFFSET && name && is_class(die->abbrev->tag) &&
	    !a->declaration.form && cp_attr_number(&a->byte_size, &size))
		add(v, *hash_ret, die->offset, size);
	return !v->full;
}

/* The hash of what a definition's declaration is in. */
static uint64_t context_of(struct cp_unit *unit, const struct cp_attrs *type, uint64_t outer)
{
	struct cp_type_context context;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	const char *name;
	unsigned i;

	if (!type->specification.form || !cp_type_context(unit, &type->specification, &context))
		return outer;
	for (outer = 0, i = 0; i < context.count; i++) {
		if (!cp_die_at(context.unit, context.dies[i], &w, &die, &a))
			return 0;
		name = cp_attr_string(context.unit, &a.name);
		outer = named(outer, name ? name : "");
	}
	return outer;
}

static void visit(struct visit *v, struct cp_unit *unit)
{
	uint64_t outer[CP_DWARF_DEPTH] = { 0 }, hash;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	unsigned depth = 0;
	bool scope;

	if (!cp_unit_root(unit) || !cp_walk_from(unit, unit->die, &w) || !cp_walk_next(&w, &die) ||
	    !die.abbrev || !die.abbrev->children)
		return;
	cp_walk_skip_attrs(&w, die.abbrev);
	while (cp_walk_next(&w, &die)) {
		if (!die.abbrev) {
			if (!depth--)
				return;
			continue;
		}
		if (!cp_attrs_read(&w, die.abbrev, &a))
			return;
		scope = is_class(die.abbrev->tag) || die.abbrev->tag == DW_TAG_namespace;
		if (scope && !look(v, &w, &die, &a, context_of(unit, &a, outer[depth]), &hash))
			return;
		if (!die.abbrev->children)
			continue;
		if (scope && depth + 1 < CP_DWARF_DEPTH)
			outer[++depth] = hash;
		else if (!cp_walk_skip_children(&w, &a.sibling))
			return;
	}
}

/* Units of one file come one after another. */
static void visit_in(struct visit *v, struct cp_unit *unit)
{
	struct cp_debuginfo *all = v->all;

	if (!all->defined_in.count || all->defined_in.items[v->file] != unit->dwarf) {
		v->full = all->defined_in.count >> FILE_BITS ||
			  !cp_vec_push(&all->defined_in, unit->dwarf);
		if (v->full)
			return;
		v->file = all->defined_in.count - 1;
	}
	visit(v, unit);
}

static void list_definitions(struct cp_debuginfo *all)
{
	struct visit v = { .all = all, .target = CP_NO_OFFSET };
	struct cp_unit *unit;
	size_t i;

	all->definitions_tried = true;
	cp_dwarf_walk(all->main);
	for (i = 0; i < all->main->units.count && !v.full; i++)
		visit_in(&v, cp_unit_with_dies(all->main->units.items[i]));
	for (i = 0; !v.full && (unit = cp_debuginfo_type_unit(all, i)); i++)
		visit_in(&v, unit);
}

/* Lists those in units that have the name, where that can be told. */
static bool list_mentioned(struct cp_debuginfo *all, const char *name)
{
	struct visit v = { .all = all, .target = CP_NO_OFFSET };
	struct cp_mentions mentioned = { 0 };
	bool told;
	size_t i;

	cp_dwarf_mentions(all->main, name, CP_MENTION_OF_ALL, &mentioned);
	told = !mentioned.all;
	for (i = 0; told && i < all->main->units.count && !v.full; i++)
		if (cp_is_mentioned(&mentioned, i))
			visit_in(&v, all->main->units.items[i]);
	cp_mentions_free(&mentioned);
	return told;
}

static void list_for(struct cp_debuginfo *all, const char *name)
{
	if (all->definitions_tried)
		return;
	if (all->has_type_units || all->definitions_asked++ >= ONE_BY_ONE ||
	    !list_mentioned(all, name))
		list_definitions(all);
}

struct cp_unit *cp_type_definition(const struct cp_type *type, uint64_t *die_ret)
{
	struct cp_debuginfo *all = type->unit->dwarf->all;
	struct visit v = { .all = all, .target = type->die };
	const uint64_t *found;

	if (!type->name)
		return NULL;
	list_for(all, type->name);
	visit(&v, type->unit);
	found = v.found ? cp_map_get(&all->definitions, v.found) : NULL;
	if (!found || *found == AMBIGUOUS)
		return NULL;
	*die_ret = *found >> (16 + FILE_BITS);
	return cp_dwarf_unit_at(all->defined_in.items[*found >> 16 & ((1u << FILE_BITS) - 1)],
				*die_ret);
}

/* SPDX-License-Identifier: MIT
 *
 * DIEs one after another.
 */
#ifndef CP_IMAGE_DWARF_WALK_H
#define CP_IMAGE_DWARF_WALK_H

#include "image/dwarf/debuginfo.h"

struct cp_die {
	uint64_t offset;
	const struct cp_abbrev *abbrev; /* NULL: the end of a list of children */
};

/* The attributes that matter here. */
struct cp_die_attrs {
	struct cp_attr low, high, ranges, sibling, origin, specification, name, linkage, call_file,
		call_line, call_column, decl_file, decl_line, entry, declaration, artificial,
		external;
};

/* A walk over the DIEs of a unit, in the order of the file. */
struct cp_walk {
	struct cp_unit *unit;
	struct cp_cursor c;
	const uint8_t *origin; /* byte of the unit's file at `base` */
	uint64_t base;
};

bool cp_walk_from(struct cp_unit *unit, uint64_t offset, struct cp_walk *ret);
/* The next DIE, whose attributes come next; false at the end of the unit. */
bool cp_walk_next(struct cp_walk *w, struct cp_die *ret);
/* Attributes that come next go to where `slot_of` has a place for their name
 * (NULL: they don't matter). */
typedef struct cp_attr *(*cp_attr_slot_fn)(void *to, uint16_t name);
void cp_walk_slots(struct cp_walk *w, const struct cp_abbrev *abbrev, cp_attr_slot_fn slot_of,
		   void *to);
void cp_walk_attrs(struct cp_walk *w, const struct cp_abbrev *abbrev, struct cp_die_attrs *ret);
void cp_walk_skip_attrs(struct cp_walk *w, const struct cp_abbrev *abbrev);
/* Passes over the children of a DIE whose attributes were read. */
bool cp_walk_skip_children(struct cp_walk *w, const struct cp_attr *sibling);

#endif

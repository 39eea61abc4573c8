/* SPDX-License-Identifier: MIT
 *
 * DWARF 2 to 5, as much as lines and inlined calls need. A reader of our
 * own, because files are hostile: libdw 0.188 can be made to crash, maps
 * files (SIGBUS when they shrink), and finds no unit where clang left
 * .debug_aranges out. What is read, in layers:
 *
 *     dwarf_unit.c    units, abbreviations, attributes, strings, references
 *     dwarf_ranges.c  range lists; which unit covers an address
 *     dwarf_line.c    line number programs, one unit at a time
 *     dwarf_walk.c    DIEs one after another
 *     dwarf_name.c    what a function is called
 *     dwarf_frames.c  functions of a unit, inlined calls, cp_image_frames()
 *     dwarf_attrs.c   attributes of functions, variables, types, by name
 *     dwarf_define.c  definitions of what is only declared
 *     dwarf_type.c    types, dwarf_members.c: what they consist of
 *     dwarf_location.c  where variables are
 *     dwarf_function.c  parameters and variables of a function
 *     lines.c         all rows; definitions.c: all functions (image/lines.h)
 *
 * One lookup touches one unit: its header, its DIEs, its line program. All of
 * it runs under the image's debug_lock. Work is counted: a lookup that takes
 * more steps than any real file needs ends the reading of that file for good.
 */
#ifndef CP_IMAGE_DEBUGINFO_H
#define CP_IMAGE_DEBUGINFO_H

#include <dwarf.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "image/internal.h"

#define CP_DWARF_DEPTH 64 /* of inlining, of references that lead to references */
#define CP_NO_OFFSET UINT64_MAX

struct cp_attr_spec {
	uint16_t name, form;
	int64_t implicit; /* DW_FORM_implicit_const's value */
};

struct cp_abbrev {
	uint64_t code;
	uint16_t tag;
	bool children;
	uint32_t first, count; /* of cp_abbrevs.specs */
	uint32_t fixed; /* bytes of all attributes, if all are of fixed size, else 0 */
};

struct cp_abbrevs {
	CP_VEC(struct cp_abbrev) list;
	CP_VEC(struct cp_attr_spec) specs;
	struct cp_map by_code; /* only when codes aren't 1, 2, 3, ... */
	bool numbered; /* they are */
};

/* An attribute as it stands in the file. */
struct cp_attr {
	uint16_t form; /* 0: not there */
	uint64_t u; /* number, offset, index; sign-extended where the form is signed */
	const char *string; /* DW_FORM_string only */
	const uint8_t *block; /* blocks, expressions, data16: `u` bytes */
};

/* One function of a unit, by its DIE. */
struct cp_function {
	uint64_t die; /* offset in .debug_info */
};

struct cp_dwarf;

/* A DIE that names what is in it: see dwarf_scope.c. */
#define CP_NO_SCOPE UINT32_MAX
struct cp_scope {
	uint64_t start, end; /* its DIE's offset, and that of the end of its children */
	uint32_t outer; /* number of the one around it, or CP_NO_SCOPE */
	uint16_t tag;
};

struct cp_unit {
	struct cp_dwarf *dwarf;
	uint64_t offset, end; /* in .debug_info */
	uint64_t die; /* offset of the root DIE */
	uint64_t abbrev_offset;
	uint64_t id; /* of a skeleton and its split unit */
	uint16_t version;
	uint8_t type, address_size, offset_size;
	struct cp_abbrevs *abbrevs; /* borrowed from dwarf, or NULL: not read yet */

	/* Of the root DIE, once it is read: */
	bool rooted;
	uint64_t str_base, addr_base, rnglists_base, loclists_base, ranges_base;
	uint64_t stmt_list; /* or CP_NO_OFFSET */
	uint64_t language; /* DW_LANG_*, 0: unknown */
	uint64_t low_pc;
	struct cp_attr low, high, ranges;
	const char *comp_dir, *split_name, *producer; /* or NULL */

	struct cp_unit *split; /* the unit in the .dwo file that this one stands for */
	struct cp_unit *skeleton; /* the other way round */
	bool split_tried, functions_tried, lines_tried, scopes_tried;
	CP_VEC(struct cp_scope) scopes; /* by start */
	CP_VEC(struct cp_function) functions;
	struct cp_spans function_spans; /* addresses to functions */
	struct cp_lines *lines;
};

/* Debug information in one file. */
struct cp_dwarf {
	struct cp_debuginfo *all;
	struct cp_elf *elf;
	bool owns_elf, walked;
	struct cp_elf_section *info, *abbrev, *str, *line, *line_str, *ranges, *rnglists, *addr,
		*str_offsets, *aranges, *loc, *loclists;
	CP_VEC(struct cp_unit *) units; /* by offset */
	struct cp_map abbrevs; /* offset -> struct cp_abbrevs * */
	struct cp_map names; /* offset of a DIE -> its name with what it is in, char * */
	struct cp_map types; /* offset of a DIE -> struct cp_type * */
	bool alternate_tried;
	struct cp_dwarf *alternate; /* dwz's, or NULL */
};

/* All debug information of an image. */
struct cp_debuginfo {
	struct cp_image *image;
	struct cp_dwarf *main;
	CP_VEC(struct cp_dwarf *) others; /* alternates and split files: owned */
	CP_VEC(char *) strings; /* paths that were put together: owned */
	struct cp_interner sources; /* paths of sources, shortened */
	struct cp_arena types; /* nodes and texts */
	bool definitions_tried;
	struct cp_map definitions; /* of types, by name: see dwarf_define.c */
	bool aranges_tried, roots_tried;
	struct cp_spans by_aranges, by_roots; /* addresses to numbers of main->units */
	uint64_t steps; /* left in this lookup */
	bool exhausted; /* used up once: the file is not worth the time */
};

/* Counts work; false when a lookup has had enough. */
bool cp_dwarf_step(struct cp_dwarf *dwarf, uint64_t steps);

/* ---- dwarf_unit.c ---- */

/* NULL without memory or without .debug_info. */
struct cp_dwarf *cp_dwarf_create(struct cp_debuginfo *all, struct cp_elf *elf, bool owns_elf);
void cp_dwarf_destroy(struct cp_dwarf *dwarf);
/* Reads the headers of all units; the ones that make sense are listed. */
void cp_dwarf_walk(struct cp_dwarf *dwarf);
struct cp_unit *cp_dwarf_unit_at(struct cp_dwarf *dwarf, uint64_t offset);
/* Reads the root DIE; false when it makes no sense. */
bool cp_unit_root(struct cp_unit *unit);
bool cp_unit_abbrevs(struct cp_unit *unit);
const struct cp_abbrev *cp_abbrev_find(const struct cp_abbrevs *abbrevs, uint64_t code);
/* Reads one attribute, or passes over it. */
void cp_attr_read(const struct cp_unit *unit, const struct cp_attr_spec *spec, struct cp_cursor *c,
		  struct cp_attr *ret);
void cp_attrs_skip(const struct cp_unit *unit, const struct cp_abbrev *abbrev, struct cp_cursor *c);
/* What an attribute stands for; false or NULL when it is not there or bad. */
bool cp_attr_address(const struct cp_unit *unit, const struct cp_attr *attr, uint64_t *ret);
const char *cp_attr_string(const struct cp_unit *unit, const struct cp_attr *attr);
/* The DIE referred to: its unit, and its offset in that unit's file. */
struct cp_unit *cp_attr_reference(const struct cp_unit *unit, const struct cp_attr *attr,
				  uint64_t *offset_ret);
/* Bytes of the unit from `offset` to its end. */
bool cp_unit_cursor(const struct cp_unit *unit, uint64_t offset, struct cp_cursor *ret);

/* ---- dwarf_walk.c ---- */

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

/* ---- dwarf_scope.c ---- */

/* The innermost one that holds the DIE at `offset`, or NULL; the unit's. */
const struct cp_scope *cp_unit_scope_around(struct cp_unit *unit, uint64_t offset);
static inline const struct cp_scope *cp_unit_scope_outer(const struct cp_unit *unit,
							 const struct cp_scope *scope)
{
	return scope->outer == CP_NO_SCOPE ? NULL : &unit->scopes.items[scope->outer];
}

/* ---- dwarf_name.c ---- */

struct cp_die_name {
	const char *name; /* or NULL; lives as long as the image */
	bool linkage; /* it is mangled */
	uint32_t decl_line;
};
/* What the function whose DIE is at `offset` is called. `at`: an address in it,
 * if it is not an inlined one, which symbols may name better; else 0. */
struct cp_die_name cp_unit_function_name(struct cp_unit *unit, uint64_t offset, uint64_t at);

/* ---- dwarf_ranges.c ---- */

struct cp_range {
	uint64_t low, high;
};
struct cp_ranges {
	CP_VEC(struct cp_range) list;
};
/* The addresses of a DIE: its list of ranges, or low to high. Only ranges of
 * the image's code are kept. False without memory. */
bool cp_unit_ranges(const struct cp_unit *unit, const struct cp_attr *low,
		    const struct cp_attr *high, const struct cp_attr *ranges,
		    struct cp_ranges *ret);
/* The unit of the main file that covers `at`, or NULL. */
struct cp_unit *cp_debuginfo_unit(struct cp_debuginfo *all, uint64_t at);

/* ---- dwarf_line.c ---- */

struct cp_line {
	const char *file; /* NULL: unknown; lives as long as the image */
	uint32_t line, column;
};
struct cp_lines;
/* Of a unit with a line program (a split unit's is its skeleton's). False
 * when no row covers `at`. */
bool cp_unit_line(struct cp_unit *unit, uint64_t at, struct cp_line *ret);
/* Where the next row begins; 0: there is none. */
uint64_t cp_unit_next_row(struct cp_unit *unit, uint64_t at);
/* Appends all rows of the unit's program, sequence by sequence with an END row
 * each, as they come; `file` is a number for cp_unit_file(). Sequences whose
 * code is gone are left out. False: it has no program. */
struct cp_line_table;
bool cp_unit_rows(struct cp_unit *unit, struct cp_line_table *ret);
/* The path of a file by its number in the unit's line program, or NULL. */
const char *cp_unit_file(struct cp_unit *unit, uint64_t number);
void cp_lines_destroy(struct cp_lines *lines);

/* ---- dwarf_frames.c ---- */

/* Made at the first call; NULL when the image has no debug information. The
 * caller holds the debug_lock. Gives the lookup that follows `steps`. */
struct cp_debuginfo *cp_debuginfo_begin(struct cp_image *image, uint64_t steps);
/* Where the DIEs of `unit` are: itself, or its other half. */
struct cp_unit *cp_unit_with_dies(struct cp_unit *unit);
/* The innermost function of the unit that covers `at`, or NULL. */
const struct cp_function *cp_unit_function(struct cp_unit *unit, uint64_t at);
/* The DIE of what is inlined at `at` in it, the innermost at level 0, the function
 * itself the last one. */
bool cp_unit_inlined(struct cp_unit *unit, const struct cp_function *function, uint64_t at,
		     size_t level, uint64_t *die_ret);
void cp_debuginfo_destroy(struct cp_debuginfo *all);

#endif

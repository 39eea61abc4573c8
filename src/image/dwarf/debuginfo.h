/* SPDX-License-Identifier: MIT
 *
 * DWARF 2 to 5, as much as lines and inlined calls need. A reader of our
 * own, because files are hostile: libdw 0.188 can be made to crash, maps
 * files (SIGBUS when they shrink), and finds no unit where clang left
 * .debug_aranges out. What is read, in layers:
 *
 *     unit.c      units and abbreviations; root.c: the root DIE of a unit
 *     type_unit.c units of one type each, that others name by a signature
 *     mention.c   which units may have a DIE of a name
 *     package.c   split units in one file, by their ids
 *     attr.c      attributes, strings, references
 *     ranges.c    range lists; which unit covers an address
 *     line.c      line number programs, one unit at a time
 *     walk.c      DIEs one after another
 *     scope.c     what a DIE lies in; name.c: what a function is called;
 *     context.c   what a type lies in that is declared elsewhere
 *     frames.c    functions of a unit, inlined calls, cp_debug_frames()
 *     attrs.c     attributes of functions, variables, types, by name
 *     define.c    definitions of what is only declared
 *     type.c      types; members.c: what they consist of
 *     location.c  where variables are
 *     function.c  parameters and variables of a function
 *     ../lines.c  all rows; ../definitions.c: all functions (image/lines.h)
 *
 * One lookup touches one unit: its header, its DIEs, its line program. All of
 * it runs under the image's debug_lock. Work is counted: a lookup that takes
 * more steps than any real file needs ends the reading of that file for good.
 */
#ifndef CP_IMAGE_DWARF_DEBUGINFO_H
#define CP_IMAGE_DWARF_DEBUGINFO_H

#include <dwarf.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "image/internal.h"
#include "image/spans.h"

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

/* A function of a unit, by its DIE. */
struct cp_function {
	uint64_t die; /* offset in .debug_info */
};

struct cp_dwarf;

/* Where the parts of a unit in a package begin: see package.c. */
struct cp_part {
	uint64_t start, end; /* of the unit itself */
	uint64_t abbrev, line, lists, str_offsets, rnglists;
};

/* A DIE that names what is in it: see scope.c. */
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
	uint64_t id; /* of a skeleton and its split unit; of a type unit, its signature */
	const struct cp_part *part; /* what its offsets count from; never NULL */
	uint64_t type_die; /* TYPE: offset of the DIE that is the type */
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
	struct cp_lines *lines; /* of line.c, */
	void (*destroy_lines)(struct cp_lines *lines); /* which has what frees them */
};

/* Debug information in one file. */
struct cp_dwarf {
	struct cp_debuginfo *all;
	struct cp_elf *elf;
	bool owns_elf, walked;
	struct cp_elf_section *info, *abbrev, *str, *line, *line_str, *ranges, *rnglists, *addr,
		*str_offsets, *aranges, *loc, *loclists;
	CP_VEC(struct cp_unit *) units; /* by offset; those that are of types apart: */
	CP_VEC(struct cp_unit *) type_units;
	struct cp_map signatures; /* of type units: struct cp_unit * */
	/* The same file with .debug_types (DWARF 4), or another section of that name (not
	 * linked), as its .debug_info: a list. */
	struct cp_dwarf *types;
	struct cp_dwarf *types_of; /* of one in that list: the file itself; or NULL */
	struct cp_map abbrevs; /* offset -> struct cp_abbrevs * */
	struct cp_map names; /* offset of a DIE -> its name with what it is in, char * */
	struct cp_map nodes; /* of types: offset of a DIE -> struct cp_type * */
	CP_VEC(struct cp_part) parts; /* of a package, by start */
	struct cp_map packed; /* ids of its units -> their starts */
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
	bool package_tried;
	struct cp_dwarf *package; /* one of the others, or NULL */
	bool definitions_tried, has_type_units;
	unsigned definitions_asked; /* names that were looked for one by one */
	struct cp_map definitions; /* of types, by name: see define.c */
	CP_VEC(struct cp_dwarf *) defined_in; /* files, by the numbers they have there */
	bool aranges_tried, roots_tried;
	struct cp_spans by_aranges, by_roots; /* addresses to numbers of main->units */
	uint64_t steps; /* left in this lookup */
	bool exhausted; /* used up once: the file is not worth the time */
};

/* Made at the first call; NULL when the image has no debug information. The
 * caller holds the debug_lock. Gives the lookup that follows `steps`. */
struct cp_debuginfo *cp_debuginfo_begin(struct cp_image *image, uint64_t steps);
void cp_debuginfo_destroy(struct cp_debuginfo *all);

#endif

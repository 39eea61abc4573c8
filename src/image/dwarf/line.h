/* SPDX-License-Identifier: MIT
 *
 * Line number programs: see line.c.
 */
#ifndef CP_IMAGE_DWARF_LINE_H
#define CP_IMAGE_DWARF_LINE_H

#include "image/dwarf/debuginfo.h"

struct cp_line {
	const char *file; /* NULL: unknown; lives as long as the image */
	uint32_t line, column;
};
struct cp_lines;
/* The line at `at` in a unit with a line program (a split unit's is its skeleton's).
 * False when no row covers `at`. */
bool cp_unit_line(struct cp_unit *unit, uint64_t at, struct cp_line *ret);
/* The address at which the next row begins; 0: there is none. */
uint64_t cp_unit_next_row(struct cp_unit *unit, uint64_t at);
/* Appends all rows of the unit's program, sequence by sequence with an END row
 * each, as they come; `file` is a number for cp_unit_file(). Sequences whose
 * code is gone are left out. False: it has no program. */
struct cp_line_table;
bool cp_unit_rows(struct cp_unit *unit, struct cp_line_table *ret);
/* The path of a file by its number in the unit's line program, or NULL. */
const char *cp_unit_file(struct cp_unit *unit, uint64_t number);

#endif

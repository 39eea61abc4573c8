/* SPDX-License-Identifier: MIT
 *
 * All of an image's line table, and all functions that its debug information
 * knows, inlined ones too: what coverage needs.
 */
#ifndef CP_IMAGE_LINES_H
#define CP_IMAGE_LINES_H

#include "base/vec.h"
#include "image/image.h"

#define CP_LINE_STATEMENT 1u /* is_stmt */
#define CP_LINE_END 2u /* behind the last instruction of a sequence: no line */

struct cp_line_row {
	uint64_t address; /* link-time */
	uint32_t file; /* index */
	uint32_t line; /* 0: of no line */
	uint32_t column;
	uint32_t discriminator;
	uint32_t flags; /* CP_LINE_* */
};

struct cp_line_table {
	CP_VEC(struct cp_line_row) rows; /* by address; of one address, in the order of the table */
	/* Source paths with their directories, "." and ".." taken out where that
	 * is text alone; each path once; live as long as the image. */
	CP_VEC(const char *) files;
};
/* Reads the rows of the code in executable segments (garbage-collected sequences are
 * left out). An image without debug information has an empty table. */
CP_ERROR cp_image_lines(struct cp_image *image, struct cp_line_table *ret);
void cp_line_table_free(struct cp_line_table *table);

struct cp_source_function {
	uint64_t address; /* of the entry, link-time; 0: it has no code */
	const char *name; /* as in cp_inline_frame.function */
	const char *file; /* where it is declared; NULL: unknown */
	uint32_t line, end_line; /* end_line 0: unknown */
	bool inlined; /* an inlined instance */
	bool artificial; /* made by the compiler */
};
struct cp_source_functions {
	CP_VEC(struct cp_source_function) items; /* by address, real ones before inlined ones */
};
/* Definitions with code, their inlined instances, and definitions that no code
 * is left of. */
CP_ERROR cp_image_source_functions(struct cp_image *image, struct cp_source_functions *ret);
void cp_source_functions_free(struct cp_source_functions *functions);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What an object of a type consists of, and what is left between.
 */
#ifndef CP_CMD_LAYOUT_OF_H
#define CP_CMD_LAYOUT_OF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "image/find.h"
#include "image/templates.h"

#define CP_LAYOUT_ARGUMENTS 64

/* A type with what is known of it. */
struct cp_layout {
	const char *name;
	const struct cp_type *type; /* no alias */
	const struct cp_type_details *details; /* NULL: has none */
	CP_VEC(const struct cp_type_member *) members; /* by their place */
	struct cp_type_argument arguments[CP_LAYOUT_ARGUMENTS];
	size_t argument_count;
	uint64_t align, holes, hole_bytes, end; /* end: of the last member */
	bool align_least; /* a part is only declared, and may want more than `align` */
	bool virtual_bases; /* its own or of its bases: they lie behind all the rest */
	bool perhaps_virtual; /* a base is only declared, and may have such */
};

/* Of a type that was found; what it refers to is the image's, and `found`'s. */
void cp_layout_of(struct cp_image *image, const struct cp_found_type *found, struct cp_layout *ret);
void cp_layout_free(struct cp_layout *l);
/* Where a member begins, in bits from the beginning of the object. */
uint64_t cp_layout_first_bit(const struct cp_type_member *m);
bool cp_member_is_virtual(const struct cp_type_member *m);
/* Only declared in this file: nobody knows how large it is. */
bool cp_layout_incomplete(const struct cp_type *type);
/* Of member `i`: bytes up to the next one behind it, or to the end; those of its own, and the
 * same in bits. */
uint64_t cp_layout_room(const struct cp_layout *l, size_t i);
uint64_t cp_layout_size(const struct cp_layout *l, size_t i);
uint64_t cp_layout_bits(const struct cp_layout *l, size_t i);
/* Bytes behind the last member, of a structure that has them for nothing else. */
uint64_t cp_layout_padding(const struct cp_layout *l);
/* The form of an enum with data that a member is; NULL: it is none. */
const struct cp_type_variant *cp_layout_variant(const struct cp_layout *l,
						const struct cp_type_member *m);
/* "struct ", "class ", "union ", "enum ", or "". */
const char *cp_layout_keyword(const struct cp_type *type);

#endif

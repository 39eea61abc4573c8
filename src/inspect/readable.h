/* SPDX-License-Identifier: MIT
 *
 * How types are meant to be read.
 */
#ifndef CP_INSPECT_READABLE_H
#define CP_INSPECT_READABLE_H

#include "image/types.h"

/* The type of characters that a pointer or array of `type` is text of; NULL:
 * it is no text. */
const struct cp_type *cp_type_characters(const struct cp_type *type);
/* Bytes of a character of what a pointer or array of `type` is wide text of; 0: it is none. */
uint64_t cp_type_wide_characters(const struct cp_type *type);
/* True when characters of this type are for reading, not small numbers. */
bool cp_type_is_character(const struct cp_type *type);

/* A struct of C whose name and members are reserved, as those of FILE: what it holds
 * is the C library's own business. */
bool cp_type_is_reserved(const struct cp_type *type);

/* An array at the end of a structure whose type does not say how long it is. */
bool cp_type_is_flexible(const struct cp_type *type);
/* A structure that ends with one. */
bool cp_type_has_flexible(const struct cp_type *type);

/* Of an array's element without aliases: is it known how long it is? It may be 0, as of
 * what is empty. NULL has none. */
bool cp_type_has_size(const struct cp_type *type);

#endif

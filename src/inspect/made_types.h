/* SPDX-License-Identifier: MIT
 *
 * Types that no debug information has, made of those that it has.
 */
#ifndef CP_INSPECT_MADE_TYPES_H
#define CP_INSPECT_MADE_TYPES_H

#include "base/arena.h"
#include "image/types.h"

/* A pointer to `target`, an array of it. NULL without memory. */
const struct cp_type *cp_type_pointer_to(struct cp_arena *arena, const struct cp_type *target);
const struct cp_type *cp_type_array_of(struct cp_arena *arena, const struct cp_type *element,
				       uint64_t count);
/* The same of elements that were asked for by number: of characters, what is behind a NUL
 * counts, too. */
const struct cp_type *cp_type_elements_of(struct cp_arena *arena, const struct cp_type *element,
					  uint64_t count);
/* A function of that result; what it takes is spelt so, `(int, char *)`, and not looked at. */
const struct cp_type *cp_type_function_of(struct cp_arena *arena, const struct cp_type *result,
					  const char *takes, size_t size);
/* A pointer to members of `containing` that are a `target`. */
const struct cp_type *cp_type_member_pointer_to(struct cp_arena *arena,
						const struct cp_type *target,
						const struct cp_type *containing);
/* Has it no bytes, wherever it is: an empty structure of C or Rust, an array of none? */
bool cp_type_is_empty(const struct cp_type *type);

#endif

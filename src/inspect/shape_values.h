/* SPDX-License-Identifier: MIT
 *
 * Values of types that read as what they stand for.
 */
#ifndef CP_INSPECT_SHAPE_VALUES_H
#define CP_INSPECT_SHAPE_VALUES_H

#include "inspect/build.h"

/* False: it is of no shape that is known, or its parts are not there. */
bool cp_build_shape(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		    struct cp_bytes from, unsigned depth, unsigned hops);

/* `length` bytes of text at `pointer`. */
void cp_build_text(struct cp_build *b, cprof_value *v, uint64_t pointer, uint64_t length);
/* `count` elements in a row at `pointer`; false: they have no size. */
bool cp_build_row(struct cp_build *b, cprof_value *v, const struct cp_type *target,
		  uint64_t pointer, uint64_t count, unsigned depth, unsigned hops);
/* What holds `count` elements, none of which is shown. False without memory. */
bool cp_build_count(struct cp_build *b, cprof_value *v, uint64_t count);

/* What holds one that holds nothing is not what holds nothing itself: {value=nullopt}, where
 * `word` is the word for nothing (NULL: there is none). */
void cp_build_holding(struct cp_build *b, cprof_value *v, const char *word);

#endif

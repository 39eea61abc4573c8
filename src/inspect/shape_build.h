/* SPDX-License-Identifier: MIT
 *
 * Values of types by their declarations: see shape_build.c.
 */
#ifndef CP_INSPECT_SHAPE_BUILD_H
#define CP_INSPECT_SHAPE_BUILD_H

#include "inspect/shape_terms.h"

/* As in struct cp_shape_ops. */
bool cp_shape_build(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		    const struct cp_shape_row *row, const struct cp_bytes *from, unsigned depth,
		    unsigned hops);
/* Of CP_SHAPE_ROW and TEXT: where the elements are, of which type, and how many; an error of the
 * thing: that can't be read. */
CP_ERROR cp_shape_row_at(struct cp_shape_scope *scope, const struct cp_type **target_ret,
			 uint64_t *pointer_ret, uint64_t *count_ret, struct cp_thing *thing_ret);
/* Of CP_SHAPE_VALUE, CHOICE and VARIANT: what it stands for, or (*word_ret) the word for
 * nothing. */
CP_ERROR cp_shape_stands_for(struct cp_shape_scope *scope, struct cp_thing *ret,
			     const char **word_ret);

#endif

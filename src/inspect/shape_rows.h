/* SPDX-License-Identifier: MIT
 *
 * How the tables of declarations that are shipped are written. For those alone.
 */
#ifndef CP_INSPECT_SHAPE_ROWS_H
#define CP_INSPECT_SHAPE_ROWS_H

#include "inspect/shapes.h"

#define TERM(name) [CP_TERM_##name]
/* What stands for something else. */
#define VALUE(type, term) \
	{ \
		type, CP_SHAPE_VALUE, \
		{ \
			TERM(value) = term \
		} \
	}

#endif

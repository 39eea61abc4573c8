/* SPDX-License-Identifier: MIT */
#ifndef CP_IMAGE_MANGLED_H
#define CP_IMAGE_MANGLED_H

#include "image/types.h"

#define CP_MANGLED_MAX 16

/* A function's parameters and result, by its mangled name. Types live for ever. */
struct cp_mangled {
	bool has_this; /* before the parameters */
	bool result_known; /* `result`; NULL: void */
	bool variadic; /* there is more that is not known */
	const struct cp_type *result;
	const struct cp_type *parameters[CP_MANGLED_MAX];
	size_t count;
};
/* Reads a mangled name. False: it does not promise where its arguments are. A
 * version, or @plt, behind it does not count; clones are called in ways of their
 * own. */
bool cp_mangled_function(const char *linkage_name, struct cp_mangled *ret);
/* The type of `this`. */
const struct cp_type *cp_mangled_pointer(void);

#endif

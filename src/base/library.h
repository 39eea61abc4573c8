/* SPDX-License-Identifier: MIT
 *
 * Libraries that few runs need, loaded when one does.
 */
#ifndef CP_BASE_LIBRARY_H
#define CP_BASE_LIBRARY_H

#include <stddef.h>

/* A function of one, and where in the caller's table its address goes. */
struct cp_library_function {
	const char *name;
	size_t at;
};

/* Loads a library by its soname, for as long as the process lives, and fills in the table. NULL,
 * or why it can't be had, which is dlerror()'s: then nothing in the table is to be called. */
const char *cp_library_load(const char *soname, const struct cp_library_function *functions,
			    size_t count, void *table);

#endif

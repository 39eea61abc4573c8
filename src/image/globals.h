/* SPDX-License-Identifier: MIT
 *
 * Static variables of an image by their names, as someone types them: of the program,
 * of a file, of a namespace, a class, a function, of a thread.
 *
 *     counter    ns::Foo::count    main()::calls    Foo<int>::count
 */
#ifndef CP_IMAGE_GLOBALS_H
#define CP_IMAGE_GLOBALS_H

#include "base/arena.h"
#include "base/vec.h"
#include "image/types.h"

struct cp_global {
	const char *name; /* with all that it is in */
	const char *file; /* where it is declared, or NULL; lives as long as the image */
	uint32_t line;
	uint16_t language; /* DW_LANG_* */
	bool external; /* seen from other files */
	bool gone; /* no place and no value: optimised out, or left out by the linker */
	struct cp_variable variable;
};

struct cp_globals {
	struct cp_arena arena;
	CP_VEC(struct cp_global) list; /* those of other files first, then by unit */
	const char *near; /* what may have been meant when nothing was found; or NULL */
};

struct cp_global_query {
	const char *name; /* NULL: all */
	const char *glob; /* that names with all they are in match; NULL: any */
	const char *file; /* of those declared in it, by the end of its path; NULL: any */
};

/* Variables that are called so in full; if there is none, those whose name ends so.
 * None without debug information. */
CP_ERROR cp_image_find_globals(struct cp_image *image, const struct cp_global_query *query,
			       struct cp_globals *ret);
void cp_globals_free(struct cp_globals *globals);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Functions at an address, inlined ones too, as they are called everywhere.
 */
#include <string.h>

#include "image/dwarf/frames.h"
#include "image/symbols.h"

/* Compilers put the beginning of a function apart from the rest of it, or back into it, and
 * call what is inlined so by one of its names: __GI___libc_write in write. A function has one
 * name wherever it is told. */
size_t cp_image_frames(struct cp_image *image, struct cp_vaddr at, struct cp_inline_frame *frames,
		       size_t max)
{
	size_t count = cp_debug_frames(image, at, frames, max), i;

	for (i = 0; i < count && i < max; i++) {
		const char *name = frames[i].function;

		if (name && name[0] == '_' && strncmp(name, "_Z", 2) != 0 &&
		    strncmp(name, "_R", 2) != 0)
			frames[i].function = cp_symbols_best_name(image, at, name);
	}
	return count;
}

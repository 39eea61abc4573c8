/* SPDX-License-Identifier: MIT
 *
 * From an address to the functions it is in: see frames.c.
 */
#ifndef CP_IMAGE_DWARF_FRAMES_H
#define CP_IMAGE_DWARF_FRAMES_H

#include "image/dwarf/debuginfo.h"

/* cp_image_frames(), with the names that the compiler knew. */
size_t cp_debug_frames(struct cp_image *image, struct cp_vaddr at, struct cp_inline_frame *frames,
		       size_t max);
/* The unit that has the DIEs of `unit`: itself, or its other half. */
struct cp_unit *cp_unit_with_dies(struct cp_unit *unit);
/* The innermost function of the unit that covers `at`, or NULL. */
const struct cp_function *cp_unit_function(struct cp_unit *unit, uint64_t at);
/* The DIE of what is inlined at `at` in it, the innermost at level 0, the function
 * itself the last one. */
bool cp_unit_inlined(struct cp_unit *unit, const struct cp_function *function, uint64_t at,
		     size_t level, uint64_t *die_ret);

#endif

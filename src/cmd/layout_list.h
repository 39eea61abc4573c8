/* SPDX-License-Identifier: MIT
 *
 * Types of a file, by their names.
 */
#ifndef CP_CMD_LAYOUT_LIST_H
#define CP_CMD_LAYOUT_LIST_H

#include "base/error.h"
#include "cmd/layout_of.h"

/* Finds all that the glob matches (NULL: all there are), sorted by name, and those of one
 * name by size. */
CP_ERROR cp_layout_list(struct cp_image *image, const char *glob, struct cp_found *ret);
/* There are none. */
CP_ERROR cp_layout_none(const char *glob);

#endif

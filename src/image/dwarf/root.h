/* SPDX-License-Identifier: MIT
 *
 * What the root DIE of a unit says.
 */
#ifndef CP_IMAGE_DWARF_ROOT_H
#define CP_IMAGE_DWARF_ROOT_H

#include "image/dwarf/debuginfo.h"

/* Reads the root DIE; false when it makes no sense. */
bool cp_unit_root(struct cp_unit *unit);

#endif

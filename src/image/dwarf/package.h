/* SPDX-License-Identifier: MIT
 *
 * A package of split units: see package.c.
 */
#ifndef CP_IMAGE_DWARF_PACKAGE_H
#define CP_IMAGE_DWARF_PACKAGE_H

#include "image/dwarf/debuginfo.h"

/* The split unit that `skeleton` stands for; NULL: there is no package, or it has not
 * that one. */
struct cp_unit *cp_package_unit(struct cp_debuginfo *all, const struct cp_unit *skeleton);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What a DIE lies in: see scope.c.
 */
#ifndef CP_IMAGE_DWARF_SCOPE_H
#define CP_IMAGE_DWARF_SCOPE_H

#include "image/dwarf/debuginfo.h"

/* Reads the scopes of the unit, at the first call. */
void cp_unit_read_scopes(struct cp_unit *unit);
/* The innermost one that holds the DIE at `offset`, or NULL; the unit's. */
const struct cp_scope *cp_unit_scope_around(struct cp_unit *unit, uint64_t offset);
static inline const struct cp_scope *cp_unit_scope_outer(const struct cp_unit *unit,
							 const struct cp_scope *scope)
{
	return scope->outer == CP_NO_SCOPE ? NULL : &unit->scopes.items[scope->outer];
}

#endif

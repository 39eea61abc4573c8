/* SPDX-License-Identifier: MIT
 *
 * A type that is defined apart from its declaration, as "struct Outer::Inner {" is, or
 * one in a unit of its own:
 *
 *     namespace outer
 *       structure_type Inner, declaration    <---   structure_type, specification
 */
#include "image/dwarf/context.h"

#include "image/dwarf/attr.h"
#include "image/dwarf/root.h"
#include "image/dwarf/scope.h"

bool cp_type_context(struct cp_unit *unit, const struct cp_attr *specification,
		     struct cp_type_context *ret)
{
	const struct cp_scope *around, *s;
	unsigned i;
	uint64_t at;

	ret->unit = specification->form ? cp_attr_reference(unit, specification, &at) : NULL;
	if (!ret->unit || !cp_unit_root(ret->unit))
		return false;
	around = cp_unit_scope_around(ret->unit, at);
	ret->count = 0;
	for (s = around; s && ret->count < CP_DWARF_DEPTH; s = cp_unit_scope_outer(ret->unit, s))
		ret->count++;
	i = ret->count;
	for (s = around; s && i; s = cp_unit_scope_outer(ret->unit, s))
		ret->dies[--i] = s->start;
	return true;
}

/* SPDX-License-Identifier: MIT
 *
 * -fdebug-types-section puts each type into a unit of its own, so that the linker keeps
 * one of equal ones; DWARF 4 has them in a section of their own, too:
 *
 *     .debug_types   type_unit 0x3c1f...          .debug_info   compile_unit
 *                      structure_type node   <---                 variable, type 0x3c1f...
 *
 * What has methods is declared in the compile unit, with its signature. What is in a
 * namespace or a class is declared in there, and defined beside it (context.c).
 */
#include "image/dwarf/type_unit.h"

#include "image/dwarf/unit.h"

static struct cp_unit *find(struct cp_dwarf *dwarf, uint64_t signature, uint64_t *offset_ret)
{
	const uint64_t *known = NULL;
	struct cp_unit *unit;

	for (; dwarf; dwarf = dwarf->types) {
		cp_dwarf_walk(dwarf);
		known = cp_map_get(&dwarf->signatures, signature);
		if (known)
			break;
	}
	if (!known)
		return NULL;
	unit = (struct cp_unit *)(uintptr_t)*known;
	*offset_ret = unit->type_die;
	return unit;
}

struct cp_unit *cp_dwarf_signed(struct cp_dwarf *dwarf, uint64_t signature, uint64_t *offset_ret)
{
	struct cp_dwarf *of = dwarf->types_of ? dwarf->types_of : dwarf;
	struct cp_unit *unit = find(of, signature, offset_ret);

	return unit || of == of->all->main ? unit : find(of->all->main, signature, offset_ret);
}

static struct cp_unit *nth(struct cp_dwarf *dwarf, size_t *n)
{
	for (; dwarf; dwarf = dwarf->types) {
		cp_dwarf_walk(dwarf);
		if (*n < dwarf->type_units.count)
			return dwarf->type_units.items[*n];
		*n -= dwarf->type_units.count;
	}
	return NULL;
}

struct cp_unit *cp_debuginfo_type_unit(struct cp_debuginfo *all, size_t n)
{
	struct cp_unit *unit = nth(all->main, &n);
	size_t i;

	for (i = 0; !unit && i < all->others.count; i++)
		unit = nth(all->others.items[i], &n);
	return unit;
}

/* SPDX-License-Identifier: MIT
 *
 * What a function is called. Mangled names say it all; but gcc writes none
 * for lambdas and for what is in anonymous namespaces, and none at all when it
 * optimises at link time. There a function is just "operator()", and what it
 * is in must be found from where its DIE is:
 *
 *     namespace outer
 *       namespace (without a name)
 *         structure_type Square
 *           subprogram area          -> outer::(anonymous namespace)::Square::area
 *
 * scope.c knows what a DIE lies in; the answer is kept.
 */
#include "image/dwarf/name.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "image/dwarf/attr.h"
#include "image/dwarf/root.h"
#include "image/dwarf/scope.h"
#include "image/dwarf/walk.h"

#define MAX_NAME 65536
#define FUNCTIONS_MAX 4 /* in one another, as far as names go */

/* Follows references until there is a linkage name; references that go round
 * in a circle end at the depth limit. *unit and *offset end at the last DIE. */
static struct cp_die_name plain_name(struct cp_unit **unit, uint64_t *offset)
{
	struct cp_die_name got = { 0 };
	struct cp_unit *next = *unit;
	uint64_t at = *offset;
	const char *text;
	struct cp_die_attrs a;
	struct cp_walk w;
	struct cp_die die;
	unsigned i;

	for (i = 0; next && i < CP_DWARF_DEPTH; i++) {
		if (!cp_unit_root(next) || !cp_walk_from(next, at, &w) || !cp_walk_next(&w, &die) ||
		    !die.abbrev)
			break;
		cp_walk_attrs(&w, die.abbrev, &a);
		if (w.c.bad)
			break;
		*unit = next;
		*offset = at;
		if (!got.decl_line && a.decl_line.form && a.decl_line.u < UINT32_MAX)
			got.decl_line = (uint32_t)a.decl_line.u;
		text = cp_attr_string(next, &a.linkage);
		if (text) {
			got.name = text;
			got.linkage = true;
			break;
		}
		text = cp_attr_string(next, &a.name);
		if (text && !got.name)
			got.name = text;
		next = cp_attr_reference(next, a.origin.form ? &a.origin : &a.specification, &at);
	}
	return got;
}

/* A lambda is only "operator()" to DWARF; the symbol table knows better. */
static bool find_mangled(struct cp_image *image, uint64_t at, const char **ret)
{
	struct cp_symbol s;

	if (!cp_image_symbol(image, (struct cp_vaddr){ at }, &s) || s.kind != CP_SYMBOL_FUNCTION ||
	    (strncmp(s.name, "_Z", 2) != 0 && strncmp(s.name, "_R", 2) != 0))
		return false;
	*ret = s.name;
	return true;
}

/* The same of the function whose DIE is at `offset`, by its code. */
static bool find_mangled_code(struct cp_unit *unit, uint64_t offset, const char **ret)
{
	struct cp_die_attrs a;
	struct cp_walk w;
	struct cp_die die;
	uint64_t low;

	if (!cp_unit_root(unit) || !cp_walk_from(unit, offset, &w) || !cp_walk_next(&w, &die) ||
	    !die.abbrev)
		return false;
	cp_walk_attrs(&w, die.abbrev, &a);
	return !w.c.bad && a.low.form && cp_attr_address(unit, &a.low, &low) &&
	       find_mangled(unit->dwarf->all->image, low, ret);
}

static const char *qualify(struct cp_unit *unit, uint64_t offset, const char *name, unsigned links);

/* A function with all that it is in, as far as something tells that, in place of what is
 * known to be around its definition. */
static void add_function(struct cp_unit *unit, uint64_t offset, unsigned links, struct cp_buf *to)
{
	const uint64_t die = offset;
	struct cp_unit *const of = unit;
	struct cp_die_name got = plain_name(&unit, &offset);
	char *plain;

	if (!got.name)
		return;
	if (!got.linkage && links < FUNCTIONS_MAX)
		got.linkage = find_mangled_code(of, die, &got.name);
	plain = got.linkage ? cp_demangle(got.name) : NULL;
	if (plain && strcmp(plain, got.name) != 0) {
		to->size = 0;
		cp_buf_str(to, plain);
	} else {
		if (!got.linkage && offset != die && links < FUNCTIONS_MAX) {
			to->size = 0;
			got.name = qualify(unit, offset, got.name, links + 1);
		}
		cp_buf_str(to, got.name);
		cp_buf_str(to, "()");
	}
	cp_buf_str(to, "::");
	free(plain);
}

/* "namespace::", "Class::", "function()::", or nothing. */
static void add_part(struct cp_unit *unit, const struct cp_scope *scope, unsigned links,
		     struct cp_buf *to)
{
	uint64_t offset = scope->start;
	const char *name;

	if (scope->tag == DW_TAG_subprogram) {
		add_function(unit, offset, links, to);
		return;
	}
	name = plain_name(&unit, &offset).name;
	if (scope->tag == DW_TAG_namespace)
		cp_buf_str(to, name ? name : "(anonymous namespace)");
	else
		cp_buf_str(to, name ? name : "{unnamed}");
	cp_buf_str(to, "::");
}

/* `name` with what it is in before it; itself when there is nothing. */
static const char *qualify(struct cp_unit *unit, uint64_t offset, const char *name, unsigned links)
{
	struct cp_debuginfo *all = unit->dwarf->all;
	const uint64_t *known = cp_map_get(&unit->dwarf->names, offset);
	const struct cp_scope *around[CP_DWARF_DEPTH], *s;
	struct cp_buf text = { 0 };
	size_t n = 0;

	if (known)
		return *known ? (const char *)(uintptr_t)*known : name;
	for (s = cp_unit_scope_around(unit, offset); s && n < CP_DWARF_DEPTH;
	     s = cp_unit_scope_outer(unit, s))
		around[n++] = s;
	while (n-- > 0 && text.size < MAX_NAME)
		add_part(unit, around[n], links, &text);
	if (text.size)
		cp_buf_str(&text, name);
	if (text.failed || (text.size && !cp_vec_push(&all->strings, text.bytes))) {
		cp_buf_free(&text);
		return name;
	}
	cp_map_put(&unit->dwarf->names, offset, (uintptr_t)text.bytes);
	return text.bytes ? text.bytes : name;
}

/* C has nothing that functions could be in; and its units may be large. */
static bool has_scopes(const struct cp_unit *unit)
{
	switch (unit->language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

struct cp_die_name cp_unit_function_name(struct cp_unit *unit, uint64_t offset, uint64_t at)
{
	struct cp_image *image = unit->dwarf->all->image;
	struct cp_die_name got = plain_name(&unit, &offset);

	if (got.linkage || (at && find_mangled(image, at, &got.name)))
		return got;
	if (got.name && has_scopes(unit))
		got.name = qualify(unit, offset, got.name, 0);
	return got;
}

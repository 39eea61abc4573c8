/* SPDX-License-Identifier: MIT
 *
 * What templates were made with: of a type, and of the type that a function is about,
 * which tells what a library holds behind a pointer to that function:
 *
 *     std::any::_Manager_internal<Point>::_S_manage
 */
#include "image/templates.h"

#include <string.h>

#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/ranges.h"
#include "image/dwarf/root.h"
#include "image/dwarf/scope.h"
#include "image/dwarf/type.h"
#include "image/dwarf/unit.h"

#define STEPS UINT64_C(20000000)
#define BASES_DEPTH 8
#define LINKS 4 /* from a definition to its declaration */

/* ---- of a type ---- */

static size_t read_arguments(struct cp_unit *unit, struct cp_walk *w,
			     struct cp_type_argument *arguments, size_t max, size_t n)
{
	struct cp_attrs a;
	struct cp_die die;
	const char *name;
	uint64_t value;

	while (cp_walk_next(w, &die) && die.abbrev && cp_attrs_read(w, die.abbrev, &a)) {
		uint16_t tag = die.abbrev->tag;

		if (tag == DW_TAG_template_type_parameter ||
		    tag == DW_TAG_template_value_parameter) {
			value = 0;
			name = cp_attr_string(unit, &a.name);
			cp_attr_number(&a.const_value, &value);
			if (n < max)
				arguments[n] = (struct cp_type_argument){
					.name = name ? name : "",
					.type = cp_type_referred(unit, &a.type),
					.is_value = tag == DW_TAG_template_value_parameter,
					.value = (int64_t)value,
				};
			n++;
		} else if (tag == DW_TAG_GNU_template_parameter_pack && die.abbrev->children) {
			n = read_arguments(unit, w, arguments, max, n);
			continue;
		}
		if (die.abbrev->children && !cp_walk_skip_children(w, &a.sibling))
			break;
	}
	return n;
}

size_t cp_type_arguments(struct cp_image *image, const struct cp_type *type,
			 struct cp_type_argument *arguments, size_t max)
{
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	size_t n = 0;

	if (!type->unit)
		return 0;
	pthread_mutex_lock(&image->debug_lock);
	if (cp_debuginfo_begin(image, STEPS) && cp_die_at(type->unit, type->die, &w, &die, &a) &&
	    die.abbrev->children)
		n = read_arguments(type->unit, &w, arguments, max, 0);
	pthread_mutex_unlock(&image->debug_lock);
	return n;
}

/* ---- of a function ---- */

/* The constant of that name that a class or one of its bases has for all its objects. */
static bool constant_of(struct cp_unit *unit, uint64_t class, const char *name, unsigned depth,
			int64_t *ret)
{
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	struct cp_unit *in;
	const char *own;
	uint64_t at, value;

	if (depth > BASES_DEPTH || !cp_die_at(unit, class, &w, &die, &a))
		return false;
	in = a.signature.form ? cp_attr_reference(unit, &a.signature, &at) : NULL;
	if (in && (in != unit || at != class))
		return constant_of(in, at, name, depth + 1, ret);
	if (!die.abbrev->children)
		return false;
	while (cp_walk_next(&w, &die) && die.abbrev && cp_attrs_read(&w, die.abbrev, &a)) {
		own = die.abbrev->tag == DW_TAG_member || die.abbrev->tag == DW_TAG_variable
			      ? cp_attr_string(unit, &a.name)
			      : NULL;
		if (own && !strcmp(own, name) && cp_attr_number(&a.const_value, &value)) {
			*ret = (int64_t)value;
			return true;
		}
		if (die.abbrev->tag == DW_TAG_inheritance) {
			in = cp_attr_reference(unit, &a.type, &at);
			if (in && constant_of(in, at, name, depth + 1, ret))
				return true;
		}
		if (die.abbrev->children && !cp_walk_skip_children(&w, &a.sibling))
			break;
	}
	return false;
}

static bool read_template(struct cp_unit *unit, uint64_t offset, struct cp_template *ret)
{
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	const char *name;

	if (!cp_die_at(unit, offset, &w, &die, &a))
		return false;
	name = cp_attr_string(unit, &a.name);
	if (die.abbrev->children && !ret->count)
		ret->count = read_arguments(unit, &w, ret->arguments, CP_TEMPLATE_ARGUMENTS, 0);
	if (ret->count > CP_TEMPLATE_ARGUMENTS)
		ret->count = CP_TEMPLATE_ARGUMENTS;
	if (name && !*ret->name)
		ret->name = name;
	return ret->count;
}

/* Of a class, which may be in a unit of its own. */
static bool class_template(struct cp_unit *unit, uint64_t offset, const char *constant,
			   struct cp_template *ret)
{
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	struct cp_unit *in;
	uint64_t at;

	if (!cp_die_at(unit, offset, &w, &die, &a))
		return false;
	in = a.signature.form ? cp_attr_reference(unit, &a.signature, &at) : NULL;
	if (in) {
		unit = in;
		offset = at;
	}
	if (!read_template(unit, offset, ret))
		return false;
	ret->has_constant = constant && constant_of(unit, offset, constant, 0, &ret->constant);
	return true;
}

/* The template of a function's DIE, or of those that it leads to; at last of the class
 * that it is declared in. */
static bool follow(struct cp_unit *unit, uint64_t offset, const char *constant,
		   struct cp_template *ret)
{
	const struct cp_scope *around;
	struct cp_attrs a;
	struct cp_walk w;
	struct cp_die die;
	struct cp_unit *in = unit;
	uint64_t at = offset;
	unsigned i;

	/* The name may stand with the declaration alone. */
	for (i = 0; in && i < LINKS; i++) {
		unit = in;
		offset = at;
		if (read_template(unit, offset, ret) && *ret->name)
			return true;
		if (!cp_die_at(unit, offset, &w, &die, &a))
			return false;
		in = cp_attr_reference(unit, a.specification.form ? &a.specification : &a.origin,
				       &at);
	}
	if (ret->count)
		return true;
	ret->name = "";
	around = cp_unit_scope_around(unit, offset);
	return around && around->tag != DW_TAG_namespace &&
	       class_template(unit, around->start, constant, ret);
}

bool cp_image_template_of(struct cp_image *image, struct cp_vaddr at, const char *constant,
			  struct cp_template *ret)
{
	const struct cp_function *function = NULL;
	struct cp_debuginfo *all;
	struct cp_unit *unit = NULL;
	bool found = false;

	*ret = (struct cp_template){ .name = "" };
	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, STEPS);
	if (all)
		unit = cp_debuginfo_unit(all, at.v);
	if (unit)
		unit = cp_unit_with_dies(unit);
	if (unit)
		function = cp_unit_function(unit, at.v);
	if (function)
		found = follow(unit, function->die, constant, ret);
	pthread_mutex_unlock(&image->debug_lock);
	return found;
}

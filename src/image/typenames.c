/* SPDX-License-Identifier: MIT
 *
 * What types are called: one with all that it is in, or all of an image.
 */
#include "image/typenames.h"

#include <string.h>

#include "base/buf.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/name.h"
#include "image/dwarf/root.h"
#include "image/dwarf/scope.h"
#include "image/dwarf/type.h"
#include "image/dwarf/type_unit.h"
#include "image/dwarf/unit.h"

#define STEPS UINT64_C(200000000)
#define TARGETS_MAX 16

/* The text of a type without a name, with the full name of what it is about in it. */
static const char *qualified_text(const struct cp_type *type)
{
	struct cp_debuginfo *all = type->unit->dwarf->all;
	const uint64_t *known = cp_map_get(&type->unit->dwarf->names, type->die);
	const struct cp_type *leaf = type;
	const char *full, *at;
	struct cp_buf text = { 0 };
	unsigned i;

	if (known)
		return (const char *)(uintptr_t)*known;
	for (i = 0; leaf && !leaf->name && i < TARGETS_MAX; i++)
		leaf = leaf->target;
	full = leaf && leaf->name && leaf->unit
		       ? cp_unit_function_name(leaf->unit, leaf->die, 0).name
		       : NULL;
	at = full ? strstr(type->text, leaf->name) : NULL;
	if (!at || !strcmp(full, leaf->name))
		return type->text;
	cp_buf_add(&text, type->text, (size_t)(at - type->text));
	cp_buf_str(&text, full);
	cp_buf_str(&text, at + strlen(leaf->name));
	cp_buf_u8(&text, 0);
	if (text.failed || !cp_vec_push(&all->strings, text.bytes)) {
		cp_buf_free(&text);
		return type->text;
	}
	cp_map_put(&type->unit->dwarf->names, type->die, (uintptr_t)text.bytes);
	return (const char *)text.bytes;
}

const char *cp_type_full_name(const struct cp_type *type)
{
	struct cp_image *image = cp_type_image(type);
	const char *name = NULL;

	if (!image || !type->unit || (!type->name && (!type->text || !type->target)))
		return type->text ? type->text : "";
	pthread_mutex_lock(&image->debug_lock);
	if (cp_debuginfo_begin(image, STEPS))
		name = type->name ? cp_unit_function_name(type->unit, type->die, 0).name
				  : qualified_text(type);
	pthread_mutex_unlock(&image->debug_lock);
	return name ? name : type->text;
}

/* ---- all names ---- */

#define NAMES_STEPS UINT64_C(50000000)

static void tell_types(struct cp_unit *unit, void (*tell)(void *ctx, const char *name), void *ctx)
{
	const struct cp_scope *s;
	const char *name;
	size_t i;

	cp_unit_read_scopes(unit);
	for (i = 0; i < unit->scopes.count; i++) {
		s = &unit->scopes.items[i];
		if (s->tag == DW_TAG_namespace || s->tag == DW_TAG_subprogram)
			continue;
		name = cp_unit_function_name(unit, s->start, 0).name;
		if (name)
			tell(ctx, name);
	}
}

void cp_image_type_names(struct cp_image *image, void (*tell)(void *ctx, const char *name),
			 void *ctx)
{
	struct cp_debuginfo *all;
	struct cp_unit *unit;
	size_t i;

	pthread_mutex_lock(&image->debug_lock);
	all = cp_debuginfo_begin(image, NAMES_STEPS);
	if (all)
		cp_dwarf_walk(all->main);
	for (i = 0; all && i < all->main->units.count; i++)
		if (cp_unit_root(unit = cp_unit_with_dies(all->main->units.items[i])))
			tell_types(unit, tell, ctx);
	for (i = 0; all && (unit = cp_debuginfo_type_unit(all, i)); i++)
		if (cp_unit_root(unit))
			tell_types(unit, tell, ctx);
	pthread_mutex_unlock(&image->debug_lock);
}

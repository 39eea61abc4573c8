/* SPDX-License-Identifier: MIT
 *
 * The declarations by which types of libraries are read, and what they ask of a
 * process: what a function is made of. The same few functions are asked for at call
 * after call, so the last answers are kept with the object.
 */
#include "engine/target/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/target/images.h"
#include "engine/target/state.h"
#include "engine/target/types.h"
#include "image/templates.h"
#include "inspect/shape_ops.h"

#define KEPT 64 /* answers */

struct engine_templates {
	struct {
		uint64_t address; /* link-time */
		const char *constant; /* a declaration's, or NULL */
		bool found;
		struct cp_template made;
	} list[KEPT];
	unsigned count, next;
};

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* `constant` is of a declaration that is shipped, and lasts. */
static bool template_of(void *ctx, uint64_t address, const char *constant, struct cp_template *ret)
{
	const struct engine_text *text = engine_find_text(ctx, address);
	cprof_assembly *a = text ? text->image->assembly : NULL;
	uint64_t at = text ? address - text->image->bias : 0;
	struct engine_templates *t;
	unsigned i;

	if (!a || !a->image)
		return false;
	if (!a->templates)
		a->templates = calloc(1, sizeof(*a->templates));
	t = a->templates;
	for (i = 0; t && i < t->count; i++) {
		if (t->list[i].address != at || !same(t->list[i].constant, constant))
			continue;
		*ret = t->list[i].made;
		return t->list[i].found;
	}
	if (!t)
		return cp_image_template_of(a->image, (struct cp_vaddr){ at }, constant, ret);
	i = t->next++ % KEPT;
	t->count = t->count < KEPT ? t->count + 1 : KEPT;
	t->list[i].address = at;
	t->list[i].constant = constant;
	t->list[i].found = cp_image_template_of(a->image, (struct cp_vaddr){ at }, constant, ret);
	t->list[i].made = *ret;
	return t->list[i].found;
}

/* A type that a declaration names: of the objects that are mapped, the first that has it. */
static CP_ERROR find_type(void *ctx, const char *name, const struct cp_type **ret)
{
	const cprof_process *p = ctx;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const struct cp_type *type =
			p->images.items[i]->mapped
				? engine_type_named(p->images.items[i]->assembly, name)
				: NULL;

		if (!type)
			continue;
		*ret = type;
		return NULL;
	}
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no type %s", name);
}

const struct cp_shapes *engine_shapes(cprof_process *p)
{
	if (p->shapes)
		return p->shapes;
	p->shapes = calloc(1, sizeof(*p->shapes));
	if (p->shapes)
		*p->shapes = (struct cp_shapes){ .ops = &cp_shape_ops,
						 .find_type = find_type,
						 .ctx = p,
						 .template_of = template_of };
	return p->shapes;
}

/* SPDX-License-Identifier: MIT
 *
 * The vtables of Rust's traits. rustc describes each as a variable that is called by the type
 * and the trait that it was made for:
 *
 *     <app::Dog as app::Speak>::{vtable}
 */
#include "cmd/vtables.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/inspecting.h"
#include "inspect/statics.h"

#define VTABLE "::{vtable}"

/* "app::Dog" of the above, to be free()d; NULL: it is called in another way. */
static char *type_in(const char *name)
{
	const char *at, *begin = strchr(name, '<');
	int depth = 0;

	for (at = begin ? begin + 1 : ""; *at && depth >= 0; at++) {
		if (!depth && !strncmp(at, " as ", strlen(" as ")))
			return strndup(begin + 1, (size_t)(at - begin - 1));
		if (strchr("<([{", *at))
			depth++;
		else if (strchr(")]}", *at) || (*at == '>' && at[-1] != '-'))
			depth--;
	}
	return NULL;
}

static void add(struct cp_inspected *in, const struct cp_object *o, const struct cp_global *g)
{
	const struct cp_statics statics = { .memory = &in->memory, .arena = &in->arena };
	const struct cp_placed_image of = { o->image, o->bias };
	const struct cp_thing thing = cp_static_thing(&statics, &of, o->program, g);
	struct cp_vtable v = { .address = thing.address };

	if (thing.error || !thing.in_memory)
		return;
	v.name = type_in(g->name);
	if (!v.name || !cp_vec_push(&in->vtables.list, v))
		free(v.name);
}

static int by_address(const void *a, const void *b)
{
	const struct cp_vtable *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* All of them are found at once: it is one walk over the debug information. */
static void read_all(struct cp_inspected *in)
{
	const struct cp_global_query query = { .glob = "*" VTABLE };
	const struct cp_global *g;
	struct cp_globals found;
	struct cp_object *o;

	in->vtables.read = true;
	cp_vec_for_each(&in->objects.list, o) {
		struct cp_error *err = cp_image_find_globals(o->image, &query, &found);

		if (!err) {
			cp_vec_for_each(&found.list, g)
				add(in, o, g);
			cp_globals_free(&found);
		}
		cp_error_free(err);
	}
	cp_vec_sort(&in->vtables.list, by_address);
}

const struct cp_type *cp_vtable_type(void *ctx, uint64_t address, const char **name_ret)
{
	struct cp_inspected *in = ctx;
	const struct cp_vtable wanted = { .address = address };
	struct cp_vtable *v;
	struct cp_error *err;

	if (!address)
		return NULL;
	if (!in->vtables.read)
		read_all(in);
	v = !in->vtables.list.count ? NULL
				    : bsearch(&wanted, in->vtables.list.items,
					      in->vtables.list.count, sizeof(*v), by_address);
	if (v && !v->sought) {
		v->sought = true;
		err = in->env.type(in->env.ctx, v->name, &v->type);
		v->type = err ? NULL : v->type;
		cp_error_free(err);
	}
	*name_ret = v ? v->name : NULL;
	return v ? v->type : NULL;
}

void cp_vtables_free(struct cp_vtables *vtables)
{
	struct cp_vtable *v;

	cp_vec_for_each(&vtables->list, v)
		free(v->name);
	cp_vec_free(&vtables->list);
}

/* SPDX-License-Identifier: MIT
 *
 * Static variables of a process by their names. Which there are of a name is worked out
 * once for an object; where they are, each process says.
 */
#include "engine/target/variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "engine/target/state.h"
#include "image/globals.h"
#include "image/jit.h"
#include "inspect/statics.h"

/* Names that were asked for, with what was found. */
struct engine_variables {
	CP_VEC(struct known {
		char *key; /* owned: file, newline, name */
		struct cp_globals found; /* perhaps none */
	} *)
	list;
};

static void free_known(struct known *k)
{
	if (k)
		cp_globals_free(&k->found);
	if (k)
		free(k->key);
	free(k);
}

void engine_variables_free(struct engine_variables *v)
{
	size_t i;

	for (i = 0; v && i < v->list.count; i++)
		free_known(v->list.items[i]);
	if (v)
		cp_vec_free(&v->list);
	free(v);
}

static struct known *make_known(cprof_assembly *a, char *key, const struct cp_global_query *query)
{
	struct known *k = calloc(1, sizeof(*k));
	struct cp_error *err = k ? cp_image_find_globals(a->image, query, &k->found) : NULL;

	if (!k || err || !cp_vec_push(&a->variables->list, k)) {
		cp_error_free(err);
		free_known(k);
		return NULL;
	}
	k->key = key;
	return k;
}

/* NULL: nothing can be found in it. */
static const struct known *known(cprof_assembly *a, const char *name, const char *file)
{
	const struct cp_global_query query = { .name = cp_starts_with(name, "::") ? name + 2 : name,
					       .file = file };
	CP_FREE char *key = NULL;
	struct known *k;
	size_t i;

	if (!a->variables)
		a->variables = calloc(1, sizeof(*a->variables));
	if (!a->variables || asprintf(&key, "%s\n%s", file ? file : "", query.name) < 0)
		return NULL;
	for (i = 0; i < a->variables->list.count; i++)
		if (!strcmp(a->variables->list.items[i]->key, key))
			return a->variables->list.items[i];
	k = make_known(a, key, &query);
	if (k)
		cp_steal(key);
	return k;
}

bool engine_find_static(cprof_process *p, const cprof_image *image, const char *name,
			const char *file, struct engine_static *ret)
{
	const struct known *k;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *in = p->images.items[i];

		if (!in->mapped || !in->assembly->image || (image && in != image))
			continue;
		k = known(in->assembly, name, file);
		if (!k || !k->found.list.count)
			continue;
		*ret = (struct engine_static){ in, &k->found.list.items[0] };
		return true;
	}
	return false;
}

bool engine_find_symbol(const cprof_process *p, const char *name, struct cp_thing *ret)
{
	struct cp_vaddr at;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *in = p->images.items[i];

		if (!in->mapped || !in->assembly->image ||
		    !cp_image_variable(in->assembly->image, name, &at))
			continue;
		*ret = cp_thing_at(NULL, at.v + in->bias);
		return true;
	}
	return false;
}

/* glibc and its dynamic linker tell where threads' variables are. */
static struct cp_thread_library thread_library(const cprof_process *p)
{
	struct cp_thread_library library = { .memory = &p->memory };
	struct cp_vaddr at;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *in = p->images.items[i];
		const struct cp_placed_image placed = { in->assembly->image, in->bias };
		const char *name = cp_basename(in->assembly->path);

		if (!in->mapped || !placed.image)
			continue;
		if (cp_starts_with(name, "libc") &&
		    cp_image_variable(placed.image, "_thread_db_pthread_tid", &at))
			library.libc = placed;
		if (cp_starts_with(name, "ld") &&
		    cp_image_variable(placed.image, "_rtld_global", &at))
			library.linker = placed;
	}
	return library;
}

struct cp_thing engine_static_thing(cprof_process *p, const struct engine_static *found,
				    int32_t tid, struct cp_arena *arena)
{
	const struct cp_thread_library library = thread_library(p);
	const struct cp_statics statics = {
		.memory = &p->memory, .threads = &library, .tid = tid, .arena = arena
	};
	const struct cp_placed_image of = { found->image->assembly->image, found->image->bias };
	const bool program = p->exe && !strcmp(found->image->assembly->path, p->exe);

	return cp_static_thing(&statics, &of, program, found->global);
}

/* SPDX-License-Identifier: MIT
 *
 * Static variables of a process by their names. Which there are of a name is worked out
 * once for an object; where they are, each process says.
 */
#include "engine/target/variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/target/state.h"
#include "image/jit.h"
#include "inspect/outer_names.h"
#include "inspect/signature.h"

struct engine_variables {
	struct cp_outer_names names;
};

void engine_variables_free(struct engine_variables *v)
{
	if (v)
		cp_outer_names_free(&v->names);
	free(v);
}

static struct cp_outer_names *names_of(cprof_assembly *a)
{
	if (!a->variables)
		a->variables = calloc(1, sizeof(*a->variables));
	return a->variables ? &a->variables->names : NULL;
}

/* NULL: nothing can be found in it. */
static const struct cp_outer_name *known(cprof_assembly *a, const char *name, const char *file)
{
	struct cp_outer_names *names = names_of(a);

	return names ? cp_outer_variables(names, a->image, name, file) : NULL;
}

const struct cp_outer_name *engine_outer_name(cprof_assembly *a, const char *function,
					      const char *name, const char *file)
{
	struct cp_outer_names *names = a->image ? names_of(a) : NULL;

	return names ? cp_outer_name_within(names, a->image, function, name, file) : NULL;
}

/* Is it the program's own? */
static bool is_of(const cprof_process *p, const cprof_image *image)
{
	return p->exe && !strcmp(image->assembly->path, p->exe);
}

const struct cp_type *engine_enumeration(const cprof_process *p, bool program, const char *name)
{
	const struct cp_outer_name *outer;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *in = p->images.items[i];

		if (!in->mapped || is_of(p, in) != program)
			continue;
		outer = engine_outer_name(in->assembly, NULL, name, NULL);
		if (outer && outer->enumeration)
			return outer->enumeration;
	}
	return NULL;
}

bool engine_find_static(cprof_process *p, const cprof_image *image, const char *name,
			const char *file, struct engine_static *ret)
{
	const struct cp_outer_name *k;
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
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *in = p->images.items[i];
		const struct cp_placed_image placed = { in->assembly->image, in->bias };

		if (in->mapped && placed.image)
			cp_thread_library_meet(&library, &placed, in->assembly->path, is_of(p, in));
	}
	return library;
}

static struct cp_placed_image program_of(const cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *in = p->images.items[i];

		if (in->mapped && is_of(p, in))
			return (struct cp_placed_image){ in->assembly->image, in->bias };
	}
	return (struct cp_placed_image){ 0 };
}

/* The C library is looked at for variables of threads alone. */
static struct cp_statics statics_of(const cprof_process *p, const struct cp_thread_library *library,
				    int32_t tid, struct cp_arena *arena)
{
	return (struct cp_statics){
		.memory = &p->memory,
		.threads = library,
		.tid = tid,
		.arena = arena,
		.program = program_of(p),
	};
}

struct cp_thing engine_static_thing(cprof_process *p, const struct engine_static *found,
				    int32_t tid, struct cp_arena *arena)
{
	const struct cp_thread_library library = thread_library(p);
	const struct cp_statics statics = statics_of(p, &library, tid, arena);
	const struct cp_placed_image of = { found->image->assembly->image, found->image->bias };

	return cp_static_thing(&statics, &of, is_of(p, found->image), found->global);
}

bool engine_outer_thing(cprof_process *p, const cprof_image *image, const char *function,
			const char *name, const char *file, int32_t tid,
			const struct cp_expression_env *env, struct cp_thing *ret)
{
	const struct cp_outer_name *outer =
		engine_outer_name(image->assembly, function, name, file);
	const struct cp_placed_image of = { image->assembly->image, image->bias };
	struct cp_thread_library library = { 0 };
	const struct cp_statics statics = statics_of(p, &library, tid, env->arena);

	if (outer && outer->found.list.count &&
	    cp_static_is_of_threads(&outer->found.list.items[0]))
		library = thread_library(p);
	return outer && cp_outer_thing(env, outer, &statics, &of, is_of(p, image), name, ret);
}

static const cprof_image *image_of(const cprof_process *p, const struct cp_signature *signature)
{
	size_t i;

	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->mapped && signature->image &&
		    p->images.items[i]->assembly->image == signature->image)
			return p->images.items[i];
	return NULL;
}

bool engine_own_static(cprof_process *p, const struct cp_signature *signature,
		       const struct cp_variable *own, int32_t tid,
		       const struct cp_expression_env *env, struct cp_thing *ret)
{
	const cprof_image *image = own ? image_of(p, signature) : NULL;
	struct cp_thread_library library = { 0 };
	const struct cp_statics statics = statics_of(p, &library, tid, env->arena);
	struct cp_placed_image of;
	struct cp_global global;

	if (!image)
		return false;
	of = (struct cp_placed_image){ image->assembly->image, image->bias };
	global = cp_static_of(signature, own, env->arena);
	if (cp_static_is_of_threads(&global))
		library = thread_library(p);
	*ret = cp_static_thing(&statics, &of, is_of(p, image), &global);
	return true;
}

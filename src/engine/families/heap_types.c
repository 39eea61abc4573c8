/* SPDX-License-Identifier: MIT
 *
 * The walk goes outwards as long as it is in functions of languages' runtimes, up to the
 * first whose name has the type (base/heaptype.c). What a place tells, inlined calls
 * included, never changes: it is kept.
 */
#include "engine/families/heap_types.h"

#include <stdlib.h>

#include "base/heaptype.h"
#include "base/map.h"
#include "base/runtime.h"
#include "base/text.h"
#include "base/vec.h"
#include "engine/frames/snapshot.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "engine/target/types.h"

struct place {
	const cprof_assembly *assembly;
	uint64_t address; /* link-time */
};

struct told {
	const char *name; /* of the type; NULL: the place tells none */
	const struct cp_type *type; /* NULL: there is no debug information of it */
	bool goes_on; /* it tells none, and its callers may */
};

struct engine_heap_types {
	struct cp_interner places, names;
	CP_VEC(struct told) told; /* by number of the place */
};

struct engine_heap_types *engine_heap_types_create(void)
{
	return calloc(1, sizeof(struct engine_heap_types));
}

void engine_heap_types_free(struct engine_heap_types *types)
{
	if (!types)
		return;
	cp_interner_free(&types->places);
	cp_interner_free(&types->names);
	cp_vec_free(&types->told);
	free(types);
}

/* ---- a place ---- */

struct look {
	struct engine_heap_types *types;
	bool runtime; /* the file is a language's runtime */
	bool asked; /* of at least one function */
	struct told told;
};

/* Innermost first. */
static void look_at(const cprof_symbol *symbol, void *data)
{
	struct look *look = data;
	const char *name = symbol->name ? symbol->name : "", *type;
	uint32_t number;
	size_t size;

	if (look->asked && !look->told.goes_on)
		return;
	look->asked = true;
	type = cp_heap_type_in(name, &size);
	if (type && cp_intern(&look->types->names, type, size, &number, NULL))
		look->told.name = look->types->names.items[number].bytes;
	look->told.goes_on = !look->told.name && (look->runtime || cp_name_is_runtime(name));
}

static struct told read_place(struct engine_heap_types *types, cprof_assembly *a, uint64_t address)
{
	struct look look = { .types = types,
			     .runtime = a->path && cp_file_is_runtime(cp_basename(a->path)) };

	look.told.goes_on = look.runtime;
	cprof_assembly_symbolize(a, address, look_at, &look);
	if (look.told.name)
		look.told.type = engine_type_named(a, look.told.name);
	return look.told;
}

static struct told at_place(struct engine_heap_types *types, cprof_image *image, uint64_t address)
{
	const struct place key = { image->assembly, address };
	struct told told = { 0 };
	uint32_t number;
	bool fresh;

	if (!cp_intern(&types->places, &key, sizeof(key), &number, &fresh))
		return told;
	if (!fresh)
		return number < types->told.count ? types->told.items[number] : told;
	told = read_place(types, image->assembly, address);
	cp_vec_push(&types->told, told);
	return told;
}

void engine_heap_type(cprof_session *s, struct engine_heap_types *types, cprof_object *object)
{
	struct told told = { .goes_on = true };
	enum cp_unwind_end end;
	size_t count, i;

	if (!s->current.walkable || !engine_walk(s, NULL, false, &count, &end))
		return;
	for (i = 0; i < count && told.goes_on; i++) {
		uint64_t pc = s->frames[i].pc.v - (i != 0);
		const struct engine_text *text = engine_find_text(s->current.process, pc);

		if (!text)
			return;
		told = at_place(types, text->image, pc - text->image->bias);
	}
	object->type_name = told.name;
	object->type = engine_type_told(told.type);
}

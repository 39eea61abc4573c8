/* SPDX-License-Identifier: MIT
 *
 * The functions of an ELF object, read when somebody first asks, and which of them are
 * traced.
 */
#include "engine/probes/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/probes/sites.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "unwind/pads.h"

struct cp_decoder *engine_decoder(struct engine_calls *c)
{
	if (!c->decoder)
		c->decoder = cp_decoder_create(cp_arch_host());
	return c->decoder;
}

/* Only objects that are files get breakpoints: not the vdso, not code made at run time. */
struct engine_plans *engine_plans_of(cprof_assembly *a)
{
	if (!a->image || a->path[0] != '/')
		return NULL;
	if (!a->plans)
		a->plans = calloc(1, sizeof(*a->plans));
	return a->plans;
}

bool engine_plans_read(cprof_assembly *a, struct engine_plans *plans)
{
	struct cp_error *err;

	if (plans->read)
		return plans->functions.count != 0;
	plans->read = true;
	err = cp_probe_functions_read(a->image, &plans->functions);
	if (err)
		cp_debug("functions of %s: %s", a->path, err->what);
	cp_error_free(err);
	plans->numbers = calloc(plans->functions.count + 1, sizeof(*plans->numbers));
	return plans->numbers && plans->functions.count;
}

void engine_plans_pads(const cprof_assembly *a, struct engine_plans *plans)
{
	struct cp_reader file = cp_probe_file_reader(a->image);
	struct cp_unwind_section frames = { 0 };

	if (plans->pads_read)
		return;
	plans->pads_read = true;
	if (cp_image_section(a->image, ".eh_frame", &frames.bytes, &frames.size, &frames.addr))
		cp_error_free(cp_unwind_pads(cp_arch_host(), &frames, &file, &plans->functions.pads,
					     &plans->functions.pad_count));
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool engine_plans_is_pad(cprof_assembly *a, uint64_t address)
{
	struct engine_plans *plans = engine_plans_of(a);

	if (!plans || !engine_plans_read(a, plans))
		return false;
	engine_plans_pads(a, plans);
	return plans->functions.pads &&
	       bsearch(&address, plans->functions.pads, plans->functions.pad_count, sizeof(address),
		       by_address);
}

struct cp_probe_image engine_probe_image(const cprof_image *image)
{
	struct engine_plans *plans = image->assembly->plans;

	return (struct cp_probe_image){
		.image = image->assembly->image,
		.name = image->assembly->path,
		.started_as = engine_image_started_as(image),
		.program = engine_is_program(image),
		.functions = plans ? &plans->functions : NULL,
	};
}

struct cp_probe_function *engine_function_probe(const cprof_function *f)
{
	struct engine_plans *plans = engine_plans_of(f->image->assembly);
	uint64_t start = f->start - f->image->bias;
	struct cp_probe_function *probe;

	if (!plans || !engine_plans_read(f->image->assembly, plans))
		return NULL;
	probe = cp_probe_functions_find(&plans->functions, start);
	return probe && probe->address == start ? probe : NULL;
}

const cprof_function *engine_probe_function(cprof_session *s, cprof_image *image,
					    struct cp_probe_function *f)
{
	struct {
		const cprof_image *image;
		uint64_t start;
	} key = { image, f->address };
	cprof_function *made;
	uint32_t id;
	bool fresh;

	if (!cp_intern(&s->function_keys, &key, sizeof(key), &id, &fresh))
		return NULL;
	if (!fresh)
		return s->functions.items[id];
	made = calloc(1, sizeof(*made));
	if (!cp_vec_push(&s->functions, made)) {
		free(made);
		return NULL;
	}
	if (made)
		*made = (cprof_function){
			.image = image,
			.linkage_name = f->linkage_name,
			.planned = true,
			.start = f->address + image->bias,
			.size = f->size,
			.unnamed = f->flags & CP_PROBE_UNNAMED,
		};
	return made;
}

const cprof_function *engine_traced_function(cprof_session *s, const cprof_image *image,
					     uint32_t number)
{
	uint64_t *known = cp_map_get(&image->traced, number);
	const struct engine_traced *t = s->calls->traced.items[number];
	cprof_image *own = (cprof_image *)(uintptr_t)image;
	const cprof_function *f;

	if (known)
		return (const cprof_function *)(uintptr_t)*known;
	f = engine_probe_function(s, own, t->function);
	if (f)
		cp_map_put(&own->traced, number, (uintptr_t)f);
	return f;
}

static bool has_in_part(const struct cp_probe_function *f, uint64_t address)
{
	size_t i;

	for (i = 1; i < f->range_count && i < CP_PROBE_RANGES; i++)
		if (address >= f->ranges[i].start && address < f->ranges[i].end)
			return true;
	return false;
}

bool engine_traced_at(const cprof_session *s, const cprof_image *image, uint64_t address)
{
	struct engine_plans *plans = image->assembly->plans;
	const struct cp_probe_function *f;
	const struct engine_traced *t;
	uint32_t number;
	size_t i;

	if (!plans || !plans->numbers)
		return false;
	f = cp_probe_functions_find(&plans->functions, address);
	for (i = 0; !f && i < plans->functions.count; i++)
		if (has_in_part(&plans->functions.items[i], address))
			f = &plans->functions.items[i];
	number = f ? plans->numbers[f - plans->functions.items] : 0;
	t = number && number != ENGINE_NO_FUNCTION ? s->calls->traced.items[number - 1] : NULL;
	return t && t->site_count && !t->disarmed && engine_traced_by_others(t);
}

/* SPDX-License-Identifier: MIT */
#include "probe/inlined.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "image/lines.h"

#define NOBODY UINT32_MAX

/* All functions of an image, with the inlined instances of each in a chain. */
struct cp_inlined_index {
	struct cp_source_functions all; /* by address, real ones first */
	struct cp_map first; /* where in the sources: the first instance there */
	uint32_t *next; /* of each: the next instance there, or NOBODY */
};

/* Paths are interned. */
static uint64_t place_of(const struct cp_source_function *f)
{
	return cp_hash_u64((uintptr_t)f->file * 31 ^ f->line);
}

static bool add_to_chain(struct cp_inlined_index *x, uint32_t n)
{
	uint64_t place = place_of(&x->all.items.items[n]);
	const uint64_t *before = cp_map_get(&x->first, place);

	x->next[n] = before ? (uint32_t)*before : NOBODY;
	return cp_map_put(&x->first, place, n);
}

struct cp_inlined_index *cp_inlined_index_create(struct cp_image *image)
{
	struct cp_inlined_index *x = calloc(1, sizeof(*x));
	struct cp_error *err;
	bool ok = true;
	uint32_t i;

	if (!x)
		return NULL;
	err = cp_image_source_functions(image, &x->all);
	if (!err)
		x->next = calloc(x->all.items.count + 1, sizeof(*x->next));
	for (i = 0; x->next && ok && i < x->all.items.count; i++)
		if (x->all.items.items[i].inlined)
			ok = add_to_chain(x, i);
	if (!err && ok && x->next)
		return x;
	cp_error_free(err);
	cp_inlined_index_destroy(x);
	return NULL;
}

void cp_inlined_index_destroy(struct cp_inlined_index *x)
{
	if (!x)
		return;
	cp_source_functions_free(&x->all);
	cp_map_free(&x->first);
	free(x->next);
	free(x);
}

/* Two names at one place of the sources, where instances of templates differ. Of
 * constructors and destructors there are several that are one function to who
 * wrote it; a lambda has its whole name only where it has code. */
static bool same_function(const char *real, const char *instance)
{
	size_t n;

	if (!real || !instance)
		return real == instance;
	for (n = 0; real[n] && real[n] == instance[n]; n++)
		;
	if (!real[n] && !instance[n])
		return true;
	if (n && cp_starts_with(real, "_Z") && strchr("CD", real[n - 1]) &&
	    isdigit((unsigned char)real[n]) && isdigit((unsigned char)instance[n]))
		return !strcmp(real + n + 1, instance + n + 1);
	return !cp_starts_with(instance, "_Z") && cp_ends_with(instance, "operator()");
}

static const struct cp_source_function *function_at(const struct cp_inlined_index *x,
						    uint64_t address)
{
	const struct cp_source_function *f = x->all.items.items;
	size_t low = 0, high = x->all.items.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->all.items.count && f[low].address == address && !f[low].inlined ? &f[low]
											: NULL;
}

static size_t count_like(const struct cp_inlined_index *x, const struct cp_source_function *f)
{
	const uint64_t *first = f->file ? cp_map_get(&x->first, place_of(f)) : NULL;
	const struct cp_source_function *other;
	uint32_t i = first ? (uint32_t)*first : NOBODY;
	size_t count = 0;

	for (; i != NOBODY; i = x->next[i]) {
		other = &x->all.items.items[i];
		count += other->file == f->file && other->line == f->line &&
			 same_function(f->name, other->name);
	}
	return count;
}

size_t cp_inlined_places(const struct cp_inlined_index *x, uint64_t address)
{
	const struct cp_source_function *f = function_at(x, address);

	return f ? count_like(x, f) : 0;
}

/* ---- functions that are nowhere else ---- */

struct looking {
	struct cp_spec *spec;
	const struct cp_probe_image *image;
	const struct cp_inlined_index *index;
	struct cp_map real; /* hashes of the names of what has code */
	struct cp_map asked; /* of names: 1 it is meant, 0 it is not */
	struct cp_map counted; /* of those that are meant, and where in the sources */
};

static uint64_t name_hash(const char *name)
{
	return cp_hash_bytes(name, strlen(name));
}

static const char *source_of(void *ctx)
{
	return ((const struct cp_source_function *)ctx)->file;
}

static bool is_meant(struct looking *l, const struct cp_source_function *f)
{
	struct cp_source_function copy = *f;
	CP_FREE char *name = cp_demangle(f->name);
	struct cp_spec_subject subject = {
		.name = name,
		.linkage_name = f->name,
		.image = l->image->name,
		.started_as = l->image->started_as,
		.program = l->image->program,
		.source = source_of,
		.ctx = &copy,
	};

	return name && cp_spec_match(l->spec, &subject) != CP_SPEC_NO;
}

static void look_at(struct looking *l, const struct cp_source_function *f, struct cp_inlined *to)
{
	uint64_t hash = name_hash(f->name), id = hash ^ place_of(f);
	const uint64_t *known = cp_map_get(&l->asked, hash);
	bool meant = known ? *known : is_meant(l, f);

	if (!known)
		cp_map_put(&l->asked, hash, meant);
	if (!meant || cp_map_get(&l->real, id))
		return;
	to->places++;
	if (cp_map_get(&l->counted, id) || !cp_map_put(&l->counted, id, 1))
		return;
	if (!to->functions++)
		to->name = cp_demangle(f->name);
}

static void look(struct looking *l, struct cp_inlined *to)
{
	const struct cp_source_function *f;

	cp_vec_for_each(&l->index->all.items, f)
		if (f->address && !f->inlined && f->name)
			cp_map_put(&l->real, name_hash(f->name) ^ place_of(f), 1);
	cp_vec_for_each(&l->index->all.items, f)
		if (f->inlined && f->name)
			look_at(l, f, to);
	cp_map_free(&l->real);
	cp_map_free(&l->asked);
	cp_map_free(&l->counted);
}

void cp_inlined_try(struct cp_inlined *inlined, const char *spec,
		    const struct cp_probe_image *image)
{
	struct cp_inlined_index *index;
	struct looking l = { .image = image };
	struct cp_error *err;

	if (inlined->functions || (!image->program && cp_path_is_system_image(image->name)))
		return;
	/* A SPEC that only excludes means nothing. */
	err = cp_spec_parse(spec, &l.spec);
	cp_error_free(err);
	if (err)
		return;
	index = cp_probe_wants_image(l.spec, image) ? cp_inlined_index_create(image->image) : NULL;
	l.index = index;
	if (index)
		look(&l, inlined);
	cp_inlined_index_destroy(index);
	cp_spec_destroy(l.spec);
}

bool cp_inlined_text(const struct cp_inlined *inlined, struct cp_buf *out)
{
	if (!inlined->functions || !inlined->name)
		return false;
	cp_escape(out, CP_ESCAPE_TERMINAL, inlined->name, strlen(inlined->name));
	if (inlined->functions > 1)
		cp_buf_printf(out, " and %zu more are", inlined->functions - 1);
	else
		cp_buf_str(out, " is");
	cp_buf_printf(out, " inlined everywhere (%zu place%s): there is no call to trace",
		      inlined->places, inlined->places == 1 ? "" : "s");
	return true;
}

void cp_inlined_free(struct cp_inlined *inlined)
{
	free(inlined->name);
	*inlined = (struct cp_inlined){ 0 };
}

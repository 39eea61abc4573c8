/* SPDX-License-Identifier: MIT */
#include "engine/frames/places.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "engine/target/state.h"

#define LEVELS 64 /* of inlined calls in one place */
#define NEVER 1u /* never comes back to itself by tail calls */
#define PERHAPS 2u

/* A function that ends in another one, or is not known to. */
struct engine_ending {
	uint64_t from, to; /* link-time entries */
	bool known;
	struct cp_call_site site;
};

struct engine_places {
	struct cp_map inlined; /* address and level -> struct cp_signature *, owned */
	struct cp_map sites; /* return address -> struct cp_call_site * in the arena, or 0 */
	struct cp_map jumps; /* hash of both entries -> struct engine_ending * in the arena */
	struct cp_map tails; /* entry -> NEVER, PERHAPS */
	struct cp_arena arena;
};

static struct engine_places *places_of(cprof_assembly *a)
{
	if (!a->places && a->image)
		a->places = calloc(1, sizeof(*a->places));
	return a->places;
}

const struct cp_signature *engine_inlined_signature(cprof_assembly *a, uint64_t at, uint32_t level,
						    const struct cp_value_limits *limits)
{
	struct engine_places *p = level < LEVELS ? places_of(a) : NULL;
	uint64_t key = at * LEVELS + level, *known;
	struct cp_signature *signature = NULL;

	if (!p)
		return NULL;
	known = cp_map_get(&p->inlined, key);
	if (known)
		return (const struct cp_signature *)(uintptr_t)*known;
	cp_error_free(cp_signature_read_frame(a->image, (struct cp_vaddr){ at }, level, limits,
					      &signature));
	if (signature && !cp_map_put(&p->inlined, key, (uintptr_t)signature)) {
		cp_signature_destroy(signature);
		return NULL;
	}
	return signature;
}

const struct cp_call_site *engine_call_site(cprof_assembly *a, uint64_t address)
{
	struct engine_places *p = places_of(a);
	struct cp_call_site *site;
	uint64_t *known;

	if (!p)
		return NULL;
	known = cp_map_get(&p->sites, address);
	if (known)
		return (const struct cp_call_site *)(uintptr_t)*known;
	site = cp_arena_alloc(&p->arena, sizeof(*site));
	if (site && !cp_image_call_site(a->image, (struct cp_vaddr){ address }, &p->arena, site))
		site = NULL;
	cp_map_put(&p->sites, address, (uintptr_t)site);
	return site;
}

const struct cp_call_site *engine_tail_call(cprof_assembly *a, uint64_t from, uint64_t to)
{
	struct engine_places *p = places_of(a);
	/* Few pairs share a hash, and then one of them is not known. */
	uint64_t key = cp_hash_u64(from ^ cp_hash_u64(to)), *known;
	struct engine_ending *jump;

	if (!p)
		return NULL;
	known = cp_map_get(&p->jumps, key);
	jump = known ? (struct engine_ending *)(uintptr_t)*known
		     : cp_arena_alloc(&p->arena, sizeof(*jump));
	if (!jump)
		return NULL;
	if (!known) {
		jump->from = from;
		jump->to = to;
		jump->known = cp_image_tail_call(a->image, (struct cp_vaddr){ from },
						 (struct cp_vaddr){ to }, &p->arena, &jump->site);
		cp_map_put(&p->jumps, key, (uintptr_t)jump);
	}
	return jump->known && jump->from == from && jump->to == to ? &jump->site : NULL;
}

bool engine_never_comes_back(cprof_assembly *a, uint64_t entry)
{
	struct engine_places *p = places_of(a);
	uint64_t *known = p ? cp_map_get(&p->tails, entry) : NULL;
	bool never;

	if (!p || known)
		return p && *known == NEVER;
	never = cp_image_never_comes_back(a->image, (struct cp_vaddr){ entry });
	cp_map_put(&p->tails, entry, never ? NEVER : PERHAPS);
	return never;
}

void engine_places_free(struct engine_places *p)
{
	uint64_t key, value;
	size_t cursor = 0;

	if (!p)
		return;
	while (cp_map_next(&p->inlined, &cursor, &key, &value))
		cp_signature_destroy((struct cp_signature *)(uintptr_t)value);
	cp_map_free(&p->inlined);
	cp_map_free(&p->sites);
	cp_map_free(&p->jumps);
	cp_map_free(&p->tails);
	cp_arena_free(&p->arena);
	free(p);
}

const struct cp_signature *engine_function_signature(const cprof_function *function)
{
	cprof_function *f = (cprof_function *)(uintptr_t)function;
	const cprof_session *s = f->image->process->session;
	struct cp_vaddr entry = { f->start - f->image->bias };
	struct cp_error *err;

	if (f->signature || f->signature_read || !f->image->assembly->image)
		return f->signature;
	f->signature_read = true;
	err = cp_signature_read(f->image->assembly->image, entry, f->linkage_name, false, false,
				CP_SIGNATURE_ARGUMENTS | CP_SIGNATURE_LOCALS, &s->limits,
				&f->signature);
	if (err)
		cp_debug("types of %s: %s", f->linkage_name, err->what);
	cp_error_free(err);
	return f->signature;
}

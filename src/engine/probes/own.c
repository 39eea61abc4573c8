/* SPDX-License-Identifier: MIT
 *
 * Sites of families' own: names are compared once for an ELF object, for all families;
 * then each may look for more.
 */
#include "engine/probes/own.h"

#include <string.h>

#include "base/text.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "image/image.h"

static bool is_usual(const cprof_image *image)
{
	const char *name = cp_basename(image->assembly->path);

	return !strncmp(name, "ld", 2) || !strncmp(name, "libc", 4) || engine_is_program(image);
}

/* May the image have sites of the family's own? */
static bool may_have(const cprof_image *image, enum engine_family_id id)
{
	const cprof_session *s = image->process->session;
	const struct engine_family *f = s->families[id];

	return (f->watch_count || f->plan) && engine_family_placed(s, id) &&
	       (f->anywhere || is_usual(image));
}

uint32_t engine_own_site(struct engine_calls *c, cprof_assembly *a, uint64_t address,
			 const struct engine_site *like)
{
	struct cp_reader file = cp_probe_file_reader(a->image);
	struct engine_site site = *like;
	size_t size = file.read(file.ctx, address, site.code, sizeof(site.code));
	struct cp_insn insn;

	if (!cp_decode(c->decoder, site.code, size, address, &insn))
		return 0;
	site.address = address;
	site.traced = ENGINE_NO_FUNCTION;
	site.kind = ENGINE_SITE_OWN;
	site.size = insn.size;
	return cp_vec_push(&c->sites, site) ? (uint32_t)c->sites.count : 0;
}

bool engine_own_add(struct engine_own *own, uint32_t site, uint32_t number, uint8_t often)
{
	const struct engine_own_group group = { .number = number,
						.often = often,
						.first = (uint32_t)own->sites.count };

	if (!own->groups.count || own->groups.items[own->groups.count - 1].number != number)
		if (!cp_vec_push(&own->groups, group))
			return false;
	if (!cp_vec_push(&own->sites, site))
		return false;
	own->groups.items[own->groups.count - 1].count++;
	return true;
}

/* The function that `symbol` names is watched by the family. */
static void watch(const cprof_image *image, enum engine_family_id id,
		  const struct cp_symbol *symbol, size_t length)
{
	const cprof_session *s = image->process->session;
	const struct engine_family *f = s->families[id];
	struct engine_own *own = &image->assembly->plans->own[id];
	size_t n, i;

	for (n = 0; n < f->watch_count; n++) {
		const struct engine_watch *w = &f->watches[n];
		struct engine_site site = { .family = (uint8_t)id, .what = w->what };
		uint32_t number;

		if (length != strlen(w->name) || strncmp(symbol->name, w->name, length) != 0)
			continue;
		for (i = 0; i < own->groups.count && own->groups.items[i].number != n; i++)
			;
		if (i < own->groups.count)
			continue;
		site.list.site_flags = w->flags;
		if (f->capture)
			f->capture(image->process->session, &site);
		number = engine_own_site(s->calls, image->assembly, symbol->start.v, &site);
		if (number)
			engine_own_add(own, number - 1, (uint32_t)n, w->often);
	}
}

static void find_own(cprof_image *image)
{
	const cprof_session *s = image->process->session;
	const struct cp_symbol *symbols;
	bool named[ENGINE_FAMILIES];
	struct cp_error *err;
	size_t count, i;
	unsigned id;

	for (id = 1; id < ENGINE_FAMILIES; id++)
		named[id] = s->families[id]->watch_count && may_have(image, id);
	err = cp_image_symbols(image->assembly->image, &symbols, &count);
	cp_error_free(err);
	for (i = 0; !err && i < count; i++) {
		size_t length = strcspn(symbols[i].name, "@"); /* before a version */

		for (id = 1; symbols[i].kind == CP_SYMBOL_FUNCTION && id < ENGINE_FAMILIES; id++)
			if (named[id])
				watch(image, id, &symbols[i], length);
	}
	for (id = 1; id < ENGINE_FAMILIES; id++)
		if (s->families[id]->plan && may_have(image, id))
			s->families[id]->plan(image, &image->assembly->plans->own[id]);
}

static bool may_have_any(const cprof_image *image)
{
	unsigned id = 1;

	while (id < ENGINE_FAMILIES && !may_have(image, id))
		id++;
	return id < ENGINE_FAMILIES;
}

const struct engine_own *engine_plan_own(cprof_image *image, enum engine_family_id family)
{
	struct engine_calls *c = image->process->session->calls;
	struct engine_plans *plans = may_have_any(image) ? engine_plans_of(image->assembly) : NULL;

	if (!plans || !engine_decoder(c))
		return NULL;
	if (!plans->watched) {
		plans->watched = true;
		find_own(image);
	}
	return may_have(image, family) && plans->own[family].sites.count ? &plans->own[family]
									 : NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * Bytes that profilers have copied at calls (cprof/fetch.h) are fetches like those that
 * types ask for, behind them in the lists of the same sites:
 *
 *     STRING, argument 0, offsets { 8, 0 }, steps 1     rdi ─► word at 8 ─► string
 *     BYTES, argument 7                                 word at sp + 16 ─► bytes
 *     VALUE, argument 0                                 rdi
 *
 * so that tracer, detours and records know nothing of them.
 */
#include "engine/probes/fetches.h"

#include <stdlib.h>
#include <string.h>

#include "engine/probes/ifuncs.h"
#include "engine/probes/objects.h"
#include "engine/probes/roles.h"
#include "engine/target/state.h"
#include "inspect/plan.h"
#include "probe/match.h"

/* ---- what is to be copied ---- */

/* Does the SPEC mean the function, or what it was chosen for? */
static bool is_meant(const cprof_callspec *spec, const cprof_image *image,
		     const struct engine_traced *t)
{
	struct cp_probe_image of = engine_probe_image(image);
	const struct engine_choice *choice;

	if (cp_probe_match(spec->spec, &of, t->function) != CP_SPEC_NO)
		return true;
	cp_vec_for_each(&t->assembly->plans->choices, choice) {
		of = engine_probe_image(choice->image);
		if (choice->target == t->function &&
		    cp_probe_match(spec->spec, &of, choice->ifunc) != CP_SPEC_NO)
			return true;
	}
	return false;
}

void engine_fetches_choose(cprof_session *s, cprof_image *image, struct engine_traced *t)
{
	const struct engine_calls *c = s->calls;
	uint32_t i;

	for (i = 0; i < c->fetches.count; i++) {
		const struct engine_fetch *f = &c->fetches.items[i];

		if (!is_meant(f->spec, image, t))
			continue;
		if (!t->fetching)
			t->fetching = calloc(1, sizeof(*t->fetching));
		if (!t->fetching || !cp_vec_push(&t->fetching->numbers, i))
			return;
		t->fetching->late |= f->what.late;
		t->fetching->leave |= f->what.argument == CPROF_FETCH_RESULT;
		t->fetching->entry |= f->what.argument >= 0 && !f->what.late;
	}
}

/* ---- sites ---- */

/* Is it copied there? What is read late begins with what was there at the entry. */
static bool is_at(const cprof_fetch *what, const struct engine_site *site)
{
	if (what->argument >= 0)
		return site->kind == ENGINE_SITE_ENTRY;
	return site->kind == ENGINE_SITE_EXIT || site->kind == ENGINE_SITE_RETURN;
}

size_t engine_fetch_chain(const cprof_fetch *what, const struct engine_site *site,
			  struct cp_fetch ret[ENGINE_CHAIN_MAX], unsigned *reg_ret)
{
	const struct cp_arch *arch = cp_arch_host();
	const int32_t in_registers = (int32_t)(sizeof(arch->args) / sizeof(arch->args[0]));
	bool on_stack = what->argument >= in_registers;
	size_t n = 0, i;

	*reg_ret = on_stack		? arch->sp
		   : what->argument < 0 ? engine_role_result_register(site)
					: arch->args[what->argument];
	if (on_stack)
		ret[n++] = (struct cp_fetch){
			.from = arch->sp,
			.offset = arch->ret_size + 8 * (what->argument - in_registers),
			.size = 8,
		};
	for (i = 0; what->kind != CPROF_FETCH_VALUE && i <= what->steps; i++, n++) {
		bool last = i == what->steps;

		ret[n] = (struct cp_fetch){
			.from = n ? CP_FETCH_BLOCK : (uint16_t)*reg_ret,
			.flags = last && what->kind == CPROF_FETCH_STRING ? CP_FETCH_STRING : 0,
			.level = (uint16_t)n,
			.offset = what->offsets[i],
			.size = last ? what->size : 8,
		};
	}
	return n;
}

uint64_t engine_fetches_registers(const struct engine_calls *c, const struct engine_traced *t,
				  const struct engine_site *site)
{
	struct cp_fetch chain[ENGINE_CHAIN_MAX];
	uint64_t registers = 0;
	unsigned reg;
	size_t i;

	for (i = 0; engine_fetches(t) && i < t->fetching->numbers.count; i++) {
		const cprof_fetch *what = &c->fetches.items[t->fetching->numbers.items[i]].what;

		if (!is_at(what, site))
			continue;
		engine_fetch_chain(what, site, chain, &reg);
		registers |= UINT64_C(1) << reg;
	}
	return registers;
}

/* The same chain of a fetch that stands behind those that lead to it; how long it is. */
static size_t chain_of(const struct cp_fetch *fetches, size_t number,
		       struct cp_fetch ret[ENGINE_CHAIN_MAX])
{
	size_t count = fetches[number].level + 1u, i = count;

	for (; i--; number = fetches[number].from - CP_FETCH_BLOCK)
		ret[i] = fetches[number];
	return count;
}

/* Where in the site's list one of its role's fetches is; -1: it is not. */
static int find(const struct engine_site *site, const struct cp_fetch *fetches, size_t count,
		size_t number)
{
	struct cp_fetch chain[ENGINE_CHAIN_MAX];

	if (site->list.fetch_count == count)
		return (int)number; /* nothing else is there */
	return cp_plan_find(site->list.fetches, site->list.fetch_count, chain,
			    chain_of(fetches, number, chain));
}

size_t engine_fetches_of_role(cprof_session *s, const struct engine_hit *hit, size_t number,
			      const uint8_t **ret)
{
	const struct engine_site *site = &s->calls->sites.items[hit->site];
	const struct engine_traced *t = s->calls->traced.items[site->traced];
	const struct cp_fetch *fetches;
	size_t count = engine_role_fetches(s, t, site, &fetches), at = 0;
	int index = number < count ? find(site, fetches, count, number) : -1;
	struct cp_fetched block;

	while (index >= 0 &&
	       cp_fetched_next(hit->fetched, hit->event->fetched_size, &at, &block, ret))
		if (block.index == (uint32_t)index)
			return block.size;
	return 0;
}

/* What the site's role has copied comes last. */
static bool add_of_role(cprof_session *s, const struct engine_traced *t,
			const struct engine_site *site, struct cp_fetches *to)
{
	const struct cp_fetch *fetches;
	size_t count = engine_role_fetches(s, t, site, &fetches), i;
	struct cp_fetch chain[ENGINE_CHAIN_MAX];

	for (i = 0; i < count; i++)
		if (!cp_plan_chain(to, chain, chain_of(fetches, i, chain)))
			return false;
	return true;
}

/* Adds what is to be copied to what the site captures; without memory nothing. */
static void add_to(cprof_session *s, struct engine_traced *t, struct engine_site *site)
{
	struct engine_fetching *fetching = t->fetching;
	const struct engine_calls *c = s->calls;
	struct cp_fetch chain[ENGINE_CHAIN_MAX];
	struct cp_fetches made = { 0 };
	unsigned reg;
	size_t i;

	for (i = 0; i < site->list.fetch_count; i++)
		if (!cp_vec_push(&made.list, site->list.fetches[i]))
			break;
	for (i = 0; i < fetching->numbers.count; i++) {
		const cprof_fetch *what = &c->fetches.items[fetching->numbers.items[i]].what;

		if (is_at(what, site))
			cp_plan_chain(&made, chain, engine_fetch_chain(what, site, chain, &reg));
	}
	if (made.list.count < site->list.fetch_count || !add_of_role(s, t, site, &made) ||
	    !cp_plan_finish(&made) || !cp_vec_push(&fetching->lists, made)) {
		cp_vec_free(&made.list);
		return;
	}
	site->list.fetches = made.list.items;
	site->list.fetch_count = made.list.count;
}

static void free_lists(struct engine_fetching *fetching)
{
	size_t i;

	for (i = 0; i < fetching->lists.count; i++)
		cp_vec_free(&fetching->lists.items[i].list);
	cp_vec_free(&fetching->lists);
}

/* The function's sites, with the one of its return addresses. */
static struct engine_site *site_of(const struct engine_calls *c, const struct engine_traced *t,
				   uint32_t number)
{
	return &c->sites.items[number < t->site_count ? t->first_site + number : t->return_site];
}

void engine_fetches_clear(struct engine_calls *c, struct engine_traced *t)
{
	uint32_t i;

	if (!t->fetching)
		return;
	for (i = 0; i <= t->site_count; i++)
		site_of(c, t, i)->list = (struct cp_capture_list){ 0 };
	free_lists(t->fetching);
}

void engine_fetches_set(cprof_session *s, struct engine_traced *t)
{
	const struct engine_calls *c = s->calls;
	const struct cp_fetch *of_role;
	uint32_t i;

	for (i = 0; i <= t->site_count; i++) {
		struct engine_site *site = site_of(c, t, i);

		if (!engine_role_fetches(s, t, site, &of_role) &&
		    !engine_fetches_registers(c, t, site))
			continue;
		if (!t->fetching)
			t->fetching = calloc(1, sizeof(*t->fetching));
		if (!t->fetching)
			return;
		site->list.site_flags |= CP_SITE_REGS;
		add_to(s, t, site);
	}
}

void engine_fetches_drop(struct engine_traced *t)
{
	if (!t->fetching)
		return;
	free_lists(t->fetching);
	cp_vec_free(&t->fetching->numbers);
	free(t->fetching);
	t->fetching = NULL;
}

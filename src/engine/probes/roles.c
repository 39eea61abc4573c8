/* SPDX-License-Identifier: MIT */
#include "engine/probes/roles.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/probes/windows.h"
#include "engine/target/family.h"
#include "engine/target/state.h"
#include "image/image.h"

/* ---- what functions are watched for ---- */

static const struct engine_family *family_of(const cprof_session *s, const struct engine_traced *t)
{
	return s->families[t->family];
}

static const struct engine_role *role_of(const cprof_session *s, const struct engine_traced *t)
{
	static const struct engine_role none;

	return t->family ? &family_of(s, t)->roles[t->role] : &none;
}

bool engine_role_entry_alone(const cprof_session *s, const struct engine_traced *t)
{
	return t->family && !role_of(s, t)->leave && !engine_traced_by_others(t);
}

bool engine_role_wants_return(const cprof_session *s, const struct engine_traced *t)
{
	return role_of(s, t)->leave != 0;
}

bool engine_role_pauses(const cprof_session *s, const struct engine_traced *t)
{
	return family_of(s, t)->pauses && !engine_traced_by_others(t);
}

bool engine_role_sampled(const cprof_session *s, const struct engine_traced *t,
			 struct cp_heap_probe *ret)
{
	const struct engine_family *f = family_of(s, t);

	if (!f->sampled || !f->sampled(s, t->role, ret))
		return false;
	ret->others = engine_traced_by_others(t);
	return true;
}

uint64_t engine_roles_every(const cprof_session *s)
{
	struct cp_heap_probe probe;

	engine_each_family(s, f, sampled)
		if (f->enabled(s) && f->sampled(s, 1, &probe))
			return probe.every;
	return 0;
}

bool engine_role_by_records(const cprof_session *s, const struct engine_traced *t, uint64_t *ret)
{
	const struct engine_role *role = role_of(s, t);
	unsigned i;

	*ret = 0;
	for (i = 0; role->arguments >> i; i++)
		if (role->arguments >> i & 1)
			*ret |= UINT64_C(1) << cp_arch_host()->args[i];
	return *ret && !engine_traced_by_others(t);
}

unsigned engine_role_captures(const cprof_session *s, const struct engine_traced *t,
			      enum engine_site_kind kind)
{
	if (kind == ENGINE_SITE_TAIL) /* it goes on elsewhere */
		return 0;
	return kind == ENGINE_SITE_ENTRY ? role_of(s, t)->entry : role_of(s, t)->leave;
}

bool engine_holds_exit(const cprof_session *s, const struct engine_traced *t,
		       const struct engine_site *site)
{
	if (site->kind != ENGINE_SITE_EXIT && site->kind != ENGINE_SITE_RETURN)
		return false;
	return (t->flags & CPROF_CALL_INSTRUMENTATION_CHANGES && t->signature) ||
	       role_of(s, t)->holds_exit;
}

/* Are functions with a role of the family looked for? */
static bool looks(const cprof_session *s, enum engine_family_id id)
{
	const struct engine_family *f = s->families[id];

	return f->role_of && engine_family_wanted(s, id) &&
	       (!f->beside || engine_family_wanted(s, f->beside));
}

bool engine_roles_wanted(const cprof_session *s)
{
	unsigned id = 1;

	while (id < ENGINE_FAMILIES && !looks(s, id))
		id++;
	return id < ENGINE_FAMILIES;
}

/* ---- functions ---- */

struct engine_role_plan {
	struct cp_map roles; /* link-time address -> family, role */
};

void engine_role_plan_free(struct engine_role_plan *plan)
{
	if (plan)
		cp_map_free(&plan->roles);
	free(plan);
}

bool engine_role_goes_on(const cprof_session *s, const struct engine_traced *t, uint64_t target)
{
	const struct engine_role_plan *plan = t->assembly->plans->roles;
	const uint64_t *role = plan ? cp_map_get(&plan->roles, target) : NULL;

	return role && *role >> 8 == t->family && family_of(s, t)->roles[*role & 0xff].leave != 0;
}

uint8_t engine_role_named(const struct engine_role_name *names, size_t count, const char *name,
			  size_t length)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(names[i].name) == length && !strncmp(names[i].name, name, length))
			return names[i].role;
	return 0;
}

bool engine_is_linker(const char *image)
{
	return cp_starts_with(image, "ld-linux") || cp_starts_with(image, "ld-2.");
}

struct search {
	const cprof_session *session;
	const char *image;
	const struct cp_symbol *symbols;
	size_t count;
	bool c_library;
	bool looks[ENGINE_FAMILIES];
};

static size_t length_of(const struct cp_symbol *symbol)
{
	return strcspn(symbol->name, "@"); /* before a version */
}

/* Is it the C library, or a program that it is linked into? These end processes. Other
 * objects have functions of the same names for themselves, or to stand in for those of
 * the C library, which they call. */
static bool is_c_library(const struct search *search)
{
	static const struct engine_role_name names[] = { { "_exit", 1 }, { "_Exit", 1 } };
	size_t i;

	for (i = 0; i < search->count; i++)
		if (search->symbols[i].kind == CP_SYMBOL_FUNCTION && !search->symbols[i].local &&
		    engine_role_named(names, CP_ARRAY_SIZE(names), search->symbols[i].name,
				      length_of(&search->symbols[i])))
			return true;
	/* Before glibc 2.34 libpthread had some of the functions for programs with
	 * threads. */
	return cp_starts_with(search->image, "libpthread");
}

/* Family and role; 0: none. */
static uint64_t find_role(const struct search *search, const struct cp_symbol *symbol)
{
	const cprof_session *s = search->session;
	size_t length = length_of(symbol);
	uint8_t role;
	unsigned id;

	for (id = 1; id < ENGINE_FAMILIES; id++) {
		const struct engine_family *f = s->families[id];

		if (!search->looks[id] ||
		    (f->in_c_library && (symbol->local || !search->c_library)))
			continue;
		role = f->role_of(search->image, symbol->name, length, symbol->local);
		if (role)
			return (uint64_t)id << 8 | role;
	}
	return 0;
}

static struct engine_role_plan *find_functions(cprof_session *s, const cprof_assembly *a)
{
	struct engine_role_plan *plan = calloc(1, sizeof(*plan));
	struct search search = { .session = s, .image = cp_basename(a->path) };
	struct cp_error *err;
	unsigned id;
	size_t i;

	/* The dynamic linker's functions are its own, for as long as there is no C
	 * library. */
	if (!plan || engine_is_linker(search.image))
		return plan;
	err = cp_image_symbols(a->image, &search.symbols, &search.count);
	if (err)
		search.count = 0;
	cp_error_free(err);
	search.c_library = is_c_library(&search);
	for (id = 1; id < ENGINE_FAMILIES; id++)
		search.looks[id] = looks(s, id);
	for (i = 0; i < search.count; i++) {
		const struct cp_symbol *symbol = &search.symbols[i];
		uint64_t role = symbol->kind == CP_SYMBOL_FUNCTION ? find_role(&search, symbol) : 0;

		if (!role)
			continue;
		if (s->families[role >> 8]->found)
			s->families[role >> 8]->found(s);
		if (!cp_map_put(&plan->roles, symbol->start.v, role))
			break;
	}
	return plan;
}

bool engine_roles_in(const cprof_image *image)
{
	cprof_session *s = image->process->session;
	struct engine_plans *plans;

	if (!engine_roles_wanted(s))
		return false;
	plans = engine_plans_of(image->assembly);
	if (plans && !plans->roles)
		plans->roles = find_functions(s, image->assembly);
	return plans && plans->roles && plans->roles->roles.count;
}

enum engine_family_id engine_role_of(const cprof_image *image, const struct cp_probe_function *f,
				     uint8_t *role_ret)
{
	const struct engine_role_plan *plan = image->assembly->plans->roles;
	const uint64_t *role = plan ? cp_map_get(&plan->roles, f->address) : NULL;

	*role_ret = role ? (uint8_t)*role : 0;
	return role ? (enum engine_family_id)(*role >> 8) : ENGINE_NO_FAMILY;
}

/* ---- what families ask for ---- */

uint64_t engine_role_argument(const struct engine_hit *hit, unsigned position)
{
	return hit->regs.r[cp_arch_host()->args[position]];
}

bool engine_role_result(const cprof_session *s, uint64_t *ret)
{
	const struct engine_hit *hit = s->current.hit;

	if (!hit || !(hit->regs.known >> cp_arch_host()->result & 1))
		return false;
	*ret = hit->regs.r[cp_arch_host()->result];
	return true;
}

const cprof_function *engine_role_function(cprof_session *s, const struct engine_hit *hit)
{
	return hit->image ? engine_traced_function(s, hit->image,
						   s->calls->sites.items[hit->site].traced)
			  : NULL;
}

/* ---- events ---- */

/* Counts what is about the role alone: as an event if profilers were told something, else
 * as a stop that none is behind, if it is one. */
static void count(const cprof_session *s, const struct engine_traced *t, bool told)
{
	if (engine_traced_by_others(t))
		return;
	if (told)
		s->calls->events++;
	else if (!s->current.hit || !s->current.hit->recorded)
		s->calls->hooks++;
}

bool engine_role_entered(cprof_session *s, const struct engine_hit *hit, struct cp_call *call,
			 const struct cp_call *ended)
{
	const struct engine_traced *t = s->calls->traced.items[call->function];

	count(s, t,
	      family_of(s, t)->entered && family_of(s, t)->entered(s, t->role, hit, call, ended));
	return engine_role_entry_alone(s, t);
}

/* At a return address, makes the caller's frame, the innermost one, stand in the call
 * still. */
static void step_back(cprof_session *s)
{
	struct engine_capture *capture = &s->current.capture;

	if (s->calls->sites.items[s->current.hit->site].kind != ENGINE_SITE_RETURN)
		return;
	capture->pc--;
	capture->regs.r[cp_arch_host()->pc]--;
}

void engine_role_ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how)
{
	const struct engine_traced *t = s->calls->traced.items[call->function];
	const struct engine_family *f = family_of(s, t);
	bool told = false;

	if (s->current.hit && how == CP_CALL_RETURNED)
		step_back(s);
	if (how == CP_CALL_RETURNED && f->returned)
		told = f->returned(s, t->role, call);
	if (how != CP_CALL_ENDED && how != CP_CALL_LOST && f->ended)
		told |= f->ended(s, call, how);
	if (how == CP_CALL_RETURNED || told)
		count(s, t, told);
}

bool engine_roles_pausing(const cprof_session *s)
{
	unsigned id = 1;

	while (id < ENGINE_FAMILIES && !(s->families[id]->pauses && looks(s, id)))
		id++;
	return id < ENGINE_FAMILIES;
}

void engine_roles_lost(cprof_process *p, uint64_t from_ns, uint64_t to_ns)
{
	engine_each_family(p->session, f, lost)
		f->lost(p, from_ns, to_ns);
}

void engine_roles_pause(cprof_process *p, const struct cp_event_pause *e)
{
	const cprof_session *s = p->session;
	uint32_t i;

	/* The open calls of functions that pause are forgotten: their returns will not
	 * be seen, unless by detours. */
	for (i = 0; s->calls && p->shadow && i < s->calls->traced.count; i++)
		if (engine_role_pauses(s, s->calls->traced.items[i]) &&
		    s->calls->traced.items[i]->slow != ENGINE_FAST)
			cp_shadow_forget(p->shadow, i);
	engine_each_family(s, f, pause)
		f->pause(p, e);
}

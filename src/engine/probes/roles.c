/* SPDX-License-Identifier: MIT */
#include "engine/probes/roles.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "engine/probes/fetches.h"
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

size_t engine_role_fetches(cprof_session *s, const struct engine_traced *t,
			   const struct engine_site *site, const struct cp_fetch **ret)
{
	const struct engine_family *f = family_of(s, t);

	return f->copied && site->kind == ENGINE_SITE_ENTRY ? f->copied(s, t->role, ret) : 0;
}

uint32_t engine_role_rate(const cprof_session *s, const struct engine_traced *t)
{
	return engine_rate_often(s->calls, role_of(s, t)->often);
}

unsigned engine_role_captures(const cprof_session *s, const struct engine_traced *t,
			      enum engine_site_kind kind)
{
	if (kind == ENGINE_SITE_TAIL) /* it goes on elsewhere */
		return 0;
	return kind == ENGINE_SITE_ENTRY ? role_of(s, t)->entry : role_of(s, t)->leave;
}

enum engine_walks engine_role_walks(const cprof_session *s, const struct engine_traced *t,
				    enum engine_site_kind kind)
{
	const struct engine_family *f = family_of(s, t);

	if (!(engine_role_captures(s, t, kind) & CP_SITE_STACK))
		return ENGINE_WALKS_NONE;
	return f->wants_whole && !f->wants_whole(s) ? ENGINE_WALKS_NEAR : ENGINE_WALKS_ALL;
}

bool engine_holds(const cprof_session *s, const struct engine_traced *t,
		  const struct engine_site *site)
{
	if (t->flags & CPROF_CALL_INSTRUMENTATION_HOLD ||
	    (t->flags & CPROF_CALL_INSTRUMENTATION_ELEMENTS && site->list.beyond))
		return true;
	if (site->kind == ENGINE_SITE_ENTRY && t->condition_held)
		return true;
	if (site->kind != ENGINE_SITE_EXIT && site->kind != ENGINE_SITE_RETURN)
		return false;
	return (t->flags & CPROF_CALL_INSTRUMENTATION_CHANGES && t->signature) ||
	       engine_fetches_late(t) || role_of(s, t)->holds_exit;
}

/* Are functions with a role of the family looked for? */
static bool looks(const cprof_session *s, enum engine_family_id id)
{
	const struct engine_family *f = s->families[id];

	return f->role_of && engine_family_wanted(s, id) && !(s->disarmed >> id & 1) &&
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
	bool followed; /* to where these jump */
};

void engine_role_plan_free(struct engine_role_plan *plan)
{
	if (plan)
		cp_map_free(&plan->roles);
	free(plan);
}

/* The role in the function's family at a link-time address of its object; 0: none. */
static uint8_t role_at(const struct engine_traced *t, uint64_t address)
{
	const struct engine_role_plan *plan = t->assembly->plans->roles;
	const uint64_t *role = plan ? cp_map_get(&plan->roles, address) : NULL;

	return role && *role >> 8 == t->family ? (uint8_t)*role : 0;
}

bool engine_role_goes_on(const cprof_session *s, const struct engine_traced *t, uint64_t target)
{
	uint8_t role = role_at(t, target);

	return role && family_of(s, t)->roles[role].leave != 0;
}

bool engine_role_only_goes_on(const cprof_session *s, const struct engine_traced *t,
			      uint64_t target)
{
	uint8_t role = role_at(t, target);

	return role && role == family_of(s, t)->goes_on;
}

bool engine_role_answers(const cprof_session *s, const struct engine_traced *t,
			 const struct cp_probe_site *site)
{
	const struct cp_probe_function *to;
	uint64_t target;

	if (site->kind != CP_PROBE_SITE_TAIL || !engine_role_wants_return(s, t))
		return false;
	target = engine_jumps_to(s->calls, site);
	to = target ? cp_probe_functions_find(&t->assembly->plans->functions, target) : NULL;
	return to && to->address == target && to->kind == CP_PROBE_PLT &&
	       !strcmp(to->linkage_name, "memset@plt");
}

uint64_t engine_jumps_to(const struct engine_calls *c, const struct cp_probe_site *site)
{
	uint8_t slot[CP_SLOT_SIZE];
	struct cp_step step;

	if (site->kind == CP_PROBE_SITE_INDIRECT || site->kind == CP_PROBE_SITE_RETURN ||
	    site->kind == CP_PROBE_SITE_ENTRY ||
	    !cp_step_prepare(c->decoder, site->code, site->size, site->address, site->address, slot,
			     &step))
		return 0;
	return step.target;
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

/* ---- where functions go on ---- */

#define JUMPS 3 /* one after the other */

struct following {
	cprof_session *session;
	struct engine_plans *plans;
	struct cp_reader file;
	CP_VEC(uint64_t) found; /* addresses of those that it goes on in */
};

/* Is it seen wherever code returns that comes to the function by a jump? */
static bool follow(struct following *f, const struct cp_probe_function *function, unsigned jumps)
{
	struct engine_calls *c = f->session->calls;
	struct cp_probe_plan plan = { 0 };
	struct cp_error *err;
	bool ok;
	size_t i;

	err = cp_probe_plan_function(c->decoder, &f->file, &f->plans->functions, function, &plan);
	ok = !err && plan.why == CP_PROBE_FULL;
	cp_error_free(err);
	for (i = plan.entry_count; ok && i < plan.sites.count; i++) {
		const struct cp_probe_site *site = &plan.sites.items[i];
		uint64_t target = engine_jumps_to(c, site);
		const struct cp_probe_function *to;

		if (site->kind == CP_PROBE_SITE_RETURN ||
		    cp_map_get(&f->plans->roles->roles, target))
			continue;
		to = target ? cp_probe_functions_find(&f->plans->functions, target) : NULL;
		ok = to && to->address == target && to->kind == CP_PROBE_FUNCTION && jumps &&
		     cp_vec_push(&f->found, target) && follow(f, to, jumps - 1);
	}
	cp_probe_plan_free(&plan);
	return ok;
}

/* What goes on with the function's calls gets the role, if all of that is seen. */
static void go_on_from(struct following *f, const struct cp_probe_function *function, uint64_t role)
{
	const uint64_t *address;

	f->found.count = 0;
	if (!follow(f, function, JUMPS))
		return;
	cp_vec_for_each(&f->found, address)
		if (!cp_map_put(&f->plans->roles->roles, *address, role))
			return;
}

void engine_roles_follow(cprof_session *s, cprof_assembly *a)
{
	struct engine_plans *plans = a->plans;
	struct following f = { s, plans, cp_probe_file_reader(a->image), { 0 } };
	const struct engine_family *family;
	const uint64_t *role;
	size_t i;

	if (!plans->roles || plans->roles->followed || !s->detours || !engine_decoder(s->calls))
		return;
	plans->roles->followed = true;
	for (i = 0; i < plans->functions.count; i++) {
		role = cp_map_get(&plans->roles->roles, plans->functions.items[i].address);
		family = role ? s->families[*role >> 8] : NULL;
		if (!family || !family->goes_on || (uint8_t)*role == family->goes_on ||
		    !family->roles[(uint8_t)*role].leave)
			continue;
		go_on_from(&f, &plans->functions.items[i],
			   (*role & ~UINT64_C(0xff)) | family->goes_on);
	}
	cp_vec_free(&f.found);
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

unsigned engine_role_result_register(const struct engine_site *site)
{
	return site->answers ? cp_arch_host()->args[0] : cp_arch_host()->result;
}

bool engine_role_result(const cprof_session *s, uint64_t *ret)
{
	const struct engine_hit *hit = s->current.hit;
	unsigned number;

	if (!hit)
		return false;
	number = engine_role_result_register(&s->calls->sites.items[hit->site]);
	if (!(hit->regs.known >> number & 1))
		return false;
	*ret = hit->regs.r[number];
	return true;
}

bool engine_role_ends_behind(const cprof_session *s)
{
	const struct engine_site *site = &s->calls->sites.items[s->current.hit->site];
	const struct engine_traced *t = s->calls->traced.items[site->traced];

	return site->kind == ENGINE_SITE_RETURN ||
	       (t->family && t->role == family_of(s, t)->goes_on && site->kind == ENGINE_SITE_EXIT);
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

/* Where an exit is that of other code than was called, to the return address. */
static void step_out(struct engine_capture *capture, const struct cp_call *call)
{
	const struct cp_arch *arch = cp_arch_host();

	capture->pc = capture->regs.r[arch->pc] = call->caller;
	capture->regs.r[arch->sp] += arch->ret_size;
}

/* Behind the call, makes the caller's frame, the innermost one, stand in the call still. */
static void step_back(cprof_session *s, const struct cp_call *call)
{
	struct engine_capture *capture = &s->current.capture;

	if (!engine_role_ends_behind(s))
		return;
	if (s->calls->sites.items[s->current.hit->site].kind != ENGINE_SITE_RETURN)
		step_out(capture, call);
	capture->pc--;
	capture->regs.r[cp_arch_host()->pc]--;
}

void engine_role_ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how)
{
	const struct engine_traced *t = s->calls->traced.items[call->function];
	const struct engine_family *f = family_of(s, t);
	bool told = false;

	if (s->current.hit && how == CP_CALL_RETURNED)
		step_back(s, call);
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

bool engine_roles_waiting(const cprof_session *s)
{
	unsigned id = 1;

	while (id < ENGINE_FAMILIES && !(s->families[id]->waits && looks(s, id)))
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

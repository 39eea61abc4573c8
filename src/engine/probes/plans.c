/* SPDX-License-Identifier: MIT
 *
 * Which functions of an image are traced, and where their breakpoints go.
 *
 * Names are compared when an image is first mapped. A function is planned at
 * most once for its ELF object: its sites get numbers that lead back to it
 * from every hit, in whatever process and at whatever load address.
 */
#include "engine/probes/plans.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "engine/probes/declared.h"
#include "engine/probes/fetches.h"
#include "engine/probes/haste.h"
#include "engine/probes/ifuncs.h"
#include "engine/probes/objects.h"
#include "engine/probes/refilter.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/stubs.h"
#include "engine/probes/trace.h"
#include "engine/probes/windows.h"
#include "engine/probes/wishes.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/linker.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "engine/target/variables.h"
#include "inspect/chosen.h"
#include "inspect/condition_way.h"
#include "inspect/outer_names.h"
#include "unwind/pads.h"

void engine_plans_free(struct engine_plans *plans)
{
	size_t i;

	if (!plans)
		return;
	cp_probe_functions_free(&plans->functions);
	cp_map_free(&plans->exports);
	cp_map_free(&plans->library_calls);
	cp_map_free(&plans->returns);
	for (i = 0; i < ENGINE_FAMILIES; i++) {
		cp_vec_free(&plans->own[i].sites);
		cp_vec_free(&plans->own[i].groups);
		free(plans->own[i].data);
	}
	engine_role_plan_free(plans->roles);
	engine_ifuncs_free(plans->ifuncs);
	engine_windows_free(plans->windows);
	engine_asked_free(plans->asked);
	cp_vec_free(&plans->choices);
	free(plans->numbers);
	free(plans);
}

/* ---- choosing ---- */

/* What is wanted of a function: by its own name, by that of an indirect function that
 * it was chosen for, and for its role. A resolver is only watched. */
static struct engine_wish wanted(cprof_session *s, cprof_image *image, struct cp_probe_function *f)
{
	struct engine_asking a = ENGINE_ASKING;
	const struct engine_choice *choice;
	struct engine_wish wish;
	uint8_t role;
	bool own;

	if (f->kind == CP_PROBE_IFUNC)
		return (struct engine_wish){
			.flags = engine_ifuncs_wanted(image, false) ? ENGINE_TRACED_ROLE : 0,
			.named = true,
		};
	if (engine_is_out_of_reach(s, image, f))
		return (struct engine_wish){ 0 };
	engine_ask(s, image, f, &a);
	own = a.name != NULL;
	cp_vec_for_each(&image->assembly->plans->choices, choice)
		if (choice->target == f)
			engine_ask(s, choice->image, choice->ifunc, &a);
	wish = engine_settle(&a);
	if (wish.flags && f->kind == CP_PROBE_PLT && !engine_is_entered(s, image, f))
		return (struct engine_wish){ 0 };
	wish.called = own ? NULL : a.name;
	if (!engine_roles_wanted(s) || !engine_role_of(image, f, &role))
		return wish;
	wish.named = true;
	wish.flags = (wish.flags & ~CPROF_CALL_INSTRUMENTATION_ONCE) | ENGINE_TRACED_ROLE;
	return wish;
}

static bool image_wanted(const cprof_session *s, const cprof_image *image)
{
	const struct cp_probe_image of = engine_probe_image(image);
	const struct engine_trace *t;

	if (engine_roles_in(image) || s->calls->filters)
		return true;
	cp_vec_for_each(&s->calls->traces, t)
		if (cp_probe_wants_image(t->spec->spec, &of))
			return true;
	return false;
}

/* ---- planning ---- */

static bool add_site(struct engine_calls *c, uint32_t traced, const struct cp_probe_site *site)
{
	static const uint8_t kinds[] = {
		[CP_PROBE_SITE_ENTRY] = ENGINE_SITE_ENTRY,
		[CP_PROBE_SITE_RETURN] = ENGINE_SITE_EXIT,
		[CP_PROBE_SITE_TAIL] = ENGINE_SITE_TAIL,
		[CP_PROBE_SITE_TAIL_CONDITIONAL] = ENGINE_SITE_TAIL,
		[CP_PROBE_SITE_INDIRECT] = ENGINE_SITE_TAIL,
	};
	struct engine_site made = {
		.address = site->address,
		.traced = traced,
		.kind = kinds[site->kind],
		.size = site->size,
	};

	memcpy(made.code, site->code, sizeof(made.code));
	return cp_vec_push(&c->sites, made);
}

/* Types a function that has no debug information, or is assembly, as headers declare
 * it: under the name of an indirect function that it was chosen for, or, in a library
 * of the system, under its own. */
static void use_declaration(cprof_session *s, struct engine_traced *t, unsigned want)
{
	const struct engine_plans *plans = t->assembly->plans;
	const struct cp_probe_function *f = t->function;
	bool foreign = cp_path_is_system_image(t->assembly->path), found = false;
	const struct cp_value_limits limits = engine_value_limits(s);
	struct cp_signature *declared = NULL;
	const struct engine_choice *c;
	size_t i;

	cp_vec_for_each(&plans->choices, c)
		found = found ||
			(c->target == f &&
			 engine_declared_signature(s, c->ifunc->linkage_name, want, &declared));
	found = found ||
		(foreign && engine_declared_signature(s, f->linkage_name, want, &declared));
	for (i = 0; foreign && !found && i < f->alias_count; i++)
		found = engine_declared_signature(
			s, plans->functions.aliases.items[f->first_alias + i].linkage_name, want,
			&declared);
	/* A mangled name says nothing of a function whose callers the compiler knows
	 * all: it may be called in any way. */
	if (!found && !(f->flags & (CP_PROBE_LOCAL | CP_PROBE_CLONE))) {
		cp_error_free(cp_signature_read_mangled(t->assembly->image, f->linkage_name, want,
							&limits, &declared));
		found = declared != NULL;
	}
	if (!found)
		return;
	cp_signature_destroy(t->signature);
	t->signature = declared;
}

/* Reads the signature of a method again, which the condition goes further in. */
static void read_further(const cprof_session *s, struct engine_traced *t, unsigned want)
{
	const struct cp_value_limits session = engine_value_limits(s),
				     limits = engine_value_limits_in(s, t->signature);
	const struct cp_probe_function *f = t->function;
	struct cp_signature *further = NULL;

	if (limits.pointers == session.pointers && limits.depth == session.depth)
		return;
	cp_error_free(cp_signature_read(t->assembly->image, (struct cp_vaddr){ f->address },
					f->linkage_name, f->flags & CP_PROBE_LOCAL,
					f->flags & CP_PROBE_CLONE, want, &limits, &further));
	if (!further)
		return;
	cp_signature_destroy(t->signature);
	t->signature = further;
}

/* Types are read when somebody wants values, before anything is armed. */
static void read_types(const cprof_process *p, struct engine_traced *t)
{
	const struct cp_probe_function *f = t->function;
	const struct cp_value_limits limits = engine_value_limits(p->session);
	struct engine_calls *c = p->session->calls;
	struct cp_error *err;
	unsigned want = 0;

	if (p->session->introspection && t->flags & CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT)
		want |= CP_SIGNATURE_ARGUMENTS;
	if (p->session->introspection && t->flags & CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT)
		want |= CP_SIGNATURE_RESULT;
	if (p->session->introspection && t->flags & CPROF_CALL_INSTRUMENTATION_LOCALS)
		want |= CP_SIGNATURE_LOCALS;
	if (c->condition)
		want |= CP_SIGNATURE_ARGUMENTS;
	if (!want)
		return;
	/* A stub has the parameters of the function that it leads to. */
	if (f->kind == CP_PROBE_PLT &&
	    engine_target_signature(p, f->linkage_name, want, &t->signature))
		return;
	err = cp_signature_read(t->assembly->image, (struct cp_vaddr){ f->address },
				f->linkage_name, f->flags & CP_PROBE_LOCAL,
				f->flags & CP_PROBE_CLONE, want, &limits, &t->signature);
	if (err)
		cp_debug("types of %s: %s", f->linkage_name, err->what);
	else if (!cp_signature_is_described(t->signature) || cp_signature_is_vague(t->signature))
		use_declaration(p->session, t, want);
	else if (c->condition && cp_signature_has_this(t->signature))
		read_further(p->session, t, want);
	cp_error_free(err);
}

static void read_signature(const cprof_process *p, struct engine_traced *t)
{
	const struct engine_calls *c = p->session->calls;

	read_types(p, t);
	if (t->signature && c->arguments)
		cp_error_free(
			cp_signature_choose(t->signature, c->arguments, c->condition != NULL));
}

static void set_captures_of_types(struct engine_calls *c, const struct engine_traced *t)
{
	uint32_t i;

	if (!t->signature)
		return;
	for (i = 0; i < t->site_count; i++) {
		struct engine_site *site = &c->sites.items[t->first_site + i];

		if (site->kind == ENGINE_SITE_ENTRY)
			site->list = cp_signature_at_entry(t->signature);
		else if (t->flags & CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT)
			site->list = cp_signature_at_exit(t->signature,
							  (struct cp_vaddr){ site->address });
	}
	if (t->flags & CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT)
		c->sites.items[t->return_site].list =
			cp_signature_at_exit(t->signature, (struct cp_vaddr){ 0 });
}

static bool is_outside(void *ctx, const char *name, const char *file, const struct cp_type **ret)
{
	const struct engine_traced *t = ctx;
	const struct cp_outer_name *outer =
		engine_outer_name(t->assembly, t->function->linkage_name, name, file);

	*ret = outer ? cp_outer_type(outer) : NULL;
	return outer != NULL;
}

/* How the condition is decided for its calls, or why it means nothing there. */
static void set_condition(const struct engine_calls *c, struct engine_traced *t)
{
	const struct cp_condition_names outside = { is_outside, t };
	enum cp_condition_way way = CP_CONDITION_CAPTURED;
	struct cp_detour_test tests[CP_DETOUR_TESTS];
	struct cp_error *err;
	int count;

	free(t->condition_lacks);
	t->condition_lacks = NULL;
	t->condition_held = false;
	if (!c->condition || !t->signature || !engine_traced_by_others(t))
		return;
	err = cp_condition_way(c->condition, t->signature, &outside, &way);
	if (err)
		t->condition_lacks = strdup(err->what);
	cp_error_free(err);
	/* What registers alone tell, a detour decides. */
	count = cp_condition_tests(c->condition, t->signature, tests);
	while (count > 0 && !tests[count - 1].value.reach)
		count--;
	t->condition_held = way == CP_CONDITION_HELD && count != 0;
}

static void set_captures(cprof_session *s, struct engine_traced *t)
{
	set_condition(s->calls, t);
	if (!t->site_count)
		return;
	engine_fetches_clear(s->calls, t);
	set_captures_of_types(s->calls, t);
	engine_fetches_set(s, t);
}

/* Does a function with a role end in code whose return is not seen for that role? */
static bool ends_elsewhere(const cprof_session *s, const struct engine_traced *t,
			   const struct cp_probe_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->sites.count; i++) {
		const struct cp_probe_site *site = &plan->sites.items[i];

		if (site->kind != CP_PROBE_SITE_ENTRY && site->kind != CP_PROBE_SITE_RETURN &&
		    !engine_role_goes_on(s, t, engine_jumps_to(s->calls, site)) &&
		    !engine_role_answers(s, t, site))
			return true;
	}
	return false;
}

/* Does it end in a jump to code that only detours follow, and has itself none? */
static bool goes_on_unseen(const cprof_session *s, const struct engine_traced *t,
			   const struct cp_probe_plan *plan)
{
	bool ret = false;
	size_t i;

	for (i = 0; t->slow != ENGINE_FAST && t->family && i < plan->sites.count; i++)
		ret |= engine_role_only_goes_on(s, t,
						engine_jumps_to(s->calls, &plan->sites.items[i]));
	return ret && t->site_count;
}

/* Sites of the traced function `number`; false without memory. */
static bool add_sites(const cprof_session *s, struct engine_traced *t, uint32_t number,
		      const struct cp_probe_plan *plan)
{
	struct engine_calls *c = s->calls;
	const struct engine_site behind = { .traced = number, .kind = ENGINE_SITE_RETURN };
	bool once = t->flags & CPROF_CALL_INSTRUMENTATION_ONCE;
	bool by_return = plan->why == CP_PROBE_BY_RETURN ||
			 (engine_role_wants_return(s, t) && ends_elsewhere(s, t, plan));
	size_t i, count = once || by_return ? plan->entry_count : plan->sites.count;

	t->why = plan->why;
	if (plan->why == CP_PROBE_REFUSED || plan->why == CP_PROBE_NO_CODE ||
	    plan->why == CP_PROBE_WITHHELD || !plan->sites.count)
		return true;
	t->loops = plan->loops;
	t->by_return = by_return && !once;
	for (i = 0; i < plan->range_count && i < CP_GROUP_RANGES; i++)
		t->ranges[i] = plan->ranges[i];
	t->first_site = (uint32_t)c->sites.count;
	for (i = 0; i < count; i++) {
		if (!add_site(c, number, &plan->sites.items[i]))
			return false;
		if (engine_role_answers(s, t, &plan->sites.items[i])) {
			c->sites.items[t->first_site + i].kind = ENGINE_SITE_EXIT;
			c->sites.items[t->first_site + i].answers = true;
		}
	}
	/* The site of return addresses is there also for a function of which some exit
	 * will prove unfit. */
	t->return_site = (uint32_t)c->sites.count;
	t->site_count = (uint32_t)count;
	t->entry_count = (uint32_t)plan->entry_count;
	return cp_vec_push(&c->sites, behind);
}

/* How often the function may be called. One that pauses counts as not named. */
static uint32_t rate_of(const cprof_session *s, const struct engine_traced *t, bool named)
{
	const struct engine_calls *c = s->calls;
	uint32_t of_role = engine_traced_by_others(t) ? 0 : engine_role_rate(s, t);

	if (of_role)
		return of_role;
	if (!engine_role_pauses(s, t))
		return named ? c->rate_named : c->rate_globbed;
	return s->on_full == CPROF_ON_FULL_WAIT ? 0 : c->rate_globbed;
}

/* The name lives as long as the image that the ifunc is in. */
static void set_called(struct engine_traced *t, const char *called)
{
	cprof_assembly *a = t->assembly;

	t->called = called;
	if (!called)
		return;
	pthread_mutex_lock(&a->lock);
	cp_map_put(&a->called, t->function->address, (uintptr_t)called);
	pthread_mutex_unlock(&a->lock);
}

static uint32_t plan_function(cprof_session *s, cprof_image *image, struct cp_probe_function *f,
			      const struct engine_wish *wish, struct cp_probe_plan *plan)
{
	cprof_assembly *a = image->assembly;
	struct cp_reader file = cp_probe_file_reader(a->image);
	struct engine_calls *c = s->calls;
	uint32_t number = (uint32_t)c->traced.count;
	struct engine_traced *t;
	struct cp_error *err;

	err = cp_probe_plan_function(c->decoder, &file, &a->plans->functions, f, plan);
	if (err) {
		cp_error_free(err);
		return ENGINE_NO_FUNCTION;
	}
	engine_windows_settle(a, plan);
	t = calloc(1, sizeof(*t));
	if (!t || !cp_vec_push(&c->traced, t)) {
		free(t);
		return ENGINE_NO_FUNCTION;
	}
	t->assembly = a;
	t->function = f;
	t->flags = wish->flags;
	if (f->kind == CP_PROBE_IFUNC)
		engine_ifuncs_watch(t);
	else if (t->flags & ENGINE_TRACED_ROLE)
		t->family = (uint8_t)engine_role_of(image, f, &t->role);
	if (!(t->flags & CPROF_CALL_INSTRUMENTATION_ONCE))
		t->max_rate = rate_of(s, t, wish->named);
	set_called(t, wish->called);
	if (!add_sites(s, t, number, plan))
		t->site_count = 0;
	engine_note_library_calls(c, t, number);
	if (t->site_count)
		read_signature(image->process, t);
	engine_fetches_choose(s, image, t);
	if (t->signature && !cp_signature_is_described(t->signature) && f->kind != CP_PROBE_PLT)
		engine_ifuncs_untyped(image);
	set_captures(s, t);
	engine_windows_plan(s, t, plan);
	if (goes_on_unseen(s, t, plan)) {
		t->by_return = true;
		t->site_count = t->entry_count;
	}
	return number;
}

static bool is_about(enum engine_plan_what what, const struct cp_probe_function *f)
{
	return what == ENGINE_PLAN_ALL || (what == ENGINE_PLAN_STUBS) == (f->kind == CP_PROBE_PLT);
}

bool engine_plan_image(cprof_image *image, enum engine_plan_what what,
		       struct engine_numbers *numbers)
{
	cprof_session *s = image->process->session;
	cprof_assembly *a = image->assembly;
	struct engine_plans *plans = engine_plans_of(a);
	struct cp_probe_plan plan = { 0 };
	bool by_names;
	size_t i;

	if (!plans || !image_wanted(s, image))
		return false;
	if (!plans->read)
		engine_haste_reads(image);
	if (!engine_plans_read(a, plans))
		return false;
	engine_ifuncs_wanted(image, false);
	engine_roles_follow(s, a);
	by_names =
		engine_asked_before(s, image) && !plans->choices.count && !engine_roles_in(image);
	if (what != ENGINE_PLAN_OTHERS && s->introspection)
		engine_rank_images(image->process);
	for (i = 0; engine_decoder(s->calls) && i < plans->functions.count; i++) {
		struct cp_probe_function *f = &plans->functions.items[i];
		struct engine_wish wish = { 0 };

		if (by_names && engine_asked_for_nothing(plans->asked, i))
			continue;
		if (!engine_haste_allows(image, ENGINE_HASTE_PLANS, i, plans->functions.count))
			break;
		if (is_about(what, f))
			wish = wanted(s, image, f);
		if (!wish.flags || (plans->hook_address && f->address == plans->hook_address))
			continue;
		if (!plans->numbers[i]) {
			uint32_t number = plan_function(s, image, f, &wish, &plan);

			plans->numbers[i] =
				number == ENGINE_NO_FUNCTION ? ENGINE_NO_FUNCTION : number + 1;
			s->calls->chosen += wish.flags != ENGINE_TRACED_ROLE;
		}
		if (plans->numbers[i] != ENGINE_NO_FUNCTION &&
		    s->calls->traced.items[plans->numbers[i] - 1]->site_count &&
		    !cp_vec_push(numbers, plans->numbers[i] - 1))
			break;
	}
	cp_probe_plan_free(&plan);
	return numbers->count != 0;
}

/* What a function that was chosen before is wanted for now. True: its sites
 * have to be placed anew. */
static bool want_again(const cprof_process *p, struct engine_traced *t,
		       const struct engine_wish *wish)
{
	bool same = t->flags == wish->flags && !t->disarmed && !t->type_anew;
	struct cp_signature *old = t->signature;

	t->returns |= (!t->flags || t->disarmed) && wish->flags == t->planned && !t->type_anew;
	t->flags = wish->flags;
	t->disarmed = false;
	t->max_rate = rate_of(p->session, t, wish->named);
	if (same || !t->site_count)
		return false;
	if (t->type_anew)
		t->signature = NULL;
	if (!t->signature)
		read_signature(p, t);
	/* Until the sites are placed anew, they capture what the old signature asks
	 * for. */
	if (!t->signature)
		t->signature = old;
	else if (t->type_anew)
		cp_signature_destroy(old);
	t->type_anew = false;
	set_captures(p->session, t);
	return true;
}

bool engine_plan_again(cprof_image *image, struct engine_refilter *r)
{
	cprof_session *s = image->process->session;
	struct engine_plans *plans = engine_plans_of(image->assembly);
	struct cp_probe_plan plan = { 0 };
	bool ok = plans && engine_plans_read(image->assembly, plans) && engine_decoder(s->calls);
	size_t i;

	if (ok)
		engine_ifuncs_wanted(image, true);
	for (i = 0; ok && i < plans->functions.count; i++) {
		struct cp_probe_function *f = &plans->functions.items[i];
		struct engine_wish wish = wanted(s, image, f);
		bool fresh = !plans->numbers[i];
		struct engine_traced *t;
		uint32_t number;

		if ((fresh && !wish.flags) || plans->numbers[i] == ENGINE_NO_FUNCTION ||
		    (plans->hook_address && f->address == plans->hook_address))
			continue;
		if (fresh) {
			number = plan_function(s, image, f, &wish, &plan);
			plans->numbers[i] =
				number == ENGINE_NO_FUNCTION ? ENGINE_NO_FUNCTION : number + 1;
			s->calls->chosen += wish.flags != ENGINE_TRACED_ROLE;
			if (number == ENGINE_NO_FUNCTION)
				continue;
		}
		number = plans->numbers[i] - 1;
		t = s->calls->traced.items[number];
		t->returns = fresh;
		if (!wish.flags)
			ok = !t->flags || cp_vec_push(&r->off, number);
		else if (want_again(image->process, t, &wish) || (fresh && t->site_count))
			ok = cp_vec_push(&r->changed, number);
		if (wish.flags && t->site_count)
			ok &= cp_vec_push(&r->all, number);
	}
	cp_probe_plan_free(&plan);
	return ok;
}

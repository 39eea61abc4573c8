/* SPDX-License-Identifier: MIT
 *
 * Which functions of an image are traced, and where their breakpoints go.
 *
 * Names are compared when an image is first mapped. A function is planned at
 * most once for its ELF object: its sites get numbers that lead back to it
 * from every hit, in whatever process and at whatever load address.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "engine/ifuncs.h"
#include "engine/lifecycle.h"
#include "engine/roles.h"
#include "engine/stubs.h"
#include "probe/near.h"
#include "unwind/pads.h"

#define NOT_CHOSEN UINT32_MAX

void engine_plans_free(struct engine_plans *plans)
{
	size_t i;

	if (!plans)
		return;
	cp_probe_functions_free(&plans->functions);
	cp_map_free(&plans->exports);
	cp_map_free(&plans->library_calls);
	for (i = 0; i < ENGINE_FAMILIES; i++) {
		cp_vec_free(&plans->own[i].sites);
		cp_vec_free(&plans->own[i].groups);
		free(plans->own[i].data);
	}
	engine_role_plan_free(plans->roles);
	engine_ifuncs_free(plans->ifuncs);
	cp_vec_free(&plans->choices);
	free(plans->numbers);
	free(plans);
}

struct cp_decoder *engine_decoder(struct engine_calls *c)
{
	if (!c->decoder)
		c->decoder = cp_decoder_create(cp_arch_host());
	return c->decoder;
}

/* Only what is in a file is written to: not the vdso, not code made at run time. */
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

/* ---- choosing ---- */

bool engine_is_program(const cprof_image *image)
{
	const char *exe = image->process->exe, *path = image->assembly->path;
	size_t size = strlen(path);

	return exe && !strncmp(exe, path, size) &&
	       (!exe[size] || !strcmp(exe + size, " (deleted)"));
}

struct cp_probe_image engine_probe_image(const cprof_image *image)
{
	return (struct cp_probe_image){
		.image = image->assembly->image,
		.name = image->assembly->path,
		.started_as = engine_image_started_as(image),
		.program = engine_is_program(image),
		.functions = &image->assembly->plans->functions,
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

/* What may be asked for beside ONCE. */
#define WITH_ONCE \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT | \
	 CPROF_CALL_INSTRUMENTATION_STACK | CPROF_CALL_INSTRUMENTATION_HOLD)

/* What the filters of all profilers want of a function, together. */
struct asking {
	unsigned flags, once; /* `once` only if it is enough for all of them */
	bool named;
	const char *name; /* that was asked for; NULL: it is not wanted */
};

static void ask(cprof_session *s, cprof_image *image, struct cp_probe_function *f, struct asking *a)
{
	const struct cp_probe_image of = engine_probe_image(image);
	const struct engine_calling outer = s->calling;
	const struct cprof_profiler_desc *p;
	const struct engine_trace *t;
	enum cp_spec_match m;
	const char *name;
	unsigned more;

	cp_vec_for_each(&s->calls->traces, t) {
		m = cp_probe_match_name(t->spec->spec, &of, f, &name);
		if (m != CP_SPEC_NO) {
			a->flags |= t->flags;
			a->once &= t->flags;
			a->name = a->name ? a->name : name;
		}
		a->named |= m == CP_SPEC_NAMED;
	}
	for (p = s->calls->filters ? s->profilers : NULL; p; p = p->next) {
		cprof_call_instrumentation_filter_fn filter = p->filter;
		const cprof_function *function = filter ? engine_probe_function(s, image, f) : NULL;

		s->calling = (struct engine_calling){ p->desc, "call_instrumentation_filter" };
		more = function ? filter(p->prof, function) : 0;
		s->calling = outer;
		a->flags |= more;
		a->once &= more ? more : a->once;
		if (more && !a->name)
			a->name = f->linkage_name;
	}
}

static struct engine_wish settled(const struct asking *a)
{
	struct engine_wish wish = { .flags = a->flags & ~CPROF_CALL_INSTRUMENTATION_ONCE,
				    .named = a->named };

	if (a->once)
		wish.flags = a->flags & WITH_ONCE ? (a->flags & WITH_ONCE) | a->once : 0;
	return wish;
}

struct engine_wish engine_asked(cprof_session *s, cprof_image *image, struct cp_probe_function *f)
{
	struct asking a = { .once = CPROF_CALL_INSTRUMENTATION_ONCE };

	ask(s, image, f, &a);
	return settled(&a);
}

/* By its own name, by that of an indirect function that it was chosen for, and
 * for what it is watched anyway. A resolver is only watched. */
static struct engine_wish wanted(cprof_session *s, cprof_image *image, struct cp_probe_function *f)
{
	struct asking a = { .once = CPROF_CALL_INSTRUMENTATION_ONCE };
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
	ask(s, image, f, &a);
	own = a.name != NULL;
	cp_vec_for_each(&image->assembly->plans->choices, choice)
		if (choice->target == f)
			ask(s, choice->image, choice->ifunc, &a);
	wish = settled(&a);
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

/* "did you mean ...?" of all that was looked through, by one entry of a SPEC;
 * false: nothing is near. */
bool engine_plan_near(const cprof_session *s, const char *entry, struct cp_buf *out)
{
	struct cp_near near = { 0 };
	struct cp_spec *spec;
	struct cp_error *err = cp_spec_parse(entry, &spec);
	size_t i, k;
	bool any;

	cp_error_free(err);
	if (err)
		return false; /* it only excludes */
	for (i = 0; i < s->processes.count; i++) {
		for (k = 0; k < s->processes.items[i]->images.count; k++) {
			const cprof_image *image = s->processes.items[i]->images.items[k];
			struct cp_probe_image of;

			if (!image->assembly->plans || !image->assembly->plans->read)
				continue;
			of = engine_probe_image(image);
			cp_near_try(&near, spec, &of);
			cp_inlined_try(&near.inlined, entry, &of);
		}
	}
	any = cp_near_text(&near, out);
	cp_near_free(&near);
	cp_spec_destroy(spec);
	return any;
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

/* What has no debug information, or is assembly, is what headers declare: under the
 * name of an indirect function that it was chosen for, or as part of a library of
 * the system under one of its own. */
static void use_declaration(cprof_session *s, struct engine_traced *t, unsigned want)
{
	const struct engine_plans *plans = t->assembly->plans;
	const struct cp_probe_function *f = t->function;
	bool foreign = cp_path_is_system_image(t->assembly->path), found = false;
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
	/* What the compiler knows all callers of is called as it likes. */
	if (!found && !(f->flags & (CP_PROBE_LOCAL | CP_PROBE_CLONE))) {
		cp_error_free(cp_signature_read_mangled(t->assembly->image, f->linkage_name, want,
							&s->calls->limits, &declared));
		found = declared != NULL;
	}
	if (!found)
		return;
	cp_signature_destroy(t->signature);
	t->signature = declared;
}

/* Types are read when somebody wants values, before anything is armed. */
static void read_signature(const cprof_process *p, struct engine_traced *t)
{
	const struct cp_probe_function *f = t->function;
	struct engine_calls *c = p->session->calls;
	struct cp_error *err;
	unsigned want = 0;

	if (c->introspection && t->flags & CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT)
		want |= CP_SIGNATURE_ARGUMENTS;
	if (c->introspection && t->flags & CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT)
		want |= CP_SIGNATURE_RESULT;
	if (c->introspection && t->flags & CPROF_CALL_INSTRUMENTATION_LOCALS)
		want |= CP_SIGNATURE_LOCALS;
	if (c->condition)
		want |= CP_SIGNATURE_ARGUMENTS;
	if (!want)
		return;
	/* A stub's code has no parameters, what it leads to has. */
	if (f->kind == CP_PROBE_PLT &&
	    engine_target_signature(p, f->linkage_name, want, &t->signature))
		return;
	err = cp_signature_read(t->assembly->image, (struct cp_vaddr){ f->address },
				f->linkage_name, f->flags & CP_PROBE_LOCAL,
				f->flags & CP_PROBE_CLONE, want, &c->limits, &t->signature);
	if (err)
		cp_debug("types of %s: %s", f->linkage_name, err->what);
	else if (!cp_signature_is_described(t->signature) || cp_signature_is_vague(t->signature))
		use_declaration(p->session, t, want);
	cp_error_free(err);
}

static void set_captures(struct engine_calls *c, const struct engine_traced *t)
{
	uint32_t i;

	if (!t->signature || !t->site_count)
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

static bool ends_elsewhere(const struct cp_probe_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->sites.count; i++)
		if (plan->sites.items[i].kind != CP_PROBE_SITE_ENTRY &&
		    plan->sites.items[i].kind != CP_PROBE_SITE_RETURN)
			return true;
	return false;
}

/* Sites of the traced function `number`; false without memory. */
static bool add_sites(const cprof_session *s, struct engine_traced *t, uint32_t number,
		      const struct cp_probe_plan *plan)
{
	struct engine_calls *c = s->calls;
	const struct engine_site behind = { .traced = number, .kind = ENGINE_SITE_RETURN };
	bool once = t->flags & CPROF_CALL_INSTRUMENTATION_ONCE;
	bool by_return = plan->why == CP_PROBE_BY_RETURN ||
			 (engine_role_wants_return(s, t) && ends_elsewhere(plan));
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
	for (i = 0; i < count; i++)
		if (!add_site(c, number, &plan->sites.items[i]))
			return false;
	/* Also for a function of which some exit will prove unfit. */
	t->return_site = (uint32_t)c->sites.count;
	t->site_count = (uint32_t)count;
	t->entry_count = (uint32_t)plan->entry_count;
	return cp_vec_push(&c->sites, behind);
}

/* Nobody named what is traced for what it does. */
static uint32_t rate_of(const cprof_session *s, const struct engine_traced *t, bool named)
{
	const struct engine_calls *c = s->calls;

	return named && !engine_role_pauses(s, t) ? c->rate_named : c->rate_globbed;
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
		return NOT_CHOSEN;
	}
	t = calloc(1, sizeof(*t));
	if (!t || !cp_vec_push(&c->traced, t)) {
		free(t);
		return NOT_CHOSEN;
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
	if (t->signature && !cp_signature_is_described(t->signature) && f->kind != CP_PROBE_PLT)
		engine_ifuncs_untyped(image);
	set_captures(c, t);
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
	size_t i;

	if (!plans || !image_wanted(s, image) || !engine_plans_read(a, plans))
		return false;
	engine_ifuncs_wanted(image, false);
	if (what != ENGINE_PLAN_OTHERS && s->calls->introspection)
		engine_rank_images(image->process);
	for (i = 0; engine_decoder(s->calls) && i < plans->functions.count; i++) {
		struct cp_probe_function *f = &plans->functions.items[i];
		struct engine_wish wish = { 0 };

		if (is_about(what, f))
			wish = wanted(s, image, f);
		if (!wish.flags || (plans->hook_address && f->address == plans->hook_address))
			continue;
		if (!plans->numbers[i]) {
			uint32_t number = plan_function(s, image, f, &wish, &plan);

			plans->numbers[i] = number == NOT_CHOSEN ? NOT_CHOSEN : number + 1;
			s->calls->chosen += wish.flags != ENGINE_TRACED_ROLE;
		}
		if (plans->numbers[i] != NOT_CHOSEN &&
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
	struct engine_calls *c = p->session->calls;
	bool same = t->flags == wish->flags && !t->disarmed && !t->type_anew;
	struct cp_signature *old = t->signature;

	t->flags = wish->flags;
	t->disarmed = false;
	t->max_rate = rate_of(p->session, t, wish->named);
	if (same || !t->site_count)
		return false;
	if (t->type_anew)
		t->signature = NULL;
	if (!t->signature)
		read_signature(p, t);
	/* Its sites have what the old one captures until they get the new one's. */
	if (!t->signature)
		t->signature = old;
	else if (t->type_anew)
		cp_signature_destroy(old);
	t->type_anew = false;
	set_captures(c, t);
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

		if ((fresh && !wish.flags) || plans->numbers[i] == NOT_CHOSEN ||
		    (plans->hook_address && f->address == plans->hook_address))
			continue;
		if (fresh) {
			number = plan_function(s, image, f, &wish, &plan);
			plans->numbers[i] = number == NOT_CHOSEN ? NOT_CHOSEN : number + 1;
			s->calls->chosen += wish.flags != ENGINE_TRACED_ROLE;
			if (number == NOT_CHOSEN)
				continue;
		}
		number = plans->numbers[i] - 1;
		t = s->calls->traced.items[number];
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
	const struct engine_plans *plans = image->assembly->plans;
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
	t = number && number != NOT_CHOSEN ? s->calls->traced.items[number - 1] : NULL;
	return t && t->site_count && !t->disarmed && engine_traced_by_others(t);
}

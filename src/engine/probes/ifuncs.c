/* SPDX-License-Identifier: MIT */
#include "engine/probes/ifuncs.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/wishes.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/memory.h"
#include "engine/target/process.h"
#include "engine/target/state.h"

#define RESOLVER 1 /* the only role */

struct ifunc {
	struct cp_probe_function *function;
	bool wanted, named;
	bool chosen; /* by one process at least */
};

/* The indirect functions of one ELF object. */
struct engine_ifuncs {
	CP_VEC(struct ifunc) list;
	bool any; /* of them is wanted */
	bool untyped; /* what they choose is traced, and has no types of its own */
	CP_VEC(struct cp_got_word) words; /* words of its global offset table */
	bool words_read;
};

void engine_ifuncs_free(struct engine_ifuncs *ifuncs)
{
	if (!ifuncs)
		return;
	cp_vec_free(&ifuncs->list);
	cp_vec_free(&ifuncs->words);
	free(ifuncs);
}

static struct engine_ifuncs *ifuncs_of(struct engine_plans *plans)
{
	if (!plans->ifuncs)
		plans->ifuncs = calloc(1, sizeof(*plans->ifuncs));
	return plans->ifuncs;
}

/* ---- who is wanted ---- */

static bool list_all(struct engine_plans *plans, struct engine_ifuncs *ifuncs)
{
	size_t i;

	for (i = 0; i < plans->functions.count; i++)
		if (plans->functions.items[i].kind == CP_PROBE_IFUNC &&
		    !cp_vec_push(&ifuncs->list,
				 (struct ifunc){ .function = &plans->functions.items[i] }))
			return false;
	return true;
}

bool engine_ifuncs_wanted(cprof_image *image, bool anew)
{
	struct engine_plans *plans = image->assembly->plans;
	bool fresh = !plans->ifuncs;
	struct engine_ifuncs *ifuncs = ifuncs_of(plans);
	struct engine_wish wish;
	struct ifunc *i;

	if (!ifuncs || (!fresh && !anew))
		return ifuncs && ifuncs->any;
	if (!ifuncs->list.count && !list_all(plans, ifuncs))
		return false;
	ifuncs->any = ifuncs->untyped && ifuncs->list.count;
	cp_vec_for_each(&ifuncs->list, i) {
		struct engine_asking a = ENGINE_ASKING;

		engine_ask(image->process->session, image, i->function, &a);
		wish = engine_settle(&a);
		i->wanted = wish.flags != 0;
		i->named = wish.named;
		ifuncs->any |= i->wanted;
	}
	return ifuncs->any;
}

void engine_ifuncs_untyped(cprof_image *image)
{
	struct engine_ifuncs *ifuncs = image->assembly->plans->ifuncs;

	if (!ifuncs || ifuncs->untyped || !ifuncs->list.count)
		return;
	ifuncs->untyped = true;
	cp_vec_push(&image->process->session->calls->refilters, image);
}

void engine_ifuncs_watch(struct engine_traced *t)
{
	t->family = ENGINE_FAMILY_IFUNCS;
	t->role = RESOLVER;
}

/* ---- choices ---- */

/* If the chosen function is traced already, without types, it is to be typed anew.
 * False: it is not. */
static bool type_anew(cprof_session *s, const struct engine_plans *plans,
		      const struct cp_probe_function *target)
{
	uint32_t number = plans->numbers[target - plans->functions.items];
	struct engine_traced *t =
		number && number != ENGINE_NO_FUNCTION ? s->calls->traced.items[number - 1] : NULL;

	if (t && t->signature && !cp_signature_is_described(t->signature))
		t->type_anew = true;
	return t && t->type_anew;
}

static bool is_called(const struct engine_plans *plans, const struct cp_probe_function *f,
		      const char *name)
{
	size_t i;

	if (!strcmp(f->linkage_name, name))
		return true;
	for (i = 0; i < f->alias_count; i++)
		if (!strcmp(plans->functions.aliases.items[f->first_alias + i].linkage_name, name))
			return true;
	return false;
}

/* Warns that two indirect functions chose one: calls of both are counted together. */
static void tell_shared(cprof_session *s, const struct engine_choice *one,
			const struct engine_choice *other)
{
	if (!strcmp(one->ifunc->linkage_name, other->ifunc->linkage_name))
		return; /* two versions of one */
	engine_warn(s, "'%s' and '%s' are one function here, %s: calls of both are counted",
		    one->ifunc->linkage_name, other->ifunc->linkage_name,
		    one->target->linkage_name);
}

static void add_choice(cprof_image *in, const struct engine_choice *choice, const struct ifunc *i)
{
	cprof_session *s = in->process->session;
	struct engine_plans *plans = in->assembly->plans;
	const struct engine_choice *known;
	struct engine_ifuncs *of = choice->image->assembly->plans->ifuncs;
	const struct ifunc *other;

	cp_vec_for_each(&plans->choices, known)
		if (known->target == choice->target && known->ifunc == choice->ifunc)
			return;
	cp_vec_for_each(&plans->choices, known) {
		if (known->target != choice->target)
			continue;
		cp_vec_for_each(&of->list, other)
			if (other->function == known->ifunc && other->named && !i->named)
				tell_shared(s, known, choice);
		if (i->named)
			tell_shared(s, choice, known);
	}
	if (!cp_vec_push(&plans->choices, *choice))
		return;
	if (!type_anew(s, plans, choice->target) && !i->wanted)
		return;
	cp_info("%s is %s", choice->ifunc->linkage_name, choice->target->linkage_name);
	if (!s->calls->refilters.count ||
	    s->calls->refilters.items[s->calls->refilters.count - 1] != in)
		cp_vec_push(&s->calls->refilters, in);
}

/* The resolver of `i`, in `image`, chose what is at `address`; `certain`: that can't be
 * another object's function of the same name. False: no choice is there. */
static bool choose(cprof_image *image, struct ifunc *i, uint64_t address, bool certain)
{
	const struct engine_text *text = engine_find_text(image->process, address);
	struct engine_choice choice = { .ifunc = i->function, .image = image };
	struct engine_plans *plans;

	if (!text || (!certain && text->image != image && text->image->assembly->path[0] == '/'))
		return false;
	plans = engine_plans_of(text->image->assembly);
	if (plans && engine_plans_read(text->image->assembly, plans))
		choice.target =
			cp_probe_functions_find(&plans->functions, address - text->image->bias);
	/* The word leads to a lazy stub, or nowhere yet. */
	if (plans && (!choice.target || choice.target->kind != CP_PROBE_FUNCTION ||
		      choice.target->address != address - text->image->bias))
		return false;
	if (plans)
		add_choice(text->image, &choice, i);
	else if (i->named)
		engine_warn(image->process->session,
			    "what the resolver of '%s' chose is in %s, where no breakpoint can "
			    "stand: trace its stubs, 'plt:%s'",
			    i->function->linkage_name, text->image->assembly->path,
			    i->function->linkage_name);
	i->chosen = true;
	return true;
}

static bool resolved(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	const struct engine_traced *t = s->calls->traced.items[call->function];
	/* The image of the process in which the resolver ran. */
	cprof_image *image =
		s->current.hit ? (cprof_image *)(uintptr_t)s->current.hit->image : NULL;
	struct engine_ifuncs *ifuncs = t->assembly->plans->ifuncs;
	uint64_t address;
	struct ifunc *i;

	(void)role;
	if (!image || image->assembly != t->assembly || !engine_role_result(s, &address))
		return false;
	cp_vec_for_each(&ifuncs->list, i)
		if (i->function == t->function)
			choose(image, i, address, true);
	return false;
}

/* ---- offset tables ---- */

static bool keep_word(void *ctx, const struct cp_got_word *word)
{
	struct engine_ifuncs *ifuncs = ctx;

	return cp_vec_push(&ifuncs->words, *word);
}

static void read_words(const cprof_image *image, struct engine_ifuncs *ifuncs)
{
	if (!ifuncs->words_read && !cp_image_got(image->assembly->image, keep_word, ifuncs))
		cp_vec_free(&ifuncs->words);
	ifuncs->words_read = true;
}

static void look_at_word(cprof_image *in, const struct cp_got_word *word, cprof_image *image)
{
	struct engine_plans *plans = image->assembly->plans;
	const struct cp_reader *memory = &in->process->memory;
	uint64_t value = 0;
	struct ifunc *i;

	if (!word->name && in != image)
		return;
	cp_vec_for_each(&plans->ifuncs->list, i) {
		if (word->name ? !is_called(plans, i->function, word->name)
			       : i->function->address != word->resolver.v)
			continue;
		if (value || (memory->read(memory->ctx, word->at.v + in->bias, &value,
					   sizeof(value)) == sizeof(value) &&
			      value))
			choose(image, i, value, !word->name);
	}
}

static bool resolves(const cprof_image *image)
{
	return image->mapped && image->armed && image->assembly->plans &&
	       image->assembly->plans->ifuncs && image->assembly->plans->ifuncs->any;
}

static void look(cprof_process *p)
{
	const struct cp_got_word *word;
	struct engine_ifuncs *ifuncs;
	struct engine_plans *plans;
	size_t i, k;
	bool any = false;

	for (i = 0; i < p->images.count; i++)
		any |= resolves(p->images.items[i]);
	for (i = 0; any && i < p->images.count && engine_open_memory(p); i++) {
		cprof_image *in = p->images.items[i];

		plans = in->mapped ? engine_plans_of(in->assembly) : NULL;
		ifuncs = plans ? ifuncs_of(plans) : NULL;
		if (!ifuncs)
			continue;
		read_words(in, ifuncs);
		cp_vec_for_each(&ifuncs->words, word)
			for (k = 0; k < p->images.count; k++)
				if (resolves(p->images.items[k]))
					look_at_word(in, word, p->images.items[k]);
	}
}

static bool is_open(const cprof_image *image)
{
	const struct ifunc *i;

	if (!resolves(image))
		return false;
	cp_vec_for_each(&image->assembly->plans->ifuncs->list, i)
		if (i->wanted && !i->chosen)
			return true;
	return false;
}

static void look_again(cprof_session *s)
{
	size_t i, k;

	for (i = 0; s->calls && i < s->processes.count; i++) {
		cprof_process *p = s->processes.items[i];

		for (k = 0; k < p->images.count && !is_open(p->images.items[k]); k++)
			;
		if (k < p->images.count && engine_process(s, p->pid) == p)
			look(p);
	}
}

/* At the end, of a program that was attached to, names the choices that were not found.
 * In one that was started, resolvers run while they are watched, or not at all. */
static void explain(cprof_session *s)
{
	const struct engine_ifuncs *ifuncs;
	const struct ifunc *one;
	size_t i;

	for (i = 0; s->attached && i < s->assemblies.count; i++) {
		const cprof_assembly *a = s->assemblies.items[i];

		ifuncs = a && a->plans ? a->plans->ifuncs : NULL;
		if (!ifuncs)
			continue;
		cp_vec_for_each(&ifuncs->list, one)
			if (one->named && !one->chosen)
				engine_warn(
					s,
					"what the resolver of '%s' in %s chose is not known: no "
					"global offset table has it, and nobody asked for it "
					"meanwhile",
					one->function->linkage_name, cp_basename(a->path));
	}
}

/* A thread that returns from a resolver is held, so that nobody calls what was chosen
 * before that has its breakpoints. */
static const struct engine_role roles[] = {
	[RESOLVER] = { CP_SITE_REGS, CP_SITE_REGS, true },
};

const struct engine_family engine_ifuncs_family = {
	.name = "ifuncs",
	.roles = roles,
	.returned = resolved,
	.armed = look,
	.second = look_again,
	.explain = explain,
};

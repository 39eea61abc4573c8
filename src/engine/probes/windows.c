/* SPDX-License-Identifier: MIT */
#include "engine/probes/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/probes/fetches.h"
#include "engine/probes/objects.h"
#include "engine/probes/roles.h"
#include "engine/probes/values.h"
#include "engine/target/family.h"
#include "engine/target/kept.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "link/link.h"
#include "unwind/table.h"

struct engine_windows {
	struct cp_reader file;
	bool read; /* `text` was, or can't be */
	struct cp_detour_text *text; /* owned */
	struct cp_table *table; /* owned; call frame information; NULL: none */
	struct cp_detour_planner planner;
};

void engine_windows_free(struct engine_windows *w)
{
	if (!w)
		return;
	cp_detour_planner_deinit(&w->planner);
	cp_detour_text_destroy(w->text);
	cp_table_destroy(w->table);
	free(w);
}

/* ---- what is asked ---- */

#define NEEDS_STOP \
	(CPROF_CALL_INSTRUMENTATION_HOLD | CPROF_CALL_INSTRUMENTATION_ONCE | \
	 CPROF_CALL_INSTRUMENTATION_LOCALS | CPROF_CALL_INSTRUMENTATION_CHANGES)

#define VALUES_MAX (CP_DETOUR_VALUES - 4) /* those of an entry and of a jump may come */

/* Registers that a walk of the stack begins with, but for those that each record has. */
static uint64_t walk_registers(void)
{
	const struct cp_arch *arch = cp_arch_host();

	return arch->callee_saved & ~(UINT64_C(1) << arch->sp | UINT64_C(1) << arch->pc);
}

static int count_values(const struct engine_site *site)
{
	struct cp_detour_value values[CP_DETOUR_VALUES];
	int count = engine_values_of(site, values);

	return count < 0 || !site->walked ? count : count + __builtin_popcountll(walk_registers());
}

/* The condition that calls of the function have to meet; NULL: none. */
static const struct cp_condition *condition_of(const struct engine_calls *c,
					       const struct engine_traced *t)
{
	return engine_traced_by_others(t) ? c->condition : NULL;
}

static bool can_record(const struct engine_calls *c, const struct engine_traced *t)
{
	uint32_t i;

	for (i = 0; i < t->site_count; i++) {
		const struct engine_site *site = &c->sites.items[t->first_site + i];
		int values = count_values(site);

		if (values < 0 || values > VALUES_MAX)
			return false;
	}
	return true;
}

static int tests_of(const struct engine_calls *c, const struct engine_traced *t,
		    struct cp_detour_test ret[CP_DETOUR_TESTS])
{
	return cp_condition_tests(condition_of(c, t), t->signature, ret);
}

/* Is more wanted at one of its sites than a record can have? */
static bool reads_beyond(const struct engine_calls *c, const struct engine_traced *t)
{
	uint32_t i;

	for (i = 0; t->flags & CPROF_CALL_INSTRUMENTATION_ELEMENTS && i < t->site_count; i++)
		if (c->sites.items[t->first_site + i].list.beyond)
			return true;
	return false;
}

/* Could a detour do what is asked of the function, wherever its code is? */
static enum engine_slow why_asked(const cprof_session *s, const struct engine_traced *t)
{
	const struct engine_calls *c = s->calls;
	struct cp_detour_test tests[CP_DETOUR_TESTS];
	uint64_t arguments;

	if (!s->detours)
		return ENGINE_SLOW_ASKED;
	if (s->coverage)
		return ENGINE_SLOW_COVERED;
	if (t->function->kind != CP_PROBE_FUNCTION)
		return ENGINE_SLOW_LIBRARY;
	if ((t->family || !engine_traced_by_others(t)) && !engine_role_by_records(s, t, &arguments))
		return ENGINE_SLOW_ROLE;
	if (t->by_return || t->entry_count != 1 || !t->site_count ||
	    (t->why != CP_PROBE_FULL && t->why != CP_PROBE_NO_EXIT))
		return ENGINE_SLOW_SITES;
	if (t->flags & NEEDS_STOP || engine_fetches_late(t) || reads_beyond(c, t) ||
	    (c->cpu_time && engine_traced_by_others(t)))
		return ENGINE_SLOW_STOP;
	if (condition_of(c, t) &&
	    (!t->signature || t->condition_held || t->condition_lacks || tests_of(c, t, tests) < 0))
		return ENGINE_SLOW_CONDITION;
	if (!can_record(c, t) || (t->signature && cp_signature_result_is_kept(t->signature)))
		return ENGINE_SLOW_VALUES;
	return ENGINE_FAST;
}

/* The register, or the word of memory, that says where the jump of a site goes. */
static void set_jump(const struct engine_calls *c, struct engine_site *site)
{
	uint8_t slot[CP_SLOT_SIZE];
	struct cp_step step;

	site->jumps_by = (struct cp_detour_value){ 0 };
	site->jumps = false;
	if (site->kind != ENGINE_SITE_TAIL ||
	    !cp_step_prepare(c->decoder, site->code, site->size, site->address, site->address, slot,
			     &step) ||
	    step.flow != CP_FLOW_JUMP_INDIRECT)
		return;
	site->jumps_by = (struct cp_detour_value){ .kind = CP_DETOUR_GENERAL, .reg = step.base };
	site->jumps = step.indirect_memory || step.base < cp_arch_host()->pc;
	if (!step.indirect_memory)
		return;
	site->jumps_by.kind = CP_DETOUR_WORD;
	site->jumps_by.index = step.index;
	site->jumps_by.scale = step.scale;
	site->jumps_by.at[0] = step.disp;
	if (step.base == cp_arch_host()->pc)
		site->jumps_by.at[0] += step.size; /* from where it begins */
}

/* Is the condition asked again in each round of a loop whose head is where the function
 * begins? What it said of the call is known where calls are matched. */
static bool tests_rounds(const struct engine_calls *c, const struct engine_traced *t)
{
	return t->loops && condition_of(c, t);
}

/* Is the condition about what pointers lead to? */
static bool tests_memory(const struct engine_calls *c, const struct engine_traced *t)
{
	struct cp_detour_test tests[CP_DETOUR_TESTS];
	int count = condition_of(c, t) && t->signature ? tests_of(c, t, tests) : 0;

	while (count > 0 && !tests[count - 1].value.reach)
		count--;
	return count > 0;
}

/* What a role looks at. */
static void set_uses_of_role(const cprof_session *s, const struct engine_traced *t,
			     struct engine_site *site)
{
	bool entry = site->kind == ENGINE_SITE_ENTRY;
	unsigned captures = engine_role_captures(s, t, site->kind);
	struct cp_heap_probe probe;
	uint64_t arguments;

	site->valued = captures && engine_role_by_records(s, t, &arguments);
	site->sampled = site->valued && entry && engine_role_sampled(s, t, &probe);
	site->walked = site->valued ? engine_role_walks(s, t, site->kind) : ENGINE_WALKS_NONE;
	if (site->valued)
		site->uses.general =
			entry ? arguments : UINT64_C(1) << engine_role_result_register(site);
}

/* What values take: written once for what was asked last. */
static void set_uses(const cprof_session *s, const struct engine_traced *t)
{
	const struct engine_calls *c = s->calls;
	bool judged = tests_memory(c, t) || tests_rounds(c, t);
	uint64_t fetched;
	uint32_t i;

	for (i = 0; i < t->site_count; i++) {
		struct engine_site *site = &c->sites.items[t->first_site + i];

		site->judged = judged && site->kind == ENGINE_SITE_ENTRY;
		site->uses = (struct cp_uses){ 0 };
		site->formed = site->sampled = false;
		site->valued = (s->introspection || site->judged) &&
			       (site->list.site_flags || site->list.fetch_count);
		site->walked = site->kind == ENGINE_SITE_ENTRY &&
					       t->flags & CPROF_CALL_INSTRUMENTATION_STACK
				       ? ENGINE_WALKS_ALL
				       : ENGINE_WALKS_NONE;
		set_jump(c, site);
		if (t->signature && site->list.site_flags)
			site->uses =
				cp_signature_uses(t->signature, site->kind != ENGINE_SITE_ENTRY);
		site->uses.general &= ~(UINT64_C(1) << cp_arch_host()->sp); /* it always has that */
		if (t->family)
			set_uses_of_role(s, t, site);
		fetched = engine_fetches_registers(c, t, site);
		site->valued |= fetched != 0;
		site->uses.general |= fetched & ~(UINT64_C(1) << cp_arch_host()->sp);
	}
}

bool engine_windows_suit(const cprof_session *s, struct engine_traced *t)
{
	enum engine_slow why;

	if (!t->windows || t->slow >= ENGINE_SLOW_CODE)
		return false;
	why = why_asked(s, t);
	t->slow = (uint8_t)why;
	return why == ENGINE_FAST;
}

void engine_windows_drop(struct engine_traced *t)
{
	if (t->windows)
		cp_detour_plan_free(t->windows);
	free(t->windows);
	t->windows = NULL;
}

void engine_windows_give_up(struct engine_traced *t, enum engine_slow why)
{
	t->slow = (uint8_t)why;
}

/* ---- an object's code ---- */

enum frame { FRAME_GONE, FRAME_STANDS, FRAME_UNKNOWN };

/* Is the frame gone at `pc`, so that the return address is where sp is? */
static enum frame frame_at(const struct engine_windows *w, uint64_t pc)
{
	const struct cp_table_memory memory = { &w->file, 0 };
	const struct cp_arch *arch = cp_arch_host();
	const struct cp_rule *rule =
		w->table ? cp_table_find(w->table, &memory, (struct cp_vaddr){ pc }, NULL) : NULL;

	if (!rule || rule->cfa_reg > arch->nregs)
		return FRAME_UNKNOWN;
	return rule->cfa_reg == arch->sp && rule->cfa_offset == arch->ret_size ? FRAME_GONE
									       : FRAME_STANDS;
}

static bool is_gone(void *ctx, uint64_t pc)
{
	return frame_at(ctx, pc) == FRAME_GONE;
}

static struct engine_windows *object_of(cprof_assembly *a)
{
	struct engine_windows *w = a->plans->windows;
	struct cp_vaddr first = { 0 };

	if (w)
		return w;
	w = a->plans->windows = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->file = cp_probe_file_reader(a->image);
	if (cp_image_vaddr_of_offset(a->image, 0, &first))
		w->table = cp_table_create(cp_arch_host(), &w->file, first.v);
	return w;
}

void engine_windows_settle(cprof_assembly *a, struct cp_probe_plan *plan)
{
	const struct engine_windows *w = NULL;
	size_t i, n = 0;

	for (i = 0; i < plan->sites.count; i++) {
		const struct cp_probe_site *site = &plan->sites.items[i];
		bool computed = site->kind == CP_PROBE_SITE_INDIRECT && i >= plan->entry_count;

		if (computed && !w)
			w = object_of(a);
		if (!computed || !w || frame_at(w, site->address) != FRAME_STANDS)
			plan->sites.items[n++] = *site;
	}
	plan->sites.count = n;
}

/* To read all of the code takes longer than all else that is done for a few functions. */
static struct engine_kept_key kept_text(const struct engine_plans *plans)
{
	return (struct engine_kept_key){ "windows", CP_DETOUR_TEXT_FORMAT,
					 cp_probe_functions_hash(&plans->functions) };
}

static bool load_text(cprof_session *s, const cprof_assembly *a, struct engine_windows *w)
{
	const struct cp_probe_functions *functions = &a->plans->functions;
	struct engine_kept_key key = kept_text(a->plans);
	struct cp_error *err = NULL;
	struct cp_buf bytes = { 0 };

	if (engine_kept_get(s, a, &key, &bytes))
		err = cp_detour_text_load(cp_arch_host(), engine_decoder(s->calls), &w->file,
					  functions, bytes.bytes, bytes.size, &w->text);
	cp_error_free(err);
	cp_buf_free(&bytes);
	return w->text;
}

static CP_ERROR make_text(cprof_session *s, const cprof_assembly *a, struct engine_windows *w)
{
	struct engine_kept_key key = kept_text(a->plans);
	struct cp_buf bytes = { 0 };

	CP_TRY(cp_detour_text_create(cp_arch_host(), engine_decoder(s->calls), &w->file, a->image,
				     &a->plans->functions, &w->text));
	cp_detour_text_save(w->text, &bytes);
	engine_kept_put(s, a, &key, &bytes);
	return NULL;
}

static void read_text(cprof_session *s, cprof_assembly *a, struct engine_windows *w)
{
	struct engine_plans *plans = a->plans;
	struct cp_error *err;

	if (w->read)
		return;
	w->read = true;
	engine_plans_pads(a, plans);
	err = load_text(s, a, w) ? NULL : make_text(s, a, w);
	if (err)
		cp_debug("windows of %s: %s", a->path, err->what);
	cp_error_free(err);
	w->planner = (struct cp_detour_planner){
		.text = w->text,
		.functions = &plans->functions,
		.frames = { is_gone, w },
	};
}

void engine_windows_plan(cprof_session *s, struct engine_traced *t,
			 const struct cp_probe_plan *plan)
{
	struct engine_plans *plans = t->assembly->plans;
	struct cp_probe_plan entries = *plan;
	struct cp_error *err;

	set_uses(s, t);
	t->planned = t->flags;
	t->slow = (uint8_t)why_asked(s, t);
	if (t->slow != ENGINE_FAST || plan->sites.count != t->site_count)
		return;
	if (engine_role_entry_alone(s, t)) {
		entries.sites.count = t->entry_count;
		plan = &entries;
	}
	t->slow = ENGINE_SLOW_CODE;
	if (!object_of(t->assembly))
		return;
	read_text(s, t->assembly, plans->windows);
	if (!plans->windows->text)
		return;
	t->windows = calloc(1, sizeof(*t->windows));
	if (!t->windows)
		return;
	err = cp_detour_plan_function(&plans->windows->planner, t->function, plan, t->windows);
	if (!err && t->windows->why == CP_DETOUR_FAST && t->windows->windows.count)
		t->slow = ENGINE_FAST;
	cp_error_free(err);
}

bool engine_windows_points(cprof_session *s, cprof_assembly *a, struct cp_probe_function *f,
			   const struct cp_detour_point *points, size_t count,
			   struct cp_detour_windows *ret)
{
	struct engine_windows *w = object_of(a);
	struct cp_probe_plan sites = { 0 };
	struct cp_error *err;

	if (w)
		read_text(s, a, w);
	if (!w || !w->text)
		return true;
	size_t before = ret->items.count;

	err = cp_probe_plan_function(engine_decoder(s->calls), &w->file, &a->plans->functions, f,
				     &sites);
	if (!err)
		err = cp_detour_plan_points(&w->planner, f, &sites, points, count, ret);
	if (err)
		cp_debug("windows of %s: %s", f->linkage_name, err->what);
	else if (count && ret->items.count == before)
		cp_debug("%s: no windows for %zu places", f->linkage_name, count);
	cp_error_free(err);
	cp_probe_plan_free(&sites);
	return true;
}

/* ---- records ---- */

static void add_value(struct cp_detour_record *r, unsigned kind, unsigned reg, int offset)
{
	if (r->value_count < CP_DETOUR_VALUES)
		r->values[r->value_count++] = (struct cp_detour_value){
			.kind = (uint8_t)kind,
			.reg = (uint8_t)reg,
			.offset = (int16_t)offset,
		};
}

/* In the order in which engine_told_fill() takes them. False: they are too many. */
static bool add_values(struct engine_calls *c, const struct engine_site *site,
		       struct cp_detour_record *r)
{
	struct cp_detour_value values[CP_DETOUR_VALUES];
	int count = engine_values_of(site, values);

	if (count < 0 || r->value_count + count > CP_DETOUR_VALUES)
		return false;
	memcpy(r->values + r->value_count, values, (size_t)count * sizeof(*values));
	r->value_count = (uint8_t)(r->value_count + count);
	c->reaches |= engine_values_reach(site);
	return true;
}

/* The stack, and registers that its walk begins with. */
static void add_walk(const struct engine_site *site, struct cp_detour_record *r)
{
	unsigned i;

	if (!site->walked)
		return;
	r->stack = CP_DETOUR_STACK_MAX;
	for (i = 0; i < CP_REG_MAX; i++)
		if (walk_registers() >> i & 1)
			add_value(r, CP_DETOUR_GENERAL, i, 0);
}

/* Who called, and the first argument: of a signal's handler, its number. */
static void add_entry(const struct engine_site *site, struct cp_detour_record *r)
{
	r->by_known = true;
	add_value(r, CP_DETOUR_STACK, 0, 0);
	add_value(r, CP_DETOUR_GENERAL, cp_arch_host()->args[0], 0);
	add_walk(site, r);
	if (site->sampled)
		add_value(r, CP_DETOUR_CHOSEN, 0, 0);
}

/* Where the jump at an exit goes, behind what a walk needs. */
static void add_exit(const struct engine_site *site, struct cp_detour_record *r)
{
	add_walk(site, r);
	if (site->jumps && r->value_count < CP_DETOUR_VALUES)
		r->values[r->value_count++] = site->jumps_by;
}

static uint8_t register_or_none(uint8_t number)
{
	return number == CP_NO_REG ? CP_DETOUR_NONE : number;
}

/* Of calls that allocate and free, those of the sample. */
static void add_sample(const struct cp_heap_probe *probe, const struct engine_site *site,
		       struct cp_detour_record *r)
{
	r->when = CP_DETOUR_IF_DECIDED;
	r->chooses = site->kind == ENGINE_SITE_EXIT;
	r->block.address = (uint8_t)engine_role_result_register(site);
	if (site->kind != ENGINE_SITE_ENTRY)
		return;
	if (probe->size == CP_NO_REG && probe->address == CP_NO_REG)
		return; /* it goes on with a call */
	r->when = probe->size == CP_NO_REG ? CP_DETOUR_IF_CHOSEN : CP_DETOUR_SAMPLES;
	r->block = (struct cp_detour_block){ register_or_none(probe->size),
					     register_or_none(probe->times),
					     register_or_none(probe->address) };
}

/* The entry decides whether the call is one, exits ask. */
static void add_condition(const cprof_session *s, const struct engine_traced *t,
			  const struct engine_site *site, struct cp_detour_record *r)
{
	const struct engine_calls *c = s->calls;
	struct cp_heap_probe probe;
	int count;

	if (t->family && engine_role_sampled(s, t, &probe)) {
		add_sample(&probe, site, r);
		return;
	}
	if (!condition_of(c, t) || tests_rounds(c, t))
		return;
	r->when = CP_DETOUR_IF_DECIDED;
	if (site->kind != ENGINE_SITE_ENTRY)
		return;
	r->when = CP_DETOUR_DECIDES;
	count = tests_of(c, t, r->tests);
	r->test_count = (uint8_t)(count > 0 ? count : 0);
}

bool engine_windows_records(cprof_session *s, const struct engine_traced *t,
			    const struct cp_detour_window *window, struct cp_detour *detour)
{
	struct engine_calls *c = s->calls;
	size_t i;

	for (i = 0; i < window->site_count; i++) {
		const struct cp_detour_window_site *at = &window->sites[i];
		uint32_t number = t->first_site + at->number;
		struct engine_site *site = &c->sites.items[number];
		struct cp_detour_record *r = &detour->records[detour->record_count];
		bool changed = window->how == CP_DETOUR_BY_CHANGE;
		uint8_t before = changed ? 0 : at->before;

		c->walks = c->walks > site->walked ? c->walks : site->walked;

		/* Entry and exit are the same instruction: one record for both. */
		if (detour->record_count && r[-1].before == before) {
			c->sites.items[r[-1].site].also = number;
			add_exit(site, &r[-1]);
			if (!add_values(c, site, &r[-1]))
				return false;
			continue;
		}
		if (detour->record_count == CP_DETOUR_RECORDS || number >= CP_DETOUR_SITES)
			return false;
		r->site = number;
		r->before = before;
		r->taken = at->taken && !changed;
		add_condition(s, t, site, r);
		if (site->kind == ENGINE_SITE_ENTRY)
			add_entry(site, r);
		else
			add_exit(site, r);
		if (!add_values(c, site, r))
			return false;
		detour->record_count++;
	}
	for (i = 0; i < detour->record_count; i++)
		c->sites.items[detour->records[i].site].words =
			(uint16_t)engine_values_words(&detour->records[i]);
	return true;
}

void engine_windows_returns(const struct engine_traced *t,
			    void (*visit)(void *ctx, uint64_t address), void *ctx)
{
	const struct engine_plans *plans = t->assembly->plans;
	const struct cp_detour_text *text = plans && plans->windows ? plans->windows->text : NULL;
	uint64_t at;
	size_t i;

	for (i = 0; text && i < t->function->range_count; i++)
		for (at = t->function->ranges[i].start + 1; at <= t->function->ranges[i].end; at++)
			if (cp_detour_bit(text, &text->returns, at))
				visit(ctx, at);
}

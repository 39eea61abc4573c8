/* SPDX-License-Identifier: MIT */
#include "detour/plan.h"

#include <stdlib.h>
#include <string.h>

#include "detour/table.h"

const char *cp_detour_why_text(enum cp_detour_why why)
{
	static const char *const texts[CP_DETOUR_WHYS] = {
		[CP_DETOUR_FAST] = "fast",
		[CP_DETOUR_WHY_SITES] = "it has no places where all of its calls end",
		[CP_DETOUR_WHY_COMPUTED] =
			"it has a jump that is computed and may lead anywhere in it",
		[CP_DETOUR_WHY_ENTRY_SHORT] = "its beginning is too short for a jump",
		[CP_DETOUR_WHY_ENTRY_LEADS] = "its first instructions are jumped to",
		[CP_DETOUR_WHY_ENTRY_FIXED] = "its first instructions can't be moved",
		[CP_DETOUR_WHY_EXIT_SHORT] = "one of its ends is too short for a jump",
		[CP_DETOUR_WHY_EXIT_LEADS] = "the instruction of one of its ends is jumped to",
		[CP_DETOUR_WHY_EXIT_FIXED] = "the instructions of one of its ends can't be moved",
		[CP_DETOUR_WHY_TAKEN] = "it shares bytes with a function that has a jump there",
		[CP_DETOUR_WHY_FAR] = "there is no room for code near it",
	};

	return texts[why];
}

#define SWITCHES 64

struct planning {
	struct cp_detour_planner *planner;
	struct cp_detour_text *text;
	const struct cp_probe_plan *sites;
	struct cp_detour_plan *plan;
	bool no_memory;
	/* Jumps of switches, which leave nothing, by number of their site. */
	uint32_t switches[SWITCHES];
	size_t switch_count;
};

/* ---- computed jumps ---- */

/* Cases of switches, and code that nothing else leads to. */
static void lead_inside(struct cp_detour_text *text, const struct cp_code *code, size_t offset)
{
	size_t number = code->starts.items[offset];

	if (number)
		cp_detour_text_lead(text, code->insns.items[number - 1].pc);
}

static bool is_pad(const struct cp_probe_functions *functions, uint64_t address)
{
	size_t low = 0, high = functions ? functions->pad_count : 0, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (functions->pads[mid] < address)
			low = mid + 1;
		else
			high = mid;
	}
	return functions && low < functions->pad_count && functions->pads[low] == address;
}

/* True when some code is reached in no way that is known, as labels of a computed
 * goto are. */
static bool follow(struct planning *p)
{
	const struct cp_code *code = &p->planner->code;
	bool unknown = false;
	size_t i;

	for (i = 0; i < code->cases.count; i++)
		lead_inside(p->text, code, code->cases.items[i].offset);
	for (i = 0; i < code->others.count; i++) {
		size_t number = code->starts.items[code->others.items[i]];

		lead_inside(p->text, code, code->others.items[i]);
		unknown |=
			number && !is_pad(p->planner->functions, code->insns.items[number - 1].pc);
	}
	return unknown;
}

enum { UNKNOWN, KNOWN, COMPUTED }; /* where the jumps of a function lead to */

static uint8_t *knowledge(struct cp_detour_planner *planner,
			  const struct cp_probe_function *function)
{
	size_t number = (size_t)(function - planner->functions->items);

	if (!planner->known)
		planner->known = calloc(planner->functions->count, 1);
	return planner->known ? &planner->known[number] : NULL;
}

/* Another function: the cases of its switches are leads from now on. False: not all of
 * them can be told. */
static bool learn(struct planning *p, const struct cp_probe_function *function)
{
	struct cp_detour_planner *planner = p->planner;
	uint8_t *known = knowledge(planner, function);
	struct cp_error *err;

	if (!known)
		return false;
	if (*known == UNKNOWN) {
		err = cp_code_follow(&planner->code, p->text->decoder, p->text->memory,
				     planner->functions, function);
		*known = err || (follow(p) && planner->code.unknown_jumps) ? COMPUTED : KNOWN;
		cp_error_free(err);
	}
	return *known == KNOWN;
}

/* A computed jump that leaves the function for certain. */
static bool is_outward(struct planning *p, const struct cp_probe_site *site, bool unknown)
{
	const struct cp_detour_frames *frames = &p->planner->frames;
	uint64_t slot;

	if (p->text->arch->jump_slot(site->code, site->size, site->address, &slot))
		return true;
	return !unknown && frames->gone && frames->gone(frames->ctx, site->address);
}

/* ---- windows ---- */

static enum cp_detour_why why_of(enum cp_window_end end, bool entry)
{
	switch (end) {
	case CP_WINDOW_OK:
		return CP_DETOUR_FAST;
	case CP_WINDOW_SHORT:
		return entry ? CP_DETOUR_WHY_ENTRY_SHORT : CP_DETOUR_WHY_EXIT_SHORT;
	case CP_WINDOW_LEADS:
		return entry ? CP_DETOUR_WHY_ENTRY_LEADS : CP_DETOUR_WHY_EXIT_LEADS;
	case CP_WINDOW_FIXED:
		return entry ? CP_DETOUR_WHY_ENTRY_FIXED : CP_DETOUR_WHY_EXIT_FIXED;
	case CP_WINDOW_TAKEN:
		return CP_DETOUR_WHY_TAKEN;
	}
	return CP_DETOUR_WHY_TAKEN;
}

static void mark(struct cp_detour_text *t, struct cp_detour_bits *bits, uint64_t at, size_t size,
		 bool set)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (set)
			cp_detour_set(t, bits, at + i);
		else
			cp_detour_clear(t, bits, at + i);
	}
}

/* Is the displacement of the pun at `pun` there for another window to share? */
static void lend(struct cp_detour_text *t, uint64_t pun, bool lent)
{
	mark(t, &t->lent, pun + 1, CP_DETOUR_JUMP - 1, lent);
}

void cp_detour_plan_take(struct cp_detour_text *t, const struct cp_detour_window *w, bool taken)
{
	bool moves = w->is_host || w->is_filled || w->how != CP_DETOUR_BY_JUMP;
	size_t size = moves ? w->size : w->room;

	if (w->how == CP_DETOUR_BY_HOP && size < CP_DETOUR_HOP)
		size = CP_DETOUR_HOP;
	mark(t, &t->taken, w->address, size, taken);
	if (w->how == CP_DETOUR_BY_HOP)
		mark(t, &t->taken, w->hop, CP_DETOUR_JUMP, taken);
	if (w->how == CP_DETOUR_BY_PUN)
		lend(t, w->address, taken);
	if (!w->pun)
		return;
	mark(t, &t->taken, w->pun + 1, CP_DETOUR_JUMP - 1, taken);
	lend(t, w->pun, !taken && cp_detour_bit(t, &t->taken, w->pun));
}

static void add_window(struct planning *p, const struct cp_detour_window *w)
{
	if (cp_vec_push(&p->plan->windows, *w))
		cp_detour_plan_take(p->text, w, true);
	else
		p->no_memory = true;
}

void cp_detour_plan_trim(struct cp_detour_window *w)
{
	uint8_t most = CP_DETOUR_JUMP + CP_DETOUR_PREFIXES;

	if (w->room > most)
		w->room = w->size > most ? w->size : most;
}

static bool is_at(const struct cp_detour_window *w, uint64_t address)
{
	return address - w->address < w->size &&
	       (address == w->address || (w->begins >> (address - w->address) & 1));
}

/* The site becomes one of the window's, if its instruction is in there. */
static bool add_site(struct planning *p, struct cp_detour_window *w, uint32_t number)
{
	const struct cp_probe_site *site = &p->sites->sites.items[number];
	struct cp_detour_window_site *s = &w->sites[w->site_count];

	if (w->site_count == CP_DETOUR_RECORDS || !is_at(w, site->address))
		return false;
	s->number = number;
	s->before = (uint8_t)(site->address - w->address);
	s->taken = site->kind == CP_PROBE_SITE_TAIL_CONDITIONAL;
	w->site_count++;
	return true;
}

static bool is_switch(const struct planning *p, size_t number)
{
	size_t i;

	for (i = 0; i < p->switch_count; i++) {
		if (p->switches[i] == number)
			return true;
	}
	return false;
}

/* A window is also that of exits which lie in it. */
static bool add_sites_inside(struct planning *p, struct cp_detour_window *w)
{
	const struct cp_probe_site *s;
	size_t i;

	for (i = p->sites->entry_count; i < p->sites->sites.count; i++) {
		s = &p->sites->sites.items[i];
		if (s->address - w->address < w->size && !is_switch(p, i) &&
		    !add_site(p, w, (uint32_t)i))
			return false;
	}
	return true;
}

static bool is_served(const struct planning *p, uint32_t number)
{
	const struct cp_detour_window *w;
	size_t i;

	cp_vec_for_each(&p->plan->windows, w) {
		for (i = 0; i < w->site_count; i++) {
			if (w->sites[i].number == number)
				return true;
		}
	}
	return false;
}

/* Not where a function begins: that is for its own window. Nor where something may
 * lead into it. */
static bool may_be_host(struct planning *p, uint64_t address)
{
	const struct cp_probe_functions *all = p->planner->functions;
	const struct cp_probe_function *f;

	if (!cp_detour_bit(p->text, &p->text->starts, address) ||
	    cp_detour_bit(p->text, &p->text->leads, address))
		return false;
	f = all ? cp_probe_functions_find(all, address) : NULL;
	return f && address >= cp_window_entry_end(p->text, f->address) && learn(p, f);
}

/* The host that moves least: a hop may have two places only that it can lead to, and a
 * larger one has more of them. */
static bool find_host(struct planning *p, struct cp_detour_window *w, struct cp_detour_window *host)
{
	uint64_t low = w->address - 2 * CP_DETOUR_WINDOW - 127, at;
	size_t want;

	for (want = CP_WINDOW_HOST; want <= CP_WINDOW_HOST_MAX; want++) {
		for (at = low; at < w->address + 127; at++) {
			if (may_be_host(p, at) && cp_window_host(p->text, at, want, w, host))
				return true;
		}
	}
	return false;
}

/* A hop to where other instructions make room for its jump. */
static bool plan_host(struct planning *p, struct cp_detour_window *w)
{
	struct cp_detour_window host;

	if (!find_host(p, w, &host))
		return false;
	w->how = CP_DETOUR_BY_HOP;
	cp_detour_plan_trim(w);
	if (!add_sites_inside(p, w))
		return false;
	add_window(p, &host);
	add_window(p, w);
	return true;
}

/* The pun that has lent the byte at `at`, where its displacement begins; 0: none. Behind another
 * function's beginning nobody shares it: there may be breakpoints of that one before it. */
static uint64_t lender(const struct cp_detour_text *t, uint64_t at)
{
	return cp_detour_bit(t, &t->lent, at) && !cp_detour_bit(t, &t->lent, at - 1) ? at - 1 : 0;
}

/* The window is part of the displacement of the pun at `pun`, if that is not 0. */
static void share(const struct cp_detour_text *t, struct cp_detour_window *w, uint64_t pun)
{
	w->pun = pun;
	if (pun)
		t->memory->read(t->memory->ctx, pun + 1, w->behind, sizeof(w->behind));
}

static enum cp_window_end plan_entry_at(struct planning *p, uint64_t at, uint64_t pun)
{
	struct cp_detour_window w;
	enum cp_window_end end;

	end = cp_window_forward(p->text, at, CP_DETOUR_JUMP, &w);
	if (end != CP_WINDOW_OK &&
	    cp_window_forward(p->text, at, CP_DETOUR_HOP, &w) != CP_WINDOW_OK)
		return end;
	w.sites[0] = (struct cp_detour_window_site){ .number = 0 };
	w.site_count = 1;
	share(p->text, &w, pun);
	if (end != CP_WINDOW_OK) {
		if (!cp_window_find_hop(p->text, &w))
			return plan_host(p, &w) ? CP_WINDOW_OK : end;
		w.how = CP_DETOUR_BY_HOP;
	}
	cp_detour_plan_trim(&w);
	if (!add_sites_inside(p, &w))
		return CP_WINDOW_FIXED;
	add_window(p, &w);
	return CP_WINDOW_OK;
}

static enum cp_window_end plan_entry(struct planning *p)
{
	const struct cp_probe_site *site = &p->sites->sites.items[0];
	uint64_t at = site->address, pun;
	enum cp_window_end end;
	struct cp_insn insn;

	/* A landing pad stays what it is. */
	if (cp_decode(p->text->decoder, site->code, site->size, at, &insn) && insn.landing_pad)
		at += insn.size;
	pun = lender(p->text, at);
	if (pun)
		lend(p->text, pun, false);
	end = plan_entry_at(p, at, pun);
	if (pun && end != CP_WINDOW_OK)
		lend(p->text, pun, true);
	return end;
}

/* A direct jump of 32 bits. */
static bool plan_change(struct planning *p, uint32_t number)
{
	const struct cp_probe_site *site = &p->sites->sites.items[number];
	struct cp_detour_window w = { .address = site->address,
				      .how = CP_DETOUR_BY_CHANGE,
				      .size = site->size,
				      .room = site->size };

	if (!cp_detour_displacement(site->code, site->size) ||
	    !cp_window_is_free(p->text, site->address, site->size))
		return false;
	memcpy(w.code, site->code, site->size);
	if (!add_site(p, &w, number))
		return false;
	add_window(p, &w);
	return true;
}

/* The entry's window grows up to an exit that has no room of its own. */
static bool grow_entry(struct planning *p, uint64_t last)
{
	struct cp_detour_window *entry = &p->plan->windows.items[0], w;
	bool ok;

	if (!p->plan->windows.count || !entry->site_count || entry->sites[0].number ||
	    entry->how != CP_DETOUR_BY_JUMP || entry->address > last ||
	    last - entry->address >= CP_DETOUR_WINDOW)
		return false;
	cp_detour_plan_take(p->text, entry, false);
	if (entry->pun)
		lend(p->text, entry->pun, false);
	ok = cp_window_over(p->text, entry->address, last, CP_DETOUR_JUMP, &w) == CP_WINDOW_OK;
	if (ok) {
		cp_detour_plan_trim(&w);
		w.sites[0] = entry->sites[0];
		w.site_count = 1;
		share(p->text, &w, entry->pun);
		ok = add_sites_inside(p, &w);
	}
	if (ok)
		*entry = w;
	cp_detour_plan_take(p->text, entry, true);
	return ok;
}

static bool plan_exit_host(struct planning *p, uint32_t number)
{
	struct cp_detour_window w;

	return cp_window_backward(p->text, p->sites->sites.items[number].address, CP_DETOUR_HOP,
				  &w) == CP_WINDOW_OK &&
	       plan_host(p, &w);
}

/* May the window's jump be a part of the displacement of a pun at `at`, before it? */
static bool may_share(const struct cp_detour_window *w, uint64_t at)
{
	if (w->is_host || w->pun)
		return false;
	return w->how == CP_DETOUR_BY_JUMP ||
	       (w->how == CP_DETOUR_BY_HOP &&
		(w->hop + CP_DETOUR_JUMP <= at || w->hop >= at + CP_DETOUR_JUMP));
}

/* The function's own window that begins where that displacement is. */
static struct cp_detour_window *window_behind(const struct planning *p, uint64_t at)
{
	struct cp_detour_window *w;

	cp_vec_for_each(&p->plan->windows, w)
		if (w->address == at + 1)
			return may_share(w, at) ? w : NULL;
	return NULL;
}

/* Where an instruction of one byte makes a jump of what follows. */
static bool plan_pun(struct planning *p, uint32_t number)
{
	uint64_t at = p->sites->sites.items[number].address;
	struct cp_detour_window *behind = window_behind(p, at), w;
	size_t known = behind ? behind->address + behind->room - (at + 1) : 0;
	bool ok;

	if (behind)
		cp_detour_plan_take(p->text, behind, false);
	ok = cp_window_pun(p->text, at, known, &w) && add_site(p, &w, number);
	if (behind && ok)
		share(p->text, behind, at);
	if (ok)
		cp_detour_plan_take(p->text, &w, true);
	if (behind)
		cp_detour_plan_take(p->text, behind, true);
	if (ok && !cp_vec_push(&p->plan->windows, w))
		p->no_memory = true;
	return ok;
}

static enum cp_window_end plan_exit(struct planning *p, uint32_t number)
{
	uint64_t last = p->sites->sites.items[number].address;
	struct cp_detour_window w;
	enum cp_window_end end;

	if (is_switch(p, number) || is_served(p, number) || plan_change(p, number))
		return CP_WINDOW_OK;
	end = cp_window_backward(p->text, last, CP_DETOUR_JUMP, &w);
	if (end != CP_WINDOW_OK && grow_entry(p, last))
		return CP_WINDOW_OK;
	if (end != CP_WINDOW_OK) {
		if (cp_window_backward(p->text, last, CP_DETOUR_HOP, &w) != CP_WINDOW_OK ||
		    !cp_window_find_hop(p->text, &w))
			return end;
		w.how = CP_DETOUR_BY_HOP;
	}
	cp_detour_plan_trim(&w);
	if (!add_sites_inside(p, &w))
		return CP_WINDOW_FIXED;
	add_window(p, &w);
	return CP_WINDOW_OK;
}

/* ---- a function ---- */

static int by_address(const void *a, const void *b)
{
	const struct cp_detour_window *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void give_up(struct planning *p, enum cp_detour_why why, uint64_t where)
{
	cp_detour_plan_release(p->text, p->plan);
	p->plan->windows.count = 0;
	p->plan->why = why;
	p->plan->where = where;
}

static bool jumps_are_known(struct planning *p)
{
	bool unknown = follow(p);
	size_t i;

	for (i = p->sites->entry_count; i < p->sites->sites.count; i++) {
		const struct cp_probe_site *site = &p->sites->sites.items[i];

		if (site->kind != CP_PROBE_SITE_INDIRECT || is_outward(p, site, unknown))
			continue;
		if (p->switch_count < SWITCHES &&
		    cp_detour_is_switch(p->text, p->planner->functions, &p->planner->code,
					site->address)) {
			p->switches[p->switch_count++] = (uint32_t)i;
			continue;
		}
		give_up(p, CP_DETOUR_WHY_COMPUTED, site->address);
		return false;
	}
	return true;
}

/* Is all that it may lead to a lead? Addresses that it has in memory are in data, and all that
 * data may say of code is one. */
static bool leads_are_known(struct planning *p, const struct cp_probe_site *site, bool unknown)
{
	uint8_t slot[CP_SLOT_SIZE];
	struct cp_step step;

	if (is_outward(p, site, unknown) ||
	    cp_detour_is_switch(p->text, p->planner->functions, &p->planner->code, site->address) ||
	    cp_detour_by_address(p->text, &p->planner->code, site->address))
		return true;
	return cp_step_prepare(p->text->decoder, site->code, site->size, site->address,
			       site->address, slot, &step) &&
	       step.indirect_memory;
}

CP_ERROR cp_detour_plan_leads(struct cp_detour_planner *planner,
			      const struct cp_probe_function *function,
			      const struct cp_probe_plan *sites, bool *known_ret)
{
	struct planning p = { .planner = planner, .text = planner->text, .sites = sites };
	bool unknown;
	size_t i;

	*known_ret = false;
	CP_TRY(cp_code_follow(&planner->code, planner->text->decoder, planner->text->memory,
			      planner->functions, function));
	unknown = follow(&p);
	for (i = sites->entry_count; i < sites->sites.count; i++)
		if (sites->sites.items[i].kind == CP_PROBE_SITE_INDIRECT &&
		    !leads_are_known(&p, &sites->sites.items[i], unknown))
			return NULL;
	*known_ret = true;
	return NULL;
}

/* The exits that have no window yet, if only others make room for it. */
static bool plan_by_hosts(struct planning *p)
{
	bool all = true;
	uint32_t i;

	for (i = (uint32_t)p->sites->entry_count; i < p->sites->sites.count; i++)
		all &= plan_exit(p, i) == CP_WINDOW_OK || plan_exit_host(p, i);
	return all;
}

/* Puns come last: what is behind them has to stay. */
static void plan_windows(struct planning *p)
{
	enum cp_window_end end = plan_entry(p);
	bool all = true;
	uint32_t i;

	if (end != CP_WINDOW_OK) {
		give_up(p, why_of(end, true), p->sites->sites.items[0].address);
		return;
	}
	for (i = (uint32_t)p->sites->entry_count; i < p->sites->sites.count; i++)
		all &= plan_exit(p, i) == CP_WINDOW_OK;
	all = all || plan_by_hosts(p);
	for (i = (uint32_t)p->sites->entry_count; !all && i < p->sites->sites.count; i++) {
		end = plan_exit(p, i);
		if (end == CP_WINDOW_OK || plan_pun(p, i))
			continue;
		give_up(p, why_of(end, false), p->sites->sites.items[i].address);
		return;
	}
	cp_vec_sort(&p->plan->windows, by_address);
}

/* Its own code may have hosts, too. */
static void set_known(struct cp_detour_planner *planner, const struct cp_probe_function *function)
{
	uint8_t *known = planner->functions ? knowledge(planner, function) : NULL;

	if (known)
		*known = KNOWN;
}

CP_ERROR cp_detour_plan_function(struct cp_detour_planner *planner,
				 const struct cp_probe_function *function,
				 const struct cp_probe_plan *sites, struct cp_detour_plan *ret)
{
	struct cp_detour_text *text = planner->text;
	struct planning p = { .planner = planner, .text = text, .sites = sites, .plan = ret };
	struct cp_error *err;

	ret->windows.count = 0;
	ret->why = CP_DETOUR_FAST;
	ret->where = 0;
	if ((sites->why != CP_PROBE_FULL && sites->why != CP_PROBE_NO_EXIT) ||
	    function->kind == CP_PROBE_PLT || sites->entry_count != 1) {
		ret->why = CP_DETOUR_WHY_SITES;
		return NULL;
	}
	err = cp_code_follow(&planner->code, text->decoder, text->memory, planner->functions,
			     function);
	if (err)
		return err;
	if (jumps_are_known(&p)) {
		set_known(planner, function);
		plan_windows(&p);
	}
	return p.no_memory ? cp_error_nomem() : NULL;
}

void cp_detour_plan_release(struct cp_detour_text *text, const struct cp_detour_plan *plan)
{
	const struct cp_detour_window *w;

	cp_vec_for_each(&plan->windows, w)
		cp_detour_plan_take(text, w, false);
}

void cp_detour_plan_free(struct cp_detour_plan *plan)
{
	cp_vec_free(&plan->windows);
}

void cp_detour_planner_deinit(struct cp_detour_planner *planner)
{
	cp_code_free(&planner->code);
	free(planner->known);
}

/* SPDX-License-Identifier: MIT */
#include "detour/points.h"

#include <string.h>

struct pointing {
	struct cp_detour_text *text;
	const struct cp_detour_point *points;
	size_t count;
	struct cp_detour_windows *ret;
	size_t first; /* of this function's windows there */
	bool no_memory;
};

/* ---- a window and its points ---- */

static bool begins_at(const struct cp_detour_window *w, uint64_t address)
{
	return address - w->address < w->size &&
	       (address == w->address || (w->begins >> (address - w->address) & 1));
}

bool cp_detour_window_replaces(const struct cp_detour_window *w, uint64_t address)
{
	size_t size = w->room > w->size ? w->room : w->size;

	return address - w->address < size ||
	       (w->how == CP_DETOUR_BY_HOP && address - w->hop < CP_DETOUR_JUMP);
}

static bool add_way(struct cp_detour_window *w, uint64_t address, uint32_t number,
		    enum cp_detour_way way)
{
	if (w->site_count == CP_DETOUR_WINDOW_SITES)
		return false;
	w->sites[w->site_count++] = (struct cp_detour_window_site){
		.number = number,
		.before = (uint8_t)(address - w->address),
		.way = (uint8_t)way,
	};
	return true;
}

static bool add_point(struct cp_detour_window *w, const struct cp_detour_point *p, uint64_t address)
{
	if (!begins_at(w, address))
		return false;
	if (!p->jump)
		return add_way(w, address, p->number, CP_DETOUR_ANY_WAY);
	return add_way(w, address, p->number, CP_DETOUR_TAKEN) &&
	       add_way(w, address, p->number + 1, CP_DETOUR_PASSED);
}

/* All points whose instructions the window moves; the first one is counted at its beginning,
 * behind a landing pad. */
static bool add_points(const struct pointing *p, struct cp_detour_window *w, size_t first)
{
	size_t i;

	if (!add_point(w, &p->points[first],
		       p->points[first].jump ? p->points[first].address : w->address))
		return false;
	for (i = 0; i < p->count; i++)
		if (i != first && p->points[i].address - w->address < w->size &&
		    !add_point(w, &p->points[i], p->points[i].address))
			return false;
	return true;
}

static bool is_served(const struct pointing *p, const struct cp_detour_point *point)
{
	const struct cp_detour_window *w;
	size_t i, k;

	for (i = p->first; i < p->ret->items.count; i++) {
		w = &p->ret->items.items[i];
		for (k = 0; k < w->site_count; k++)
			if (w->sites[k].number == point->number)
				return true;
	}
	return false;
}

/* Who comes back into the window out of a handler has to stop at each instruction up to the
 * last one that is counted: behind the jump there are breakpoints so far. */
static bool fill(struct cp_detour_window *w)
{
	unsigned last = 0, i;

	for (i = 0; i < w->site_count; i++)
		last = w->sites[i].before > last ? w->sites[i].before : last;
	if (w->how == CP_DETOUR_BY_HOP)
		return last < CP_DETOUR_HOP;
	if (last >= CP_DETOUR_FILLED)
		return false;
	if (last < CP_DETOUR_JUMP)
		return true;
	w->is_filled = true;
	w->room = (uint8_t)(last + 1);
	return true;
}

static bool keep(struct pointing *p, struct cp_detour_window *w, size_t first)
{
	w->site_count = 0;
	cp_detour_plan_trim(w);
	if (!add_points(p, w, first) || !fill(w))
		return false;
	if (!cp_vec_push(&p->ret->items, *w)) {
		p->no_memory = true;
		return false;
	}
	cp_detour_plan_take(p->text, w, true);
	return true;
}

/* ---- finding one ---- */

/* The jump that ends the block of a point; NULL: it is not counted. */
static const struct cp_detour_point *jump_behind(const struct pointing *p, size_t first)
{
	const struct cp_detour_point *next = first + 1 < p->count ? &p->points[first + 1] : NULL;

	return next && next->jump ? next : NULL;
}

static uint64_t behind_pad(const struct pointing *p, uint64_t address)
{
	uint8_t code[16];
	struct cp_insn insn;
	size_t size = p->text->memory->read(p->text->memory->ctx, address, code, sizeof(code));

	return cp_decode(p->text->decoder, code, size, address, &insn) && insn.landing_pad
		       ? address + insn.size
		       : address;
}

static bool by_hop(struct pointing *p, struct cp_detour_window *w, size_t first)
{
	if (!cp_window_find_hop(p->text, w))
		return false;
	w->how = CP_DETOUR_BY_HOP;
	return keep(p, w, first);
}

/* A window that begins at `at`, for a jump or, where that has no room, for a hop. */
static bool forward(struct pointing *p, uint64_t at, size_t first)
{
	struct cp_detour_window w;

	if (cp_window_forward(p->text, at, CP_DETOUR_JUMP, &w) == CP_WINDOW_OK &&
	    keep(p, &w, first))
		return true;
	return cp_window_forward(p->text, at, CP_DETOUR_HOP, &w) == CP_WINDOW_OK &&
	       by_hop(p, &w, first);
}

static bool plan_block(struct pointing *p, size_t first)
{
	uint64_t at = behind_pad(p, p->points[first].address);
	const struct cp_detour_point *jump = jump_behind(p, first);
	struct cp_detour_window w;

	/* Of a block that is but a landing pad, nothing is left. */
	if (at != p->points[first].address && first + 1 < p->count &&
	    p->points[first + 1].address <= at && !p->points[first + 1].jump)
		return false;
	if (jump && jump->address >= at && jump->address - at < CP_DETOUR_FILLED &&
	    cp_window_over(p->text, at, jump->address, CP_DETOUR_JUMP, &w) == CP_WINDOW_OK &&
	    keep(p, &w, first))
		return true;
	return forward(p, at, first);
}

static bool plan_jump(struct pointing *p, size_t first)
{
	uint64_t at = p->points[first].address;
	struct cp_detour_window w;

	if (cp_window_backward(p->text, at, CP_DETOUR_JUMP, &w) == CP_WINDOW_OK &&
	    keep(p, &w, first))
		return true;
	return forward(p, at, first);
}

/* Where a count may be added to a window as it stands: no byte behind those that thread come
 * back to (fill()). */
static bool has_room(const struct cp_detour_window *w, unsigned before)
{
	unsigned i;

	for (i = 0; i < w->site_count; i++)
		if (w->sites[i].before >= before)
			return true;
	return w->how != CP_DETOUR_BY_HOP && before < CP_DETOUR_JUMP;
}

static bool count_way(struct cp_detour_window *w, const struct cp_detour_point *point)
{
	uint64_t before = point->from - w->address;
	unsigned i;

	if (!begins_at(w, point->from))
		return false;
	for (i = 0; i < w->site_count; i++) {
		if (w->sites[i].before != before || w->sites[i].way != point->way)
			continue;
		w->sites[i].block = point->number + 1;
		return true;
	}
	return has_room(w, (unsigned)before) &&
	       add_way(w, point->from, point->number, (enum cp_detour_way)point->way);
}

static void plan_ways(const struct pointing *p)
{
	size_t i, k;

	for (i = 0; i < p->count; i++) {
		if (p->points[i].way == CP_DETOUR_ANY_WAY || is_served(p, &p->points[i]))
			continue;
		for (k = p->first; k < p->ret->items.count; k++)
			if (count_way(&p->ret->items.items[k], &p->points[i]))
				break;
	}
}

CP_ERROR cp_detour_plan_points(struct cp_detour_planner *planner,
			       const struct cp_probe_function *function,
			       const struct cp_probe_plan *sites,
			       const struct cp_detour_point *points, size_t count,
			       struct cp_detour_windows *ret)
{
	struct pointing p = { .text = planner->text,
			      .points = points,
			      .count = count,
			      .ret = ret,
			      .first = ret->items.count };
	bool known;
	size_t i;

	CP_TRY(cp_detour_plan_leads(planner, function, sites, &known));
	for (i = 0; known && i < count; i++)
		if (!is_served(&p, &points[i]) &&
		    !(points[i].jump ? plan_jump(&p, i) : plan_block(&p, i)) && p.no_memory)
			return cp_error_nomem();
	if (known)
		plan_ways(&p);
	return NULL;
}

/* ---- its detour ---- */

void cp_detour_of_points(const struct cp_detour_window *window,
			 uint32_t (*at)(void *ctx, uint32_t number), void *ctx,
			 struct cp_detour *ret)
{
	unsigned i;

	cp_detour_of_window(window, ret);
	ret->count_count = window->site_count;
	for (i = 0; i < window->site_count; i++)
		ret->counts[i] = (struct cp_detour_count){
			.at = at(ctx, window->sites[i].block ? window->sites[i].block - 1
							     : window->sites[i].number),
			.before = window->sites[i].before,
			.way = window->sites[i].way,
		};
}

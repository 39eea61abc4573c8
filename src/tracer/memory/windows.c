/* SPDX-License-Identifier: MIT
 *
 * The jumps of detours into text and out of it.
 *
 *     breakpoint │ original      all of them first: whoever comes is sent to the detour
 *     breakpoint │ jump          then what is behind it, and what hops lead to
 *     jump                       then all first bytes
 *
 * It goes in the opposite order. So we may be killed at any moment, and a thread that
 * wakes up meanwhile finds a whole instruction. What depends on what:
 *
 *     window, a hop ──► hop's jump ──► host: the window that ends where this begins, if
 *                                      there is one, has moved the instructions away
 *
 * From right to left they come, from left to right they go.
 */
#include "tracer/memory/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/space.h"

#define PAGE UINT64_C(4096)
#define FEW 4 /* changes of a page, that are written alone */

struct window {
	uint64_t at;
	const struct site *site; /* the table does not change meanwhile */
	const struct cp_window *w;
	bool stands; /* its jump */
	bool chosen;
};

/* ---- bytes ---- */

struct edit {
	uint64_t at;
	const uint8_t *bytes;
	uint8_t size;
	struct window *window; /* that it is of */
};

struct edits {
	struct edit *items; /* owned */
	size_t count;
};

static void edit_page(const struct space *space, const struct edit *edits, size_t count)
{
	uint64_t start = edits[0].at;
	size_t size = edits[count - 1].at + edits[count - 1].size - start, i;
	uint8_t text[PAGE + CP_DETOUR_FILLED];
	bool ok = true;

	if (count > FEW) {
		ok = space_read(space, start, text, size);
		for (i = 0; ok && i < count; i++)
			memcpy(text + (edits[i].at - start), edits[i].bytes, edits[i].size);
		ok = ok && space_write(space, start, text, size);
	}
	for (i = 0; i < count; i++)
		if (!ok || (count <= FEW &&
			    !space_write(space, edits[i].at, edits[i].bytes, edits[i].size)))
			edits[i].window->chosen = false;
}

/* In ascending order, a page at a time; what can't be written is not chosen any more. */
static void apply(const struct space *space, const struct edits *edits)
{
	size_t first = 0, i;

	for (i = 1; edits->count && i <= edits->count; i++) {
		if (i < edits->count && edits->items[i].at / PAGE == edits->items[first].at / PAGE)
			continue;
		edit_page(space, edits->items + first, i - first);
		first = i;
	}
}

enum part { FIRST_BYTE, REST };

/* For each chosen window that part of `bytes` of it; of a hop's jump, all of it is the rest. */
static void edit_all(struct windows *all, enum part part,
		     const uint8_t *(*bytes)(const struct window *w))
{
	struct edits edits = { .items = calloc(all->items.count + 1, sizeof(struct edit)) };
	struct window *w;

	cp_vec_for_each(&all->items, w) {
		bool whole = w->site->flags & CP_SITE_HOP;
		uint8_t from = part == REST && !whole,
			to = part == FIRST_BYTE ? !whole : w->w->size;

		if (!edits.items)
			w->chosen = false;
		else if (w->chosen && from < to)
			edits.items[edits.count++] = (struct edit){ .at = w->at + from,
								    .bytes = bytes(w) + from,
								    .size = to - from,
								    .window = w };
	}
	apply(all->space, &edits);
	free(edits.items);
}

static const uint8_t *jump_of(const struct window *w)
{
	return w->w->jump;
}

static const uint8_t *original_of(const struct window *w)
{
	return w->w->original;
}

static const uint8_t *trap_of(const struct window *w)
{
	size_t size;

	(void)w;
	return cp_trap_code(cp_arch_host(), &size);
}

/* ---- which there are ---- */

static int by_address(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool collect(struct space *space, struct windows *ret)
{
	const struct site *site;

	*ret = (struct windows){ .space = space };
	cp_vec_for_each(&space->table->sites, site) {
		struct window w = { .at = site->address,
				    .site = site,
				    .stands = site->address && site_jumps(space, site) };

		if (!site->address || !(site->flags & SITE_JUMPS))
			continue;
		w.w = &space->table->windows.items[site->window];
		if (!cp_vec_push(&ret->items, w)) {
			windows_free(ret);
			return false;
		}
	}
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), by_address);
	return true;
}

void windows_free(struct windows *windows)
{
	cp_vec_free(&windows->items);
}

static struct window *window_at(const struct windows *all, uint64_t at)
{
	size_t i = cp_vec_partition(&all->items, w, (w)->at < at);

	return i < all->items.count && all->items.items[i].at == at ? &all->items.items[i] : NULL;
}

/* The jump that a hop leads to, or NULL. */
static struct window *hop_of(const struct windows *all, const struct window *w)
{
	struct window *hop;

	if (w->site->flags & CP_SITE_HOP || w->w->size != CP_DETOUR_HOP)
		return NULL;
	hop = window_at(all, cp_detour_jump_target(w->w->jump, w->at));
	return hop && hop->site->flags & CP_SITE_HOP ? hop : NULL;
}

/* The window that has moved away what stood where a hop's jump is, or NULL. */
static struct window *host_of(const struct windows *all, const struct window *hop)
{
	size_t i = (size_t)(hop - all->items.items);

	while (i-- > 0 && hop->at - all->items.items[i].at <= CP_DETOUR_FILLED)
		if (all->items.items[i].at + all->items.items[i].w->size == hop->at)
			return &all->items.items[i];
	return NULL;
}

static bool needs_hop(const struct window *w)
{
	return !(w->site->flags & CP_SITE_HOP) && w->w->size == CP_DETOUR_HOP;
}

/* ---- in ---- */

/* Of the program's memory what was read last: to the end of a page. */
struct text {
	uint64_t start;
	size_t size;
	uint8_t bytes[PAGE + CP_DETOUR_FILLED];
};

/* Windows are asked for by address, and there are many in a page. NULL: can't be read. */
static const uint8_t *text_at(const struct space *space, struct text *text, uint64_t at,
			      size_t size)
{
	uint64_t offset = at - text->start;

	if (offset < text->size && text->size - offset >= size)
		return text->bytes + offset;
	text->start = at;
	text->size = PAGE - at % PAGE < size ? size : PAGE - at % PAGE;
	if (space_read(space, at, text->bytes, text->size))
		return text->bytes;
	text->size = 0;
	return NULL;
}

/* Stands there what we think: the breakpoint with the original bytes behind it? */
static bool is_ready(const struct space *space, const struct window *w, struct text *text)
{
	uint8_t expected[CP_DETOUR_FILLED];
	const uint8_t *now;
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);

	memcpy(expected, w->w->original, sizeof(expected));
	if (w->site->flags & CP_SITE_WINDOW)
		memcpy(expected, trap, size);
	if (!(w->site->flags & CP_SITE_HOP) && !site_armed(space, w->site))
		return false;
	now = text_at(space, text, w->at, w->w->size);
	return now && !memcmp(now, expected, w->w->size);
}

bool windows_choose(struct space *space, struct windows *ret)
{
	struct text text;
	struct window *w;

	if (!collect(space, ret))
		return false;
	text.start = text.size = 0;
	cp_vec_for_each(&ret->items, w)
		w->chosen = !w->stands && is_ready(space, w, &text);
	return true;
}

uint64_t windows_move(struct windows *windows, uint64_t pc)
{
	const struct site *site = space_site(windows->space, pc);
	size_t i = cp_vec_partition(&windows->items, w, (w)->at <= pc);
	bool inside = false;

	while (site && !(site->flags & CP_SITE_LANDING))
		site = site_next(windows->space, site);
	while (i-- > 0 && pc - windows->items.items[i].at < CP_DETOUR_FILLED) {
		struct window *w = &windows->items.items[i];
		uint64_t offset = pc - w->at;

		if (!w->chosen || offset >= w->w->size ||
		    (!offset && w->site->flags & CP_SITE_WINDOW))
			continue;
		inside = true;
		w->chosen = !!site;
	}
	return inside && site ? site->slot : 0;
}

/* Chosen is only what has what it needs. */
static void follow_needs(const struct windows *all)
{
	struct window *w;
	const struct window *other;

	cp_vec_for_each(&all->items, w) {
		if (!(w->site->flags & CP_SITE_HOP))
			continue;
		other = host_of(all, w);
		w->chosen = w->chosen && (!other || other->chosen || other->stands);
	}
	cp_vec_for_each(&all->items, w) {
		if (!needs_hop(w))
			continue;
		other = hop_of(all, w);
		w->chosen = w->chosen && other && (other->chosen || other->stands);
	}
}

static void mark_hops(const struct windows *all)
{
	struct window *w;

	cp_vec_for_each(&all->items, w) {
		if (!w->chosen || !(w->site->flags & CP_SITE_HOP))
			continue;
		w->stands = true;
		*site_state(all->space, w->site) |= STATE_JUMPS;
	}
}

size_t windows_jump(struct windows *windows)
{
	struct window *w;
	size_t done = 0;

	windows->space->changed_ns = cp_now();
	follow_needs(windows);
	edit_all(windows, REST, jump_of);
	mark_hops(windows);
	follow_needs(windows);
	edit_all(windows, FIRST_BYTE, jump_of);
	cp_vec_for_each(&windows->items, w) {
		if (!w->chosen || w->site->flags & CP_SITE_HOP)
			continue;
		*site_state(windows->space, w->site) |= STATE_JUMPS;
		done++;
	}
	windows->space->changed_ns = cp_now();
	return done;
}

/* ---- out ---- */

const struct windows_which windows_all = { 0, UINT64_MAX, SITE_NONE };

static bool is_named(const struct site *site, const struct windows_which *which)
{
	return which->group == SITE_NONE ? site->address - which->start < which->size
					 : site->group == which->group;
}

bool windows_any(const struct space *space, const struct windows_which *which)
{
	const struct site *site;

	if (!space->code.count)
		return false;
	cp_vec_for_each(&space->table->sites, site)
		if (site->address && site_jumps(space, site) && is_named(site, which))
			return true;
	return false;
}

/* Is it as we wrote it? If not, others have changed it since, and it is theirs. */
static bool is_as_written(const struct space *space, const struct window *w)
{
	uint8_t now[CP_DETOUR_FILLED];

	return space_read(space, w->at, now, w->w->size) && !memcmp(now, w->w->jump, w->w->size);
}

/* What others that stay lead to stays, and so does what that is in. */
static void stay_with_others(const struct windows *all)
{
	struct window *w, *other;

	cp_vec_for_each(&all->items, w) {
		other = needs_hop(w) && w->stands && !w->chosen ? hop_of(all, w) : NULL;
		if (other)
			other->chosen = false;
	}
	cp_vec_for_each(&all->items, w) {
		other = w->site->flags & CP_SITE_HOP && w->stands && !w->chosen ? host_of(all, w)
										: NULL;
		if (other)
			other->chosen = false;
	}
}

bool windows_unjump(struct space *space, const struct windows_which *which, struct windows *ret)
{
	struct window *w;

	*ret = (struct windows){ .space = space };
	if (!windows_any(space, which) || !collect(space, ret))
		return false;
	space->changed_ns = cp_now();
	cp_vec_for_each(&ret->items, w) {
		w->chosen = w->stands && is_named(w->site, which);
		if (!w->chosen || is_as_written(space, w))
			continue;
		w->chosen = w->stands = false;
		*site_state(space, w->site) &= (uint16_t)~STATE_JUMPS;
	}
	stay_with_others(ret);
	edit_all(ret, FIRST_BYTE, trap_of);
	space->changed_ns = cp_now();
	return true;
}

bool windows_stay_around(const void *all, uint64_t pc)
{
	const struct windows *windows = all;
	size_t i = cp_vec_partition(&windows->items, w, (w)->at < pc);
	const struct window *w;

	while (i-- > 0 && pc - windows->items.items[i].at < CP_DETOUR_FILLED) {
		w = &windows->items.items[i];
		if (w->stands && !w->chosen && pc - w->at < w->w->size)
			return true;
	}
	return false;
}

/* Hops' jumps, and the windows that they are in, which are as they were again. */
static void stay_with_runners(struct windows *all)
{
	struct window *w, *host;

	cp_vec_for_each(&all->items, w)
		if (w->site->flags & CP_SITE_HOP)
			w->chosen = false;
	cp_vec_for_each(&all->items, w) {
		host = w->site->flags & CP_SITE_HOP && w->stands ? host_of(all, w) : NULL;
		if (!host || !host->chosen)
			continue;
		space_write(all->space, host->at, host->w->jump, 1);
		host->chosen = false;
	}
}

void windows_put_back(struct windows *windows, bool still)
{
	struct window *w;

	if (!still)
		stay_with_runners(windows);
	edit_all(windows, REST, original_of);
	cp_vec_for_each(&windows->items, w)
		if (w->chosen)
			*site_state(windows->space, w->site) &= (uint16_t)~STATE_JUMPS;
	windows->space->changed_ns = cp_now();
	windows_free(windows);
}

void windows_clean(struct space *space)
{
	struct windows all;

	if (windows_unjump(space, &windows_all, &all))
		windows_put_back(&all, true);
}

/* ---- a copy ---- */

/* Is it a mixture of what we write there? */
static bool is_ours(const struct window *w, const uint8_t *now)
{
	size_t size, i;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);

	for (i = 0; i < w->w->size; i++)
		if (now[i] != w->w->jump[i] && now[i] != w->w->original[i] &&
		    (i >= size || now[i] != trap[i]))
			return false;
	return true;
}

void windows_sync(struct space *space)
{
	uint8_t now[CP_DETOUR_FILLED], wanted[CP_DETOUR_FILLED];
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	struct windows all;
	struct window *w;

	if (!space->code.count || !collect(space, &all))
		return;
	cp_vec_for_each(&all.items, w) {
		memcpy(wanted, w->stands ? w->w->jump : w->w->original, sizeof(wanted));
		if (!w->stands && site_armed(space, w->site))
			memcpy(wanted, trap, size);
		if (space_read(space, w->at, now, w->w->size) && is_ours(w, now) &&
		    memcmp(now, wanted, w->w->size) != 0)
			space_write(space, w->at, wanted, w->w->size);
	}
	windows_free(&all);
}

void windows_forget(struct space *space)
{
	const struct site *site;

	cp_vec_for_each(&space->table->sites, site) {
		if (!site->address || !(site->flags & SITE_JUMPS))
			continue;
		site_disarm(space, site);
		*site_state(space, site) = 0;
	}
	windows_sync(space);
	detours_forget(space);
}

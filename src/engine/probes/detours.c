/* SPDX-License-Identifier: MIT
 *
 * Detours in a process.
 *
 *     windows (windows.c) ─► who can't have one beside breakpoints ─► code, in what the
 *     mappings leave free ─► sites: arm.c sends them, the tracer writes the jumps
 *
 * Nothing of a function stands before all of it has a place.
 */
#include "engine/probes/detours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/probes/areas.h"
#include "engine/probes/callers.h"
#include "engine/probes/haste.h"
#include "engine/probes/making.h"
#include "engine/probes/windows.h"
#include "engine/target/state.h"

/* What stands of a function's detours. */
struct made {
	size_t count;
	struct engine_detour_site sites[];
};

static struct made *made_of(const cprof_image *image, uint32_t number)
{
	const uint64_t *made = cp_map_get((struct cp_map *)(uintptr_t)&image->detoured, number);

	return made ? (struct made *)(uintptr_t)*made : NULL;
}

/* Keeps a copy of the sites. */
static bool keep_made(cprof_image *image, uint32_t number, const struct engine_detour_site *sites,
		      size_t count)
{
	struct made *made = malloc(sizeof(*made) + count * sizeof(*sites));

	if (made && cp_map_put(&image->detoured, number, (uintptr_t)made)) {
		made->count = count;
		memcpy(made->sites, sites, count * sizeof(*sites));
		return true;
	}
	free(made);
	return false;
}

bool engine_detours_again(const cprof_image *image, uint32_t number,
			  struct engine_detour_sites *ret)
{
	const struct made *made = made_of(image, number);
	size_t i;

	for (i = 0; made && i < made->count; i++)
		if (!cp_vec_push(&ret->items, made->sites[i]))
			return false;
	return made != NULL;
}

bool engine_detours_has(const cprof_image *image, uint32_t number)
{
	return made_of(image, number) != NULL;
}

cprof_image *engine_detours_image(const cprof_process *p, uint32_t number)
{
	const struct engine_traced *t = p->session->calls->traced.items[number];
	cprof_image *image, *had = NULL;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		image = p->images.items[i];
		if (image->assembly != t->assembly)
			continue;
		if (engine_detours_has(image, number))
			return image;
		if (!had && cp_map_get(&image->yielded, number))
			had = image;
	}
	return had;
}

/* What was looked up of sites may be another way by now. */
static void note_change(const cprof_image *image)
{
	if (image->process->session->calls)
		image->process->session->calls->changes++;
}

void engine_detours_unmake(cprof_image *image)
{
	uint64_t number, made;
	size_t cursor = 0;

	note_change(image);
	while (cp_map_next(&image->detoured, &cursor, &number, &made))
		free((void *)(uintptr_t)made);
	cp_map_clear(&image->detoured);
	cp_map_clear(&image->yielded);
	image->jumps.count = 0;
}

void engine_detours_copy(cprof_image *image, const cprof_image *from)
{
	const struct engine_jump *jump;
	const struct made *made;
	uint64_t number, value;
	const uint64_t *at;
	size_t cursor;

	note_change(image);
	for (cursor = 0; cp_map_next(&from->detoured, &cursor, &number, &value);) {
		made = (const struct made *)(uintptr_t)value;
		keep_made(image, (uint32_t)number, made->sites, made->count);
	}
	cp_vec_for_each(&from->chunks, at)
		if (!cp_vec_push(&image->chunks, *at))
			return;
	cp_vec_for_each(&from->jumps, jump)
		if (!cp_vec_push(&image->jumps, *jump))
			return;
}

/* What is there may overlap with the displacement of a pun, and with nothing else. */
#define OVERLAPS 3

uint32_t engine_detours_at(const cprof_image *image, uint64_t address)
{
	size_t i = cp_vec_partition(&image->jumps, j, (j)->start <= address), n;

	for (n = 0; n < OVERLAPS && i-- > 0; n++)
		if (address < image->jumps.items[i].end)
			return image->jumps.items[i].traced;
	return ENGINE_NO_FUNCTION;
}

static bool forget_jumps(cprof_image *image, uint32_t number)
{
	struct made *made = made_of(image, number);
	size_t i, n = 0;

	note_change(image);
	if (made)
		cp_map_put(&image->yielded, number, 1); /* or what was recorded is lost */
	free(made);
	cp_map_remove(&image->detoured, number);
	for (i = 0; i < image->jumps.count; i++)
		if (image->jumps.items[i].traced != number)
			image->jumps.items[n++] = image->jumps.items[i];
	image->jumps.count = n;
	return made != NULL;
}

void engine_detours_yield(const cprof_image *image, uint32_t number)
{
	struct cp_request rq = { .type = CP_REQUEST_DISARM_GROUP, .first = number };
	cprof_session *s = image->process->session;
	struct engine_calls *c = s->calls;
	struct cp_answer answer;
	size_t i, k;

	engine_windows_give_up(c->traced.items[number], ENGINE_SLOW_BESIDE);
	cp_error_free(cp_link_call(&s->link, &rq, &answer, NULL));
	for (i = 0; i < s->processes.count; i++) {
		for (k = 0; k < s->processes.items[i]->images.count; k++) {
			cprof_image *other = s->processes.items[i]->images.items[k];

			if (forget_jumps(other, number) && other != image &&
			    !cp_vec_push(&c->yielded, (struct engine_yielded){ other, number }))
				return;
		}
	}
}

/* ---- beside breakpoints ---- */

struct beside {
	cprof_image *image;
	const struct engine_numbers *numbers; /* that may get detours */
	CP_VEC(uint64_t) others; /* link-time addresses of breakpoints, sorted */
	bool more; /* of these came since it was looked whom they disturb */
	bool failed;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool any_in(const struct beside *b, uint64_t start, size_t size)
{
	size_t low = 0, high = b->others.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (b->others.items[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->others.count && b->others.items[low] - start < size;
}

/* Bytes that have to stay as a window makes them. */
static size_t bytes_of(const struct cp_detour_window *w)
{
	return w->room > w->size ? w->room : w->size;
}

/* Those behind a pun's first byte are the distance that it jumps. Where they begin there may be
 * a breakpoint (detour/space.h). */
#define DISTANCE 2

static bool is_disturbed(const struct beside *b, const struct engine_traced *t)
{
	const struct cp_detour_window *w;

	cp_vec_for_each(&t->windows->windows, w) {
		if (any_in(b, w->address, bytes_of(w)) ||
		    (w->how == CP_DETOUR_BY_HOP && any_in(b, w->hop, CP_DETOUR_JUMP)) ||
		    (w->how == CP_DETOUR_BY_PUN &&
		     any_in(b, w->address + DISTANCE, CP_DETOUR_JUMP - DISTANCE)))
			return true;
	}
	return false;
}

static void add_sites_of(struct beside *b, const struct engine_traced *t)
{
	const struct engine_calls *c = b->image->process->session->calls;
	uint32_t i;

	for (i = 0; i < t->site_count; i++)
		b->failed |= !cp_vec_push(&b->others, c->sites.items[t->first_site + i].address);
	b->more = true;
}

/* Functions with a breakpoint in one of their windows get breakpoints, too, which may be
 * in a window of others. True: some do. */
static bool settle(struct beside *b)
{
	const cprof_session *s = b->image->process->session;
	bool any = false;
	size_t i;

	while (b->more && !b->failed) {
		b->more = false;
		if (b->others.count)
			qsort(b->others.items, b->others.count, sizeof(*b->others.items), by_value);
		for (i = 0; i < b->numbers->count; i++) {
			struct engine_traced *t = s->calls->traced.items[b->numbers->items[i]];

			if (!engine_windows_suit(s, t) || !is_disturbed(b, t))
				continue;
			engine_windows_give_up(t, ENGINE_SLOW_BESIDE);
			add_sites_of(b, t);
			any = true;
		}
	}
	return any;
}

/* All breakpoints that stand in the image, or are about to: families' own, those of functions
 * among `all`, and those at return addresses. */
static void collect(struct beside *b, const struct engine_numbers *own,
		    const struct engine_numbers *all)
{
	const cprof_session *s = b->image->process->session;
	const struct engine_plans *plans = b->image->assembly->plans;
	uint64_t address, unused;
	size_t cursor = 0, i;

	b->more = true;
	while (plans && cp_map_next(&plans->returns, &cursor, &address, &unused))
		b->failed |= !cp_vec_push(&b->others, address);
	for (i = 0; i < own->count; i++)
		b->failed |= !cp_vec_push(&b->others, s->calls->sites.items[own->items[i]].address);
	for (i = 0; i < all->count; i++) {
		struct engine_traced *t = s->calls->traced.items[all->items[i]];

		if (!engine_detours_has(b->image, all->items[i]) && !engine_windows_suit(s, t))
			add_sites_of(b, t);
	}
}

/* ---- code ---- */

#define WINDOWS_MAX 256 /* of a function */

/* All windows of a function, or none. */
static bool make_function(struct engine_making *m, const struct engine_traced *t)
{
	size_t count = t->windows->windows.count, i;
	struct cp_detour_placed *placed = NULL;
	struct cp_detour *detours = NULL;
	bool ok = count <= WINDOWS_MAX;

	if (ok) {
		placed = malloc(count * sizeof(*placed));
		detours = calloc(count, sizeof(*detours));
		ok = placed && detours;
	}
	for (i = 0; ok && i < count; i++) {
		const struct cp_detour_window *w = &t->windows->windows.items[i];

		cp_detour_of_window(w, &detours[i]);
		detours[i].pc += m->image->bias;
		ok = engine_windows_records(m->image->process->session, t, w, &detours[i]) &&
		     cp_detour_place(m->space, cp_arch_host(), &detours[i], w, m->image->bias,
				     &m->rings, &placed[i]);
		if (!ok)
			while (i--)
				cp_detour_unplace(m->space, &placed[i]);
	}
	for (i = 0; ok && i < count; i++)
		engine_making_window(m, &t->windows->windows.items[i], &detours[i], &placed[i]);
	free(placed);
	free(detours);
	return ok;
}

static bool make_slow(struct engine_making *m)
{
	struct engine_detour_site site = {
		.flags = CP_SITE_RING,
		.traced = ENGINE_NO_FUNCTION,
		.size = 1,
	};
	uint8_t code[CP_DETOUR_SLOW_MAX];
	struct cp_detour_stop stop;
	size_t size;

	m->rings.slow = cp_detour_space_take(m->space, m->image->start, CP_DETOUR_SLOW_MAX);
	if (!m->rings.slow)
		return false;
	size = cp_detour_slow(cp_arch_host(), &m->rings, code);
	engine_making_piece(m, m->rings.slow, code, (uint32_t)size);
	if (!size || !cp_detour_slow_stop(cp_arch_host(), &m->rings, &stop))
		return false;
	cp_trap_code(cp_arch_host(), &size);
	site.address = stop.pc - size;
	site.to = stop.on;
	m->failed |= !cp_vec_push(&m->sites->items, site);
	if (!cp_detour_slow_foreign(cp_arch_host(), &m->rings, &stop))
		return false;
	site.flags = CP_SITE_FOREIGN;
	site.address = stop.pc - size;
	site.to = stop.on;
	m->failed |= !cp_vec_push(&m->sites->items, site);
	return true;
}

static int make_functions(struct engine_making *m, struct beside *beside)
{
	const cprof_session *s = m->image->process->session;
	const struct engine_numbers *numbers = beside->numbers;
	int errnum = 0;
	size_t i;

	for (i = 0; !errnum && i < numbers->count; i++) {
		struct engine_traced *t = s->calls->traced.items[numbers->items[i]];

		if (!engine_haste_allows(m->image, ENGINE_HASTE_DETOURS, i, numbers->count))
			return EAGAIN;
		m->traced = numbers->items[i];
		if (engine_windows_suit(s, t) && !make_function(m, t)) {
			engine_windows_give_up(t, ENGINE_SLOW_PLACE);
			add_sites_of(beside, t);
		}
		errnum = engine_making_send_much(m);
	}
	return errnum;
}

/* Puns' stubs are somewhere else than all others, and have no choice. */
static void keep_places(const struct engine_making *m, const struct engine_numbers *numbers)
{
	const cprof_session *s = m->image->process->session;
	const struct cp_detour_window *w;
	size_t i;

	for (i = 0; i < numbers->count; i++) {
		struct engine_traced *t = s->calls->traced.items[numbers->items[i]];

		if (!engine_windows_suit(s, t))
			continue;
		cp_vec_for_each(&t->windows->windows, w)
			cp_detour_space_keep(m->space, w, m->image->bias);
	}
}

static int try_make(struct engine_making *m, struct beside *beside)
{
	int errnum;

	if (!engine_making_begin(m))
		return ENOMEM;
	keep_places(m, beside->numbers);
	if (!make_slow(m))
		return ENOMEM;
	errnum = make_functions(m, beside);
	if (!errnum && m->detours.count)
		errnum = engine_making_send(m);
	if (!errnum && !m->sent) /* what all of them share leads nowhere alone */
		m->sites->items.count = 0;
	return errnum;
}

/* Once more where the program has mapped something meanwhile, farther away from that; and
 * where the breakpoints of who found no place are in the way of who did. */
static int make(struct engine_making *m, struct beside *beside)
{
	const struct engine_making begun = *m;
	bool careful = false;
	int errnum;

	for (;;) {
		errnum = try_make(m, beside);
		if (errnum == EEXIST && !careful)
			careful = true;
		else if (errnum || !settle(beside))
			return beside->failed ? ENOMEM : errnum;
		engine_making_free(m);
		*m = begun;
		m->careful = careful;
		m->sites->items.count = 0;
	}
}

static bool any_suits(const cprof_session *s, const struct engine_numbers *numbers)
{
	size_t i;

	for (i = 0; i < numbers->count; i++)
		if (engine_windows_suit(s, s->calls->traced.items[numbers->items[i]]))
			return true;
	return false;
}

void engine_detours_give_up(const cprof_session *s, const struct engine_numbers *numbers)
{
	size_t i;

	for (i = 0; i < numbers->count; i++) {
		struct engine_traced *t = s->calls->traced.items[numbers->items[i]];

		if (engine_windows_suit(s, t))
			engine_windows_give_up(t, ENGINE_SLOW_PLACE);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct engine_jump *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool keep_jump(cprof_image *image, uint32_t number, uint64_t start, uint64_t size)
{
	const struct engine_jump jump = { start, start + size, number, 0 };

	return cp_vec_push(&image->jumps, jump);
}

static bool keep_window(cprof_image *image, uint32_t number, const struct cp_detour_window *w)
{
	bool ok = keep_jump(image, number, w->address, bytes_of(w));

	if (w->how == CP_DETOUR_BY_HOP)
		ok = ok && keep_jump(image, number, w->hop, CP_DETOUR_JUMP);
	if (w->how == CP_DETOUR_BY_PUN)
		ok = ok &&
		     keep_jump(image, number, w->address + DISTANCE, CP_DETOUR_JUMP - DISTANCE);
	return ok;
}

/* Notes which functions have detours, and where nothing else may stand. */
static int keep_jumps(cprof_image *image, const struct engine_numbers *numbers,
		      const struct engine_detour_sites *sites)
{
	const cprof_session *s = image->process->session;
	const struct engine_detour_site *site = sites->items.items;
	const struct cp_detour_window *w;
	size_t i, n;
	bool ok = true;

	note_change(image);
	for (i = 0; ok && i < sites->items.count; i += n) {
		for (n = 1; i + n < sites->items.count && site[i + n].traced == site[i].traced; n++)
			;
		if (site[i].traced != ENGINE_NO_FUNCTION)
			ok = keep_made(image, site[i].traced, &site[i], n);
	}
	for (i = 0; i < numbers->count; i++) {
		if (!engine_detours_has(image, numbers->items[i]))
			continue;
		cp_vec_for_each(&s->calls->traced.items[numbers->items[i]]->windows->windows, w)
			ok = ok && keep_window(image, numbers->items[i], w);
	}
	if (image->jumps.count)
		qsort(image->jumps.items, image->jumps.count, sizeof(*image->jumps.items),
		      by_start);
	return ok ? 0 : ENOMEM;
}

static void forget_all(cprof_image *image, const struct engine_numbers *numbers)
{
	size_t i;

	for (i = 0; i < numbers->count; i++)
		forget_jumps(image, numbers->items[i]);
}

/* Their calls are stops from here on, which takes a thousand times as long: that is said. */
static void give_all_up(const cprof_image *image, const struct engine_numbers *numbers, int errnum)
{
	cprof_session *s = image->process->session;

	if (errnum != ESRCH && errnum != EACCES && engine_area_image_stands(image))
		engine_warn(s, "calls in %s can't be seen without stops: %s", image->assembly->path,
			    strerror(errnum));
	engine_detours_give_up(s, numbers);
}

int engine_detours_make(cprof_image *image, const struct engine_numbers *numbers,
			const struct engine_numbers *all, const struct engine_numbers *own,
			struct engine_detour_sites *ret)
{
	const cprof_session *s = image->process->session;
	struct beside beside = { .image = image, .numbers = numbers };
	struct engine_making m = { .image = image, .sites = ret };
	const struct engine_rings *rings;
	int errnum;

	if (!any_suits(s, numbers))
		return 0;
	collect(&beside, own, all);
	settle(&beside);
	rings = beside.failed ? NULL : engine_rings_of(image->process);
	if (!rings) {
		cp_vec_free(&beside.others);
		engine_detours_give_up(s, numbers);
		return ENOMEM;
	}
	m.rings = rings->code;
	errnum = make(&m, &beside);
	cp_vec_free(&beside.others);
	if (!errnum)
		errnum = keep_jumps(image, numbers, ret);
	if (!errnum)
		engine_callers_add(image, numbers);
	if (errnum) {
		cp_info("%s: no detours: %s", image->assembly->path, strerror(errnum));
		ret->items.count = 0;
		forget_all(image, numbers);
		if (errnum != EAGAIN)
			give_all_up(image, numbers, errnum);
	}
	engine_making_free(&m);
	return errnum;
}

/* SPDX-License-Identifier: MIT */
#include "engine/families/counting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "detour/points.h"
#include "engine/families/coverage.h"
#include "engine/probes/batch.h"
#include "engine/probes/making.h"
#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "engine/probes/windows.h"
#include "engine/target/state.h"

/* ---- an object ---- */

struct engine_count_windows {
	struct cp_detour_windows windows;
	/* For each counter of the object, the number of its window + 1; 0: it has none. */
	uint32_t *of; /* owned */
	size_t of_count;
	uint32_t slots;
};

struct points {
	CP_VEC(struct cp_detour_point) items; /* by address */
};

void engine_counting_free(struct engine_cover *cover)
{
	struct engine_count_windows *c = cover->counting;

	if (!c)
		return;
	cp_vec_free(&c->windows.items);
	free(c->of);
	free(c);
	cover->counting = NULL;
}

uint32_t engine_counting_slots(const struct engine_cover *cover)
{
	return cover->counting ? cover->counting->slots : 0;
}

/* The way that alone leads to a block. */
struct entry {
	uint64_t from; /* the jump */
	uint8_t way; /* enum cp_detour_way; ANY_WAY: there are others */
};

static struct entry *find_entries(const struct engine_cover *cover)
{
	struct entry *made = calloc(cover->blocks.count + 1, sizeof(*made));
	const struct cp_probe_branch *b;

	cp_vec_for_each(&cover->branches, b) {
		if (made && b->size && b->taken_block != CP_NO_BLOCK)
			made[b->taken_block] = (struct entry){ b->address, CP_DETOUR_TAKEN };
		if (made && b->size && b->passed_block != CP_NO_BLOCK)
			made[b->passed_block] = (struct entry){ b->address, CP_DETOUR_PASSED };
	}
	return made;
}

static bool add_point(struct points *points, uint64_t address, uint32_t number, bool jump,
		      const struct entry *entry)
{
	return cp_vec_push(&points->items,
			   ((struct cp_detour_point){ address, number, jump,
						      entry ? entry->way : CP_DETOUR_ANY_WAY,
						      entry ? entry->from : 0 }));
}

/* Blocks and watched branches of a function, by address: a branch ends its block. */
static bool find_points(const struct engine_cover *cover, const struct engine_covered *f,
			const struct entry *entries, struct points *ret)
{
	uint32_t block = f->first_block, branch = f->first_branch;
	uint32_t blocks = block + f->block_count, branches = branch + f->branch_count;
	bool ok = true;

	ret->items.count = 0;
	while (ok && (block < blocks || branch < branches)) {
		const struct cp_probe_branch *b = &cover->branches.items[branch];

		if (branch < branches && b->block < block) {
			if (cover->watched.items[branch] != CP_NO_BLOCK && b->size)
				ok = add_point(ret, b->address,
					       engine_cover_own(cover, branch) -
						       cover->first_counter,
					       true, NULL);
			branch++;
		} else if (block < blocks) {
			if (cover->blocks.items[block].insn_size)
				ok = add_point(ret, cover->blocks.items[block].address, block,
					       false, &entries[block]);
			block++;
		} else {
			break;
		}
	}
	return ok;
}

static void note_windows(struct engine_count_windows *c)
{
	const struct cp_detour_window *w;
	unsigned i;

	memset(c->of, 0, c->of_count * sizeof(*c->of));
	c->slots = 0;
	cp_vec_for_each(&c->windows.items, w) {
		c->slots +=
			1 + (w->how == CP_DETOUR_BY_HOP) + (uint32_t)__builtin_popcount(w->begins);
		for (i = 0; i < w->site_count; i++) {
			uint32_t number = (uint32_t)(w - c->windows.items.items) + 1;

			c->of[w->sites[i].number] = number;
			if (w->sites[i].block)
				c->of[w->sites[i].block - 1] = number;
		}
	}
}

struct addresses {
	CP_VEC(uint64_t) items; /* sorted */
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool any_in(const struct addresses *a, uint64_t start, size_t size)
{
	size_t i = cp_vec_partition(&a->items, at, *at < start);

	return i < a->items.count && a->items.items[i] - start < size;
}

static bool is_disturbed(const struct addresses *a, const struct cp_detour_window *w)
{
	return any_in(a, w->address, w->room > w->size ? w->room : w->size) ||
	       (w->how == CP_DETOUR_BY_HOP && any_in(a, w->hop, CP_DETOUR_JUMP));
}

/* Where breakpoints will stand. */
static bool find_others(const struct engine_count_windows *c, const struct points *all,
			struct addresses *ret)
{
	const struct cp_detour_point *p;

	ret->items.count = 0;
	cp_vec_for_each(&all->items, p)
		if (!c->of[p->number] && !cp_vec_push(&ret->items, p->address))
			return false;
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), by_value);
	return true;
}

/* Windows go that a breakpoint would have to be in, until none is. False: without memory. */
static bool settle(struct engine_count_windows *c, const struct points *all)
{
	struct addresses others = { 0 };
	struct cp_detour_window *w;
	bool again = true, ok = true;
	size_t n;

	while (again && ok) {
		note_windows(c);
		ok = find_others(c, all, &others);
		n = 0;
		cp_vec_for_each(&c->windows.items, w)
			if (!is_disturbed(&others, w))
				c->windows.items.items[n++] = *w;
		again = n != c->windows.items.count;
		c->windows.items.count = n;
	}
	cp_vec_free(&others.items);
	return ok;
}

static size_t count_others(const struct engine_count_windows *c, const struct points *all)
{
	const struct cp_detour_point *p;
	size_t n = 0;

	cp_vec_for_each(&all->items, p)
		n += !c->of[p->number];
	return n;
}

static bool plan_all(cprof_session *s, cprof_assembly *a, const struct engine_cover *cover,
		     struct engine_count_windows *c, struct points *all)
{
	const struct engine_covered *f;
	const struct cp_detour_point *p;
	struct entry *entries = find_entries(cover);
	struct points points = { 0 };
	bool ok = entries != NULL;

	cp_vec_for_each(&cover->functions, f) {
		if (!ok || !f->complete)
			continue;
		ok = find_points(cover, f, entries, &points) &&
		     engine_windows_points(s, a, f->function, points.items.items,
					   points.items.count, &c->windows);
	}
	cp_vec_for_each(&cover->functions, f) {
		ok = ok && find_points(cover, f, entries, &points);
		cp_vec_for_each(&points.items, p)
			ok = ok && cp_vec_push(&all->items, *p);
	}
	cp_vec_free(&points.items);
	free(entries);
	return ok;
}

void engine_counting_plan(cprof_session *s, cprof_assembly *a, struct engine_cover *cover)
{
	size_t count = cover->blocks.count + 2 * cover->branches.count;
	struct points all = { 0 };
	struct engine_count_windows *c;

	if (cover->counted || s->coverage->mode != CPROF_COVERAGE_COUNT || !s->detours)
		return;
	cover->counted = true;
	c = cover->counting = calloc(1, sizeof(*c));
	if (!c)
		return;
	c->of = calloc(count + 1, sizeof(*c->of));
	c->of_count = count;
	if (!c->of || !plan_all(s, a, cover, c, &all) || !settle(c, &all))
		engine_counting_free(cover);
	else
		cp_info("%s: %zu windows for %zu places that are counted, %zu have breakpoints",
			a->path, c->windows.items.count, all.items.count, count_others(c, &all));
	cp_vec_free(&all.items);
}

/* ---- an image ---- */

struct engine_counted {
	cprof_image *image;
	struct engine_cover *cover;
	uint8_t *made; /* owned; by window */
	struct engine_detour_sites sites;
};

void engine_counted_free(struct engine_counted *counted)
{
	if (!counted)
		return;
	cp_vec_free(&counted->sites.items);
	free(counted->made);
	free(counted);
}

bool engine_counted_has(const struct engine_counted *counted, uint32_t counter)
{
	const struct engine_count_windows *c = counted ? counted->cover->counting : NULL;
	uint32_t number = c ? counter - counted->cover->first_counter : 0;

	return c && number < c->of_count && c->of[number] && counted->made[c->of[number] - 1];
}

/* What has slots already stands, or did; not what did before the image was mapped again. */
static bool find_standing(const cprof_image *image, struct addresses *ret)
{
	uint64_t address, slot;
	size_t cursor = 0;

	while (cp_map_next(&image->slots, &cursor, &address, &slot))
		if (engine_batch_is_here(image, slot) && !cp_vec_push(&ret->items, address))
			return false;
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), by_value);
	return true;
}

struct numbering {
	struct engine_rings *rings;
	uint32_t first_counter;
	bool full;
};

static uint32_t number_at(void *ctx, uint32_t number)
{
	struct numbering *n = ctx;
	uint32_t at = engine_rings_number(n->rings, n->first_counter + number);

	n->full |= !at;
	return at;
}

static void make_window(struct engine_making *m, struct numbering *n,
			const struct cp_detour_window *w, uint8_t *made_ret)
{
	struct cp_detour_placed placed;
	struct cp_detour d;

	cp_detour_of_points(w, number_at, n, &d);
	d.pc += m->image->bias;
	if (n->full ||
	    !cp_detour_place(m->space, cp_arch_host(), &d, w, m->image->bias, &m->rings, &placed))
		return;
	engine_making_window(m, w, &d, &placed);
	*made_ret = true;
}

static int make_all(struct engine_counted *counted, struct engine_rings *rings)
{
	const struct engine_count_windows *c = counted->cover->counting;
	struct numbering n = { rings, counted->cover->first_counter, false };
	struct engine_making m = {
		.image = counted->image,
		.rings = rings->code,
		.sites = &counted->sites,
		.traced = ENGINE_COUNTED,
	};
	struct addresses others = { 0 };
	int errnum = 0;
	size_t i;

	if (!find_standing(counted->image, &others) || !engine_making_begin(&m))
		errnum = ENOMEM;
	for (i = 0; !errnum && i < c->windows.items.count; i++)
		if (!is_disturbed(&others, &c->windows.items.items[i]))
			make_window(&m, &n, &c->windows.items.items[i], &counted->made[i]);
	if (!errnum)
		errnum = m.countings.count ? engine_making_send(&m) : ENOENT;
	engine_making_free(&m);
	cp_vec_free(&others.items);
	return errnum;
}

struct engine_counted *engine_counting_make(cprof_image *image, struct engine_cover *cover)
{
	const struct engine_count_windows *c = cover->counting;
	struct engine_rings *rings = NULL;
	struct engine_counted *made;
	int errnum;

	if (!c || !c->windows.items.count)
		return NULL;
	rings = engine_rings_of(image->process);
	made = rings ? calloc(1, sizeof(*made)) : NULL;
	if (!made)
		return NULL;
	made->image = image;
	made->cover = cover;
	made->made = calloc(c->windows.items.count, 1);
	errnum = made->made ? make_all(made, rings) : ENOMEM;
	if (!errnum)
		return made;
	cp_debug("%s: no code that counts in %d: %s", image->assembly->path, image->process->pid,
		 strerror(errnum));
	engine_counted_free(made);
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct engine_jump *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Where nothing else may stand. */
static bool keep_jumps(const struct engine_counted *counted)
{
	const struct engine_count_windows *c = counted->cover->counting;
	cprof_image *image = counted->image;
	uint32_t i;

	for (i = 0; i < c->windows.items.count; i++) {
		const struct cp_detour_window *w = &c->windows.items.items[i];
		size_t size = w->room > w->size ? w->room : w->size;

		if (!counted->made[i])
			continue;
		if (!cp_vec_push(&image->jumps,
				 ((struct engine_jump){ w->address, w->address + size,
							ENGINE_COUNTED, i })) ||
		    (w->how == CP_DETOUR_BY_HOP &&
		     !cp_vec_push(&image->jumps,
				  ((struct engine_jump){ w->hop, w->hop + CP_DETOUR_JUMP,
							 ENGINE_COUNTED, i }))))
			return false;
	}
	qsort(image->jumps.items, image->jumps.count, sizeof(*image->jumps.items), by_start);
	return true;
}

static void forget_jumps(cprof_image *image, uint32_t window)
{
	size_t i, n = 0;

	for (i = 0; i < image->jumps.count; i++)
		if (image->jumps.items[i].traced != ENGINE_COUNTED ||
		    image->jumps.items[i].window != window)
			image->jumps.items[n++] = image->jumps.items[i];
	image->jumps.count = n;
}

int engine_counted_place(struct engine_counted *counted, uint64_t *sites)
{
	const struct cp_site_group group = { .id = ENGINE_GROUP_COUNTED };
	cprof_image *image = counted->image;
	struct engine_batch b = { .image = image,
				  .calls = image->process->session->calls,
				  .counts = true };
	const struct engine_detour_site *site;
	uint32_t armed = 0;
	int errnum;

	if (!cp_vec_push(&b.groups, group) || !keep_jumps(counted))
		b.failed = true;
	cp_vec_for_each(&counted->sites.items, site) {
		engine_batch_detour(&b, site);
		*sites += site->flags & CP_SITE_WINDOW ? 1 : 0;
	}
	errnum = engine_batch_send(&b, &armed);
	engine_batch_free(&b);
	return errnum;
}

/* ---- giving way ---- */

static bool add_site(struct engine_batch *b, const struct engine_cover_site *from)
{
	struct cp_site out = {
		.address = from->address + b->image->bias,
		.id = from->counter,
		.flags = from->flags,
		.slot = from->slot,
	};

	return engine_batch_put(b, &out, from->code, from->size);
}

/* Breakpoints for all points of the windows whose bit is set. */
static int place_points(cprof_image *image, struct engine_cover *cover, const uint8_t *chosen)
{
	const struct cp_site_group group = { .id = ENGINE_GROUP_COUNTING };
	cprof_session *s = image->process->session;
	struct engine_batch b = { .image = image, .calls = s->calls, .counts = true };
	struct engine_cover_cursor cursor = { 0 };
	const uint32_t *of = cover->counting->of;
	struct engine_cover_site site;
	uint32_t armed = 0, window;
	int errnum = 0;

	b.failed = !cp_vec_push(&b.groups, group);
	while (engine_cover_next(s, cover, &cursor, &site)) {
		window = of[site.counter - cover->first_counter];
		if (window && chosen[window - 1] && !add_site(&b, &site))
			engine_cover_refuse(s, &site);
	}
	if (b.sites.count)
		errnum = engine_batch_send(&b, &armed);
	s->coverage->sites += armed;
	engine_batch_free(&b);
	return errnum == ESTALE ? 0 : errnum;
}

/* The windows' bytes are as they were. */
static void take_out(const cprof_image *image, const struct cp_detour_window *w)
{
	struct cp_request rq = { .type = CP_REQUEST_DISARM,
				 .pid = image->process->pid,
				 .address = w->address + image->bias,
				 .size = w->size };
	struct cp_answer answer;

	cp_error_free(cp_link_call(&image->process->session->link, &rq, &answer, NULL));
}

void engine_counting_yield(cprof_image *image, uint64_t start, uint64_t size)
{
	struct engine_cover *cover = image->assembly->cover;
	const struct engine_count_windows *c = cover ? cover->counting : NULL;
	uint8_t *chosen = c ? calloc(c->windows.items.count + 1, 1) : NULL;
	size_t i, count = 0;
	int errnum;

	for (i = 0; chosen && i < image->jumps.count; i++) {
		const struct engine_jump *j = &image->jumps.items[i];

		if (j->traced == ENGINE_COUNTED && j->end > start &&
		    (j->start < start || j->start - start < size))
			chosen[j->window] = true;
	}
	for (i = 0; chosen && i < c->windows.items.count; i++) {
		if (!chosen[i])
			continue;
		take_out(image, &c->windows.items.items[i]);
		forget_jumps(image, (uint32_t)i);
		count++;
	}
	errnum = count ? place_points(image, cover, chosen) : 0;
	if (count)
		cp_debug("%s: %zu windows gave way to breakpoints in %d: %s", image->assembly->path,
			 count, image->process->pid, strerror(errnum));
	free(chosen);
}

void engine_counting_failed(cprof_image *image, uint64_t address)
{
	const cprof_process *p = image->process;
	size_t i;

	if (!image->assembly->cover || !engine_cover_has(image->assembly->cover, address))
		return;
	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->mapped && p->images.items[i]->armed)
			engine_counting_yield(p->images.items[i], 0, UINT64_MAX);
}

/* ---- what was counted ---- */

static void add_count(void *ctx, uint32_t counter, uint64_t more)
{
	struct engine_coverage *c = ctx;
	size_t count = c->direct.count;

	if (counter >= count) {
		if (!cp_vec_reserve(&c->direct, counter + UINT64_C(4096)))
			return;
		memset(c->direct.items + count, 0,
		       (counter + UINT64_C(1) - count) * sizeof(*c->direct.items));
		c->direct.count = counter + UINT64_C(1);
	}
	c->direct.items[counter] += more;
	c->direct_changes++;
}

void engine_counting_collect(const cprof_session *s)
{
	if (s->coverage && s->calls)
		engine_rings_collect(s, add_count, s->coverage);
}

/* SPDX-License-Identifier: MIT
 *
 * The tables of breakpoints, and putting batches of them into a program.
 *
 * A batch is copied once (the controller can write to the plan area at any
 * time) and checked as a whole; only then is anything changed. What the program
 * gets comes in an order in which it can be left at any moment:
 *
 *     slots ─► table for the handler ─► handler ─► breakpoints
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/space.h"

/* Limits of what a batch may ask for. */
#define FETCH_MAX (64u << 10) /* bytes of one */
#define ROOM_MAX (256u << 10) /* bytes of all of a site */
#define LEVEL_MAX 8
#define EVENT_FLAGS 1023u
#define COUNT_FLAGS (CP_SITE_COUNT | CP_SITE_BRANCH | CP_SITE_ONCE | CP_SITE_TAKEN | CP_SITE_PASSED)

struct batch {
	struct cp_batch *head; /* owned; then the arrays, which point into it */
	const struct cp_site *sites;
	const struct cp_site_group *groups;
	const struct cp_fetch *fetches;
	const uint8_t *code;
};

/* ---- checking ---- */

static bool open_batch(struct tracer *tr, const struct cp_request *rq, struct batch *ret)
{
	uint64_t sites, groups, fetches, size = rq->size;
	struct cp_batch *b;

	if (size < sizeof(*b) || size > CP_LINK_PLAN || rq->first > CP_LINK_PLAN - size ||
	    rq->first % 8)
		return false;
	b = malloc(size);
	if (!b)
		return false;
	memcpy(b, tr->link->plan + rq->first, size);
	sites = b->site_count * sizeof(struct cp_site);
	groups = b->group_count * sizeof(struct cp_site_group);
	fetches = b->fetch_count * sizeof(struct cp_fetch);
	if (b->size != size ||
	    sizeof(*b) + sites + groups + fetches + (uint64_t)b->site_count * CP_SLOT_SIZE > size) {
		free(b);
		return false;
	}
	ret->head = b;
	ret->sites = (const struct cp_site *)(b + 1);
	ret->groups = (const struct cp_site_group *)((const uint8_t *)ret->sites + sites);
	ret->fetches = (const struct cp_fetch *)((const uint8_t *)ret->groups + groups);
	ret->code = (const uint8_t *)ret->fetches + fetches;
	return true;
}

static bool step_ok(const struct cp_step *step)
{
	unsigned nregs = cp_arch_host()->nregs;
	size_t trap;

	cp_trap_code(cp_arch_host(), &trap);
	return (step->how == CP_STEP_FREE || step->how == CP_STEP_SLOT) &&
	       step->trap_size == trap && step->size >= trap && step->slot_size <= CP_SLOT_SIZE &&
	       step->done <= step->slot_size && (step->base < nregs || step->base == 0xff) &&
	       (step->index < nregs || step->index == 0xff);
}

/* The fetches of one site; *room_ret: what they may take in an event. */
static bool fetches_ok(const struct cp_fetch *fetches, unsigned count, uint32_t *room_ret)
{
	uint64_t room = 0;
	unsigned i;

	if (count > SITE_FETCHES)
		return false;
	for (i = 0; i < count; i++) {
		const struct cp_fetch *f = &fetches[i];
		unsigned block = f->from - CP_FETCH_BLOCK;

		if (f->size > FETCH_MAX || f->level > LEVEL_MAX)
			return false;
		if (f->level == 0 ? f->from >= cp_arch_host()->nregs
				  : (f->from < CP_FETCH_BLOCK || block >= i ||
				     fetches[block].level >= f->level))
			return false;
		if (i && f->level < fetches[i - 1].level)
			return false;
		room += sizeof(struct cp_fetched) + cp_align8(f->size);
	}
	*room_ret = (uint32_t)room;
	return room <= ROOM_MAX;
}

static bool kind_ok(const struct cp_site *s)
{
	if (!(s->flags & SITE_COUNTS))
		return !(s->flags & ~EVENT_FLAGS);
	if (s->flags & CP_SITE_BRANCH && s->step.flow != CP_FLOW_BRANCH)
		return false;
	return !(s->flags & ~COUNT_FLAGS) && !s->fetch_count && s->id < CP_LINK_COUNTERS - 1;
}

static bool site_ok(const struct batch *b, const struct area *area, const struct cp_site *s)
{
	uint32_t room;

	return s->address && s->address < UINT64_C(1) << 56 && s->group < b->head->group_count &&
	       s->slot < area->slot_count &&
	       (!area->owners[s->slot] || area->owners[s->slot] == s->address) && kind_ok(s) &&
	       step_ok(&s->step) && s->first_fetch <= b->head->fetch_count &&
	       s->fetch_count <= b->head->fetch_count - s->first_fetch &&
	       fetches_ok(b->fetches + s->first_fetch, s->fetch_count, &room);
}

static bool batch_ok(const struct space *space, const struct batch *b, const struct area *area)
{
	uint32_t i;

	for (i = 0; i < b->head->site_count; i++) {
		if (!site_ok(b, area, &b->sites[i]) || space_area(space, b->sites[i].address))
			return false;
	}
	return true;
}

/* ---- the tables ---- */

static uint32_t put_group(struct space *space, const struct cp_site_group *g)
{
	uint64_t *known = cp_map_get(&space->by_group, g->id);
	struct site_group group = { .g = *g };
	uint32_t index = (uint32_t)space->groups.count;

	if (known) {
		space->groups.items[*known].g = *g;
		return (uint32_t)*known;
	}
	if (!cp_vec_push(&space->groups, group))
		return SITE_NONE;
	if (cp_map_put(&space->by_group, g->id, index))
		return index;
	space->groups.count--;
	return SITE_NONE;
}

static bool put_fetches(struct space *space, struct site *site, const struct cp_fetch *fetches,
			unsigned count)
{
	unsigned i;

	/* The same ones again, as a rule. */
	if (site->fetch_count == count && count &&
	    !memcmp(&space->fetches.items[site->first_fetch], fetches, count * sizeof(*fetches)))
		return true;
	site->first_fetch = (uint32_t)space->fetches.count;
	site->fetch_count = count;
	for (i = 0; i < count; i++) {
		if (!cp_vec_push(&space->fetches, fetches[i]))
			return false;
	}
	return true;
}

/* Numbers of sites and of counters are different ones. */
static bool is_record_of(const struct site *site, const struct cp_site *s)
{
	return site->id == s->id && !((site->flags ^ s->flags) & SITE_COUNTS);
}

/* The record for the site: one that was there before, or a new one in the
 * chain of its address. NULL without memory. */
static struct site *site_record(struct space *space, const struct cp_site *s)
{
	struct site fresh = {
		.address = s->address, .id = s->id, .flags = s->flags, .next = SITE_NONE
	};
	uint32_t index = (uint32_t)space->sites.count;
	struct site *at = space_site(space, s->address), *reusable = NULL, *last = at;

	for (; at; at = at->next == SITE_NONE ? NULL : &space->sites.items[at->next]) {
		if (is_record_of(at, s))
			return at;
		if (!at->armed && at->batch != space->batches && !reusable)
			reusable = at;
		last = at;
	}
	if (reusable) {
		reusable->id = s->id;
		reusable->hits = 0;
		return reusable;
	}
	if (last) {
		last->next = index;
	} else if (!cp_map_put(&space->by_address, s->address, index)) {
		return NULL;
	}
	if (cp_vec_push(&space->sites, fresh))
		return &space->sites.items[index];
	cp_map_remove(&space->by_address, s->address);
	return NULL;
}

/* Is any site at the address armed? */
static bool any_armed(const struct space *space, const struct site *site)
{
	while (!site->armed && site->next != SITE_NONE)
		site = &space->sites.items[site->next];
	return site->armed;
}

static bool put_site(struct space *space, const struct batch *b, const struct area *area,
		     const struct cp_site *s, const uint32_t *groups)
{
	struct site *site;

	/* The chain is extended through indices: no growing in between. */
	if (!cp_vec_reserve(&space->sites, space->sites.count + 1))
		return false;
	site = site_record(space, s);
	if (!site || !put_fetches(space, site, b->fetches + s->first_fetch, s->fetch_count))
		return false;
	fetches_ok(b->fetches + s->first_fetch, s->fetch_count, &site->room);
	site->batch = space->batches;
	site->group = groups[s->group];
	site->flags = s->flags;
	site->step = s->step;
	site->slot =
		s->step.how == CP_STEP_SLOT ? cp_area_slot(area->address, area->size, s->slot) : 0;
	memcpy(site->original, s->original, sizeof(site->original));
	return true;
}

/* ---- arming ---- */

/* What stands at each site, where none is armed yet, has to be what the batch
 * says. `patches` come back ready for it. */
static size_t make_patches(const struct space *space, const struct batch *b, struct patch *patches)
{
	size_t size, n = 0;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	uint32_t i;

	for (i = 0; i < b->head->site_count; i++) {
		const struct site *site = space_site(space, b->sites[i].address);
		struct patch *p = &patches[n];

		if (site && any_armed(space, site))
			continue;
		*p = (struct patch){ .address = b->sites[i].address };
		memcpy(p->expect, b->sites[i].original, size);
		memcpy(p->bytes, trap, size);
		n++;
	}
	return n;
}

static bool write_slots(const struct space *space, const struct batch *b, const struct area *area)
{
	uint32_t first = 0, i, n = b->head->site_count;

	for (i = 1; i <= n; i++) {
		if (i < n && b->sites[i].slot == b->sites[i - 1].slot + 1)
			continue;
		if (n && !space_write(space,
				      cp_area_slot(area->address, area->size, b->sites[first].slot),
				      b->code + (size_t)first * CP_SLOT_SIZE,
				      (size_t)(i - first) * CP_SLOT_SIZE))
			return false;
		first = i;
	}
	return true;
}

static int enter(struct space *space, const struct batch *b, struct area *area)
{
	uint32_t *groups = calloc(b->head->group_count + 1, sizeof(*groups)), i;
	int err = groups ? 0 : ENOMEM;

	for (i = 0; !err && i < b->head->group_count; i++) {
		groups[i] = put_group(space, &b->groups[i]);
		if (groups[i] == SITE_NONE)
			err = ENOMEM;
	}
	for (i = 0; !err && i < b->head->site_count; i++) {
		if (!put_site(space, b, area, &b->sites[i], groups))
			err = ENOMEM;
		else if (!area_claim(area, b->sites[i].slot, b->sites[i].address))
			err = EINVAL;
	}
	free(groups);
	return err;
}

/* What can't be watched can't be told. */
static void give_up_counters(struct tracer *tr, const struct site *site)
{
	unsigned n = site->flags & CP_SITE_BRANCH ? 2 : site->flags & CP_SITE_COUNT ? 1 : 0, i;

	for (i = 0; i < n; i++) {
		if (!tr->link->counters[site->id + i])
			tr->link->counters[site->id + i] = CP_COUNT_GAVE_UP;
	}
}

/* Marks what is armed now: all but those whose breakpoint could not be put. */
static uint32_t mark(struct tracer *tr, struct space *space, const struct batch *b,
		     const struct patch *patches, size_t count)
{
	struct cp_map failed = { 0 };
	uint32_t i, armed = 0;
	size_t n;

	for (n = 0; n < count; n++) {
		if (!patches[n].done)
			cp_map_put(&failed, patches[n].address, 1);
	}
	for (i = 0; i < b->head->site_count; i++) {
		struct site *site = space_site(space, b->sites[i].address);

		while (!is_record_of(site, &b->sites[i]))
			site = &space->sites.items[site->next];
		if (cp_map_get(&failed, site->address)) {
			give_up_counters(tr, site);
			continue;
		}
		space->armed += !site->armed;
		site->armed = true;
		armed++;
	}
	cp_map_free(&failed);
	return armed;
}

static int arm(struct tracer *tr, struct space *space, const struct batch *b, uint32_t *armed_ret)
{
	struct area *area = space_area(space, b->head->area);
	struct patch *patches;
	size_t count;
	int err;

	if (!area || area->address != b->head->area || !batch_ok(space, b, area))
		return EINVAL;
	patches = calloc(b->head->site_count + 1, sizeof(*patches));
	if (!patches)
		return ENOMEM;
	space->batches++;
	count = make_patches(space, b, patches);
	err = enter(space, b, area);
	if (!err && (!write_slots(space, b, area) || !area_write_table(space, area)))
		err = EIO;
	if (!err)
		err = area_install_handler(tr, space);
	if (!err) {
		space->changed_ns = cp_now();
		patch_apply(space, patches, count);
		*armed_ret = mark(tr, space, b, patches, count);
		if (*armed_ret < b->head->site_count)
			err = ESTALE;
	}
	free(patches);
	return err;
}

void sites_arm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct process *p = process_find(tr, rq->pid);
	struct batch b;

	if (!p) {
		ret->errnum = ESRCH;
		return;
	}
	if (!(tr->trace_flags & CP_TRACE_PROBES) || !open_batch(tr, rq, &b)) {
		ret->errnum = EINVAL;
		return;
	}
	ret->errnum = space_open(p->space);
	if (!ret->errnum)
		ret->errnum = arm(tr, p->space, &b, &ret->threads);
	free(b.head);
}

/* ---- disarming ---- */

/* Takes out the breakpoints of those sites that `chosen` names and that no
 * other site at their address needs. */
static void disarm(struct space *space, bool (*chosen)(const struct site *site, const void *ctx),
		   const void *ctx)
{
	size_t size, i, n = 0;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	struct patch *patches = NULL;

	if (space->armed)
		patches = calloc(space->armed, sizeof(*patches));
	if (!patches)
		return;
	for (i = 0; i < space->sites.count; i++) {
		struct site *site = &space->sites.items[i];

		if (!site->armed || !chosen(site, ctx))
			continue;
		site->armed = false;
		space->armed--;
		if (any_armed(space, space_site(space, site->address)))
			continue;
		patches[n] = (struct patch){ .address = site->address };
		memcpy(patches[n].expect, trap, size);
		memcpy(patches[n++].bytes, site->original, size);
	}
	space->changed_ns = cp_now();
	patch_apply(space, patches, n);
	free(patches);
}

struct range {
	uint64_t start, size;
};

static bool in_range(const struct site *site, const void *ctx)
{
	const struct range *r = ctx;

	return site->address - r->start < r->size;
}

static bool in_group(const struct site *site, const void *ctx)
{
	return site->group == *(const uint32_t *)ctx;
}

void sites_disarm_in(struct space *space, uint32_t group)
{
	disarm(space, in_group, &group);
}

void sites_disarm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct range range = { rq->address, rq->size };
	struct process *p = process_find(tr, rq->pid);
	size_t i;

	if (!p) {
		ret->errnum = ESRCH;
		return;
	}
	if (!(rq->flags & CP_DISARM_FORGET)) {
		disarm(p->space, in_range, &range);
		return;
	}
	/* What was there is unmapped: nothing of it may be looked at again. */
	for (i = 0; i < p->space->sites.count; i++) {
		struct site *site = &p->space->sites.items[i];

		if (!in_range(site, &range))
			continue;
		p->space->armed -= site->armed;
		site->armed = false;
		cp_map_remove(&p->space->by_address, site->address);
	}
}

void sites_disarm_group(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	uint64_t key, value, *index;
	size_t cursor = 0;

	(void)ret;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		struct space *space = ((struct process *)(uintptr_t)value)->space;

		index = cp_map_get(&space->by_group, rq->first);
		if (index)
			sites_disarm_in(space, (uint32_t)*index);
	}
}

/* Patches for the first site at each address, from what stands there to what
 * shall stand there; NULL without memory. */
static struct patch *patches_of_all(const struct space *space,
				    bool (*keep)(const struct space *space,
						 const struct site *site),
				    size_t *count_ret)
{
	size_t size, i, n = 0;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	struct patch *patches = calloc(space->sites.count + 1, sizeof(*patches));

	for (i = 0; patches && i < space->sites.count; i++) {
		const struct site *site = &space->sites.items[i];
		const uint64_t *first = cp_map_get(&space->by_address, site->address);
		bool put = keep(space, site);

		if (!first || *first != i)
			continue;
		patches[n] = (struct patch){ .address = site->address };
		memcpy(patches[n].expect, put ? site->original : trap, size);
		memcpy(patches[n++].bytes, put ? trap : site->original, size);
	}
	*count_ret = n;
	return patches;
}

static bool keep_none(const struct space *space, const struct site *site)
{
	(void)space;
	(void)site;
	return false;
}

void sites_sync(struct space *space)
{
	size_t n;
	struct patch *patches = patches_of_all(space, any_armed, &n);

	if (patches)
		patch_apply(space, patches, n);
	free(patches);
}

void sites_clean(struct space *space)
{
	size_t n, i;
	struct patch *patches = space->sites.count ? patches_of_all(space, keep_none, &n) : NULL;

	if (!patches)
		return;
	for (i = 0; i < space->sites.count; i++)
		space->sites.items[i].armed = false;
	space->armed = 0;
	patch_apply(space, patches, n);
	free(patches);
}

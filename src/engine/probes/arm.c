/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of an image into a process: room for their slots (areas.c), the
 * batch (batch.c).
 *
 * What was mapped is seen at exec and attach, and when the dynamic linker
 * says so (its hook holds the thread, so constructors have not run yet).
 */
#include "engine/probes/linking.h"
#include "engine/probes/arm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "engine/probes/areas.h"
#include "engine/probes/base.h"
#include "engine/probes/batch.h"
#include "engine/probes/detours.h"
#include "engine/probes/given_back.h"
#include "engine/probes/haste.h"
#include "engine/probes/objects.h"
#include "engine/probes/own.h"
#include "engine/probes/plans.h"
#include "engine/probes/rings.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/linker.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "link/gone.h"

/* ---- images ---- */

/* Sites of families' own in an image, by family. */
struct own {
	const struct engine_own *of[ENGINE_FAMILIES];
	size_t sites;
};

static const struct engine_detour_sites no_detours;

#define OWN_MOST 32 /* breakpoints of families' own in one image */

/* Names, for a warning, what can't be had without breakpoints, and what would be done
 * with it. */
static void name_loss(const cprof_session *s, const char **what_ret, const char **done_ret)
{
	unsigned id;

	*what_ret = "events";
	*done_ret = "watched";
	for (id = 1; id < ENGINE_FAMILIES; id++) {
		if (!s->families[id]->place || !engine_family_wanted(s, id))
			continue;
		*what_ret = s->families[id]->things;
		*done_ret = s->families[id]->done;
	}
	if (engine_calls_wanted(s)) {
		*what_ret = "calls";
		*done_ret = "traced";
	}
}

/* Has the process this file's code somewhere else, too, and longer? V8 maps a part of its own
 * a second time, beside the code that it makes. */
static bool is_copy(const cprof_image *image)
{
	const cprof_process *p = image->process;
	size_t i;

	for (i = 0; i < p->images.count && p->images.items[i] != image; i++)
		if (p->images.items[i]->mapped && p->images.items[i]->assembly == image->assembly)
			return true;
	return false;
}

static void complain(const cprof_image *image, int errnum)
{
	cprof_process *p = image->process;
	const char *what, *done;

	name_loss(p->session, &what, &done);
	if (errnum == EAGAIN)
		p->arm_again = true;
	else if (errnum != ESRCH && is_copy(image))
		engine_warn(p->session,
			    "a part of %s is mapped a second time: %s there may not be %s",
			    image->assembly->path, what, done);
	else if (errnum != ESRCH && engine_area_image_stands(image))
		engine_warn(p->session, "%s in %s can't be %s: %s", what, image->assembly->path,
			    done,
			    errnum == EACCES ? "a seccomp filter stands in the way"
					     : strerror(errnum));
	cp_debug("arm %s in %d: %s", image->assembly->path, p->pid, strerror(errnum));
}

static void fill_own(struct engine_batch *b, enum engine_family_id id, const struct engine_own *own)
{
	const struct engine_own_group *g;
	uint32_t i;

	cp_vec_for_each(&own->groups, g) {
		const struct cp_site_group group = {
			.id = ENGINE_GROUP_OWN(id, g->number),
			.max_rate = engine_rate_often(b->calls, g->often),
			.quiet = g->quiet,
			.quiet_at = g->quiet_at ? g->quiet_at + b->image->bias : 0,
		};

		b->failed |= !cp_vec_push(&b->groups, group);
		if (b->calls->own_groups[id] <= g->number)
			b->calls->own_groups[id] = g->number + 1;
		for (i = 0; i < g->count; i++)
			engine_batch_planned(b, own->sites.items[g->first + i]);
	}
}

/* Fills the batch with sites of families and of functions that are seen by breakpoints;
 * how many functions those are. */
static uint64_t fill(struct engine_batch *b, const struct engine_numbers *numbers,
		     const struct own *own)
{
	uint64_t functions = 0;
	unsigned id;
	size_t i;

	for (id = 1; own->sites && id < ENGINE_FAMILIES; id++)
		if (own->of[id])
			fill_own(b, id, own->of[id]);
	for (i = 0; i < numbers->count; i++) {
		const struct engine_traced *t = b->calls->traced.items[numbers->items[i]];

		if (!t->disarmed && !engine_detours_has(b->image, numbers->items[i]) &&
		    engine_batch_function(b, numbers->items[i]))
			functions += t->function->kind != CP_PROBE_IFUNC;
	}
	return functions;
}

/* The same of those that have detours; and how many places of the program these change. */
static uint64_t fill_detours(struct engine_batch *b, const struct engine_detour_sites *detours,
			     uint32_t *jumps_ret)
{
	const struct engine_detour_site *site;
	uint32_t traced = ENGINE_NO_FUNCTION;
	uint64_t functions = 0;

	cp_vec_for_each(&detours->items, site) {
		*jumps_ret += site->flags & CP_SITE_WINDOW ? 1 : 0;
		if (!b->groups.count || site->traced != traced) {
			b->failed |= !engine_batch_group(b, site->traced);
			functions += site->traced != ENGINE_NO_FUNCTION;
		}
		traced = site->traced;
		engine_batch_detour(b, site);
	}
	return functions;
}

/* Are some of the functions placed for the first time? */
static bool any_is_new(struct engine_calls *c, const struct engine_numbers *numbers)
{
	bool any = false;
	size_t i;

	for (i = 0; i < numbers->count; i++) {
		any |= !c->traced.items[numbers->items[i]]->counted;
		c->traced.items[numbers->items[i]]->counted = true;
	}
	return any;
}

/* What is to be placed in an image. While that is worked out, which takes a second for ten
 * thousand functions, nothing of the others is placed either: who came to a breakpoint would
 * wait until somebody has time for it. */
struct prepared {
	cprof_image *image;
	struct engine_numbers numbers;
	struct engine_detour_sites detours;
	struct own own;
	bool more; /* families place breakpoints of their own */
	bool last; /* threads come there often */
	int errnum;
};

struct preparing {
	CP_VEC(struct prepared) list;
};

/* What families place is made ready: the tracer takes as long for a batch. */
static void make_all(const struct preparing *preparing)
{
	struct prepared *p;
	size_t i;

	for (i = 0; preparing && i < preparing->list.count; i++) {
		p = &preparing->list.items[i];
		if (!p->more || p->errnum)
			continue;
		engine_each_family(p->image->process->session, f, make)
			if (f->places(p->image))
				f->make(p->image);
	}
}

/* `meanwhile`: what is done while the tracer is busy; NULL: nothing. */
static int send_calls(cprof_image *image, const struct engine_numbers *numbers,
		      const struct own *own, const struct engine_detour_sites *detours, bool counts,
		      const struct preparing *meanwhile)
{
	struct engine_calls *c = image->process->session->calls;
	struct engine_batch b = { .image = image, .calls = c };
	uint64_t functions, fast;
	uint32_t armed = 0, jumps = 0, beside;
	int errnum;

	if (!numbers->count && !own->sites)
		return 0;
	fast = fill_detours(&b, detours, &jumps);
	functions = fill(&b, numbers, own) + fast;
	errnum = engine_batch_post(&b);
	if (!errnum) {
		make_all(meanwhile);
		errnum = engine_batch_answer(&b, &armed);
	}
	counts |= any_is_new(c, numbers);
	if (!errnum && counts) {
		c->armed_functions += functions;
		c->detoured_functions += fast;
		c->detoured_sites += jumps;
	}
	/* Where threads may land in them is no site. */
	beside = (uint32_t)detours->items.count - jumps;
	if (counts)
		c->armed_sites += armed > beside ? armed - beside : 0;
	if (fast)
		cp_info("%s: %" PRIu64 " functions with detours", image->assembly->path, fast);
	cp_info("%s: %zu functions, %u breakpoints", image->assembly->path, numbers->count, armed);
	engine_batch_free(&b);
	return errnum;
}

static void find_own(cprof_image *image, struct own *ret)
{
	unsigned id;

	*ret = (struct own){ 0 };
	for (id = 1; id < ENGINE_FAMILIES; id++) {
		ret->of[id] = engine_plan_own(image, id);
		ret->sites += ret->of[id] ? ret->of[id]->sites.count : 0;
	}
}

/* Has families place their own breakpoints, once there is room for them. */
static int place(cprof_image *image, int errnum)
{
	const cprof_session *s = image->process->session;

	engine_each_family(s, f, place) {
		if (!f->places(image))
			continue;
		errnum = errnum ? errnum : f->place(image);
		if (errnum && errnum != EAGAIN && errnum != ESRCH)
			f->refused(image);
	}
	return errnum;
}

static bool places(cprof_image *image)
{
	const cprof_session *s = image->process->session;
	bool any = false;

	engine_each_family(s, f, places)
		any |= f->places(image);
	return any;
}

/* Gives detours to those functions that can have one; all others have breakpoints, and so have
 * all where that fails. EAGAIN: no thread could be asked, so that there are none yet. */
static int make_detours(cprof_image *image, const struct engine_numbers *numbers,
			const struct engine_numbers *all, const struct own *own,
			struct engine_detour_sites *ret)
{
	struct engine_numbers sites = { 0 };
	bool ok = true;
	int errnum = 0;
	unsigned id;
	size_t i;

	for (id = 1; own->sites && id < ENGINE_FAMILIES; id++)
		for (i = 0; own->of[id] && i < own->of[id]->sites.count; i++)
			ok = ok && cp_vec_push(&sites, own->of[id]->sites.items[i]);
	if (ok)
		errnum = engine_detours_make(image, numbers, all, &sites, ret);
	cp_vec_free(&sites);
	return errnum == EAGAIN ? EAGAIN : 0;
}

/* Has other code breakpoints, of functions or blocks, while the C library has none at all? */
static bool is_unguarded(const cprof_image *image)
{
	const cprof_process *p = image->process;
	bool others = false;
	size_t i;

	for (i = 0; i < p->images.count; i++)
		others |= p->images.items[i]->armed && p->images.items[i]->slots.count > OWN_MOST;
	return others && engine_is_c_library(image) && !image->slots.count;
}

/* Where the program blocks signals is watched before anything else of the C library is even
 * planned, which may take a second: whoever came to a breakpoint of the dynamic linker's with
 * SIGTRAP blocked would die of it if we were killed meanwhile. */
static void guard(cprof_image *image, struct own *own)
{
	const struct engine_numbers none = { 0 };

	if (own->sites && is_unguarded(image) &&
	    !engine_area_map(image, own->sites + own->sites / 64 + 64) &&
	    !send_calls(image, &none, own, &no_detours, true, NULL))
		*own = (struct own){ 0 };
}

/* False: nothing is to be placed. */
static bool prepare(cprof_image *image, struct prepared *ret)
{
	const cprof_session *s = image->process->session;
	struct engine_numbers *numbers = &ret->numbers;
	struct own own;
	uint64_t slots, i;

	find_own(image, &own);
	*ret = (struct prepared){ .image = image,
				  .own = own,
				  .last = engine_is_c_library(image) || engine_is_program(image) };
	guard(image, &ret->own);
	ret->more = places(image);
	image->armed = true;
	/* Who traces no calls has no stubs. */
	image->life.stubs_wait = engine_calls_wanted(s) && engine_is_linking(image->process);
	if (!engine_plan_image(image, image->life.stubs_wait ? ENGINE_PLAN_OTHERS : ENGINE_PLAN_ALL,
			       numbers) &&
	    !ret->own.sites && !ret->more)
		return false;
	if (!engine_haste_allowed(image->process))
		return true;
	slots = ret->own.sites + image->cover.spare;
	for (i = 0; i < numbers->count; i++)
		slots += s->calls->traced.items[numbers->items[i]]->site_count;
	ret->errnum = make_detours(image, numbers, numbers, &own, &ret->detours);
	slots += ret->detours.items.count;
	/* One that was here before keeps the slots of detours that are elsewhere now. */
	if (!ret->errnum)
		ret->errnum = engine_area_map(image, image->slots.count + slots + slots / 64 + 64);
	return true;
}

static void place_prepared(struct prepared *p)
{
	cprof_image *image = p->image;

	if (!p->errnum)
		p->errnum = send_calls(image, &p->numbers, &p->own, &p->detours, true, NULL);
	if (p->more)
		p->errnum = place(image, p->errnum);
	if (p->errnum)
		complain(image, p->errnum);
	image->armed = p->errnum != EAGAIN;
	if (!image->armed)
		engine_detours_unmake(image);
}

static void release(struct prepared *p)
{
	cp_vec_free(&p->detours.items);
	cp_vec_free(&p->numbers);
}

/* Makes way for what is asked of functions now: detours record what was asked when they were
 * made, so of those that are there breakpoints come in their place. Those of which nothing
 * stands can have new ones. */
static void detour_changed(cprof_image *image, const struct engine_numbers *changed,
			   const struct engine_numbers *all, struct engine_detour_sites *ret)
{
	const struct engine_calls *c = image->process->session->calls;
	struct engine_detour_sites again = { 0 };
	struct engine_numbers fresh = { 0 };
	const struct engine_detour_site *site;
	struct own own;
	size_t i;

	for (i = 0; i < changed->count; i++) {
		uint32_t number = changed->items[i];

		if (c->traced.items[number]->returns) {
			if (!engine_detours_again(image, number, &again) &&
			    !cp_vec_push(&fresh, number))
				break;
		} else if (engine_detours_has(image, number)) {
			engine_detours_yield(image, number);
		}
	}
	find_own(image, &own);
	if (fresh.count && make_detours(image, &fresh, all, &own, ret))
		engine_detours_give_up(image->process->session, &fresh);
	cp_vec_for_each(&again.items, site)
		if (!cp_vec_push(&ret->items, *site))
			break;
	cp_vec_free(&again.items);
	cp_vec_free(&fresh);
}

void engine_arm_changed(cprof_image *image, const struct engine_numbers *changed,
			const struct engine_numbers *all)
{
	struct engine_calls *c = image->process->session->calls;
	uint64_t slots = image->slots.count, area = image->area, i;
	struct engine_detour_sites detours = { 0 };
	const struct own none = { .sites = 0 };
	int errnum;

	detour_changed(image, changed, all, &detours);
	for (i = 0; i < changed->count; i++)
		slots += c->traced.items[changed->items[i]]->site_count;
	slots += detours.items.count;
	errnum = changed->count ? engine_area_map(image, slots) : 0;
	/* In a new area no address has its slot yet, so all functions go there. */
	if (!errnum)
		errnum = send_calls(image, image->area == area ? changed : all, &none, &detours,
				    false, NULL);
	cp_vec_free(&detours.items);
	if (errnum)
		complain(image, errnum);
}

/* Stubs wait for the libraries that they lead to: nobody calls through them before, and
 * the libraries' debug information types the calls. */
static void arm_stubs(cprof_image *image)
{
	struct engine_numbers stubs = { 0 }, all = { 0 };

	image->life.stubs_wait = false;
	if (engine_plan_image(image, ENGINE_PLAN_STUBS, &stubs)) {
		engine_plan_image(image, ENGINE_PLAN_ALL, &all);
		engine_arm_changed(image, &stubs, &all);
	}
	cp_vec_free(&stubs);
	cp_vec_free(&all);
}

static void arm_waiting(cprof_process *p)
{
	size_t i, waiting = 0;

	for (i = 0; i < p->images.count; i++)
		waiting += p->images.items[i]->mapped && p->images.items[i]->life.stubs_wait;
	if (!waiting || engine_is_linking(p))
		return;
	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->mapped && p->images.items[i]->life.stubs_wait)
			arm_stubs(p->images.items[i]);
}

/* Its memory is no longer what the file has: the tracer forgets its breakpoints, and must not
 * write there. */
static void forget_image(cprof_image *image)
{
	struct cp_request rq = {
		.type = CP_REQUEST_DISARM,
		.pid = image->process->pid,
		.flags = CP_DISARM_FORGET,
	};
	struct cp_answer answer;

	image->armed = false;
	engine_detours_unmake(image);
	rq.address = image->start;
	rq.size = image->end - image->start;
	if (image->area)
		cp_error_free(cp_link_call(&image->process->session->link, &rq, &answer, NULL));
}

/* What was mapped now uses what detours find rings by: they give way to breakpoints. */
static void give_base_back(cprof_image *image)
{
	struct engine_numbers detoured = { 0 }, all = { 0 };
	uint64_t number, unused;
	size_t cursor = 0;
	bool ok = true;

	while (cp_map_next(&image->detoured, &cursor, &number, &unused))
		ok = ok && cp_vec_push(&detoured, (uint32_t)number);
	if (ok && detoured.count) {
		engine_plan_image(image, ENGINE_PLAN_ALL, &all);
		engine_arm_changed(image, &detoured, &all);
	}
	cp_vec_free(&detoured);
	cp_vec_free(&all);
}

void engine_arm_without_detours(cprof_process *p)
{
	size_t i;

	if (!p->detours || !p->detours->rings || p->detours->foreign)
		return;
	p->detours->foreign = true;
	for (i = 0; i < p->images.count; i++) {
		if (!p->images.items[i]->mapped || !p->images.items[i]->armed)
			continue;
		give_base_back(p->images.items[i]);
		engine_each_family(p->session, f, yield)
			f->yield(p->images.items[i], 0, UINT64_MAX);
	}
}

static void look_for_base(cprof_process *p)
{
	if (p->detours && p->detours->rings && !p->detours->foreign && engine_base_used(p))
		engine_arm_without_detours(p);
}

/* Threads that come to breakpoints wait for room in the ring: none can be asked for memory. */
static bool is_ring_full(const cprof_session *s)
{
	return s->link.shared->head - s->link.shared->tail > CP_LINK_RING / 2;
}

/* False: no thread could be asked, and so it would be with the others, which were not tried. */
static bool prepare_images(cprof_process *p, bool (*which)(const cprof_image *image),
			   struct preparing *to)
{
	struct prepared now;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];

		if (!image->mapped || image->armed || (which && !which(image)) ||
		    !engine_haste_allowed(p))
			continue;
		if (!prepare(image, &now) || !cp_vec_push(&to->list, now))
			release(&now);
		else if (now.errnum == EAGAIN && is_ring_full(p->session))
			return false;
	}
	return true;
}

static bool is_library(const cprof_image *image)
{
	return !engine_is_program(image);
}

/* Is there other code where it was, which is no other object's? */
static bool is_replaced(const cprof_image *image)
{
	const struct engine_text *text;

	cp_vec_for_each(&image->process->texts, text)
		if (!text->image->assembly->image && text->start < image->end &&
		    text->end > image->start)
			return true;
	return false;
}

/* The image is no longer mapped. Threads may still be on their way through what stands for
 * code that others took the place of. */
static void forget_unmapped(cprof_image *image)
{
	bool replaced = is_replaced(image);

	if (replaced && image->assembly->image && !is_copy(image))
		engine_warn(image->process->session,
			    "the code of %s was replaced by the program: its calls are "
			    "not told from then on",
			    image->assembly->path);
	forget_image(image);
	image->unmapped++;
	if (replaced || image->assembly->made)
		engine_room_leave(image);
	else
		engine_room_give_back(image);
}

/* Who comes to a function for the first time waits until all is placed: so that is done last
 * where threads are, and what takes longest comes first. */
static int by_haste(const void *a, const void *b)
{
	const struct prepared *x = a, *y = b;

	if (x->last != y->last)
		return x->last ? 1 : -1;
	return x->numbers.count > y->numbers.count ? -1 : x->numbers.count < y->numbers.count;
}

/* Who is asked to leave begins with nothing; who is in haste gets it later. */
static void put_off(cprof_image *image)
{
	engine_detours_unmake(image);
	engine_room_give_code_back(image);
	if (image->process->session->stop_asked)
		return;
	image->armed = image->life.stubs_wait = false;
	image->process->arm_again = true;
}

/* Is there an image that was not come to? */
static bool any_left(const cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count && !engine_haste_allowed(p); i++)
		if (p->images.items[i]->mapped && !p->images.items[i]->armed)
			return true;
	return false;
}

static void arm_images(cprof_process *p)
{
	const struct engine_numbers none = { 0 };
	struct preparing preparing = { 0 };
	struct prepared *now;
	bool cut;

	if (prepare_images(p, engine_is_c_library, &preparing) &&
	    prepare_images(p, is_library, &preparing) && !engine_waits_for_c_library(p))
		prepare_images(p, NULL, &preparing);
	cp_vec_sort(&preparing.list, by_haste);
	/* In the C library it is watched what the program does with SIGTRAP: before anything. */
	cp_vec_for_each(&preparing.list, now) {
		if (!engine_is_c_library(now->image) || now->errnum || !engine_haste_allowed(p))
			continue;
		now->errnum =
			send_calls(now->image, &none, &now->own, &no_detours, true, &preparing);
		now->own = (struct own){ 0 };
	}
	cut = any_left(p);
	cp_vec_for_each(&preparing.list, now) {
		if (engine_haste_allowed(p)) {
			place_prepared(now);
		} else {
			put_off(now->image);
			cut = true;
		}
		release(now);
	}
	engine_haste_cut(p, cut);
	cp_vec_free(&preparing.list);
}

void engine_arm_process(cprof_process *p)
{
	cprof_session *s = p->session;
	const struct engine_text *text;
	size_t i;

	if (!engine_probes_wanted(s) || !p->loaded)
		return;
	p->arm_again = false;
	p->look++;
	if (s->calls)
		s->calls->changes++;
	cp_vec_for_each(&p->texts, text) {
		text->image->look = p->look;
		if (text->end > text->image->end)
			text->image->end = text->end;
	}
	/* Images that are gone first: their addresses may be those of new ones. */
	for (i = 0; i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];

		image->mapped = image->look == p->look;
		if (!image->mapped && image->armed)
			forget_unmapped(image);
	}
	engine_each_family(s, f, mapped)
		f->mapped(p);
	engine_areas_expect(p);
	look_for_base(p);
	engine_haste_begin(p);
	arm_images(p);
	engine_haste_end(p);
	/* Families look at what has happened before once breakpoints are there, so that
	 * nothing falls in between. */
	engine_each_family(s, f, armed)
		f->armed(p);
	arm_waiting(p);
	p->areas.late = p->exec_ns != 0;
}

/* Each time costs the program a stop; one that always does that is left alone. */
#define ANEW_MAX 20u

/* Of what is left of them the memory is made what it was, first. */
static void arm_anew(cprof_image *image)
{
	struct cp_request rq = {
		.type = CP_REQUEST_DISARM,
		.pid = image->process->pid,
		.address = image->start,
		.size = image->end - image->start,
	};
	struct cp_answer answer;

	image->anew++;
	cp_error_free(cp_link_call(&image->process->session->link, &rq, &answer, NULL));
	forget_image(image);
	engine_room_leave(image);
	engine_arm_process(image->process);
}

void engine_arm_gone(cprof_process *p, const struct cp_event_gone *e)
{
	bool again = !(e->e.flags & CP_GONE_AT_EXIT) &&
		     !engine_family_wanted(p->session, ENGINE_FAMILY_COVERAGE);
	const struct engine_text *text = engine_find_text(p, e->address);
	cprof_image *image = text ? text->image : NULL;

	if (!image || !image->armed)
		return;
	again &= image->anew < ANEW_MAX;
	if (!again || !image->anew)
		engine_warn(p->session,
			    "the program (%d) mapped the code of %s anew, or gave its pages back: "
			    "what it did there %s is not told, and how much that is, is not known",
			    p->pid, image->assembly->path,
			    again ? "up to when that was seen" : "from then on");
	if (again)
		arm_anew(image);
}

void engine_arm_all(cprof_session *s)
{
	size_t i;

	for (i = 0; engine_probes_wanted(s) && i < s->processes.count; i++)
		engine_maps_look(s->processes.items[i]);
}

static void arm_again(cprof_process *p)
{
	p->arm_again = false;
	if (p->maps_read)
		engine_arm_process(p);
	else if (engine_process(p->session, p->pid) == p)
		engine_maps_look(p);
}

/* Breakpoints in the place of detours that gave way in another process. */
static void arm_yielded(struct engine_calls *c)
{
	const struct engine_yielded y = c->yielded.items[--c->yielded.count];
	const struct engine_numbers one = { .items = &(uint32_t){ y.traced }, .count = 1 };
	const struct own none = { .sites = 0 };

	if (y.image->armed)
		send_calls(y.image, &one, &none, &no_detours, false, NULL);
}

bool engine_arm_waits(const cprof_session *s)
{
	size_t i = 0;

	if (!engine_probes_wanted(s))
		return false;
	if (s->calls && s->calls->yielded.count)
		return true;
	while (i < s->processes.count && !s->processes.items[i]->arm_again)
		i++;
	return i < s->processes.count;
}

void engine_arm_again(cprof_session *s)
{
	size_t i;

	while (s->calls && s->calls->yielded.count)
		arm_yielded(s->calls);

	for (i = 0; engine_probes_wanted(s) && i < s->processes.count; i++)
		if (s->processes.items[i]->arm_again)
			arm_again(s->processes.items[i]);
}

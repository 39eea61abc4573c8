/* SPDX-License-Identifier: MIT
 *
 * What is loaded: events of images, assemblies and dlmopen() namespaces.
 *
 * The mappings say what is there, the dynamic linker's own list (target/linker.c) in which
 * order it came, in which namespace, and whether the linker is at work just now; then
 * nothing is said until it is done. It calls its hook before and after it changes
 * something, and cprof has a breakpoint there if anybody wants these events; so they
 * come before anything of a library has run, its constructors included.
 */
#include "engine/families/loaded.h"

#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/startedas.h"
#include "base/text.h"
#include "engine/probes/objects.h"
#include "engine/probes/own.h"
#include "engine/probes/plans.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/linker.h"
#include "engine/target/lives.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "image/jit.h"

/* ---- events ---- */

static bool wanted(const cprof_session *s)
{
	return engine_has(s, image_loading) || engine_has(s, image_loaded) ||
	       engine_has(s, image_unloading) || engine_has(s, image_unloaded) ||
	       engine_has(s, assembly_loading) || engine_has(s, assembly_loaded) ||
	       engine_has(s, assembly_unloading) || engine_has(s, assembly_unloaded) ||
	       engine_has(s, context_loaded) || engine_has(s, context_unloaded) ||
	       engine_has(s, method_free) || engine_has(s, gc_root_register) ||
	       engine_has(s, gc_root_unregister);
}

/* Tells of an object that is mapped for the first time; its symbols are read now where
 * assembly_loaded has a callback. */
static void tell_assembly(cprof_session *s, cprof_assembly *a)
{
	const struct cp_symbol *symbols;
	size_t count;

	if (a->shown++)
		return;
	engine_raise(s, assembly_loading, a);
	if (a->image && engine_has(s, assembly_loaded))
		cp_error_free(cp_image_symbols(a->image, &symbols, &count));
	engine_raise(s, assembly_loaded, a);
}

static void tell_loaded(cprof_session *s, cprof_image *image)
{
	cprof_namespace *in = image->life.in;

	if (in && !in->shown) {
		in->shown = true;
		engine_raise(s, context_loaded, in);
	}
	image->life.shown = true;
	engine_raise(s, image_loading, image);
	engine_raise(s, image_loaded, image);
	engine_each_family(s, f, image_loaded)
		f->image_loaded(image);
	tell_assembly(s, image->assembly);
}

void engine_free_methods(cprof_session *s, const cprof_image *image)
{
	size_t i;

	for (i = 0; engine_has(s, method_free) && i < s->functions.count; i++) {
		const cprof_function *f = s->functions.items[i];

		if (f && f->image == image)
			engine_raise(s, method_free, f);
	}
}

static void forget_returns(cprof_process *p, const cprof_image *image)
{
	uint64_t address, value;
	size_t cursor = 0;

	while (cp_map_next(&p->life.returns, &cursor, &address, &value))
		if (address >= image->start && address < image->end)
			cp_map_remove(&p->life.returns, address);
}

static void tell_unloading(cprof_session *s, cprof_image *image, bool unmapped)
{
	image->life.unmapped = unmapped;
	if (image->assembly->shown == 1 && !image->life.assembly_unloading) {
		image->life.assembly_unloading = true;
		engine_raise(s, assembly_unloading, image->assembly);
	}
	if (image->life.unloading)
		return;
	image->life.unloading = true;
	engine_each_family(s, f, image_unloads)
		f->image_unloads(image);
	engine_raise(s, image_unloading, image);
}

/* `alone`: the image goes, and its process stays. */
static void tell_unloaded(cprof_session *s, cprof_image *image, bool alone)
{
	cprof_assembly *a = image->assembly;
	bool last = a->shown == 1;

	tell_unloading(s, image, true);
	image->life.shown = image->life.unloading = image->life.assembly_unloading = false;
	forget_returns(image->process, image);
	if (alone)
		engine_free_methods(s, image);
	engine_raise(s, image_unloaded, image);
	a->shown--;
	if (last)
		engine_raise(s, assembly_unloaded, a);
}

static void tell_empty(cprof_session *s, cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->life.namespaces.count; i++) {
		cprof_namespace *in = p->life.namespaces.items[i];

		if (in->shown && !in->full) {
			in->shown = false;
			engine_raise(s, context_unloaded, in);
		}
	}
}

/* ---- what came, what went ---- */

struct list {
	cprof_image **items;
	size_t count, capacity;
};

static int by_rank(const void *a, const void *b)
{
	const cprof_image *x = *(cprof_image *const *)a, *y = *(cprof_image *const *)b;

	if (x->life.rank != y->life.rank)
		return x->life.rank < y->life.rank ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sets the image's place and namespace by the dynamic linker's list; images that are
 * not in it come behind. */
static void place(cprof_image *image, const struct engine_objects *objects)
{
	size_t i;

	image->life.in = NULL;
	image->life.link_map = 0;
	image->life.rank = UINT64_MAX;
	for (i = 0; i < objects->list.count; i++) {
		if (objects->list.items[i].bias != image->bias)
			continue;
		image->life.rank = objects->list.items[i].rank;
		image->life.in = objects->list.items[i].in;
		image->life.link_map = objects->list.items[i].map;
		return;
	}
}

static bool is_elf(const cprof_process *p, const cprof_image *image)
{
	return image->assembly != p->jit && image->assembly->image;
}

static void find_changes(cprof_process *p, const struct engine_objects *objects, struct list *came,
			 struct list *went)
{
	const struct engine_text *text;
	size_t i;

	p->life.look++;
	cp_vec_for_each(&p->texts, text)
		if (is_elf(p, text->image))
			text->image->life.look = p->life.look;
	for (i = 0; i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];
		bool there = image->life.look == p->life.look;

		if (there && objects->any)
			place(image, objects);
		if (there == image->life.shown)
			continue;
		if (!cp_vec_push(there ? came : went, image))
			return;
	}
	if (came->count)
		qsort(came->items, came->count, sizeof(*came->items), by_rank);
	if (went->count)
		qsort(went->items, went->count, sizeof(*went->items), by_rank);
}

void engine_tell_images(cprof_process *p)
{
	cprof_session *s = p->session;
	struct list came = { 0 }, went = { 0 };
	struct engine_objects objects;
	cprof_process *before = s->current.process;
	size_t i;

	if (!p->loaded || p->life.telling || !p->maps_read || !wanted(s))
		return;
	engine_linker_read(p, &objects);
	p->life.telling = true;
	s->current.process = p;
	if (!objects.working)
		find_changes(p, &objects, &came, &went);
	for (i = went.count; i > 0; i--)
		tell_unloaded(s, went.items[i - 1], true);
	if (!objects.working)
		tell_empty(s, p);
	for (i = 0; i < came.count; i++)
		tell_loaded(s, came.items[i]);
	if (came.count)
		engine_each_family(s, f, images_loaded)
			f->images_loaded(p);
	s->current.process = before;
	p->life.telling = false;
	cp_vec_free(&came);
	cp_vec_free(&went);
	cp_vec_free(&objects.list);
}

/* ---- breakpoints ---- */

/* The functions that the dynamic linker calls before and after it changes what is
 * loaded, and before it unmaps something. */
enum { HOOK, UNMAP };

/* glibc's dynamic linker has no symbol for the function with which it unmaps. */
static void plan_munmap(struct engine_calls *c, cprof_assembly *a, struct engine_own *own)
{
	static const struct engine_site like = {
		.family = ENGINE_FAMILY_LOADER,
		.what = UNMAP,
		.list = { .site_flags = CP_SITE_ENTRY | CP_SITE_HOLD | CP_SITE_REGS },
	};
	struct cp_reader file = cp_probe_file_reader(a->image);
	uint8_t code[16];
	uint32_t number;
	size_t i, size;

	for (i = 0; i < a->plans->functions.count; i++) {
		uint64_t address = a->plans->functions.items[i].address;

		size = file.read(file.ctx, address, code, sizeof(code));
		if (!cp_arch_host()->is_munmap(code, size))
			continue;
		number = engine_own_site(c, a, address, &like);
		if (number)
			engine_own_add(own, number - 1, UNMAP, 0);
		return;
	}
}

/* Before glibc's linker maps something, there is nothing to see yet. Other namespaces
 * than the first have states of their own, which are told whatever this one says. */
static void be_quiet(cprof_assembly *a, struct engine_own_group *hook)
{
	struct cp_vaddr debug;

	if (!cp_image_variable(a->image, "_r_debug", &debug))
		return;
	hook->quiet_at = debug.v + offsetof(struct r_debug, r_state);
	hook->quiet = RT_ADD;
}

static void plan(cprof_image *image, struct engine_own *own)
{
	cprof_session *s = image->process->session;
	cprof_assembly *a = image->assembly;

	if (own->sites.count) {
		a->plans->hook_address = s->calls->sites.items[own->sites.items[0]].address;
		be_quiet(a, &own->groups.items[0]);
	}
	if ((engine_has(s, image_unloading) || engine_has(s, assembly_unloading)) &&
	    engine_is_linker(cp_basename(a->path)) && engine_plans_read(a, a->plans))
		plan_munmap(s->calls, a, own);
}

static void on_unmap(cprof_process *p, const struct engine_hit *hit)
{
	const uint8_t *args = cp_arch_host()->args;
	uint64_t start = hit->regs.r[args[0]], end = start + hit->regs.r[args[1]];
	size_t i;

	for (i = 0; hit->regs.known && i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];

		if (image->life.shown && image->start < end && image->end > start)
			tell_unloading(p->session, image, false);
	}
}

void engine_initialized(cprof_session *s)
{
	if (s->life.initialized)
		return;
	s->life.initialized = true;
	engine_raise0(s, runtime_initialized);
}

/* It was held while what is new was worked out, which is no time of the calls that it is in. */
static void note_hold(cprof_thread *t, const struct engine_hit *hit)
{
	uint64_t now = cp_now();

	if (t && now > hit->event->e.ts_ns)
		t->account.lost_ns += now - hit->event->e.ts_ns;
}

static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	cprof_process *p = s->current.process;

	if (hit->what == UNMAP) {
		on_unmap(p, hit);
		return;
	}
	cp_debug("the dynamic linker of %d calls", p->pid);
	engine_each_family(s, f, ends)
		f->ends(p, ENGINE_END_UNLOAD, false);
	p->life.beginning = true;
	engine_maps_look(p);
	p->life.beginning = false;
	note_hold(s->current.thread, hit);
	engine_tell_images(p); /* the mappings were perhaps read while the linker was at work */
	if (!s->life.initialized && p->pid == s->target && engine_linker_done(p))
		engine_initialized(s);
}

static bool is_asked(const cprof_session *s)
{
	return wanted(s);
}

static void look(cprof_process *p)
{
	engine_refresh_maps(p, cp_now(), false);
	engine_tell_images(p);
}

/* The empty function that the dynamic linkers of glibc and musl call for debuggers. */
static const struct engine_watch watches[] = {
	{ "_dl_debug_state", HOOK, CP_SITE_ENTRY | CP_SITE_HOLD, 0 },
};

const struct engine_family engine_loader_family = {
	.name = "loader",
	.always = true,
	.breakpoints = true,
	.asked = is_asked,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.plan = plan,
	.hit = on_hit,
	.look = look,
};

/* ---- processes ---- */

static void list_shown(const cprof_process *p, struct list *ret)
{
	size_t i;

	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->life.shown && !cp_vec_push(ret, p->images.items[i]))
			break;
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_rank);
}

void engine_inherit_images(cprof_process *p, const cprof_process *parent)
{
	struct list list = { 0 };
	size_t i;

	list_shown(parent, &list);
	for (i = 0; i < list.count; i++) {
		const cprof_image *from = list.items[i];
		cprof_image *image = engine_image_inherit(p, from);

		if (!image)
			break;
		image->life.rank = from->life.rank;
		image->life.link_map = from->life.link_map;
		image->life.in =
			from->life.in ? engine_namespace_at(p, from->life.in->debug) : NULL;
		tell_loaded(p->session, image);
	}
	cp_vec_free(&list);
}

void engine_drop_images(cprof_process *p)
{
	struct list list = { 0 };
	size_t i;

	list_shown(p, &list);
	for (i = list.count; i > 0; i--)
		tell_unloaded(p->session, list.items[i - 1], false);
	for (i = 0; i < p->life.namespaces.count; i++)
		p->life.namespaces.items[i]->full = false;
	tell_empty(p->session, p);
	for (i = 0; i < p->life.namespaces.count; i++)
		p->life.namespaces.items[i]->debug = 0;
	cp_vec_free(&list);
}

/* ---- queries ---- */

bool cprof_image_is_mapped(const cprof_image *image)
{
	return image && image->life.shown && !image->life.unmapped;
}

cprof_namespace *cprof_image_namespace(const cprof_image *image)
{
	return image ? image->life.in : NULL;
}

uint32_t cprof_namespace_id(const cprof_namespace *in)
{
	return in ? in->id : 0;
}

cprof_process *cprof_namespace_process(const cprof_namespace *in)
{
	return in ? in->process : NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * What is loaded: events of images, assemblies and dlmopen() namespaces.
 *
 * The mappings say what is there, the dynamic linker's own list (struct
 * r_debug, made for debuggers) in which order it came, in which namespace, and
 * whether the linker is at work just now; then nothing is said until it is
 * done. It calls its hook before and after it changes something, and cprof has
 * a breakpoint there if anybody wants these events; so they come before
 * anything of a library has run, its constructors included.
 *
 *   auxv ─► program headers ─► DT_DEBUG ─► r_debug ─► link_map ─► link_map ...
 *                                             │ next (version 2: dlmopen)
 *                                             └► r_debug ─► ...
 *
 * All of that is the program's memory, and may be anything.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/startedas.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/calls.h"
#include "engine/own.h"
#include "engine/roles.h"

#define MAX_NAMESPACES 64
#define MAX_OBJECTS 4096
#define MAX_HEADERS 64
#define MAX_DYNAMIC 1024

/* As in <link.h> of glibc 2.35 and later. */
struct debug {
	int version;
	uint64_t map, brk;
	int state;
	uint64_t ldbase;
	uint64_t next;
};

struct object {
	uint64_t bias;
	uint64_t rank;
	cprof_namespace *in;
	uint64_t map; /* where its struct link_map is */
};

struct objects {
	CP_VEC(struct object) list;
	bool any; /* there is a dynamic linker */
	bool working;
};

static bool read_at(cprof_process *p, uint64_t address, void *to, size_t size)
{
	return p->memory.read(p->memory.ctx, address, to, size) == size;
}

/* Address of the program's dynamic section, by its program headers; 0: none. */
static uint64_t find_dynamic(cprof_process *p, uint64_t headers, uint64_t count)
{
	uint64_t bias = 0, dynamic = 0;
	bool found = false;
	Elf64_Phdr h;
	uint64_t i;

	for (i = 0; i < count && i < MAX_HEADERS; i++) {
		if (!read_at(p, headers + i * sizeof(h), &h, sizeof(h)))
			return 0;
		if (h.p_type == PT_PHDR)
			bias = headers - h.p_vaddr;
		if (h.p_type == PT_DYNAMIC) {
			dynamic = h.p_vaddr;
			found = true;
		}
	}
	return found ? bias + dynamic : 0;
}

/* Address of the first struct r_debug; 0: there is none (yet). */
static uint64_t find_debug(cprof_process *p)
{
	uint64_t at = 0;
	Elf64_Dyn d;
	size_t i;

	if (!engine_open_memory(p))
		return 0;
	if (cp_auxv_find(&p->auxv, AT_PHENT) == sizeof(Elf64_Phdr))
		at = find_dynamic(p, cp_auxv_find(&p->auxv, AT_PHDR),
				  cp_auxv_find(&p->auxv, AT_PHNUM));
	for (i = 0; at && i < MAX_DYNAMIC; i++, at += sizeof(d)) {
		if (!read_at(p, at, &d, sizeof(d)) || d.d_tag == DT_NULL)
			return 0;
		if (d.d_tag == DT_DEBUG)
			return d.d_un.d_ptr;
	}
	return 0;
}

static bool read_debug(cprof_process *p, uint64_t address, struct debug *ret)
{
	struct r_debug d;

	*ret = (struct debug){ 0 };
	if (!address || !read_at(p, address, &d, sizeof(d)))
		return false;
	ret->version = d.r_version;
	ret->map = (uintptr_t)d.r_map;
	ret->state = d.r_state;
	if (d.r_version >= 2 && !read_at(p, address + sizeof(d), &ret->next, sizeof(ret->next)))
		ret->next = 0;
	return d.r_version > 0;
}

static cprof_namespace *namespace_at(cprof_process *p, uint64_t debug)
{
	struct engine_process_life *life = &p->life;
	cprof_namespace *made;
	uint32_t id = 1;
	size_t i;

	for (i = 0; i < life->namespaces.count; i++) {
		id += life->namespaces.items[i]->debug != 0;
		if (life->namespaces.items[i]->debug == debug)
			return life->namespaces.items[i];
	}
	made = calloc(1, sizeof(*made));
	if (!made || !cp_vec_push(&life->namespaces, made)) {
		free(made);
		return NULL;
	}
	*made = (cprof_namespace){ .process = p, .id = id, .debug = debug };
	return made;
}

static void read_list(cprof_process *p, uint64_t map, cprof_namespace *in, struct objects *ret)
{
	uint64_t rank = in ? (uint64_t)in->id << 32 : 0;
	struct link_map l;
	size_t i;

	for (i = 0; map && i < MAX_OBJECTS && read_at(p, map, &l, sizeof(l)); i++) {
		if (!cp_vec_push(&ret->list, (struct object){ l.l_addr, rank++, in, map }))
			return;
		map = (uintptr_t)l.l_next;
	}
}

/* What the dynamic linker says is loaded. */
static void read_objects(cprof_process *p, struct objects *ret)
{
	uint64_t at = find_debug(p);
	cprof_namespace *in = NULL;
	struct debug d;
	size_t i;

	*ret = (struct objects){ 0 };
	for (i = 0; i < p->life.namespaces.count; i++)
		p->life.namespaces.items[i]->full = false;
	for (i = 0; i < MAX_NAMESPACES && read_debug(p, at, &d); i++) {
		ret->any = true;
		ret->working |= d.state != RT_CONSISTENT;
		in = i ? namespace_at(p, at) : NULL;
		if (in)
			in->full = d.map != 0;
		read_list(p, d.map, in, ret);
		at = d.next;
	}
}

bool engine_linker_done(cprof_process *p)
{
	struct objects objects;

	read_objects(p, &objects);
	cp_vec_free(&objects.list);
	return objects.any && !objects.working;
}

void engine_rank_images(cprof_process *p)
{
	struct objects objects;
	size_t i, k;

	read_objects(p, &objects);
	for (i = 0; i < p->images.count; i++) {
		p->images.items[i]->life.link_rank = UINT64_MAX;
		for (k = 0; k < objects.list.count; k++)
			if (objects.list.items[k].bias == p->images.items[i]->bias)
				p->images.items[i]->life.link_rank = objects.list.items[k].rank;
	}
	cp_vec_free(&objects.list);
}

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

/* Its symbols are read now when somebody wants to know that they are. */
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

/* `alone`: its process stays. */
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

/* In the order of the linker's list; what is not in it comes behind. */
static void place(cprof_image *image, const struct objects *objects)
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

static void find_changes(cprof_process *p, const struct objects *objects, struct list *came,
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
	struct objects objects;
	cprof_process *before = s->current.process;
	size_t i;

	if (!p->loaded || p->life.telling || !p->maps_read || !wanted(s))
		return;
	read_objects(p, &objects);
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

static void plan(cprof_image *image, struct engine_own *own)
{
	cprof_session *s = image->process->session;
	cprof_assembly *a = image->assembly;

	if (own->sites.count)
		a->plans->hook_address = s->calls->sites.items[own->sites.items[0]].address;
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

static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	cprof_process *p = s->current.process;

	if (hit->what == UNMAP) {
		on_unmap(p, hit);
		return;
	}
	engine_each_family(s, f, ends)
		f->ends(p, ENGINE_END_UNLOAD, false);
	engine_calls_look(p);
	engine_tell_images(p); /* the mappings may have been read in the middle */
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

/* The dynamic linker calls that empty function: glibc and musl, for debuggers. */
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
		image->life.in = from->life.in ? namespace_at(p, from->life.in->debug) : NULL;
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

/* SPDX-License-Identifier: MIT
 *
 * Libraries that can't be loaded: what dlopen() and dlmopen() answer is seen where
 * they return to.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/probes/added.h"
#include "engine/probes/arm.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/lives.h"
#include "engine/target/memory.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

/* Kinds of sites. */
enum { DLOPEN, DLMOPEN, RETURNED };

struct opens {
	uint32_t returned; /* the site for return addresses */
};

static struct opens *opens_of(const cprof_session *s)
{
	return s->own[ENGINE_FAMILY_OPENS];
}

static bool is_asked(const cprof_session *s)
{
	return engine_has(s, image_failed);
}

static void plan(cprof_image *image, struct engine_own *own)
{
	static const struct engine_site behind = {
		.traced = ENGINE_NO_FUNCTION,
		.kind = ENGINE_SITE_OWN,
		.family = ENGINE_FAMILY_OPENS,
		.what = RETURNED,
		.list = { .site_flags = CP_SITE_RETURN | CP_SITE_REGS },
	};
	cprof_session *s = image->process->session;
	struct opens *o;

	if (!own->sites.count || opens_of(s))
		return;
	o = s->own[ENGINE_FAMILY_OPENS] = calloc(1, sizeof(*o));
	if (o && cp_vec_push(&s->calls->sites, behind))
		o->returned = (uint32_t)s->calls->sites.count - 1;
}

static char *read_name(cprof_process *p, uint64_t address)
{
	char name[4096] = "";
	size_t n = 0;

	if (address && engine_open_memory(p))
		n = p->memory.read(p->memory.ctx, address, name, sizeof(name) - 1);
	name[n] = 0;
	return strdup(name);
}

#define RTLD_NOLOAD_FLAG 4u /* of <dlfcn.h>: asks whether it is loaded */

/* dlopen(file, mode), dlmopen(namespace, file, mode): notes the file's name, and has
 * the return address show the result. */
static void on_open(cprof_process *p, cprof_thread *t, const struct engine_hit *hit)
{
	const struct cp_arch *arch = cp_arch_host();
	unsigned at = hit->what == DLMOPEN;
	const struct cp_event_hit *e = hit->event;
	struct engine_open open = { .sp = e->sp };
	const uint64_t *regs = hit->regs.r;

	if (!hit->regs.known || !e->caller || !regs[arch->args[at]] ||
	    regs[arch->args[at + 1]] & RTLD_NOLOAD_FLAG)
		return;
	open.name = read_name(p, regs[arch->args[at]]);
	if (!open.name || !cp_vec_push(&t->life.opens, open)) {
		free(open.name);
		return;
	}
	if (!cp_map_get(&p->life.returns, e->caller) && cp_map_put(&p->life.returns, e->caller, 1))
		engine_arm_return(p, opens_of(p->session)->returned, e->caller);
}

/* Tells of a library that could not be loaded, as an image that has nothing but a name. */
static void tell_failed(cprof_session *s, cprof_process *p, const char *name)
{
	cprof_assembly *a = engine_assembly_create(s, name);
	cprof_image *image = calloc(1, sizeof(*image));

	if (!a || !image || !cp_vec_reserve(&s->jits, s->jits.count + 1) ||
	    !cp_vec_push(&p->images, image)) {
		engine_assembly_free(a);
		free(image);
		return;
	}
	cp_vec_push(&s->jits, a);
	image->process = p;
	image->assembly = a;
	engine_raise(s, image_loading, image);
	engine_raise(s, image_failed, image);
}

static void on_opened(cprof_session *s, cprof_process *p, cprof_thread *t,
		      const struct engine_hit *hit)
{
	const struct cp_arch *arch = cp_arch_host();
	uint64_t sp = hit->event->sp - arch->ret_size;

	while (t->life.opens.count) {
		struct engine_open open = t->life.opens.items[t->life.opens.count - 1];

		if (open.sp > sp)
			return;
		t->life.opens.count--;
		if (open.sp == sp && hit->regs.known && !hit->regs.r[arch->result])
			tell_failed(s, p, open.name);
		free(open.name);
	}
}

static void on_hit(cprof_session *s, const struct engine_hit *hit)
{
	if (!opens_of(s))
		return;
	if (hit->what == RETURNED)
		on_opened(s, s->current.process, s->current.thread, hit);
	else
		on_open(s->current.process, s->current.thread, hit);
}

static void free_opens(cprof_session *s)
{
	free(opens_of(s));
	s->own[ENGINE_FAMILY_OPENS] = NULL;
}

static const struct engine_watch watches[] = {
	{ "dlopen", DLOPEN, CP_SITE_ENTRY | CP_SITE_HOLD | CP_SITE_REGS, 0 },
	{ "dlmopen", DLMOPEN, CP_SITE_ENTRY | CP_SITE_HOLD | CP_SITE_REGS, 0 },
};

const struct engine_family engine_opens_family = {
	.name = "opens",
	.breakpoints = true,
	.asked = is_asked,
	.watches = watches,
	.watch_count = CP_ARRAY_SIZE(watches),
	.plan = plan,
	.hit = on_hit,
	.free = free_opens,
};

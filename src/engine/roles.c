/* SPDX-License-Identifier: MIT */
#include "engine/roles.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "engine/fileio.h"
#include "engine/finalizing.h"
#include "engine/heap.h"
#include "engine/heap_size.h"
#include "engine/ifuncs.h"
#include "image/image.h"

/* ---- families ---- */

enum family { NO_FAMILY, HEAP, HEAP_SIZE, FILEIO, FINALIZING, RESOLVING };

#define WITH_STACK (CP_SITE_REGS | CP_SITE_STACK)

/* What is captured at the entry and where it returns. Without the latter there is
 * no more to it than its entry. */
static const struct {
	uint8_t family;
	bool holds_exit;
	uint16_t entry, leave;
} roles[ENGINE_ROLES] = {
	[ENGINE_ROLE_MALLOC] = { HEAP, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_CALLOC] = { HEAP, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_ALIGNED] = { HEAP, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_POSIX] = { HEAP, true, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_REALLOC] = { HEAP, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_REALLOCARRAY] = { HEAP, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_RUST_REALLOC] = { HEAP, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_FREE] = { HEAP, false, WITH_STACK, 0 },
	[ENGINE_ROLE_BRK] = { HEAP_SIZE, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_MMAP] = { HEAP_SIZE, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_MUNMAP] = { HEAP_SIZE, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_MREMAP] = { HEAP_SIZE, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_MPROTECT] = { HEAP_SIZE, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_READ] = { FILEIO, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_WRITE] = { FILEIO, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_READ_MANY] = { FILEIO, true, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_WRITE_MANY] = { FILEIO, true, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_SENDFILE] = { FILEIO, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_TEE] = { FILEIO, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_SPLICE] = { FILEIO, false, CP_SITE_REGS, WITH_STACK },
	[ENGINE_ROLE_EXIT] = { FINALIZING, false, WITH_STACK, 0 },
	[ENGINE_ROLE_EXITED] = { FINALIZING, false, WITH_STACK, 0 },
	[ENGINE_ROLE_FINALIZE] = { FINALIZING, false, WITH_STACK, WITH_STACK },
	/* Held, so that nobody calls what it chose before it has its breakpoints. */
	[ENGINE_ROLE_RESOLVER] = { RESOLVING, true, CP_SITE_REGS, CP_SITE_REGS },
};

bool engine_role_entry_alone(const struct engine_traced *t)
{
	return t->role && !roles[t->role].leave && !engine_traced_by_others(t);
}

bool engine_role_wants_return(const struct engine_traced *t)
{
	return roles[t->role].leave != 0;
}

bool engine_role_pauses(const struct engine_traced *t)
{
	return roles[t->role].family == HEAP && !engine_traced_by_others(t);
}

bool engine_role_sampled(const cprof_session *s, const struct engine_traced *t,
			 struct cp_heap_probe *ret)
{
	if (roles[t->role].family != HEAP || !engine_heap_every(s))
		return false;
	engine_heap_probe(t->role, ret);
	ret->every = engine_heap_every(s);
	ret->others = engine_traced_by_others(t);
	return true;
}

bool engine_role_allocates_at(const cprof_session *s, const cprof_image *image, uint64_t address)
{
	struct engine_traced *const *t;
	size_t i;

	cp_vec_for_each(&s->calls->traced, t) {
		if ((*t)->assembly != image->assembly || roles[(*t)->role].family != HEAP ||
		    (*t)->role == ENGINE_ROLE_FREE)
			continue;
		for (i = 0; i < CP_GROUP_RANGES && (*t)->ranges[i].end; i++)
			if (address - image->bias >= (*t)->ranges[i].start &&
			    address - image->bias < (*t)->ranges[i].end)
				return true;
	}
	return false;
}

unsigned engine_role_captures(const struct engine_traced *t, enum engine_site_kind kind)
{
	return kind == ENGINE_SITE_ENTRY ? roles[t->role].entry : roles[t->role].leave;
}

bool engine_role_holds_exit(const struct engine_traced *t)
{
	return roles[t->role].holds_exit;
}

bool engine_roles_wanted(const cprof_session *s)
{
	return engine_heap_wanted(s) || engine_fileio_wanted(s) || engine_finalizing_wanted(s);
}

/* ---- functions ---- */

struct engine_role_plan {
	struct cp_map roles; /* link-time address -> enum engine_role */
};

void engine_role_plan_free(struct engine_role_plan *plan)
{
	if (plan)
		cp_map_free(&plan->roles);
	free(plan);
}

uint8_t engine_role_named(const struct engine_role_name *names, size_t count, const char *name,
			  size_t length)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(names[i].name) == length && !strncmp(names[i].name, name, length))
			return names[i].role;
	return ENGINE_ROLE_NONE;
}

bool engine_is_linker(const char *image)
{
	return cp_starts_with(image, "ld-linux") || cp_starts_with(image, "ld-2.");
}

struct search {
	const cprof_session *session;
	const char *image;
	const struct cp_symbol *symbols;
	size_t count;
	bool c_library;
};

static size_t length_of(const struct cp_symbol *symbol)
{
	return strcspn(symbol->name, "@"); /* before a version */
}

/* The C library, or a program that it is linked into, is what ends processes.
 * Others have functions of such names, too: for themselves, or to stand in for
 * those, which they call. */
static bool is_c_library(const struct search *search)
{
	static const struct engine_role_name names[] = { { "_exit", 1 }, { "_Exit", 1 } };
	size_t i;

	for (i = 0; i < search->count; i++)
		if (search->symbols[i].kind == CP_SYMBOL_FUNCTION && !search->symbols[i].local &&
		    engine_role_named(names, CP_ARRAY_SIZE(names), search->symbols[i].name,
				      length_of(&search->symbols[i])))
			return true;
	/* Before glibc 2.34 it had its own ones for programs with threads. */
	return cp_starts_with(search->image, "libpthread");
}

static uint8_t find_role(const struct search *search, const struct cp_symbol *symbol)
{
	const cprof_session *s = search->session;
	size_t length = length_of(symbol);
	uint8_t role = ENGINE_ROLE_NONE;

	if (engine_heap_wanted(s))
		role = engine_heap_role(search->image, symbol->name, length, symbol->local);
	if (role || symbol->local || !search->c_library)
		return role;
	if (engine_heap_size_wanted(s))
		role = engine_heap_size_role(symbol->name, length);
	if (!role && engine_fileio_wanted(s))
		role = engine_fileio_role(symbol->name, length);
	if (!role && engine_finalizing_wanted(s))
		role = engine_finalizing_role(symbol->name, length);
	return role;
}

static struct engine_role_plan *find_functions(cprof_session *s, const cprof_assembly *a)
{
	struct engine_role_plan *plan = calloc(1, sizeof(*plan));
	struct search search = { .session = s, .image = cp_basename(a->path) };
	struct cp_error *err;
	size_t i;

	/* What it needs before there is a C library is its own. */
	if (!plan || engine_is_linker(search.image))
		return plan;
	err = cp_image_symbols(a->image, &search.symbols, &search.count);
	if (err)
		search.count = 0;
	cp_error_free(err);
	search.c_library = is_c_library(&search);
	for (i = 0; i < search.count; i++) {
		const struct cp_symbol *symbol = &search.symbols[i];
		uint8_t role = symbol->kind == CP_SYMBOL_FUNCTION ? find_role(&search, symbol)
								  : ENGINE_ROLE_NONE;

		if (!role)
			continue;
		if (roles[role].family == HEAP)
			engine_heap_found(s);
		if (!cp_map_put(&plan->roles, symbol->start.v, role))
			break;
	}
	return plan;
}

bool engine_roles_in(const cprof_image *image)
{
	cprof_session *s = image->process->session;
	struct engine_plans *plans;

	if (!engine_roles_wanted(s))
		return false;
	plans = engine_plans_of(image->assembly);
	if (plans && !plans->roles)
		plans->roles = find_functions(s, image->assembly);
	return plans && plans->roles && plans->roles->roles.count;
}

uint8_t engine_role_of(const cprof_image *image, const struct cp_probe_function *f)
{
	const struct engine_role_plan *plan = image->assembly->plans->roles;
	const uint64_t *role = plan ? cp_map_get(&plan->roles, f->address) : NULL;

	if (f->kind == CP_PROBE_IFUNC)
		return ENGINE_ROLE_RESOLVER;
	return role ? (uint8_t)*role : ENGINE_ROLE_NONE;
}

/* ---- what families ask for ---- */

uint64_t engine_role_argument(const struct engine_hit *hit, unsigned position)
{
	return hit->regs.r[cp_arch_host()->args[position]];
}

bool engine_role_result(const cprof_session *s, uint64_t *ret)
{
	const struct engine_hit *hit = s->current.hit;

	if (!hit || !(hit->regs.known >> cp_arch_host()->result & 1))
		return false;
	*ret = hit->regs.r[cp_arch_host()->result];
	return true;
}

const cprof_function *engine_role_function(cprof_session *s, const struct engine_hit *hit)
{
	return hit->image ? engine_traced_function(s, hit->image,
						   s->calls->sites.items[hit->site].traced)
			  : NULL;
}

/* ---- events ---- */

/* A stop that only this is about is an event, or is none. */
static void count(struct engine_calls *c, const struct engine_traced *t, bool told)
{
	if (engine_traced_by_others(t))
		return;
	if (told)
		c->events++;
	else
		c->hooks++;
}

/* True: something was told. */
static bool entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
		    struct cp_call *call, const struct cp_call *ended)
{
	switch ((enum family)roles[role].family) {
	case NO_FAMILY:
		break;
	case HEAP:
		return engine_heap_entered(s, role, hit, call, ended);
	case HEAP_SIZE:
		engine_heap_size_entered(role, hit, call);
		break;
	case FILEIO:
		engine_fileio_entered(s, role, hit, call);
		break;
	case FINALIZING:
		return engine_finalizing_entered(s, role, hit, call);
	case RESOLVING:
		break;
	}
	return false;
}

bool engine_role_entered(cprof_session *s, const struct engine_hit *hit, struct cp_call *call,
			 const struct cp_call *ended)
{
	const struct engine_traced *t = s->calls->traced.items[call->function];

	count(s->calls, t, entered(s, t->role, hit, call, ended));
	return engine_role_entry_alone(t);
}

/* Behind a call, the caller's frame is the innermost one, and still in the call. */
static void step_back(cprof_session *s)
{
	struct engine_capture *capture = &s->current.capture;

	if (s->calls->sites.items[s->current.hit->site].kind != ENGINE_SITE_RETURN)
		return;
	capture->pc--;
	capture->regs.r[cp_arch_host()->pc]--;
}

static bool returned(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	switch ((enum family)roles[role].family) {
	case HEAP:
		return engine_heap_returned(s, role, call);
	case HEAP_SIZE:
		return engine_heap_size_returned(s, role, call);
	case FILEIO:
		return engine_fileio_returned(s, role, call);
	case RESOLVING:
		engine_ifunc_resolved(s, call);
		break;
	case NO_FAMILY:
	case FINALIZING:
		break;
	}
	return false;
}

void engine_role_ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how)
{
	const struct engine_traced *t = s->calls->traced.items[call->function];
	bool told = false;

	if (s->current.hit && how == CP_CALL_RETURNED)
		step_back(s);
	if (how == CP_CALL_RETURNED)
		told = returned(s, t->role, call);
	if (roles[t->role].family == FINALIZING && how != CP_CALL_ENDED)
		told = engine_finalizing_ended(s, call);
	if (how == CP_CALL_RETURNED || told)
		count(s->calls, t, told);
}

void engine_roles_pause(cprof_process *p, const struct cp_event_pause *e)
{
	const struct engine_calls *c = p->session->calls;
	uint32_t i;

	if (!c || !c->heap)
		return;
	/* Where they return will not be seen. */
	for (i = 0; p->shadow && i < c->traced.count; i++)
		if (engine_role_pauses(c->traced.items[i]))
			cp_shadow_forget(p->shadow, i);
	engine_heap_pause(p, e);
}

void engine_roles_exit(cprof_process *p)
{
	engine_heap_exit(p);
	engine_heap_size_exit(p);
}

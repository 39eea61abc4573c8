/* SPDX-License-Identifier: MIT
 *
 * How much memory the allocator has from the kernel:
 *
 *     brk(end), sbrk()                       the program's break, whoever moves it
 *     mmap()    inside of an allocation      a region more
 *     munmap(), mremap(), mprotect() of it   less, elsewhere, may (not) be used
 *
 * What is mapped but may not be read or written is room that the allocator keeps
 * for later, and is not counted. Regions from before attaching are not known,
 * nor what a process that makes its system calls itself does.
 */
#include "engine/families/heap_size.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "engine/families/mapcalls.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/lives.h"
#include "engine/target/process.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "engine/target/tasks.h"

struct region {
	uint64_t start, end; /* of pages */
	uint64_t since_ns;
	bool usable;
};

struct regions {
	struct region *items;
	size_t count, capacity;
};

struct heap_size {
	struct regions regions; /* they don't overlap */
	uint64_t break_start, break_end; /* 0: not known */
	uint64_t told;
};

static bool is_asked(const cprof_session *s)
{
	return engine_has(s, gc_resize);
}

static uint8_t role_of(const char *image, const char *name, size_t length, bool local)
{
	(void)image;
	(void)local;
	return engine_map_role(name, length);
}

/* ---- regions ---- */

static bool overlaps(const struct region *r, uint64_t start, uint64_t end)
{
	return r->start < end && start < r->end;
}

static bool is_known(const struct regions *regions, uint64_t start, uint64_t end)
{
	const struct region *r;

	cp_vec_for_each(regions, r)
		if (overlaps(r, start, end))
			return true;
	return false;
}

/* Adds the part of region `of` between `start` and `end`. */
static bool add(struct regions *to, const struct region *of, uint64_t start, uint64_t end,
		bool usable)
{
	return start >= end ||
	       cp_vec_push(to, ((struct region){ start, end, of->since_ns, usable }));
}

enum change { REMOVE, USABLE, UNUSABLE };

/* Changes the regions between two addresses. One mapped later than `until_ns` is left
 * alone: calls are told when they return, and by then another thread may have got what
 * this one gave back. */
static void change(struct regions *regions, uint64_t start, uint64_t end, enum change how,
		   uint64_t until_ns)
{
	struct regions made = { 0 };
	const struct region *r;
	bool ok = true;

	cp_vec_for_each(regions, r) {
		uint64_t from = r->start > start ? r->start : start;
		uint64_t to = r->end < end ? r->end : end;

		if (!overlaps(r, start, end) || r->since_ns > until_ns) {
			ok &= cp_vec_push(&made, *r);
			continue;
		}
		ok &= add(&made, r, r->start, from, r->usable) &&
		      add(&made, r, to, r->end, r->usable);
		if (how != REMOVE)
			ok &= add(&made, r, from, to, how == USABLE);
	}
	if (!ok) {
		cp_vec_free(&made);
		return;
	}
	cp_vec_free(regions);
	*regions = made;
}

static uint64_t size_of(const struct heap_size *h)
{
	uint64_t size = h->break_end > h->break_start ? h->break_end - h->break_start : 0;
	const struct region *r;

	cp_vec_for_each(&h->regions, r)
		size += r->usable ? r->end - r->start : 0;
	return size;
}

/* The process's, made when it isn't there; NULL without memory. */
static struct heap_size *heap_of(cprof_process *p)
{
	if (!p->own[ENGINE_FAMILY_HEAP_SIZE])
		p->own[ENGINE_FAMILY_HEAP_SIZE] = calloc(1, sizeof(struct heap_size));
	return p->own[ENGINE_FAMILY_HEAP_SIZE];
}

static void inherit(cprof_process *p, const cprof_process *parent)
{
	const struct heap_size *from = parent->own[ENGINE_FAMILY_HEAP_SIZE];
	struct heap_size *h = from ? heap_of(p) : NULL;
	const struct region *r;

	if (!h)
		return;
	h->break_start = from->break_start;
	h->break_end = from->break_end;
	h->told = from->told;
	cp_vec_for_each(&from->regions, r)
		(void)cp_vec_push(&h->regions, *r);
}

static void forget(cprof_process *p, int32_t tid)
{
	struct heap_size *h = p->own[ENGINE_FAMILY_HEAP_SIZE];

	if (tid || !h)
		return;
	cp_vec_free(&h->regions);
	free(h);
	p->own[ENGINE_FAMILY_HEAP_SIZE] = NULL;
}

static void free_process(cprof_process *p)
{
	forget(p, 0);
}

/* ---- the break ---- */

static void set_break(struct heap_size *h, const cprof_process *p, uint64_t end)
{
	if (!h->break_start)
		h->break_start = engine_break_start(p);
	if (h->break_start)
		h->break_end = end;
}

/* ---- calls ---- */

static bool entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
		    struct cp_call *call, const struct cp_call *ended)
{
	engine_map_entered(role, hit, call);
	(void)s;
	(void)ended;
	return false;
}

static bool may_use(uint32_t protection)
{
	return protection & (PROT_READ | PROT_WRITE);
}

/* A new mapping replaces the regions that were there, whether it is the allocator's or
 * not. */
static void replace(struct heap_size *h, const struct region *made, bool is_heap)
{
	change(&h->regions, made->start, made->end, REMOVE, UINT64_MAX);
	if (is_heap && made->start < made->end)
		(void)cp_vec_push(&h->regions, *made);
}

static void apply(struct heap_size *h, const struct engine_map_call *c, uint64_t now_ns)
{
	uint64_t end = c->address + c->size, enter_ns = c->call->enter_ns;
	struct region made = { c->address, end, now_ns, true };

	switch (c->role) {
	case ENGINE_MAP_MMAP:
		made.usable = may_use(c->protection);
		replace(h, &made, c->flags & MAP_ANONYMOUS);
		break;
	case ENGINE_MAP_MUNMAP:
		change(&h->regions, c->address, end, REMOVE, enter_ns);
		break;
	case ENGINE_MAP_MREMAP:
		change(&h->regions, c->address, end, REMOVE, enter_ns);
		made.start = c->moved_to;
		made.end = c->moved_to + c->new_size;
		replace(h, &made, true);
		break;
	case ENGINE_MAP_MPROTECT:
		change(&h->regions, c->address, end, may_use(c->protection) ? USABLE : UNUSABLE,
		       UINT64_MAX);
		break;
	}
}

/* Does the call map memory for the allocator, or change memory that is the allocator's?
 * What mmap() answers was free, unless it was told to replace what is there. */
static bool is_heap(const struct heap_size *h, const struct engine_map_call *c)
{
	if (c->role == ENGINE_MAP_MMAP && c->call->flags & CP_CALL_MARKED &&
	    c->flags & MAP_ANONYMOUS)
		return true;
	return (c->role != ENGINE_MAP_MMAP || c->flags & MAP_FIXED) &&
	       is_known(&h->regions, c->address, c->address + c->size);
}

static bool follow(cprof_session *s, const struct engine_map_call *c)
{
	cprof_process *p = s->current.process;
	struct heap_size *h = heap_of(p);
	uint64_t size;

	if (!h)
		return false;
	if (c->role == ENGINE_MAP_BRK)
		set_break(h, p, c->address);
	else if (is_heap(h, c))
		apply(h, c, s->calls->now_ns);
	size = size_of(h);
	if (size == h->told)
		return false;
	h->told = size;
	engine_raise(s, gc_resize, size);
	return true;
}

static bool returned(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	struct engine_map_call c;

	return engine_map_returned(s, role, call, &c) && follow(s, &c);
}

bool engine_heap_size_follow(cprof_session *s, const struct engine_map_call *c)
{
	return engine_family_wanted(s, ENGINE_FAMILY_HEAP_SIZE) &&
	       engine_family_wanted(s, ENGINE_FAMILY_HEAP) && follow(s, c);
}

static const struct engine_role roles[ENGINE_MAP_ROLES] = {
	[ENGINE_MAP_BRK] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
	[ENGINE_MAP_MMAP] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
	[ENGINE_MAP_MUNMAP] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
	[ENGINE_MAP_MREMAP] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
	[ENGINE_MAP_MPROTECT] = { CP_SITE_REGS, ENGINE_WITH_STACK, false },
};

/* Wanted together with allocations alone: a mapping is the allocator's if it is made in
 * one. Where mappings are told, those calls but mprotect() are that family's, which
 * passes them on. */
const struct engine_family engine_heap_size_family = {
	.name = "heap_size",
	.asked = is_asked,
	.roles = roles,
	.beside = ENGINE_FAMILY_HEAP,
	.in_c_library = true,
	.role_of = role_of,
	.entered = entered,
	.returned = returned,
	.forked = inherit,
	.exited = forget,
	.free_process = free_process,
};

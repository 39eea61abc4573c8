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
#include "engine/heap_size.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/file.h"
#include "engine/heap.h"

#define PAGE 4096

struct region {
	uint64_t start, end; /* of pages */
	uint64_t since_ns;
	bool usable;
};

struct regions {
	struct region *items;
	size_t count, capacity;
};

struct engine_heap_size {
	struct regions regions; /* they don't overlap */
	uint64_t break_start, break_end; /* 0: not known */
	uint64_t told;
};

bool engine_heap_size_wanted(const cprof_session *s)
{
	return engine_heap_wanted(s) && s->life.watch & ENGINE_WATCH_HEAP_SIZE;
}

uint8_t engine_heap_size_role(const char *name, size_t length)
{
	static const struct engine_role_name functions[] = {
		{ "brk", ENGINE_ROLE_BRK },	  { "mmap", ENGINE_ROLE_MMAP },
		{ "mmap64", ENGINE_ROLE_MMAP },	  { "munmap", ENGINE_ROLE_MUNMAP },
		{ "mremap", ENGINE_ROLE_MREMAP }, { "mprotect", ENGINE_ROLE_MPROTECT },
	};

	return engine_role_named(functions, CP_ARRAY_SIZE(functions), name, length);
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

/* Part of it, maybe all. */
static bool add(struct regions *to, const struct region *of, uint64_t start, uint64_t end,
		bool usable)
{
	return start >= end ||
	       cp_vec_push(to, ((struct region){ start, end, of->since_ns, usable }));
}

enum change { REMOVE, USABLE, UNUSABLE };

/* Of what is known between two addresses. What is mapped there since later than
 * `until_ns` is another region: calls are told when they return, and by then another
 * thread may have got what this one gave back. */
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

static uint64_t size_of(const struct engine_heap_size *h)
{
	uint64_t size = h->break_end > h->break_start ? h->break_end - h->break_start : 0;
	const struct region *r;

	cp_vec_for_each(&h->regions, r)
		size += r->usable ? r->end - r->start : 0;
	return size;
}

/* Made when it isn't there; NULL without memory. */
static struct engine_heap_size *heap_of(cprof_process *p)
{
	if (!p->heap_size)
		p->heap_size = calloc(1, sizeof(*p->heap_size));
	return p->heap_size;
}

void engine_heap_size_inherit(cprof_process *p, const cprof_process *parent)
{
	const struct engine_heap_size *from = parent->heap_size;
	struct engine_heap_size *h = from ? heap_of(p) : NULL;
	const struct region *r;

	if (!h)
		return;
	h->break_start = from->break_start;
	h->break_end = from->break_end;
	h->told = from->told;
	cp_vec_for_each(&from->regions, r)
		(void)cp_vec_push(&h->regions, *r);
}

void engine_heap_size_exit(cprof_process *p)
{
	if (p->heap_size)
		cp_vec_free(&p->heap_size->regions);
	free(p->heap_size);
	p->heap_size = NULL;
}

/* ---- the break ---- */

#define START_BRK 47 /* field of /proc/PID/stat (proc_pid_stat(5)), from 1 */

/* Where the break was before it was first moved; 0: not known. */
static uint64_t read_start(const cprof_process *p)
{
	char word[32];

	if (!cp_file_stat_field(engine_living_task(p), START_BRK, word, sizeof(word)) ||
	    engine_is_replaced(p))
		return 0;
	return strtoull(word, NULL, 10);
}

static void set_break(struct engine_heap_size *h, const cprof_process *p, uint64_t end)
{
	if (!h->break_start)
		h->break_start = read_start(p);
	if (h->break_start)
		h->break_end = end;
}

/* ---- calls ---- */

/* words: address (of brk, its end), size, and what the third one says. */
#define PROTECTION 0xffu
#define ANONYMOUS 0x100u

static uint64_t whole_pages(uint64_t size)
{
	return (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

void engine_heap_size_entered(uint8_t role, const struct engine_hit *hit, struct cp_call *call)
{
	size_t i, count = role == ENGINE_ROLE_BRK ? 1 : role == ENGINE_ROLE_MUNMAP ? 2 : 3;

	for (i = 0; i < count; i++)
		call->words[i] = engine_role_argument(hit, (unsigned)i);
	call->words[1] = whole_pages(call->words[1]);
	if (role == ENGINE_ROLE_MREMAP)
		call->words[2] = whole_pages(call->words[2]);
	if (role != ENGINE_ROLE_MMAP)
		return;
	call->words[2] &= PROTECTION;
	if (engine_role_argument(hit, 3) & MAP_ANONYMOUS)
		call->words[2] |= ANONYMOUS;
}

static bool may_use(uint64_t protection)
{
	return protection & (PROT_READ | PROT_WRITE);
}

/* What was there is gone, whatever is there now. */
static void replace(struct engine_heap_size *h, const struct region *made, bool is_heap)
{
	change(&h->regions, made->start, made->end, REMOVE, UINT64_MAX);
	if (is_heap && made->start < made->end)
		(void)cp_vec_push(&h->regions, *made);
}

static void apply(struct engine_heap_size *h, uint8_t role, const struct cp_call *call,
		  uint64_t result, uint64_t now_ns)
{
	uint64_t start = call->words[0], end = start + call->words[1], third = call->words[2];
	struct region made = { result, result + call->words[1], now_ns, true };

	switch (role) {
	case ENGINE_ROLE_MMAP:
		made.usable = may_use(third & PROTECTION);
		replace(h, &made, third & ANONYMOUS);
		break;
	case ENGINE_ROLE_MUNMAP:
		change(&h->regions, start, end, REMOVE, call->enter_ns);
		break;
	case ENGINE_ROLE_MREMAP:
		change(&h->regions, start, end, REMOVE, call->enter_ns);
		made.end = result + third;
		replace(h, &made, true);
		break;
	case ENGINE_ROLE_MPROTECT:
		change(&h->regions, start, end, may_use(third & PROTECTION) ? USABLE : UNUSABLE,
		       UINT64_MAX);
		break;
	}
}

/* Is it the allocator's, or done to what is? */
static bool is_heap(const struct engine_heap_size *h, uint8_t role, const struct cp_call *call)
{
	return (role == ENGINE_ROLE_MMAP && call->flags & CP_CALL_MARKED &&
		call->words[2] & ANONYMOUS) ||
	       is_known(&h->regions, call->words[0], call->words[0] + call->words[1]);
}

bool engine_heap_size_returned(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	cprof_process *p = s->current.process;
	struct engine_heap_size *h = heap_of(p);
	uint64_t result, size;

	if (!h || !engine_role_result(s, &result) || result == (uint64_t)-1)
		return false;
	if (role == ENGINE_ROLE_BRK) {
		if ((int32_t)result || !call->words[0])
			return false;
		set_break(h, p, call->words[0]);
	} else if (is_heap(h, role, call)) {
		apply(h, role, call, result, s->calls->now_ns);
	}
	size = size_of(h);
	if (size == h->told)
		return false;
	h->told = size;
	engine_raise(s, gc_resize, size);
	return true;
}

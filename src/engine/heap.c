/* SPDX-License-Identifier: MIT
 *
 * Allocations. The functions that make them are traced like others (plans.c,
 * calls.c), only nobody is told of their calls:
 *
 *     malloc(24)       entry: the size ──► words of the open call
 *                      ret:   the address ──► gc_allocation
 *     free(p)          entry: heap_free; no other stop
 *     realloc(p, n)    ret:   gc_moves, heap_resized, gc_allocation or heap_free
 *
 * Allocators call each other (operator new calls malloc, reallocarray calls
 * realloc): the outermost one is what the program asked for, and what is open
 * around a call marks it (shadow.h). Of functions that free nothing is open; there
 * it is the address that tells: what is free already is not freed. (operator
 * delete calls free.) Nor is what an allocator's library frees by a call that
 * nothing can stand in for: glibc's own stock, when a thread ends.
 *
 * Where such a function ends in a jump to one that is not watched, as fast paths
 * of allocators do, it is its return address that has the breakpoint.
 */
#include "engine/heap.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/text.h"
#include "engine/throws.h"
#include "image/image.h"
#include <cprof/heap.h>

enum engine_heap_role {
	OTHER,
	MALLOC, /* (size) */
	CALLOC, /* (count, size) */
	ALIGNED, /* (alignment, size) */
	POSIX, /* (where to, alignment, size) */
	REALLOC, /* (address, size) */
	REALLOCARRAY, /* (address, count, size) */
	RUST_REALLOC, /* (address, old size, alignment, size) */
	FREE, /* (address) */
};

struct engine_heap_plan {
	struct cp_map roles; /* link-time address -> enum engine_heap_role */
};

#define CALL_MAX 8 /* bytes before a return address that are looked at */
#define IS_FREE 0 /* instead of a time */

/* Addresses that a process was seen to allocate -> when that was, last. */
struct blocks {
	const cprof_process *process;
	struct cp_map at;
};

struct engine_heap {
	bool found; /* any such function, in any image */
	CP_VEC(struct blocks) blocks;
	cprof_allocation current;
	bool has_current;
};

/* ---- wanted ---- */

bool engine_heap_wanted(const cprof_session *s)
{
	return s->calls && s->calls->heap;
}

bool cprof_profiler_enable_allocations(void)
{
	cprof_session *s = cprof_session_current();
	struct engine_calls *c = engine_may_ask(s) ? engine_calls_get(s) : NULL;

	if (c && !c->heap)
		c->heap = calloc(1, sizeof(*c->heap));
	return c && c->heap;
}

void engine_heap_free(struct engine_calls *c)
{
	struct blocks *b;

	if (!c->heap)
		return;
	cp_vec_for_each(&c->heap->blocks, b)
		cp_map_free(&b->at);
	cp_vec_free(&c->heap->blocks);
	free(c->heap);
	c->heap = NULL;
}

void engine_heap_plan_free(struct engine_heap_plan *plan)
{
	if (plan)
		cp_map_free(&plan->roles);
	free(plan);
}

void engine_heap_warn(cprof_session *s)
{
	if (engine_heap_wanted(s) && !s->calls->heap->found)
		engine_warn(s,
			    "allocations of %s can't be watched: no function that allocates has "
			    "a name there",
			    s->command && *s->command ? s->command[0] : "the program");
}

/* ---- functions ---- */

static const struct {
	const char *name;
	uint8_t role;
} functions[] = {
	{ "malloc", MALLOC },
	{ "valloc", MALLOC },
	{ "pvalloc", MALLOC },
	{ "calloc", CALLOC },
	{ "memalign", ALIGNED },
	{ "aligned_alloc", ALIGNED },
	{ "posix_memalign", POSIX },
	{ "realloc", REALLOC },
	{ "reallocarray", REALLOCARRAY },
	{ "free", FREE },
	{ "cfree", FREE },
	/* jemalloc's own: (size, flags), (address, size, flags), ... */
	{ "mallocx", MALLOC },
	{ "rallocx", REALLOC },
	{ "dallocx", FREE },
	{ "sdallocx", FREE },
	/* A global allocator of a Rust program's; without one, what is called is malloc. */
	{ "__rg_alloc", MALLOC },
	{ "__rg_alloc_zeroed", MALLOC },
	{ "__rg_realloc", RUST_REALLOC },
	{ "__rg_dealloc", FREE },
};

static uint8_t role_of(const char *name, size_t length)
{
	static const char *const prefixes[] = { "je_", "mi_", "tc_" };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(prefixes); i++) {
		if (length > 3 && !strncmp(name, prefixes[i], 3)) {
			name += 3;
			length -= 3;
			break;
		}
	}
	for (i = 0; i < CP_ARRAY_SIZE(functions); i++)
		if (strlen(functions[i].name) == length &&
		    !strncmp(functions[i].name, name, length))
			return functions[i].role;
	return OTHER;
}

/* `_RNvCs1a2b_7___rustc10___rg_alloc`: the last piece of a name of Rust's. */
static uint8_t rust_role(const char *name, size_t length)
{
	const char *at = memmem(name, length, "___rg_", 6);

	return *name == '_' && at ? role_of(at + 1, length - (size_t)(at + 1 - name)) : OTHER;
}

/* operator new and delete: the size, or the address, comes first. Not those that
 * are given a place. */
static uint8_t operator_role(const char *name)
{
	static const char *const news[] = { "", "RKSt9nothrow_t", "St11align_val_t",
					    "St11align_val_tRKSt9nothrow_t", NULL };
	static const char *const deletes[] = { "",
					       "m",
					       "RKSt9nothrow_t",
					       "St11align_val_t",
					       "mSt11align_val_t",
					       "St11align_val_tRKSt9nothrow_t",
					       NULL };

	if (cp_starts_with(name, "_Znwm") || cp_starts_with(name, "_Znam"))
		return cp_is_any(name + 5, news) ? MALLOC : OTHER;
	if (cp_starts_with(name, "_ZdlPv") || cp_starts_with(name, "_ZdaPv"))
		return cp_is_any(name + 6, deletes) ? FREE : OTHER;
	return OTHER;
}

/* Its operators are calls of malloc and free, which are watched anyway. */
static bool only_calls_malloc(const char *image)
{
	return cp_starts_with(image, "libstdc++.") || cp_starts_with(image, "libc++.") ||
	       cp_starts_with(image, "libc++abi.");
}

/* What glibc's dynamic linker needs before there is a C library is its own. */
static bool is_linker(const char *image)
{
	return cp_starts_with(image, "ld-linux") || cp_starts_with(image, "ld-2.");
}

static struct engine_heap_plan *find_functions(const cprof_assembly *a)
{
	struct engine_heap_plan *plan = calloc(1, sizeof(*plan));
	const char *image = cp_basename(a->path);
	const struct cp_symbol *symbols;
	struct cp_error *err;
	size_t count, i;

	if (!plan || is_linker(image))
		return plan;
	err = cp_image_symbols(a->image, &symbols, &count);
	for (i = 0; !err && i < count; i++) {
		const char *name = symbols[i].name;
		size_t length = strcspn(name, "@"); /* before a version */
		uint8_t role = OTHER;

		if (symbols[i].kind != CP_SYMBOL_FUNCTION)
			continue;
		if (!symbols[i].local)
			role = role_of(name, length);
		if (!role && *name == '_')
			role = rust_role(name, length);
		if (!role && *name == '_' && !only_calls_malloc(image))
			role = operator_role(name);
		if (role && !cp_map_put(&plan->roles, symbols[i].start.v, role))
			break;
	}
	cp_error_free(err);
	return plan;
}

bool engine_heap_in(const cprof_image *image)
{
	cprof_session *s = image->process->session;
	struct engine_plans *plans;

	if (!engine_heap_wanted(s))
		return false;
	plans = engine_plans_of(image->assembly);
	if (plans && !plans->heap)
		plans->heap = find_functions(image->assembly);
	if (!plans || !plans->heap || !plans->heap->roles.count)
		return false;
	s->calls->heap->found = true;
	return true;
}

uint8_t engine_heap_role(const cprof_image *image, const struct cp_probe_function *f)
{
	const struct engine_heap_plan *plan = image->assembly->plans->heap;
	const uint64_t *role = plan ? cp_map_get(&plan->roles, f->address) : NULL;

	return role ? (uint8_t)*role : OTHER;
}

bool engine_heap_entry_alone(const struct engine_traced *t)
{
	return t->heap == FREE && !engine_traced_by_others(t);
}

bool engine_heap_wants_return(const struct engine_traced *t)
{
	return t->heap && t->heap != FREE;
}

unsigned engine_heap_captures(const struct engine_traced *t, enum engine_site_kind kind)
{
	if (!t->heap)
		return 0;
	if (kind == ENGINE_SITE_ENTRY)
		return CP_SITE_REGS | (t->heap == FREE ? CP_SITE_STACK : 0);
	return t->heap == FREE ? 0 : CP_SITE_REGS | CP_SITE_STACK;
}

bool engine_heap_holds_exit(const struct engine_traced *t)
{
	return t->heap == POSIX;
}

/* ---- events ---- */

static uint64_t argument(const struct engine_hit *hit, unsigned position)
{
	return hit->regs.r[cp_arch_host()->args[position]];
}

static uint64_t product(uint64_t count, uint64_t size)
{
	uint64_t ret;

	return __builtin_mul_overflow(count, size, &ret) ? UINT64_MAX : ret;
}

/* What the call asks for: words[0] bytes, words[1] an address. */
static void note_arguments(uint8_t role, const struct engine_hit *hit, uint64_t *words)
{
	switch ((enum engine_heap_role)role) {
	case OTHER:
	case FREE:
		break;
	case MALLOC:
		words[0] = argument(hit, 0);
		break;
	case CALLOC:
		words[0] = product(argument(hit, 0), argument(hit, 1));
		break;
	case ALIGNED:
		words[0] = argument(hit, 1);
		break;
	case POSIX:
		words[0] = argument(hit, 2);
		words[1] = argument(hit, 0);
		break;
	case REALLOC:
		words[0] = argument(hit, 1);
		words[1] = argument(hit, 0);
		break;
	case REALLOCARRAY:
		words[0] = product(argument(hit, 1), argument(hit, 2));
		words[1] = argument(hit, 0);
		break;
	case RUST_REALLOC:
		words[0] = argument(hit, 3);
		words[1] = argument(hit, 0);
		break;
	}
}

/* Of a process, made when it isn't there; NULL without memory. */
static struct cp_map *blocks_of(struct engine_heap *h, const cprof_process *p)
{
	struct blocks *it;

	cp_vec_for_each(&h->blocks, it)
		if (it->process == p)
			return &it->at;
	if (!cp_vec_push(&h->blocks, ((struct blocks){ .process = p })))
		return NULL;
	return &h->blocks.items[h->blocks.count - 1].at;
}

static void set_allocated(struct engine_heap *h, const cprof_process *p, uint64_t address,
			  uint64_t ts_ns)
{
	struct cp_map *blocks = blocks_of(h, p);

	if (blocks)
		cp_map_put(blocks, address, ts_ns);
}

/* False: it is free already. What was allocated later than `until_ns` is another
 * block, which another thread got there: realloc() is told when it returns. */
static bool set_free(struct engine_heap *h, const cprof_process *p, uint64_t address,
		     uint64_t until_ns)
{
	struct cp_map *blocks = blocks_of(h, p);
	uint64_t *ts_ns = blocks ? cp_map_get(blocks, address) : NULL;

	if (ts_ns && *ts_ns == IS_FREE)
		return false;
	if (blocks && (!ts_ns || *ts_ns <= until_ns))
		cp_map_put(blocks, address, IS_FREE);
	return true;
}

enum told { ALLOCATED, MOVED, RESIZED, FREED };

static void tell(cprof_session *s, const cprof_allocation *a, enum told what)
{
	const cprof_object object = { .address = a->address, .size = a->size };
	const cprof_addr pair[2] = { a->previous, a->address };
	struct engine_heap *h = s->calls->heap;

	h->current = *a;
	h->has_current = true;
	switch (what) {
	case ALLOCATED:
		engine_raise(s, gc_allocation, &object);
		break;
	case MOVED:
		engine_raise(s, gc_moves, pair, 2);
		break;
	case RESIZED:
		engine_raise(s, heap_resized, &object);
		break;
	case FREED:
		engine_raise(s, heap_free, &object);
		break;
	}
	h->has_current = false;
}

bool cprof_current_allocation(cprof_allocation *ret)
{
	cprof_session *s = cprof_session_current();

	if (!s || !engine_heap_wanted(s) || !s->calls->heap->has_current)
		return false;
	*ret = s->calls->heap->current;
	return true;
}

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

/* Does the library call its own function, and not whatever has that name in the
 * program? */
static bool is_internal(cprof_process *p, const struct engine_hit *hit)
{
	const struct engine_text *text = engine_find_text(p, hit->event->caller - 1);
	const cprof_image *image = hit->image;
	uint64_t at, target;
	uint8_t code[CALL_MAX];
	size_t size;

	if (!image || !text || text->image != image || engine_is_program(image))
		return false;
	at = hit->event->caller - image->bias;
	struct cp_reader file = cp_probe_file_reader(image->assembly->image);
	size = file.read(file.ctx, at - sizeof(code), code, sizeof(code));
	return size == sizeof(code) && cp_arch_host()->call_before(code, size, at, &target) &&
	       target == hit->event->pc - image->bias;
}

static bool on_free(cprof_session *s, const struct engine_hit *hit)
{
	cprof_process *p = s->current.process;
	cprof_allocation a = { .address = argument(hit, 0), .begin_ns = hit->event->e.ts_ns };
	const struct cp_call *around;

	if (!a.address || is_internal(p, hit))
		return false;
	engine_calls_reach(s, hit->event, hit->event->sp);
	around = cp_shadow_top(p->shadow, hit->event->e.tid);
	if ((around && around->flags & (CP_CALL_MARKS | CP_CALL_MARKED)) ||
	    !set_free(s->calls->heap, p, a.address, UINT64_MAX))
		return false;
	if (hit->image)
		a.function = engine_traced_function(s, hit->image,
						    s->calls->sites.items[hit->site].traced);
	tell(s, &a, FREED);
	return true;
}

bool engine_heap_entered(cprof_session *s, const struct engine_hit *hit, struct cp_call *call)
{
	struct engine_calls *c = s->calls;
	const struct engine_traced *t = c->traced.items[call->function];

	if (t->heap == FREE) {
		count(c, t, on_free(s, hit));
		return engine_heap_entry_alone(t);
	}
	note_arguments(t->heap, hit, call->words);
	call->flags |= CP_CALL_MARKS;
	count(c, t, false);
	return false;
}

static uint64_t read_pointer(cprof_process *p, uint64_t address)
{
	uint64_t value = 0;

	if (!engine_open_memory(p) ||
	    p->memory.read(p->memory.ctx, address, &value, sizeof(value)) != sizeof(value))
		return 0;
	return value;
}

/* What the function answers with; 0: it failed, or that is not known. */
static uint64_t answer(cprof_session *s, uint8_t role, const struct cp_call *call)
{
	const struct engine_hit *hit = s->current.hit;
	uint64_t result;

	if (!hit || !(hit->regs.known >> cp_arch_host()->result & 1))
		return 0;
	result = hit->regs.r[cp_arch_host()->result];
	if (role == POSIX)
		return (int32_t)result ? 0 : read_pointer(s->current.process, call->words[1]);
	return result;
}

/* False: it was nothing to be told. */
static bool on_return(cprof_session *s, const struct engine_traced *t, const struct cp_call *call)
{
	cprof_process *p = s->current.process;
	bool again = t->heap == REALLOC || t->heap == REALLOCARRAY || t->heap == RUST_REALLOC;
	cprof_allocation a = {
		.function = call->subject,
		.address = answer(s, t->heap, call),
		.size = call->words[0],
		.begin_ns = call->enter_ns,
	};
	uint64_t before = again ? call->words[1] : 0;

	if (!a.address) {
		if (!before || a.size)
			return false;
		a.address = before; /* of no bytes: freed */
		set_free(s->calls->heap, p, before, call->enter_ns);
		tell(s, &a, FREED);
		return true;
	}
	if (before && before != a.address) {
		set_free(s->calls->heap, p, before, call->enter_ns);
		a.previous = before;
	}
	set_allocated(s->calls->heap, p, a.address, s->calls->now_ns);
	tell(s, &a, a.previous ? MOVED : before ? RESIZED : ALLOCATED);
	return true;
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

void engine_heap_returned(cprof_session *s, const struct cp_call *call)
{
	const struct engine_traced *t = s->calls->traced.items[call->function];

	if (s->current.hit)
		step_back(s);
	count(s->calls, t, !(call->flags & CP_CALL_MARKED) && on_return(s, t, call));
}

void engine_heap_exit(const cprof_process *p)
{
	struct engine_heap *h = p->session->calls ? p->session->calls->heap : NULL;
	size_t i;

	for (i = h ? h->blocks.count : 0; i--;) {
		if (h->blocks.items[i].process != p)
			continue;
		cp_map_free(&h->blocks.items[i].at);
		h->blocks.items[i] = h->blocks.items[--h->blocks.count];
	}
}

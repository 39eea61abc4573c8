/* SPDX-License-Identifier: MIT
 *
 * Which variable, frame or mapping an address is in. Variables come from debug
 * information, static ones from symbols, too; a frame has its piece of a stack, from its
 * stack pointer up to its canonical frame address.
 */
#include "cmd/whereabouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inspect/members.h"

#define RED_ZONE 128u
#define BLOCK 8192u /* of a thread, above its stack */
#define FORM_TLS_ADDRESS 0x9b /* DW_OP_form_tls_address */
#define PUSH_TLS_ADDRESS 0xe0 /* DW_OP_GNU_push_tls_address */

/* ---- static variables ---- */

static bool is_thread_local(const struct cp_global *g)
{
	const struct cp_location *at = g->variable.locations.items;

	return g->variable.locations.count && at->size &&
	       (at->expr[at->size - 1] == FORM_TLS_ADDRESS ||
		at->expr[at->size - 1] == PUSH_TLS_ADDRESS);
}

static bool place(struct cp_map_of_all *map, const struct cp_object *o, const struct cp_global *g,
		  pid_t tid)
{
	struct cp_thing thing = cp_inspected_global(map->in, o, g);
	const struct cp_type *t = cp_type_strip(thing.type);
	struct cp_placed_global now = { thing.address, thing.address, g, tid };

	if (!thing.in_memory || !t)
		return true;
	t = cp_type_complete(cp_type_image(t), t);
	now.end += t->size ? t->size : 1;
	return now.end < now.start || cp_vec_push(&map->globals, now);
}

/* A thread-local variable is in as many places as there are threads. */
static bool place_for_threads(struct cp_map_of_all *map, const struct cp_object *o,
			      const struct cp_global *g)
{
	const pid_t before = map->in->tid;
	const struct cp_leaf *leaf;
	bool ok = true;

	cp_vec_for_each(&map->leaves->list, leaf) {
		map->in->tid = leaf->tid;
		ok = ok && place(map, o, g, leaf->tid);
	}
	map->in->tid = before;
	return ok;
}

static CP_ERROR add_object(struct cp_map_of_all *map, const struct cp_object *o)
{
	struct cp_globals *found = calloc(1, sizeof(*found));
	const struct cp_global *g;

	if (!found || !cp_vec_push(&map->found, found)) {
		free(found);
		return cp_error_nomem();
	}
	cp_error_free(cp_image_find_globals(o->image, &(struct cp_global_query){ 0 }, found));
	cp_vec_for_each(&found->list, g)
		if (!(is_thread_local(g) ? place_for_threads(map, o, g) : place(map, o, g, 0)))
			return cp_error_nomem();
	return NULL;
}

static int by_place(const void *a, const void *b)
{
	const struct cp_placed_global *x = a, *y = b;

	return x->start != y->start ? x->start < y->start ? -1 : 1
				    : (x->end > y->end) - (x->end < y->end);
}

static bool in_global(struct cp_map_of_all *map, uint64_t address, struct cp_whereabouts *ret)
{
	size_t n = cp_vec_partition(&map->globals, it, it->start <= address);
	const struct cp_placed_global *p;
	struct cp_buf name = { 0 };

	if (!n || address >= map->globals.items[n - 1].end)
		return false;
	p = &map->globals.items[n - 1];
	cp_buf_str(&name, p->global->name);
	cp_member_path(p->global->variable.type, address - p->start, &name);
	cp_buf_u8(&name, 0);
	ret->kind = p->tid ? CP_WHERE_THREAD_LOCAL : CP_WHERE_STATIC;
	ret->tid = p->tid;
	ret->variable = name.bytes;
	return true;
}

/* What only a symbol tells of. */
static bool in_symbol(struct cp_map_of_all *map, uint64_t address, const char *path,
		      struct cp_whereabouts *ret)
{
	const struct cp_object *o;
	uint64_t offset = 0;
	char *name = NULL;
	int got;

	cp_vec_for_each(&map->in->objects.list, o)
		if (!name && *path && !strcmp(o->path, path))
			name = cp_image_variable_at(o->image,
						    (struct cp_vaddr){ address - o->bias },
						    &offset);
	if (!name)
		return false;
	ret->kind = CP_WHERE_STATIC;
	got = offset ? asprintf(&ret->variable, "%s+%llu", name, (unsigned long long)offset)
		     : asprintf(&ret->variable, "%s", name);
	ret->variable = got < 0 ? NULL : ret->variable;
	free(name);
	return true;
}

/* ---- stacks ---- */

static CP_ERROR add_stack(struct cp_map_of_all *map, const struct cp_leaf *leaf)
{
	const uint64_t sp = leaf->regs.r[cp_arch_host()->sp];
	const struct cp_region *r = cp_region_at(map->regions, sp);
	struct cp_stack_of stack = { leaf, r ? r->start : sp, sp, sp };
	const struct cp_inspected_frame *f;
	uint64_t low, high;

	CP_TRY(cp_frames_walk(&map->frames, leaf));
	map->walked = leaf->tid;
	cp_vec_for_each(&map->frames.list, f)
		if (cp_frames_extent(&map->frames, f, &low, &high) && high > stack.top)
			stack.top = high;
	return cp_vec_push(&map->stacks, stack) ? NULL : cp_error_nomem();
}

static bool has(const struct cp_thing *thing, uint64_t address)
{
	const struct cp_type *t = cp_type_strip(thing->type);

	return t && thing->in_memory && address >= thing->address &&
	       address - thing->address < t->size;
}

/* The variable of the chosen frame that is there; NULL: none. */
static char *variable_at(struct cp_map_of_all *map, uint64_t address)
{
	const struct cp_expression_env *env = &map->in->env;
	const struct cp_scope_name *names;
	size_t count = cp_scope_names(&map->frames.scope, env->arena, &names), n;
	struct cp_buf path = { 0 };
	struct cp_thing thing;

	for (n = 0; n < count; n++) {
		if (names[n].fixed) /* in no frame */
			continue;
		thing = cp_scope_thing(&map->frames.scope, env, &names[n]);
		if (!*names[n].variable->name || !has(&thing, address))
			continue;
		cp_buf_str(&path, names[n].variable->name);
		cp_member_path(thing.type, address - thing.address, &path);
		cp_buf_u8(&path, 0);
		break;
	}
	return path.bytes;
}

/* Frames that are inlined share their place with the one that they are inlined in: what
 * none of them knows is the last one's. */
static void in_frame(struct cp_map_of_all *map, const struct cp_stack_of *stack, uint64_t address,
		     struct cp_whereabouts *ret)
{
	const struct cp_inspected_frame *f, *in = NULL;
	uint64_t low, high;

	ret->kind = CP_WHERE_STACK;
	ret->tid = stack->leaf->tid;
	if (map->walked != ret->tid)
		cp_error_free(cp_frames_walk(&map->frames, stack->leaf));
	map->walked = ret->tid;
	cp_vec_for_each(&map->frames.list, f) {
		if (!cp_frames_extent(&map->frames, f, &low, &high) || address < low ||
		    address >= high)
			continue;
		in = f;
		cp_frames_enter(&map->frames, f);
		ret->variable = variable_at(map, address);
		if (ret->variable)
			break;
	}
	if (!in)
		return;
	ret->frame = in->number;
	ret->function = in->function ? strdup(in->function) : NULL;
}

static bool in_stack(struct cp_map_of_all *map, uint64_t address, struct cp_whereabouts *ret)
{
	const struct cp_stack_of *s;

	cp_vec_for_each(&map->stacks, s) {
		if (address < s->start || address >= s->top + BLOCK ||
		    cp_region_at(map->regions, address) != cp_region_at(map->regions, s->sp))
			continue;
		ret->tid = s->leaf->tid;
		ret->kind = address >= s->top ? CP_WHERE_THREAD : CP_WHERE_UNUSED;
		if (ret->kind != CP_WHERE_THREAD && address + RED_ZONE >= s->sp)
			in_frame(map, s, address, ret);
		return true;
	}
	return false;
}

/* ---- all ---- */

CP_ERROR cp_map_of_all_open(struct cp_map_of_all *map, struct cp_inspected *in,
			    const struct cp_regions *regions, const struct cp_leaves *leaves)
{
	const struct cp_object *o;
	const struct cp_leaf *leaf;

	*map = (struct cp_map_of_all){ .in = in, .regions = regions, .leaves = leaves };
	CP_TRY(cp_frames_open(&map->frames, in));
	cp_vec_for_each(&leaves->list, leaf)
		CP_TRY(add_stack(map, leaf));
	cp_vec_for_each(&in->objects.list, o)
		CP_TRY(add_object(map, o));
	cp_vec_sort(&map->globals, by_place);
	return NULL;
}

void cp_map_of_all_close(struct cp_map_of_all *map)
{
	struct cp_globals **found;

	cp_frames_close(&map->frames);
	cp_vec_free(&map->stacks);
	cp_vec_free(&map->globals);
	cp_vec_for_each(&map->found, found) {
		cp_globals_free(*found);
		free(*found);
	}
	cp_vec_free(&map->found);
}

void cp_whereabouts(struct cp_map_of_all *map, uint64_t address, struct cp_whereabouts *ret)
{
	const struct cp_region *r = cp_region_at(map->regions, address);

	*ret = (struct cp_whereabouts){ .kind = CP_WHERE_MAPPING, .mapping = r ? r->name : "" };
	if (in_global(map, address, ret) || in_stack(map, address, ret) ||
	    in_symbol(map, address, ret->mapping, ret))
		return;
	/* What is allocated is in the heap proper or in mappings of no file. */
	if (!*ret->mapping || !strcmp(ret->mapping, "[heap]") ||
	    cp_starts_with(ret->mapping, "[anon"))
		ret->kind = CP_WHERE_HEAP;
}

void cp_whereabouts_free(struct cp_whereabouts *where)
{
	free(where->variable);
	free(where->function);
	where->variable = where->function = NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * The dynamic linker's own list of what it has loaded (struct r_debug, made for
 * debuggers), in the order in which it came, by namespace.
 *
 *   auxv ─► program headers ─► DT_DEBUG ─► r_debug ─► link_map ─► link_map ...
 *                                             │ next (version 2: dlmopen)
 *                                             └► r_debug ─► ...
 *
 * All of that is the program's memory, and may be anything.
 */
#include "engine/target/linker.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/startedas.h"
#include "engine/target/lives.h"
#include "engine/target/memory.h"
#include "engine/target/state.h"

#define MAX_NAMESPACES 64
#define MAX_OBJECTS 4096
#define MAX_HEADERS 64
#define MAX_DYNAMIC 1024

/* struct r_debug_extended of <link.h>, glibc 2.35 and later. */
struct debug {
	int version;
	uint64_t map, brk;
	int state;
	uint64_t ldbase;
	uint64_t next;
};

static bool read_at(cprof_process *p, uint64_t address, void *to, size_t size)
{
	return p->memory.read(p->memory.ctx, address, to, size) == size;
}

/* The `n`th of a row of `size` bytes each that begins at `address`. Some are read at a time. */
struct row {
	uint64_t address, first, count; /* first: of those that were read */
	size_t size;
	uint8_t bytes[1024];
};

static const void *in_row(cprof_process *p, struct row *row, uint64_t n)
{
	if (n - row->first >= row->count) {
		row->first = n;
		row->count = p->memory.read(p->memory.ctx, row->address + n * row->size, row->bytes,
					    sizeof(row->bytes) / row->size * row->size) /
			     row->size;
	}
	return n - row->first < row->count ? row->bytes + (n - row->first) * row->size : NULL;
}

/* Address of the program's dynamic section, by its program headers; 0: none. */
static uint64_t find_dynamic(cprof_process *p, uint64_t headers, uint64_t count)
{
	uint64_t bias = 0, dynamic = 0;
	bool found = false;
	struct row row = { .address = headers, .size = sizeof(Elf64_Phdr) };
	const void *at;
	Elf64_Phdr h;
	uint64_t i;

	for (i = 0; i < count && i < MAX_HEADERS; i++) {
		at = in_row(p, &row, i);
		if (!at)
			return 0;
		memcpy(&h, at, sizeof(h));
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
	struct row row = { .size = sizeof(Elf64_Dyn) };
	const void *at;
	Elf64_Dyn d;
	size_t i;

	if (!engine_open_memory(p))
		return 0;
	if (cp_auxv_find(&p->auxv, AT_PHENT) == sizeof(Elf64_Phdr))
		row.address = find_dynamic(p, cp_auxv_find(&p->auxv, AT_PHDR),
					   cp_auxv_find(&p->auxv, AT_PHNUM));
	for (i = 0; row.address && i < MAX_DYNAMIC; i++) {
		at = in_row(p, &row, i);
		if (!at)
			return 0;
		memcpy(&d, at, sizeof(d));
		if (d.d_tag == DT_NULL)
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

cprof_namespace *engine_namespace_at(cprof_process *p, uint64_t debug)
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

static void read_list(cprof_process *p, uint64_t map, cprof_namespace *in,
		      struct engine_objects *ret)
{
	uint64_t rank = in ? (uint64_t)in->id << 32 : 0;
	struct link_map l;
	size_t i;

	for (i = 0; map && i < MAX_OBJECTS && read_at(p, map, &l, sizeof(l)); i++) {
		if (!cp_vec_push(&ret->list, (struct engine_object){ l.l_addr, rank++, in, map }))
			return;
		map = (uintptr_t)l.l_next;
	}
}

void engine_linker_read(cprof_process *p, struct engine_objects *ret)
{
	uint64_t at = find_debug(p);
	cprof_namespace *in = NULL;
	struct debug d;
	size_t i;

	*ret = (struct engine_objects){ 0 };
	for (i = 0; i < p->life.namespaces.count; i++)
		p->life.namespaces.items[i]->full = false;
	for (i = 0; i < MAX_NAMESPACES && read_debug(p, at, &d); i++) {
		ret->any = true;
		ret->working |= d.state != RT_CONSISTENT;
		in = i ? engine_namespace_at(p, at) : NULL;
		if (in)
			in->full = d.map != 0;
		read_list(p, d.map, in, ret);
		at = d.next;
	}
}

bool engine_linker_done(cprof_process *p)
{
	struct engine_objects objects;

	engine_linker_read(p, &objects);
	cp_vec_free(&objects.list);
	return objects.any && !objects.working;
}

void engine_rank_images(cprof_process *p)
{
	struct engine_objects objects;
	size_t i, k;

	engine_linker_read(p, &objects);
	for (i = 0; i < p->images.count; i++) {
		p->images.items[i]->life.link_rank = UINT64_MAX;
		for (k = 0; k < objects.list.count; k++)
			if (objects.list.items[k].bias == p->images.items[i]->bias)
				p->images.items[i]->life.link_rank = objects.list.items[k].rank;
	}
	cp_vec_free(&objects.list);
}

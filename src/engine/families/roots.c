/* SPDX-License-Identifier: MIT
 *
 * Roots: memory that may hold addresses of what is allocated.
 *
 *     static   what of an image's segments stays writable: .data, .bss
 *     stack    a thread's own: where glibc has it, else its mapping; of the first
 *              thread, the room it has
 *     tls      an image's thread-local variables, one block for each thread
 *
 * Where the blocks of a thread are says its thread control block, as far as glibc
 * tells debuggers how that looks (the _thread_db_ symbols that its libthread_db
 * reads); those of the program are right before it, anyway. The block itself is
 * found by its first and third word, which are its own address: at the end of the
 * thread's stack, or before the list of robust mutexes, which the kernel knows.
 * Blocks that are made when they are first used (of libraries that are loaded
 * later) are allocated like other things, and are no roots.
 *
 * All of that is the program's memory, and may be anything.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/calls/stacks.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/lives.h"
#include "engine/target/memory.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "image/jit.h"

#define PAGE 4096
#define BLOCK_ALIGN 64 /* of a thread control block */
#define BLOCK_MAX 8192 /* so far from the end of the stack, at most */
#define BORN_MAX 65536 /* from where a thread is born to its control block */
#define STACK_WORDS 288 /* of a control block, looked at; glibc 2.36 has the stack there */
#define MODULES_MAX 65536
#define WRITABLE_MAX 16 /* segments of an image */

struct root {
	uint64_t start;
	cprof_root_source source;
	int32_t tid; /* 0: of no thread */
	const cprof_image *image; /* NULL: a stack */
};

/* What glibc says about members of its structures, for debuggers. */
struct layout {
	bool known;
	uint32_t module, offset; /* in the link map: number of the module */
	uint32_t vector; /* in the thread control block: pointer to the vector */
	uint32_t stride, value; /* in the vector: of elements; of the address in them */
};

struct roots {
	CP_VEC(struct root) list;
	struct layout layout;
	size_t layout_sought; /* number of images in which it was sought */
};

static bool is_asked(const cprof_session *s)
{
	return engine_has(s, gc_root_register) || engine_has(s, gc_root_unregister);
}

static bool is_wanted(const cprof_process *p)
{
	return engine_family_wanted(p->session, ENGINE_FAMILY_ROOTS);
}

static struct roots *known_of(const cprof_process *p)
{
	return p->own[ENGINE_FAMILY_ROOTS];
}

static void free_roots(cprof_process *p)
{
	if (known_of(p))
		cp_vec_free(&known_of(p)->list);
	free(known_of(p));
	p->own[ENGINE_FAMILY_ROOTS] = NULL;
}

/* What is known of the process's roots, made when it isn't there; NULL without memory. */
static struct roots *roots_of(cprof_process *p)
{
	if (!known_of(p))
		p->own[ENGINE_FAMILY_ROOTS] = calloc(1, sizeof(struct roots));
	return known_of(p);
}

/* ---- telling ---- */

static void add(cprof_process *p, const struct root *made, uint64_t size, uint64_t key,
		const char *name)
{
	struct roots *roots = roots_of(p);
	const struct root *r;

	if (!roots || !size)
		return;
	cp_vec_for_each(&roots->list, r)
		if (r->start == made->start)
			return;
	if (cp_vec_push(&roots->list, *made))
		engine_raise(p->session, gc_root_register, made->start, size, made->source, key,
			     name);
}

/* Removes the roots of an image, or of a thread, or all; the last ones first. */
static void remove_roots(cprof_process *p, const cprof_image *image, int32_t tid)
{
	struct roots *roots = known_of(p);
	size_t i;

	for (i = roots ? roots->list.count : 0; i--;) {
		const struct root r = roots->list.items[i];

		if ((image && r.image != image) || (tid && r.tid != tid))
			continue;
		cp_vec_remove(&roots->list, i);
		engine_raise(p->session, gc_root_unregister, r.start);
	}
}

static void remove_image(const cprof_image *image)
{
	remove_roots(image->process, image, 0);
}

static void remove_thread(const cprof_thread *t)
{
	remove_roots(t->process, NULL, t->tid);
}

static void drop(cprof_process *p)
{
	remove_roots(p, NULL, 0);
	if (known_of(p)) {
		known_of(p)->layout.known = false;
		known_of(p)->layout_sought = 0;
	}
}

/* ---- thread control blocks ---- */

static bool read_at(cprof_process *p, uint64_t address, void *to, size_t size)
{
	return engine_open_memory(p) && p->memory.read(p->memory.ctx, address, to, size) == size;
}

/* Looks for a thread control block in [start, end), the last first; 0: there is none. */
static uint64_t find_block(cprof_process *p, uint64_t start, uint64_t end)
{
	uint64_t words[BLOCK_MAX / sizeof(uint64_t)], at, left;
	const uint64_t *w;

	start &= ~(uint64_t)(BLOCK_ALIGN - 1);
	if (end < start || end - start > sizeof(words) || !read_at(p, start, words, end - start))
		return 0;
	/* Memory may begin at 0. */
	for (left = (end - start + BLOCK_ALIGN - 1) / BLOCK_ALIGN; left--;) {
		at = start + left * BLOCK_ALIGN;
		w = &words[(at - start) / sizeof(*words)];
		if (at + 3 * sizeof(*words) <= end && w[0] == at && w[2] == at)
			return at;
	}
	return 0;
}

static uint64_t control_block(cprof_thread *t)
{
	void *list = NULL;
	size_t size = 0;
	uint64_t at = 0, found = 0;

	if (!syscall(SYS_get_robust_list, t->tid, &list, &size))
		at = (uintptr_t)list;
	if (at > PAGE) /* the block is on the same page, or the one before */
		found = find_block(t->process, at & ~(uint64_t)(PAGE - 1), at);
	if (at > PAGE && !found)
		found = find_block(t->process, at - PAGE, at);
	/* The thread has not run yet. A stack that the program made is not all of its
	 * mapping, which may end with another stack: the block is the first above where
	 * the thread was born. */
	for (at = t->born_sp & ~(uint64_t)(PAGE - 1);
	     at && !found && at < t->stack_end && at - t->born_sp + PAGE < BORN_MAX; at += PAGE)
		found = find_block(t->process, at, at + PAGE + 3 * sizeof(uint64_t));
	if (!found && t->stack_end > BLOCK_MAX && t->stack_end != UINT64_MAX)
		found = find_block(t->process, t->stack_end - BLOCK_MAX, t->stack_end);
	return found;
}

/* ---- thread-local variables ---- */

/* What glibc tells debuggers of a member: { bits, elements, offset }. */
static bool read_member(cprof_process *p, const cprof_image *image, const char *name,
			uint32_t *offset_ret, uint32_t *size_ret)
{
	struct cp_vaddr at;
	uint32_t words[3];

	if (!cp_image_variable(image->assembly->image, name, &at) ||
	    !read_at(p, at.v + image->bias, words, sizeof(words)))
		return false;
	*offset_ret = words[2];
	if (size_ret)
		*size_ret = words[0] / 8;
	return true;
}

static const struct layout *layout_of(cprof_process *p)
{
	struct roots *roots = roots_of(p);
	struct layout l = { 0 };
	size_t i;

	if (!roots || roots->layout.known || roots->layout_sought == p->images.count)
		return roots ? &roots->layout : NULL;
	for (i = 0; i < p->images.count && !l.known; i++) {
		const cprof_image *image = p->images.items[i];

		l.known =
			image->mapped && image->assembly->image &&
			read_member(p, image, "_thread_db_link_map_l_tls_modid", &l.module, NULL) &&
			read_member(p, image, "_thread_db_pthread_dtvp", &l.vector, NULL) &&
			read_member(p, image, "_thread_db_dtv_dtv", &l.offset, &l.stride) &&
			read_member(p, image, "_thread_db_dtv_t_pointer_val", &l.value, NULL);
	}
	roots->layout = l;
	roots->layout_sought = p->images.count;
	return &roots->layout;
}

/* The address of the thread's block of the image, by the dynamic linker's vector; 0:
 * not known, or not made yet. */
static uint64_t block_by_vector(cprof_process *p, const cprof_image *image, uint64_t control)
{
	const struct layout *l = layout_of(p);
	uint64_t module, vector, made, at;

	if (!l || !l->known || !image->life.link_map ||
	    !read_at(p, image->life.link_map + l->module, &module, sizeof(module)) || !module ||
	    module > MODULES_MAX || !read_at(p, control + l->vector, &vector, sizeof(vector)))
		return 0;
	/* The element before the first one says how many there are. */
	if (!read_at(p, vector - l->stride, &made, sizeof(made)) || module > made ||
	    !read_at(p, vector + l->offset + module * l->stride + l->value, &at, sizeof(at)))
		return 0;
	return at == UINT64_MAX ? 0 : at;
}

static void add_block(cprof_thread *t, const cprof_image *image, uint64_t control)
{
	uint64_t size, align, at;
	struct root r = { .source = CPROF_ROOT_SOURCE_TLS, .tid = t->tid, .image = image };

	if (!control || !image->assembly->image ||
	    !cp_image_tls(image->assembly->image, &size, &align))
		return;
	at = block_by_vector(t->process, image, control);
	if (!at && engine_is_program(image))
		at = (control - size) & ~(align - 1);
	if (!at)
		return;
	r.start = at;
	add(t->process, &r, size, (uint64_t)t->tid, image->assembly->path);
}

/* ---- images and threads ---- */

static void add_image(const cprof_image *image)
{
	struct cp_vaddr starts[WRITABLE_MAX];
	uint64_t sizes[WRITABLE_MAX];
	size_t i, count;

	if (!is_wanted(image->process) || !image->assembly->image)
		return;
	count = cp_image_writable(image->assembly->image, starts, sizes, WRITABLE_MAX);
	for (i = 0; i < count; i++) {
		const struct root r = { .start = starts[i].v + image->bias,
					.source = CPROF_ROOT_SOURCE_STATIC,
					.image = image };

		add(image->process, &r, sizes[i], image->start, image->assembly->path);
	}
}

static void add_blocks(cprof_thread *t, uint64_t control)
{
	cprof_process *p = t->process;
	size_t i;

	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->life.shown)
			add_block(t, p->images.items[i], control);
}

static void add_locals(cprof_process *p)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (is_wanted(p) && cp_map_next(&p->session->by_tid, &cursor, &key, &value)) {
		cprof_thread *t = (cprof_thread *)(uintptr_t)value;

		if (t->process == p && !t->life.stopped)
			add_blocks(t, control_block(t));
	}
}

/* Finds the stack that glibc made for a thread: the control block has its start, size
 * and guard size, three words in a row, which nothing else there is like. False: they
 * were not found. */
static bool find_stack_block(cprof_process *p, uint64_t control, uint64_t *start_ret,
			     uint64_t *end_ret)
{
	uint64_t words[STACK_WORDS];
	size_t i;

	if (!control || !read_at(p, control, words, sizeof(words)))
		return false;
	for (i = 0; i + 2 < STACK_WORDS; i++) {
		uint64_t start = words[i], size = words[i + 1], guard = words[i + 2];

		if (start && start < control && size > control - start &&
		    size - (control - start) < BLOCK_MAX && guard < control - start) {
			*start_ret = start + guard;
			*end_ret = start + size;
			return true;
		}
	}
	return false;
}

static void add_stack(cprof_thread *t, uint64_t control)
{
	uint64_t start = t->stack_low, end = t->stack_end;
	struct root r = { .source = CPROF_ROOT_SOURCE_STACK, .tid = t->tid };

	if (t->tid != t->process->pid)
		find_stack_block(t->process, control, &start, &end);
	r.start = start;
	if (end > start && end != UINT64_MAX)
		add(t->process, &r, end - start, (uint64_t)t->tid, t->name);
}

static void add_thread(cprof_thread *t)
{
	uint64_t control;

	if (!is_wanted(t->process))
		return;
	engine_thread_stack(t);
	control = control_block(t);
	add_stack(t, control);
	add_blocks(t, control);
}

const struct engine_family engine_roots_family = {
	.name = "roots",
	.asked = is_asked,
	.thread_started = add_thread,
	.thread_stops = remove_thread,
	.image_loaded = add_image,
	.images_loaded = add_locals,
	.image_unloads = remove_image,
	.dropped = drop,
	.free_process = free_roots,
};

/* SPDX-License-Identifier: MIT
 *
 * Mappings, objects and the two caches: tables by file, shared by all spaces,
 * and steps by pc, one space's own.
 *
 * An object is found by what its file offset 0 is mapped to: there are its
 * program headers. They say how far its segments reach, and the extent counts,
 * not the mappings: a program may have moved its text to anonymous huge pages.
 */
#include "unwind/space.h"

#include "arch/decoder.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define NO_OBJECT UINT32_MAX
#define STEPS_FIRST 512u
#define STEPS_MAX 16384u
#define CANDIDATES_MAX 8 /* mappings of a file that may be where it was loaded */
#define CODE_MAX 16 /* bytes that is_sigreturn() may want */

struct cached {
	uint64_t device, inode, mtime_ns, size;
	struct cp_table *table; /* owned; NULL: not an object */
};

struct cp_unwind_cache {
	CP_VEC(struct cached) tables;
};

/* ---- tables by file ---- */

struct cp_unwind_cache *cp_unwind_cache_create(void)
{
	return calloc(1, sizeof(struct cp_unwind_cache));
}

void cp_unwind_cache_destroy(struct cp_unwind_cache *cache)
{
	struct cached *it;

	if (!cache)
		return;
	cp_vec_for_each(&cache->tables, it)
		cp_table_destroy(it->table);
	cp_vec_free(&cache->tables);
	free(cache);
}

static struct cached *find_cached(struct cp_unwind_cache *cache, const struct cp_unwind_mapping *m)
{
	struct cached *it;

	cp_vec_for_each(&cache->tables, it) {
		if (it->inode == m->inode && it->device == m->device &&
		    it->mtime_ns == m->mtime_ns && it->size == m->size)
			return it;
	}
	return NULL;
}

/* Makes an object's table, or takes the cache's. A file whose age is unknown
 * can't be told from one that was overwritten in place: it is not shared. */
static void open_object(struct cp_unwind_space *space, struct cp_space_object *object)
{
	const struct cp_unwind_mapping *m = &object->mapping;
	bool shared = space->cache && m->inode && m->mtime_ns;
	struct cached *cached = shared ? find_cached(space->cache, m) : NULL;

	object->tried = true;
	object->table =
		cached ? cached->table : cp_table_create(space->arch, space->memory, m->start);
	object->owned = !cached;
	if (!object->table)
		return;
	object->bias = m->start - cp_table_first(object->table);
	if (shared && !cached &&
	    cp_vec_push(&space->cache->tables, (struct cached){ m->device, m->inode, m->mtime_ns,
								m->size, object->table }))
		object->owned = false;
}

static void object_deinit(struct cp_space_object *object)
{
	if (object->owned)
		cp_table_destroy(object->table);
	free((char *)(uintptr_t)object->mapping.path);
	*object = (struct cp_space_object){ 0 };
}

/* ---- the space ---- */

void cp_space_forget_rules(struct cp_unwind_space *space)
{
	uint64_t key, rule;
	size_t cursor = 0;

	while (cp_map_next(&space->code_rules, &cursor, &key, &rule))
		free((void *)(uintptr_t)rule);
	cp_map_free(&space->code_rules);
}

static void forget_steps(struct cp_unwind_space *space)
{
	size_t i;

	cp_space_forget_rules(space);

	if (space->steps)
		memset(space->steps, 0, space->nsteps * sizeof(*space->steps));
	for (i = 0; i < CP_SPACE_PAGES; i++)
		space->pages[i].addr = 1;
}

CP_ERROR cp_unwind_space_create(const struct cp_arch *arch, const struct cp_reader *memory,
				struct cp_unwind_cache *cache, struct cp_unwind_space **ret)
{
	struct cp_unwind_space *space = calloc(1, sizeof(*space));

	if (!space)
		return cp_error_nomem();
	space->arch = arch;
	space->memory = memory;
	space->cache = cache;
	space->steps = calloc(STEPS_FIRST, sizeof(*space->steps));
	space->nsteps = STEPS_FIRST;
	if (!space->steps) {
		free(space);
		return cp_error_nomem();
	}
	forget_steps(space);
	*ret = space;
	return NULL;
}

static void guest_deinit(struct cp_space_guest *guest)
{
	if (guest->state)
		guest->destroy(guest->state);
}

void cp_unwind_space_destroy(struct cp_unwind_space *space)
{
	struct cp_space_object *object;
	size_t i;

	if (!space)
		return;
	guest_deinit(&space->libunwind);
	guest_deinit(&space->libunwind_ptrace);
	cp_decoder_destroy(space->decoder);
	cp_space_forget_rules(space);
	cp_vec_for_each(&space->objects, object)
		object_deinit(object);
	cp_vec_free(&space->objects);
	cp_vec_free(&space->code);
	for (i = 0; i < CP_SPACE_PAGES; i++)
		free(space->pages[i].bytes);
	free(space->steps);
	free(space);
}

void cp_unwind_space_set_files(struct cp_unwind_space *space, const struct cp_unwind_files *files)
{
	struct cp_unwind_files old = space->files;

	space->files = files ? *files : (struct cp_unwind_files){ 0 };
	if (space->files.find != old.find || space->files.ctx != old.ctx)
		forget_steps(space);
}

/* ---- mappings ---- */

static uint64_t fingerprint(const struct cp_unwind_mapping *mappings, size_t count)
{
	uint64_t hash = count + 1;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct cp_unwind_mapping *m = &mappings[i];
		uint64_t fields[] = { hash,	m->start, m->end,      m->file_offset, m->device,
				      m->inode, m->size,  m->mtime_ns, m->executable };

		hash = cp_hash_bytes(fields, sizeof(fields));
	}
	return hash;
}

static bool is_vdso(const struct cp_unwind_mapping *m)
{
	return m->path && !strcmp(m->path, "[vdso]");
}

static bool same_file(const struct cp_unwind_mapping *a, const struct cp_unwind_mapping *b)
{
	return a->inode == b->inode && a->device == b->device;
}

/* Objects begin at file offset 0, of a file or the vdso; code in anonymous
 * memory may be one as well (a packed program that unpacked itself). */
static bool may_be_object(const struct cp_unwind_mapping *m)
{
	return m->file_offset == 0 && (m->inode || m->executable || is_vdso(m));
}

/* Moves an object of the old list that is still there into `object`. */
static bool take_over(struct cp_unwind_space *space, const struct cp_unwind_mapping *m,
		      struct cp_space_object *object)
{
	struct cp_space_object *it;

	if (!m->inode && !is_vdso(m))
		return false;
	cp_vec_for_each(&space->objects, it) {
		if (it->mapping.start == m->start && same_file(&it->mapping, m) &&
		    it->mapping.mtime_ns == m->mtime_ns && it->mapping.size == m->size) {
			*object = *it;
			*it = (struct cp_space_object){ 0 };
			return true;
		}
	}
	return false;
}

struct lists {
	CP_VEC(struct cp_space_object) objects;
	CP_VEC(struct cp_space_code) code;
};

static bool add_object(struct cp_unwind_space *space, struct lists *lists,
		       const struct cp_unwind_mapping *m)
{
	struct cp_space_object object = { .mapping = *m };

	if (!cp_vec_reserve(&lists->objects, lists->objects.count + 1))
		return false;
	if (!take_over(space, m, &object)) {
		object.mapping.path = strdup(m->path ? m->path : "");
		if (!object.mapping.path)
			return false;
	}
	return cp_vec_push(&lists->objects, object);
}

static bool add_code(struct lists *lists, const struct cp_unwind_mapping *m)
{
	struct cp_space_code code = {
		.start = m->start,
		.end = m->end,
		.file_offset = m->file_offset,
		.constant = m->inode || is_vdso(m),
		.object = NO_OBJECT,
		.fallback = NO_OBJECT,
	};
	size_t i = lists->objects.count;

	while (i--) {
		const struct cp_unwind_mapping *o = &lists->objects.items[i].mapping;

		if (code.object == NO_OBJECT && same_file(o, m) &&
		    (m->inode || o->start == m->start))
			code.object = (uint32_t)i;
		else if (!m->inode && o->inode && code.fallback == NO_OBJECT)
			code.fallback = (uint32_t)i;
		if (m->inode ? code.object != NO_OBJECT : code.fallback != NO_OBJECT)
			break;
	}
	return cp_vec_push(&lists->code, code);
}

static bool fill(struct cp_unwind_space *space, struct lists *lists,
		 const struct cp_unwind_mapping *mappings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct cp_unwind_mapping *m = &mappings[i];

		if (may_be_object(m) && !add_object(space, lists, m))
			return false;
		if (m->executable && !add_code(lists, m))
			return false;
	}
	return true;
}

CP_ERROR cp_unwind_space_set_mappings(struct cp_unwind_space *space,
				      const struct cp_unwind_mapping *mappings, size_t count)
{
	uint64_t print = fingerprint(mappings, count);
	struct lists lists = { 0 };
	struct cp_space_object *object;
	bool filled;

	if (print == space->fingerprint)
		return NULL;
	filled = fill(space, &lists, mappings, count);
	cp_vec_for_each(&space->objects, object)
		object_deinit(object);
	cp_vec_free(&space->objects);
	cp_vec_free(&space->code);
	memcpy(&space->objects, &lists.objects, sizeof(lists.objects));
	memcpy(&space->code, &lists.code, sizeof(lists.code));
	space->fingerprint = filled ? print : 0;
	forget_steps(space);
	return filled ? NULL : cp_error_nomem();
}

const struct cp_space_code *cp_space_code_at(const struct cp_unwind_space *space, uint64_t pc)
{
	size_t low = 0, high = space->code.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (space->code.items[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || pc >= space->code.items[low - 1].end)
		return NULL;
	return &space->code.items[low - 1];
}

bool cp_unwind_space_covers(const struct cp_unwind_space *space, uint64_t pc)
{
	return cp_space_code_at(space, pc) != NULL;
}

static struct cp_space_object *covering(struct cp_unwind_space *space, uint32_t index, uint64_t pc)
{
	struct cp_space_object *object;

	if (index >= space->objects.count)
		return NULL;
	object = &space->objects.items[index];
	if (!object->tried)
		open_object(space, object);
	if (!object->table || pc - object->bias < cp_table_low(object->table) ||
	    pc - object->bias >= cp_table_high(object->table))
		return NULL;
	return object;
}

/* The object of code that is mapped from a file. Not every mapping of offset
 * 0 is where an object begins: lld lets segments share pages, so that a small
 * program's text may be mapped from offset 0 as well, and programs map files
 * to read them. So the program headers must agree with the mapping. */
static struct cp_space_object *mapped_object(struct cp_unwind_space *space,
					     const struct cp_space_code *code, uint64_t pc)
{
	uint32_t index = code->object, tries;
	uint64_t offset = pc - code->start + code->file_offset;

	for (tries = 0; index < space->objects.count && tries < CANDIDATES_MAX; tries++, index--) {
		struct cp_space_object *object = covering(space, index, pc);

		if (object &&
		    same_file(&object->mapping, &space->objects.items[code->object].mapping) &&
		    cp_table_maps(object->table, (struct cp_vaddr){ pc - object->bias }, offset))
			return object;
	}
	return NULL;
}

struct cp_space_object *cp_space_object_at(struct cp_unwind_space *space, uint64_t pc)
{
	const struct cp_space_code *code = cp_space_code_at(space, pc);
	struct cp_space_object *object;

	if (!code)
		return NULL;
	object = mapped_object(space, code, pc);
	return object ? object : covering(space, code->fallback, pc);
}

/* ---- memory that does not change ----
 *
 * Code that is made while a program runs may, but not under a walk: whoever recurses in it has
 * thousands of frames there.
 */

static struct cp_space_page *page_at(struct cp_unwind_space *space, uint64_t addr)
{
	struct cp_space_page *page = &space->pages[addr / CP_SPACE_PAGE % CP_SPACE_PAGES];
	const struct cp_space_code *code;

	if (page->addr == addr && (!page->walk || page->walk == space->walk))
		return page;
	if (!page->bytes)
		page->bytes = malloc(CP_SPACE_PAGE);
	page->addr = 1;
	if (!page->bytes || !cp_read_exact(space->memory, addr, page->bytes, CP_SPACE_PAGE))
		return NULL;
	code = cp_space_code_at(space, addr);
	page->walk = !code || code->constant ? 0 : space->walk;
	if (page->walk || !code || code->constant)
		page->addr = addr;
	return page;
}

size_t cp_space_read_constant(struct cp_unwind_space *space, uint64_t addr, void *buffer,
			      size_t size)
{
	size_t done = 0;

	while (done < size) {
		uint64_t at = addr + done;
		size_t offset = at % CP_SPACE_PAGE, part = CP_SPACE_PAGE - offset;
		struct cp_space_page *page = page_at(space, at - offset);

		if (!page)
			break;
		if (part > size - done)
			part = size - done;
		memcpy((uint8_t *)buffer + done, page->bytes + offset, part);
		done += part;
	}
	return done;
}

/* ---- steps by pc ---- */

/* A thread may also stand in the middle of a trampoline. */
static bool on_sigreturn(struct cp_unwind_space *space, uint64_t pc, bool exact)
{
	uint8_t code[CODE_MAX];
	uint64_t back;
	size_t got;

	for (back = 0; back <= (exact ? 8 : 0); back++) {
		got = cp_space_read_constant(space, pc - back, code, sizeof(code));
		if (got > back && space->arch->is_sigreturn(code, got))
			return true;
	}
	return false;
}

static void ask_files(struct cp_unwind_space *space, struct cp_space_object *object)
{
	struct cp_unwind_section sections[3];
	size_t count, i;

	count = space->files.find(space->files.ctx, &object->mapping, sections,
				  CP_ARRAY_SIZE(sections));
	for (i = 0; i < count && i < CP_ARRAY_SIZE(sections); i++)
		cp_table_add_section(object->table, &sections[i]);
}

/* Looks for sections that no program header leads to; once for each object. */
static bool more_sections(struct cp_unwind_space *space, struct cp_space_object *object,
			  const struct cp_table_memory *memory)
{
	if (!cp_table_ask_files(object->table))
		return false;
	if (space->files.find && object->mapping.inode)
		ask_files(space, object);
	cp_table_search(object->table, memory);
	return true;
}

static void find_rule(struct cp_unwind_space *space, uint64_t pc, struct cp_step *step)
{
	struct cp_space_object *object = cp_space_object_at(space, pc);
	struct cp_table_memory memory = { space->memory, object ? object->bias : 0 };
	struct cp_vaddr function = { 0 };

	if (!object)
		return;
	step->rule = cp_table_find(object->table, &memory, (struct cp_vaddr){ pc - object->bias },
				   &function);
	if (!step->rule && more_sections(space, object, &memory))
		step->rule = cp_table_find(object->table, &memory,
					   (struct cp_vaddr){ pc - object->bias }, &function);
	if (step->rule) {
		step->kind = CP_STEP_RULE;
		step->function = function.v + object->bias;
	}
}

/* The code before a return address decides, except that the return address of
 * a signal handler is the trampoline itself, whose entry nobody called. A
 * trampoline's own CFI, where it has some, says less than the frame's layout
 * (AArch64) or the same with more work. */
static void decide(struct cp_unwind_space *space, struct cp_step *step)
{
	uint64_t lookup = step->exact ? step->pc : step->pc - 1;

	if (!cp_space_code_at(space, lookup))
		return;
	step->kind = CP_STEP_NONE;
	find_rule(space, lookup, step);
	if (step->rule && step->exact && !step->rule->signal)
		return;
	if (on_sigreturn(space, step->pc, step->exact)) {
		step->kind = CP_STEP_SIGRETURN;
		step->rule = NULL;
	}
}

/* Doubles the slots where many evictions show a program with more pcs than slots. */
static void grow(struct cp_unwind_space *space)
{
	struct cp_step *old = space->steps, *bigger;
	size_t count = space->nsteps, i;

	if (space->evicted < count || count >= STEPS_MAX)
		return;
	space->evicted = 0;
	bigger = calloc(count * 2, sizeof(*bigger));
	if (!bigger)
		return;
	space->steps = bigger;
	space->nsteps = count * 2;
	for (i = 0; i < count; i++) {
		if (old[i].pc)
			*cp_space_slot(space, old[i].pc) = old[i];
	}
	free(old);
}

const struct cp_step *cp_space_make_step(struct cp_unwind_space *space, uint64_t pc, bool exact)
{
	struct cp_step *step = cp_space_slot(space, pc);

	if (step->pc) {
		space->evicted++;
		grow(space);
		step = cp_space_slot(space, pc);
	}
	*step = (struct cp_step){ .pc = pc, .exact = exact };
	decide(space, step);
	return step;
}

/* SPDX-License-Identifier: MIT
 *
 * What is mapped in a process, and the ELF objects behind it.
 *
 * The mappings are read when the first sample of a process comes, again when
 * an address turns up that they don't cover, and about once a second; so code
 * that was loaded meanwhile is known when it is met.
 *
 *   maps line ──► object (device, inode, path) ──► assembly, one a session
 *             └─► image: one a process and object, with its load bias
 *                    └─► texts: its executable pieces, sorted for lookup
 */
#include "engine/target/images.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/startedas.h"
#include "base/text.h"
#include "engine/target/above.h"
#include "engine/target/family.h"
#include "engine/target/memory.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "engine/target/variables.h"
#include "engine/target/tasks.h"
#include "image/perfmap.h"
#include "unwind/paths.h"

#define MAPS_AGE_NS CP_NS_PER_S
#define MAPS_FORCED_AGE_NS (20 * CP_NS_PER_MS)
/* How often a young program's maps are read without waiting: it is loading its
 * libraries, and may have ended after 20 ms. */
#define MAPS_FORCED_FREE 16
#define MAPS_MAX (64u << 20)

/* ---- assemblies ---- */

cprof_assembly *engine_assembly_create(cprof_session *s, const char *path)
{
	cprof_assembly *a = calloc(1, sizeof(*a));

	(void)s;
	if (!a)
		return NULL;
	a->path = strdup(path);
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

void engine_assembly_free(cprof_assembly *a)
{
	if (!a)
		return;
	cp_image_destroy(a->image);
	cp_perf_map_destroy(a->jit);
	cp_map_free(&a->called);
	cp_map_free(&a->plain);
	cp_map_free(&a->callers);
	pthread_mutex_destroy(&a->lock);
	engine_variables_free(a->variables);
	free(a->templates);
	free(a->path);
	free(a);
}

static void open_image(cprof_process *p, cprof_assembly *a, const struct cp_mapping *m)
{
	cprof_session *s = p->session;
	struct cp_image_options options = { s->debug_dirs, &s->debuginfod };
	struct cp_image_source source = {
		.path = m->path,
		.pid = engine_living_task(p),
		.map_start = m->start,
		.map_end = m->end,
		.device = m->device,
		.inode = m->inode,
		.memory = engine_open_memory(p) ? &p->memory : NULL,
		.load_address = m->start - m->offset,
	};
	struct cp_error *err;
	char root[64];

	snprintf(root, sizeof(root), "/proc/%d/root", source.pid);
	CP_CLOSE int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	source.root_fd = root_fd;
	err = cp_image_open(&source, &options, &a->image);
	if (err)
		cp_debug("image: %s", err->what);
	cp_error_free(err);
}

/* The session's assembly for what a mapping shows. */
static cprof_assembly *assembly_of(cprof_process *p, const struct cp_mapping *m)
{
	cprof_session *s = p->session;
	cprof_assembly *a;
	CP_FREE char *key = NULL;
	uint32_t id;
	bool fresh;

	if (asprintf(&key, "%llx:%llx:%s", (unsigned long long)m->device,
		     (unsigned long long)m->inode, m->path) < 0 ||
	    !cp_intern(&s->assembly_keys, key, strlen(key), &id, &fresh))
		return NULL;
	if (!fresh)
		return s->assemblies.items[id];
	a = engine_assembly_create(s, m->path);
	if (!cp_vec_push(&s->assemblies, a)) {
		engine_assembly_free(a);
		return NULL;
	}
	if (a)
		open_image(p, a, m);
	return a;
}

/* ---- a process's images ---- */

static bool is_object(const struct cp_mapping *m)
{
	return m->path[0] == '/' || !strcmp(m->path, "[vdso]");
}

static bool same_object(const struct cp_mapping *a, const struct cp_mapping *b)
{
	return a->device == b->device && a->inode == b->inode && !strcmp(a->path, b->path);
}

/* Load bias by the first mapping of the object. */
static uint64_t bias_of(const cprof_assembly *a, const struct cp_mapping *m)
{
	struct cp_vaddr v;

	if (a->image && cp_image_vaddr_of_offset(a->image, m->offset, &v))
		return m->start - v.v;
	return m->start - m->offset;
}

cprof_image *engine_image_add(cprof_process *p, cprof_assembly *a, uint64_t start, uint64_t end,
			      uint64_t bias)
{
	cprof_image *image;
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		image = p->images.items[i];
		if (image->assembly == a && image->bias == bias)
			return image;
	}
	image = calloc(1, sizeof(*image));
	if (!image || !cp_vec_push(&p->images, image)) {
		free(image);
		return NULL;
	}
	*image = (cprof_image){
		.process = p, .assembly = a, .start = start, .end = end, .bias = bias
	};
	return image;
}

cprof_image *engine_image_inherit(cprof_process *p, const cprof_image *from)
{
	cprof_image *image =
		engine_image_add(p, from->assembly, from->start, from->end, from->bias);

	if (image && image->last < from->last)
		image->last = from->last;
	return image;
}

void engine_image_forget_sites(cprof_image *image)
{
	uint64_t number, made;
	size_t cursor = 0;

	while (cp_map_next(&image->detoured, &cursor, &number, &made))
		free((void *)(uintptr_t)made);
	cp_map_free(&image->slots);
	cp_map_free(&image->detoured);
	cp_map_free(&image->yielded);
	cp_vec_free(&image->jumps);
	cp_vec_free(&image->chunks);
}

void engine_image_free(cprof_image *image)
{
	cp_map_free(&image->traced);
	engine_image_forget_sites(image);
	free(image);
}

/* The image of an assembly at a place; images of earlier times are kept,
 * because frames and functions may refer to them. */
static cprof_image *image_at(cprof_process *p, cprof_assembly *a, const struct cp_mapping *m)
{
	return engine_image_add(p, a, m->start, m->end, bias_of(a, m));
}

/* Opens the perf map, which may be written long after the first memory for code is
 * there. */
static void open_perf_map(cprof_process *p)
{
	struct cp_perf_map *map = NULL;
	int32_t tid = engine_living_task(p);
	struct stat st = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", tid);
	CP_CLOSE int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d", tid);
	stat(path, &st);
	cp_error_free(cp_perf_map_open(root, p->ns_pid, st.st_uid, &map)); /* most have none */
	if (!map)
		return;
	pthread_mutex_lock(&p->jit->lock);
	p->jit->jit = map;
	pthread_mutex_unlock(&p->jit->lock);
}

static uint64_t area_end(const cprof_process *p, uint64_t address)
{
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *image = p->images.items[i];

		if (image->area == address)
			return address + image->area_size;
		if (image->ready.address == address)
			return address + image->ready.size;
	}
	for (i = 0; i < ENGINE_LATE_AREAS; i++)
		if (p->areas.spare[i].address == address)
			return address + p->areas.spare[i].size;
	for (i = 0; i < p->areas.left.count; i++)
		if (p->areas.left.items[i].address == address)
			return address + p->areas.left.items[i].size;
	return address;
}

/* Is the piece slots of ours, and no code of the program's? Areas may lie side by side. */
static bool is_ours(const cprof_process *p, const struct engine_text *text)
{
	uint64_t at = text->start, end;

	while (at < text->end && (end = area_end(p, at)) > at)
		at = end;
	return at == text->end;
}

/* [vsyscall] is in the mappings of every process. */
static bool is_kernels(const struct engine_text *text)
{
	return text->start >> 63;
}

/* Looks for names of code that was made at run time, where there is some. */
static void look_for_perf_map(cprof_process *p)
{
	const struct engine_text *text;

	if (!p->jit || p->jit->jit)
		return;
	cp_vec_for_each(&p->texts, text)
		if (text->image->assembly == p->jit && !is_kernels(text) && !is_ours(p, text)) {
			open_perf_map(p);
			return;
		}
}

/* Anonymous executable memory: code made at run time. */
static cprof_image *jit_image(cprof_process *p, const struct cp_mapping *m)
{
	cprof_session *s = p->session;
	struct cp_mapping whole = { .path = m->path };

	if (!p->jit) {
		p->jit = engine_assembly_create(s, "[jit]");
		if (!p->jit || !cp_vec_push(&s->jits, p->jit))
			return NULL;
	}
	return image_at(p, p->jit, &whole);
}

static int by_start(const void *a, const void *b)
{
	const struct engine_text *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Does `m` begin another mapping of a whole object? Offset 0 alone does not
 * tell: of a small program, several segments lie in the file's first page. */
static bool begins_image(const struct cp_mapping *m, const struct cp_mapping *before)
{
	return !before || !same_object(before, m) || (m->offset == 0 && m->start != before->end);
}

/* ---- text that was moved ---- */

#define MOVED_PAGE 4096u

/* Does the memory, which no file is mapped to, hold what the object has there? A copy has
 * the breakpoints and jumps in it, so of its first page most. */
static bool holds_text(cprof_process *p, const cprof_assembly *a, uint64_t bias,
		       const struct cp_mapping *m)
{
	const struct cp_vaddr at = { m->start - bias }, last = { m->end - MOVED_PAGE - bias };
	uint8_t file[MOVED_PAGE], memory[MOVED_PAGE];
	size_t size = cp_image_read(a->image, at, file, sizeof(file)), same = 0, i;

	if (!size || !cp_image_read(a->image, last, memory, 1) ||
	    !cp_read_exact(&p->memory, m->start, memory, size))
		return false;
	for (i = 0; i < size; i++)
		same += file[i] == memory[i];
	return same > size / 2;
}

/* Where the object's file has it; false: nowhere. */
static bool offset_in_file(const cprof_assembly *a, uint64_t vaddr, uint64_t *ret)
{
	struct cp_vaddr v;
	uint64_t offset;
	int pages;

	for (pages = 0, offset = vaddr; pages < 64 && offset <= vaddr;
	     pages++, offset -= MOVED_PAGE)
		if (cp_image_vaddr_of_offset(a->image, offset, &v) && v.v == vaddr) {
			*ret = offset;
			return true;
		}
	return false;
}

/* Programs copy their text to memory of their own in its place (for huge pages): it is
 * the object's as before. */
static void adopt_moved(cprof_process *p, struct cp_mapping *maps, size_t count)
{
	const struct cp_mapping *first = NULL, *before = NULL;
	const cprof_assembly *a;
	uint64_t bias, offset;
	size_t i;
	char *path;

	for (i = 0; i < count; i++) {
		struct cp_mapping *m = &maps[i];

		if (is_object(m)) {
			first = begins_image(m, before) ? m : first;
			before = m;
			continue;
		}
		if (!first || !m->executable || m->path[0])
			continue;
		a = assembly_of(p, first);
		bias = a && a->image ? bias_of(a, first) : 0;
		if (!a || !a->image || !holds_text(p, a, bias, m) ||
		    !offset_in_file(a, m->start - bias, &offset) || !(path = strdup(first->path)))
			continue;
		free(m->path);
		m->path = path;
		m->offset = offset;
		m->device = first->device;
		m->inode = first->inode;
		before = m;
	}
}

static void build_texts(cprof_process *p, const struct cp_mapping *maps, size_t count)
{
	const struct cp_mapping *before = NULL;
	cprof_image *image = NULL, *of_text;
	size_t i;

	p->texts.count = 0;
	p->texts_made++;
	for (i = 0; i < count; i++) {
		const struct cp_mapping *m = &maps[i];

		if (is_object(m)) {
			if (begins_image(m, before)) {
				cprof_assembly *a = assembly_of(p, m);

				image = a ? image_at(p, a, m) : NULL;
			}
			before = m;
			if (image && m->end > image->last)
				image->last = m->end;
		}
		if (!m->executable)
			continue;
		of_text = is_object(m) ? image : jit_image(p, m);
		if (of_text &&
		    !cp_vec_push(&p->texts, (struct engine_text){ m->start, m->end, of_text }))
			return;
	}
	qsort(p->texts.items, p->texts.count, sizeof(*p->texts.items), by_start);
}

const struct engine_text *engine_find_text(const cprof_process *p, uint64_t pc)
{
	size_t n = cp_vec_partition(&p->texts, text, text->start <= pc);
	const struct engine_text *text = n ? &p->texts.items[n - 1] : NULL, *made;

	if (!text || pc >= text->end)
		return NULL;
	if (text->image->assembly->image)
		return text;
	engine_each_family(p->session, f, text_at) {
		made = f->text_at(p, pc);
		text = made ? made : text;
	}
	return text;
}

void engine_code_met(cprof_process *p, uint64_t pc)
{
	engine_each_family(p->session, f, met)
		f->met(p, pc);
}

/* ---- call frame information that is not in memory ---- */

static struct cp_image *image_of(const cprof_process *p, uint64_t start)
{
	size_t i;

	for (i = 0; i < p->texts.count; i++) {
		const struct engine_text *text = &p->texts.items[i];

		if (text->image && text->image->start == start)
			return text->image->assembly->image;
	}
	return NULL;
}

/* The door that src/unwind has for files: sections of the object's image. */
static size_t find_sections(void *ctx, const struct cp_unwind_mapping *object,
			    struct cp_unwind_section *ret, size_t max)
{
	static const char *const names[] = { ".eh_frame", ".debug_frame" };
	struct cp_image *image = image_of(ctx, object->start);
	size_t count = 0, i;

	for (i = 0; image && i < CP_ARRAY_SIZE(names) && count < max; i++) {
		struct cp_unwind_section *s = &ret[count];

		if (!cp_image_section(image, names[i], &s->bytes, &s->size, &s->addr))
			continue;
		s->debug_frame = i == 1;
		count++;
	}
	return count;
}

static void set_unwind_mappings(cprof_process *p, const struct cp_mapping *maps, size_t count)
{
	const struct cp_unwind_files files = { find_sections, p };
	CP_VEC(struct cp_unwind_mapping) list = { 0 };
	struct cp_error *err = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct cp_mapping *m = &maps[i];
		struct stat st = { 0 };

		if (m->offset == 0 && m->path[0] == '/' &&
		    (stat(m->path, &st) || st.st_ino != m->inode))
			st = (struct stat){ 0 };
		if (!cp_vec_push(&list,
				 (struct cp_unwind_mapping){
					 .start = m->start,
					 .end = m->end,
					 .file_offset = m->offset,
					 .device = m->device,
					 .inode = m->inode,
					 .mtime_ns = (uint64_t)st.st_mtim.tv_sec * CP_NS_PER_S +
						     (uint64_t)st.st_mtim.tv_nsec,
					 .size = (uint64_t)st.st_size,
					 .path = m->path,
					 .executable = m->executable,
				 }))
			break;
	}
	if (!p->space)
		err = cp_unwind_space_create(cp_arch_host(), &p->code, p->session->unwind_cache,
					     &p->space);
	if (!err)
		cp_unwind_space_set_files(p->space, &files);
	if (!err)
		err = cp_unwind_space_set_mappings(p->space, list.items, list.count);
	if (err)
		cp_debug("unwind: %s", err->what);
	cp_error_free(err);
	cp_vec_free(&list);
}

/* Of what was read last. Many a process comes and goes without a walk. */
struct cp_unwind_space *engine_unwind_space(cprof_process *p)
{
	struct cp_mapping *maps;
	struct cp_error *err = NULL;
	size_t count;

	if (p->space_old) {
		err = cp_mappings_parse(p->maps.bytes, p->maps.size, &maps, &count);
		if (!err) {
			adopt_moved(p, maps, count);
			set_unwind_mappings(p, maps, count);
			cp_mappings_free(maps, count);
		}
	}
	p->space_old = false;
	cp_error_free(err);
	return p->space;
}

/* ---- reading the maps ---- */

static bool read_maps_of(int32_t tid, struct cp_buf *out)
{
	struct cp_error *err;
	char path[64];
	bool whole;

	cp_buf_clear(out);
	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	err = cp_file_read(AT_FDCWD, path, MAPS_MAX, out);
	whole = !err && out->size;
	cp_error_free(err);
	return whole;
}

/* The thread last heard of may have ended meanwhile, as may the leader. */
bool engine_read_maps(const cprof_process *p, struct cp_buf *out)
{
	return read_maps_of(engine_living_task(p), out) || read_maps_of(p->pid, out);
}

static bool use_maps(cprof_process *p)
{
	struct cp_mapping *maps;
	struct cp_error *err;
	size_t count;

	err = cp_mappings_parse(p->maps.bytes, p->maps.size, &maps, &count);
	if (err) {
		cp_debug("maps of %d: %s", p->pid, err->what);
		cp_error_free(err);
		return false;
	}
	if (!p->session->memory_late)
		engine_open_memory(p);
	adopt_moved(p, maps, count);
	build_texts(p, maps, count);
	look_for_perf_map(p);
	p->space_old = true;
	cp_mappings_free(maps, count);
	p->session->above->mapped(p);
	engine_each_family(p->session, f, told)
		f->told(p);
	return true;
}

/* Of a forked process that is gone, or another program, before its maps were read: what it
 * began with. */
static bool maps_of_parent(const cprof_process *p, struct cp_buf *out)
{
	const cprof_process *parent = p->forked ? engine_process(p->session, p->parent) : NULL;

	cp_buf_clear(out);
	if (p->maps_read || !parent || !parent->maps_read || parent->exec_ns > p->start_ns)
		return false;
	cp_buf_add(out, parent->maps.bytes, parent->maps.size);
	return out->size == parent->maps.size;
}

bool engine_refresh_maps(cprof_process *p, uint64_t now, bool force)
{
	uint64_t age = force ? MAPS_FORCED_AGE_NS : MAPS_AGE_NS;
	struct cp_buf fresh = { 0 };

	/* A sample may be told of later than what came after it. */
	if (now < p->maps_ns)
		now = p->maps_ns;
	if (p->maps_read && now - p->maps_ns < age &&
	    (!force || p->maps_forced++ >= MAPS_FORCED_FREE))
		return false;
	p->maps_ns = now;
	if (((!engine_read_maps(p, &fresh) || engine_is_replaced(p)) &&
	     !maps_of_parent(p, &fresh)) ||
	    (fresh.size == p->maps.size && !memcmp(fresh.bytes, p->maps.bytes, fresh.size))) {
		cp_buf_free(&fresh);
		look_for_perf_map(p);
		return false;
	}
	p->maps_read = true;
	cp_buf_free(&p->maps);
	p->maps = fresh;
	return use_maps(p);
}

void engine_maps_look(cprof_process *p)
{
	p->maps_ns = 0;
	engine_refresh_maps(p, cp_now(), true);
	p->arm_again |= !p->maps_read;
}

void engine_forget_maps(cprof_process *p)
{
	cp_unwind_space_destroy(p->space);
	p->space = NULL;
	p->space_old = false;
	cp_buf_free(&p->maps);
	cp_vec_free(&p->texts);
	p->texts_made++;
	cp_interner_free(&p->stacks.walked);
	cp_unwind_paths_destroy(p->stacks.paths);
	p->stacks.paths = NULL;
	p->maps_read = false;
	p->maps_forced = 0;
	cp_close_fd(&p->memory_fd);
	p->memory_fd = -1;
	p->memory_over = false;
	p->jit = NULL;
	engine_each_family(p->session, f, forget)
		f->forget(p);
}

/* ---- queries ---- */

bool engine_is_program(const cprof_image *image)
{
	const char *exe = image->process->exe, *path = image->assembly->path;
	size_t size = strlen(path);

	return exe && !strncmp(exe, path, size) &&
	       (!exe[size] || !strcmp(exe + size, " (deleted)"));
}

const char *engine_started_as(const cprof_process *process)
{
	cprof_process *p = (cprof_process *)(uintptr_t)process;

	if (!p->started_known && engine_open_memory(p))
		p->started_as = cp_started_as(engine_living_task(p), p->exe, &p->auxv, &p->memory);
	p->started_known = true;
	return p->started_as;
}

const char *engine_image_started_as(const cprof_image *image)
{
	return engine_is_program(image) ? engine_started_as(image->process) : NULL;
}

const char *cprof_image_name(const cprof_image *image)
{
	const char *started_as = image ? engine_image_started_as(image) : NULL;

	return cp_basename(started_as ? started_as : cprof_image_path(image));
}

const char *cprof_image_path(const cprof_image *image)
{
	return cprof_assembly_path(cprof_image_assembly(image));
}

const char *cprof_image_build_id(const cprof_image *image)
{
	return cprof_assembly_build_id(cprof_image_assembly(image));
}

cprof_addr cprof_image_base(const cprof_image *image)
{
	return image ? image->bias : 0;
}

uint64_t cprof_image_size(const cprof_image *image)
{
	if (!image)
		return 0;
	return (image->last > image->end ? image->last : image->end) - image->start;
}

cprof_assembly *cprof_image_assembly(const cprof_image *image)
{
	return image ? image->assembly : NULL;
}

const char *cprof_assembly_path(const cprof_assembly *a)
{
	return a ? a->path : "";
}

const char *cprof_assembly_build_id(const cprof_assembly *a)
{
	return a && a->image ? cp_image_build_id(a->image) : "";
}

const char *cprof_assembly_debug_path(cprof_assembly *a)
{
	return a && a->image ? cp_image_debug_path(a->image) : "";
}

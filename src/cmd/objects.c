/* SPDX-License-Identifier: MIT */
#include "cmd/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/startedas.h"
#include "base/text.h"

#define MAX_MAPS (64u << 20)

#define AT(field) offsetof(struct cp_symbols_options, field)

const struct cp_option cp_symbols_options[] = {
	{ "debug-dir", 0, CP_OPTION_TEXTS, AT(debug_dirs), .value = "DIR",
	  .completes = CP_COMPLETES_DIRECTORIES,
	  .help = "look for separate debug files here, before the usual places" },
	{ "no-debuginfod", 0, CP_OPTION_FALSE, AT(debuginfod.ask),
	  .help = "never ask a debuginfod server, even where DEBUGINFOD_URLS names one" },
	{ 0 }
};

struct cp_image_options cp_symbols_image(struct cp_symbols_options *options)
{
	return (struct cp_image_options){
		.debug_dirs = (const char *const *)options->debug_dirs.items,
		.debuginfod = &options->debuginfod,
	};
}

static bool push(struct cp_objects *to, const char *path, const char *started_as,
		 struct cp_image *image, bool program, uint64_t bias)
{
	struct cp_object o = { .path = strdup(path),
			       .started_as = started_as ? strdup(started_as) : NULL,
			       .image = image,
			       .program = program,
			       .bias = bias };

	if (o.path && (o.started_as || !started_as) && cp_vec_push(&to->list, o))
		return true;
	free(o.path);
	free(o.started_as);
	cp_image_destroy(image);
	return false;
}

/* ---- a file ---- */

/* The first such program in PATH, malloc()ed; NULL: none. */
static char *find_in_path(const char *name)
{
	const char *list = getenv("PATH");
	char *path;
	size_t n;

	for (; list && *list; list += n + !!list[n]) {
		n = strcspn(list, ":");
		if (asprintf(&path, "%.*s/%s", (int)n, list, name) < 0)
			return NULL;
		if (n && !access(path, X_OK))
			return path;
		free(path);
	}
	return NULL;
}

CP_ERROR cp_objects_file(const char *path, const struct cp_image_options *options,
			 struct cp_objects *ret)
{
	CP_FREE char *found = NULL, *real = NULL;
	struct cp_image *image = NULL;

	if (!strchr(path, '/') && access(path, F_OK) != 0)
		found = find_in_path(path);
	path = found ? found : path;
	CP_TRY(cp_image_open_file(path, options, &image));
	real = realpath(path, NULL);
	if (!real || !strcmp(cp_basename(real), cp_basename(path)))
		return push(ret, path, NULL, image, true, 0) ? NULL : cp_error_nomem();
	return push(ret, real, path, image, true, 0) ? NULL : cp_error_nomem();
}

/* ---- a process ---- */

struct process {
	pid_t pid;
	int root_fd;
	char exe[PATH_MAX]; /* "" when it can't be told */
	char *started_as; /* owned */
	const struct cp_image_options *options;
	struct cp_objects *to;
};

static CP_ERROR open_mapping(struct process *p, const struct cp_mapping *m, bool program)
{
	struct cp_image_source source = {
		.path = m->path,
		.root_fd = p->root_fd,
		.pid = p->pid,
		.map_start = m->start,
		.map_end = m->end,
		.device = m->device,
		.inode = m->inode,
		.load_address = m->start - m->offset,
	};
	struct cp_image *image = NULL;
	struct cp_error *err;
	struct cp_vaddr v;
	uint64_t bias;

	err = cp_image_open(&source, p->options, &image);
	if (err && program)
		return err;
	if (err) { /* a file that is mapped is not always an ELF file */
		cp_debug("functions: %s", err->what);
		cp_error_free(err);
		return NULL;
	}
	bias = m->start - m->offset;
	if (cp_image_vaddr_of_offset(image, m->offset, &v))
		bias = m->start - v.v;
	return push(p->to, m->path, program ? p->started_as : NULL, image, program, bias)
		       ? NULL
		       : cp_error_nomem();
}

static bool is_known(const struct cp_objects *objects, const char *path)
{
	const struct cp_object *o;

	cp_vec_for_each(&objects->list, o) {
		if (!strcmp(o->path, path))
			return true;
	}
	return false;
}

/* True when the file of mapping `first` has an executable one. */
static bool has_code(const struct cp_mapping *maps, size_t count, size_t first)
{
	size_t i;

	for (i = first; i < count; i++) {
		if (maps[i].executable && maps[i].inode == maps[first].inode &&
		    !strcmp(maps[i].path, maps[first].path))
			return true;
	}
	return false;
}

static CP_ERROR open_mappings(struct process *p, const struct cp_mapping *maps, size_t count,
			      cp_object_wanted_fn wanted, void *ctx)
{
	bool program;
	size_t i;

	for (i = 0; i < count; i++) {
		program = !strcmp(maps[i].path, p->exe);
		if (maps[i].path[0] != '/' || is_known(p->to, maps[i].path) ||
		    !wanted(ctx, maps[i].path, program ? p->started_as : NULL, program) ||
		    !has_code(maps, count, i))
			continue;
		CP_TRY(open_mapping(p, &maps[i], program));
	}
	return NULL;
}

static void read_exe(struct process *p)
{
	static const char deleted[] = " (deleted)";
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", p->pid);
	n = readlink(link, p->exe, sizeof(p->exe) - 1);
	p->exe[n > 0 ? n : 0] = 0;
	if (cp_ends_with(p->exe, deleted))
		p->exe[strlen(p->exe) - strlen(deleted)] = 0;
}

struct cp_error *cp_objects_gone(pid_t pid)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const char *state = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	cp_error_free(cp_file_read(AT_FDCWD, path, MAX_MAPS, &text));
	cp_buf_u8(&text, 0);
	if (!text.failed)
		state = strstr((const char *)text.bytes, "\nState:\t");
	if (!state)
		return cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no process %d", (int)pid);
	if (state[strlen("\nState:\t")] == 'Z')
		return cp_error_new(CP_ERR_GONE, 0, "process %d is a zombie: it has ended",
				    (int)pid);
	return cp_error_new(CP_ERR_UNSUPPORTED, 0,
			    "process %d has no program: it is a thread of the kernel, or is ending",
			    (int)pid);
}

CP_ERROR cp_objects_process(pid_t pid, const struct cp_image_options *options,
			    cp_object_wanted_fn wanted, void *ctx, struct cp_objects *ret)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct process p = { .pid = pid, .options = options, .to = ret };
	struct cp_mapping *maps = NULL;
	struct cp_error *err;
	size_t count = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	err = cp_file_read(AT_FDCWD, path, MAX_MAPS, &text);
	if (!text.size && (!err || err->errnum == ENOENT || err->errnum == ESRCH)) {
		cp_error_free(err);
		err = cp_objects_gone(pid);
	}
	if (!err)
		err = cp_mappings_parse(text.bytes, text.size, &maps, &count);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	CP_CLOSE int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	p.root_fd = root;
	read_exe(&p);
	p.started_as = cp_started_as_pid(pid, p.exe);
	err = open_mappings(&p, maps, count, wanted, ctx);
	free(p.started_as);
	cp_mappings_free(maps, count);
	return err;
}

/* ---- a core ---- */

static CP_ERROR open_core_file(const struct cp_core *core, const struct cp_core_file *f,
			       const struct cp_image_options *options, struct cp_objects *to)
{
	struct cp_image *image = NULL;
	struct cp_error *err = cp_image_open_file(f->path, options, &image);
	uint64_t bias = f->start - f->offset;
	struct cp_vaddr v;
	bool replaced;

	if (err && f->program)
		return err;
	if (err) { /* fonts, locales, what is gone */
		cp_debug("core: %s", err->what);
		cp_error_free(err);
		return NULL;
	}
	if (cp_image_vaddr_of_offset(image, f->offset, &v))
		bias = f->start - v.v;
	replaced = !f->offset && !cp_core_has_mapped(core, f, cp_image_build_id(image));
	if (!push(to, f->path, NULL, image, f->program, bias))
		return cp_error_nomem();
	to->list.items[to->list.count - 1].replaced = replaced;
	return NULL;
}

CP_ERROR cp_objects_core(const struct cp_core *core, const struct cp_image_options *options,
			 struct cp_objects *ret)
{
	const struct cp_core_file *f, *other;
	struct cp_core_file whole;

	cp_vec_for_each(&core->files, f) {
		if (is_known(ret, f->path))
			continue;
		whole = *f;
		cp_vec_for_each(&core->files, other)
			whole.program |= other->program && !strcmp(other->path, f->path);
		CP_TRY(open_core_file(core, &whole, options, ret));
	}
	return NULL;
}

void cp_objects_free(struct cp_objects *objects)
{
	struct cp_object *o;

	cp_vec_for_each(&objects->list, o) {
		free(o->path);
		free(o->started_as);
		cp_image_destroy(o->image);
	}
	cp_vec_free(&objects->list);
}

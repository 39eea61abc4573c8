/* SPDX-License-Identifier: MIT */
#include "engine/api/module.h"

#include <cprof/module.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "base/types.h"
#include "engine/api/builtins.h"
#include "image/elffile.h"
#include "image/notes.h"
#include "probe/ldcache.h"

#define MAX_NAME 64
#define MAX_SUMMARY 200
#define PREFIX "libcprof-profiler-"
#define INIT "cprof_profiler_init_"

/* ---- what a file says ---- */

static bool take_note(void *ctx, const struct cp_elf_note *note)
{
	struct cp_module_file *file = ctx;
	uint32_t version;

	if (note->name_size != sizeof(CPROF_PROFILER_NOTE_NAME) ||
	    memcmp(note->name, CPROF_PROFILER_NOTE_NAME, note->name_size) != 0)
		return true;
	if (note->type == CPROF_PROFILER_NOTE_TYPE && note->desc_size == sizeof(version)) {
		memcpy(&version, note->desc, sizeof(version));
		if (!file->has_version || file->version == CPROF_PROFILER_API_VERSION)
			file->version = version;
		file->has_version = true;
	} else if (note->type == CPROF_PROFILER_SUMMARY_NOTE_TYPE && !file->summary) {
		size_t size =
			strnlen((const char *)note->desc,
				note->desc_size < MAX_SUMMARY ? note->desc_size : MAX_SUMMARY);

		file->summary = calloc(1, size + 1);
		if (file->summary)
			memcpy(file->summary, note->desc, size);
	}
	return true;
}

/* Has the file all bytes of its segments? The dynamic linker would map them, and a
 * missing page is SIGBUS. */
static bool is_whole(const struct cp_elf *elf)
{
	size_t i;

	for (i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_LOAD &&
		    (elf->segments[i].p_offset > elf->size ||
		     elf->segments[i].p_filesz > elf->size - elf->segments[i].p_offset))
			return false;
	return elf->segment_count > 0;
}

static struct cp_error *check_file(const struct cp_elf *elf, const char *path)
{
	if (elf->type != ET_DYN || elf->machine != cp_arch_host()->e_machine || !elf->is_64bit)
		return cp_error_new(CP_ERR_FORMAT, 0, "%s is not a shared library for this machine",
				    path);
	return is_whole(elf) ? NULL : cp_error_new(CP_ERR_FORMAT, 0, "%s is cut off", path);
}

struct cp_error *cp_module_read(const char *path, struct cp_module_file *ret)
{
	struct cp_error *err;
	struct cp_elf *elf;
	int fd;

	*ret = (struct cp_module_file){ 0 };
	CP_TRY(cp_file_open_regular(-1, path, &fd));
	CP_TRY(cp_elf_open_fd(fd, path, &elf));
	err = check_file(elf, path);
	if (!err)
		cp_elf_each_note(elf, take_note, ret);
	cp_elf_destroy(elf);
	return err;
}

void cp_module_file_free(struct cp_module_file *file)
{
	free(file->summary);
	*file = (struct cp_module_file){ 0 };
}

struct cp_error *cp_module_judge(const char *path, const struct cp_module_file *file)
{
	if (!file->has_version)
		return cp_error_hint(
			cp_error_new(
				CP_ERR_UNSUPPORTED, 0,
				"%s was not loaded: it carries no version of the profiler API, "
				"and this cprof has version %d",
				path, CPROF_PROFILER_API_VERSION),
			"a profiler module is built with #include <cprof/cprof.h>");
	if (file->version == CPROF_PROFILER_API_VERSION)
		return NULL;
	return cp_error_hint(cp_error_new(CP_ERR_UNSUPPORTED, 0,
					  "%s was not loaded: it was built against version %u of "
					  "the profiler API, and this cprof has version %d",
					  path, file->version, CPROF_PROFILER_API_VERSION),
			     file->version < CPROF_PROFILER_API_VERSION
				     ? "build it anew with the headers of this cprof"
				     : "it needs a newer cprof");
}

/* ---- places ---- */

static bool add_place(struct cp_module_places *to, const char *directory, size_t size,
		      const char *by)
{
	char *copy = size ? strndup(directory, size) : strdup(".");
	size_t i;

	for (i = 0; copy && i < to->list.count; i++) {
		if (!strcmp(to->list.items[i].directory, copy)) {
			free(copy);
			return true;
		}
	}
	if (copy && cp_vec_push(&to->list, (struct cp_module_place){ copy, by }))
		return true;
	free(copy);
	return false;
}

static bool add_list(struct cp_module_places *to, const char *list, const char *by)
{
	bool good = true;

	while (list && *list && good) {
		size_t n = strcspn(list, ":");

		good = !n || add_place(to, list, n, by);
		list += n + !!list[n];
	}
	return good;
}

/* Adds where the dynamic linker looks, but for its cache: LD_LIBRARY_PATH, the
 * executable's own paths, the system's directories. */
static bool add_linker(struct cp_module_places *to)
{
	void *self = dlopen(NULL, RTLD_NOW);
	CP_FREE Dl_serinfo *info = NULL;
	Dl_serinfo size;
	bool good = true;
	unsigned i;

	if (!self)
		return true;
	if (!dlinfo(self, RTLD_DI_SERINFOSIZE, &size)) {
		info = calloc(1, size.dls_size);
		if (info && !dlinfo(self, RTLD_DI_SERINFOSIZE, info) &&
		    !dlinfo(self, RTLD_DI_SERINFO, info))
			for (i = 0; i < info->dls_cnt && good; i++)
				good = add_place(to, info->dls_serpath[i].dls_name,
						 strlen(info->dls_serpath[i].dls_name),
						 "the dynamic linker's");
	}
	dlclose(self);
	return good;
}

bool cp_module_places_find(const char *const *dirs, struct cp_module_places *ret)
{
	bool good = true;

	*ret = (struct cp_module_places){ 0 };
	for (; dirs && *dirs && good; dirs++)
		good = add_place(ret, *dirs, strlen(*dirs), "--plugin-dir");
	good = good && add_list(ret, getenv("CPROF_PLUGIN_PATH"), "CPROF_PLUGIN_PATH") &&
	       add_place(ret, CP_PLUGIN_DIR, strlen(CP_PLUGIN_DIR), "installed") && add_linker(ret);
	if (!good)
		cp_module_places_free(ret);
	return good;
}

void cp_module_places_free(struct cp_module_places *places)
{
	size_t i;

	for (i = 0; i < places->list.count; i++)
		free(places->list.items[i].directory);
	cp_vec_free(&places->list);
}

/* ---- names ---- */

struct cp_error *cp_module_check_name(const char *name, size_t size)
{
	size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_");
	struct cp_buf shown CP_CLEANUP(cp_buf_free) = { 0 };

	if (size && good >= size && size <= MAX_NAME)
		return NULL;
	if (!size)
		return cp_error_new(CP_ERR_USAGE, 0, "a profiler has a name: NAME or NAME:ARGS");
	cp_escape(&shown, CP_ESCAPE_TERMINAL, name, size < MAX_NAME ? size : MAX_NAME);
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "'%s' can't be the name of a profiler: it has letters, "
					  "digits and _, at most %d of them",
					  shown.bytes ? shown.bytes : "", MAX_NAME),
			     "--plugin-dir=DIR says where its file %sNAME.so is", PREFIX);
}

/* Why a place that the user named has no such module, where there is more to say than
 * that. */
static const char *why_not(const struct cp_module_place *p, const char *path)
{
	struct stat st;

	if (strcmp(p->by, "--plugin-dir") != 0 && strcmp(p->by, "CPROF_PLUGIN_PATH") != 0)
		return "";
	if (!lstat(path, &st))
		return ": a link that leads nowhere";
	if (errno == EACCES)
		return ": permission denied";
	return stat(p->directory, &st) ? ": there is no such directory" : "";
}

static struct cp_error *not_found(const struct cp_module_places *places, const char *name)
{
	struct cp_buf hint CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_module_place *p;
	const struct cp_builtin *b;

	cp_buf_str(&hint, "looked for:\n  the built-in ones:");
	for (b = cp_builtins; b->name; b++)
		cp_buf_printf(&hint, " %s", b->name);
	cp_buf_printf(&hint, "\n  %s%s in the running executable", INIT, name);
	cp_vec_for_each(&places->list, p) {
		CP_FREE char *path = NULL;

		if (asprintf(&path, "%s/%s%s.so", p->directory, PREFIX, name) < 0)
			return cp_error_nomem();
		cp_buf_printf(&hint, "\n  %s  (%s)%s", path, p->by, why_not(p, path));
	}
	cp_buf_printf(&hint, "\n  %s%s.so  (/etc/ld.so.cache)", PREFIX, name);
	return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0, "there is no profiler named '%s'",
					  name),
			     "%s", hint.bytes ? hint.bytes : "");
}

/* The first file of that name counts, whatever is in it. */
struct cp_error *cp_module_find(const char *const *dirs, const char *name, char **path_ret)
{
	struct cp_module_places places;
	const struct cp_module_place *p;
	struct cp_ldcache cache = { 0 };
	struct cp_error *err = NULL;
	char file[sizeof(PREFIX) + MAX_NAME + sizeof(".so")], *path = NULL;

	snprintf(file, sizeof(file), "%s%s.so", PREFIX, name);
	if (!cp_module_places_find(dirs, &places))
		return cp_error_nomem();
	cp_vec_for_each(&places.list, p) {
		if (asprintf(&path, "%s/%s", p->directory, file) < 0) {
			path = NULL;
			break;
		}
		if (!access(path, F_OK))
			break;
		free(cp_steal(path));
	}
	if (!path) {
		path = cp_ldcache_find(&cache, file, cp_arch_host()->e_machine);
		cp_ldcache_free(&cache);
	}
	if (!path)
		err = not_found(&places, name);
	else
		*path_ret = path;
	cp_module_places_free(&places);
	return err;
}

/* ---- loading ---- */

static cp_module_init_fn find_init(void *handle, const char *name)
{
	char symbol[sizeof(INIT) + MAX_NAME];
	cp_module_init_fn init = NULL;
	void *found;

	snprintf(symbol, sizeof(symbol), "%s%s", INIT, name);
	found = dlsym(handle, symbol);
	memcpy(&init, &found, sizeof(init));
	return init;
}

cp_module_init_fn cp_module_embedded(const char *name)
{
	return find_init(RTLD_DEFAULT, name);
}

struct cp_error *cp_module_open(const char *path, const char *name, cp_module_init_fn *init_ret)
{
	struct cp_module_file file;
	struct cp_error *err;
	const char *why;
	void *handle;

	CP_TRY(cp_module_read(path, &file));
	err = cp_module_judge(path, &file);
	cp_module_file_free(&file);
	if (err)
		return err;
	/* RTLD_NOW: no callback shall find out later that a function is missing. */
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		why = dlerror();
		return cp_error_new(CP_ERR_FORMAT, 0, "%s was not loaded: %s", path,
				    why ? why : "the dynamic linker does not say why");
	}
	*init_ret = find_init(handle, name);
	if (*init_ret)
		return NULL;
	dlclose(handle);
	return cp_error_hint(cp_error_new(CP_ERR_FORMAT, 0,
					  "%s is no profiler named '%s': it has no function %s%s",
					  path, name, INIT, name),
			     "the name of the file and that of CPROF_PROFILER_INIT(%s) are to be "
			     "the same",
			     name);
}

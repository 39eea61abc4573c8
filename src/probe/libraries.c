/* SPDX-License-Identifier: MIT */
#include "probe/libraries.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "base/types.h"
#include "image/elfsymbols.h"
#include "probe/ldcache.h"

#define MAX_DYNAMIC 4096 /* entries */
#define MAX_STRINGS (UINT64_C(64) << 20)
#define MAX_SCRIPTS 4 /* a script's interpreter may be a script */

struct search {
	struct cp_libraries *to;
	struct cp_ldcache cache;
	uint16_t machine;
};

/* A file's dynamic section, as far as it is read. */
struct dynamic {
	const struct cp_elf *elf;
	char *strings; /* owned, with a NUL behind */
	uint64_t strings_at, strings_size, rpath, runpath;
	CP_VEC(uint64_t) needed;
};

/* ---- one file ---- */

/* Opens a file of the machine; NULL when it is none. */
static struct cp_elf *open_elf(const char *path, uint16_t machine)
{
	struct cp_elf *elf = NULL;
	struct cp_error *err;
	int fd = -1;

	err = cp_file_open_regular(-1, path, &fd);
	if (!err)
		err = cp_elf_open_fd(fd, path, &elf);
	cp_error_free(err);
	if (err)
		return NULL;
	if (elf->is_64bit && (!machine || elf->machine == machine))
		return elf;
	cp_elf_destroy(elf);
	return NULL;
}

static const Elf64_Phdr *segment(const struct cp_elf *elf, uint32_t type)
{
	size_t i;

	for (i = 0; i < elf->segment_count; i++) {
		if (elf->segments[i].p_type == type)
			return &elf->segments[i];
	}
	return NULL;
}

static bool note(struct dynamic *d, const Elf64_Dyn *dyn)
{
	switch (dyn->d_tag) {
	case DT_NEEDED:
		return cp_vec_push(&d->needed, dyn->d_un.d_val);
	case DT_STRTAB:
		d->strings_at = dyn->d_un.d_ptr;
		break;
	case DT_STRSZ:
		d->strings_size = dyn->d_un.d_val;
		break;
	case DT_RPATH:
		d->rpath = dyn->d_un.d_val;
		break;
	case DT_RUNPATH:
		d->runpath = dyn->d_un.d_val;
		break;
	default:
		break;
	}
	return true;
}

/* Reads the dynamic section. False when there is none, or it makes no sense. */
static bool read_dynamic(struct dynamic *d)
{
	const Elf64_Phdr *at = segment(d->elf, PT_DYNAMIC), *p;
	Elf64_Dyn dyn;
	unsigned i;

	for (i = 0; at && i < MAX_DYNAMIC; i++) {
		if (!cp_elf_read(d->elf, at->p_offset + i * sizeof(dyn), &dyn, sizeof(dyn)) ||
		    dyn.d_tag == DT_NULL)
			break;
		if (!note(d, &dyn))
			return false;
	}
	p = at ? cp_elf_segment_at(d->elf, d->strings_at) : NULL;
	if (!p || d->strings_size > MAX_STRINGS || d->strings_size > d->elf->size)
		return false;
	d->strings = calloc(1, d->strings_size + 1);
	return d->strings && cp_elf_read(d->elf, p->p_offset + (d->strings_at - p->p_vaddr),
					 d->strings, d->strings_size);
}

static const char *string(const struct dynamic *d, uint64_t offset)
{
	return offset && offset < d->strings_size ? d->strings + offset : NULL;
}

/* ---- imports ---- */

static void look_at_import(struct cp_libraries *to, const char *name)
{
	static const char *const loading[] = { "dlopen", "dlmopen", "__libc_dlopen_mode", NULL };
	static const char *const starting[] = { "execve",	"execv",       "execvp", "execvpe",
						"execl",	"execle",      "execlp", "fexecve",
						"execveat",	"posix_spawn", "system", "popen",
						"posix_spawnp", "wordexp",     NULL };

	to->may_load |= cp_is_any(name, loading);
	to->may_start |= cp_is_any(name, starting);
}

static void look_at_imports(struct cp_libraries *to, struct cp_elf *elf)
{
	struct cp_elf_symbols symbols;
	const char *name;
	Elf64_Sym sym;
	size_t i;

	if (!cp_elf_symbols(elf, cp_elf_symbol_section(elf, SHT_DYNSYM), &symbols)) {
		to->may_load = to->may_start = true; /* nobody knows */
		return;
	}
	for (i = 1; i < symbols.count; i++) {
		name = cp_elf_symbol(&symbols, i, &sym);
		if (name && sym.st_shndx == SHN_UNDEF)
			look_at_import(to, name);
	}
}

/* ---- where libraries are ---- */

/* A directory of a search path, with $ORIGIN replaced; false: one that only
 * the dynamic linker understands. */
static bool expand(const char *from, size_t size, const char *loader, struct cp_buf *out)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	CP_FREE char *real = NULL;
	size_t i, n;
	char *slash;

	for (i = 0; i < CP_ARRAY_SIZE(origins); i++) {
		n = strlen(origins[i]);
		if (size < n || strncmp(from, origins[i], n) != 0)
			continue;
		real = realpath(loader, NULL);
		slash = real ? strrchr(real, '/') : NULL;
		if (!slash)
			return false;
		cp_buf_add(out, real, (size_t)(slash - real));
		from += n;
		size -= n;
		break;
	}
	if (memchr(from, '$', size))
		return false;
	cp_buf_add(out, from, size);
	return !out->failed;
}

/* Tries NAME in one directory; the path when it is there, malloc()ed. */
static char *try_in(const struct search *s, const char *directory, size_t size, const char *loader,
		    const char *name)
{
	struct cp_buf path CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_elf *elf;

	if (!expand(directory, size, loader, &path))
		return NULL;
	if (path.size)
		cp_buf_u8(&path, '/');
	cp_buf_str(&path, name);
	elf = path.failed || path.size > PATH_MAX ? NULL : open_elf(path.bytes, s->machine);
	if (!elf)
		return NULL;
	cp_elf_destroy(elf);
	return strdup(path.bytes);
}

/* A list of directories, with colons (or semicolons) between. */
static char *try_list(const struct search *s, const char *list, const char *loader,
		      const char *name)
{
	char *found = NULL;
	size_t n;

	while (list && *list && !found) {
		n = strcspn(list, ":;");
		found = try_in(s, list, n, loader, name);
		list += n + !!list[n];
	}
	return found;
}

/* Looks for a library by the RPATHs of those who load it, up to the program; one
 * that has a RUNPATH has no RPATH. */
static char *try_rpaths(const struct search *s, size_t loader, const char *name)
{
	const struct cp_library *l;
	char *found = NULL;
	size_t steps;

	if (s->to->list.items[loader].runpath)
		return NULL;
	for (steps = 0; steps < CP_LIBRARIES_MAX && !found; steps++) {
		l = &s->to->list.items[loader];
		if (!l->runpath)
			found = try_list(s, l->rpath, l->path, name);
		if (l->loader == loader)
			break;
		loader = l->loader;
	}
	return found;
}

static char *find(struct search *s, size_t loader, const char *name)
{
	static const char usual[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
				    "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
				    "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";
	const struct cp_library *l = &s->to->list.items[loader];
	char *found;

	if (strchr(name, '/'))
		return try_in(s, "", 0, l->path, name);
	found = try_rpaths(s, loader, name);
	if (!found)
		found = try_list(s, getenv("LD_LIBRARY_PATH"), l->path, name);
	if (!found)
		found = try_list(s, s->to->list.items[loader].runpath, l->path, name);
	if (!found)
		found = cp_ldcache_find(&s->cache, name, s->machine);
	return found ? found : try_list(s, usual, l->path, name);
}

/* ---- all of them ---- */

/* `path` is taken over. */
static bool add(struct search *s, char *path, size_t loader)
{
	size_t i;

	for (i = 0; path && i < s->to->list.count; i++) {
		if (!strcmp(s->to->list.items[i].path, path)) {
			free(path);
			return true;
		}
	}
	if (!path || s->to->list.count >= CP_LIBRARIES_MAX) {
		s->to->missing = true;
		free(path);
		return true;
	}
	if (cp_vec_push(&s->to->list, (struct cp_library){ path, NULL, NULL, loader }))
		return true;
	free(path);
	return false;
}

static bool add_named(struct search *s, size_t loader, const char *name)
{
	/* "linux-vdso.so.1" and the like are never in DT_NEEDED. */
	return !name || !*name || add(s, find(s, loader, name), loader);
}

/* The dynamic linker itself is an image too. */
static bool add_interpreter(struct search *s, const struct cp_elf *elf, size_t number)
{
	const Elf64_Phdr *p = segment(elf, PT_INTERP);
	char path[PATH_MAX] = { 0 };

	if (!p || p->p_filesz >= sizeof(path) ||
	    !cp_elf_read(elf, p->p_offset, path, p->p_filesz) || access(path, R_OK) != 0)
		return true;
	return add(s, strdup(path), number);
}

/* LD_PRELOAD: names with blanks or colons between. */
static bool add_preloaded(struct search *s)
{
	const char *list = getenv("LD_PRELOAD");
	bool ok = true;
	char *name;
	size_t n;

	for (; ok && list && *list; list += n + !!list[n]) {
		n = strcspn(list, ": ");
		name = strndup(list, n);
		ok = name && add_named(s, 0, name);
		free(name);
	}
	return ok;
}

/* Reads what file `number` of the list says of others. False without memory. */
static bool read_file(struct search *s, size_t number)
{
	struct cp_libraries *to = s->to;
	struct cp_elf *elf = open_elf(to->list.items[number].path, s->machine);
	struct dynamic d = { .elf = elf };
	const char *text;
	bool ok = true;
	size_t i;

	if (!elf) {
		to->missing = true;
		return true;
	}
	s->machine = elf->machine;
	if (read_dynamic(&d)) {
		text = string(&d, d.rpath);
		to->list.items[number].rpath = text ? strdup(text) : NULL;
		text = string(&d, d.runpath);
		to->list.items[number].runpath = text ? strdup(text) : NULL;
		look_at_imports(to, elf);
		if (!number)
			ok = add_interpreter(s, elf, number) && add_preloaded(s);
		for (i = 0; ok && i < d.needed.count; i++)
			ok = add_named(s, number, string(&d, d.needed.items[i]));
	} else if (!segment(elf, PT_DYNAMIC) && !number) {
		to->is_static = true;
	} else if (number == 0) {
		to->missing = true;
	}
	free(d.strings);
	cp_vec_free(&d.needed);
	cp_elf_destroy(elf);
	return ok;
}

/* The file that the kernel would execute for `path`: of a script, its interpreter. */
static char *executed(const char *path)
{
	char *now = strdup(path), line[256], *word;
	unsigned i;
	size_t n;
	int fd;

	for (i = 0; now && i < MAX_SCRIPTS; i++) {
		struct cp_error *err = cp_file_open_regular(-1, now, &fd);

		if (err) {
			cp_error_free(err);
			break;
		}
		n = cp_pread(fd, line, sizeof(line) - 1, 0);
		close(fd);
		line[n] = 0;
		if (n < 2 || line[0] != '#' || line[1] != '!')
			break;
		word = line + 2 + strspn(line + 2, " \t");
		word[strcspn(word, " \t\n")] = 0;
		free(now);
		now = strdup(word);
	}
	return now;
}

CP_ERROR cp_libraries_find(const char *path, struct cp_libraries *ret)
{
	struct cp_libraries found = { 0 };
	struct search s = { .to = &found };
	char *program = executed(path);
	bool ok = program && add(&s, program, 0);
	size_t i;

	for (i = 0; ok && i < found.list.count; i++)
		ok = read_file(&s, i);
	cp_ldcache_free(&s.cache);
	if (!ok) {
		cp_libraries_free(&found);
		return cp_error_nomem();
	}
	*ret = found;
	return NULL;
}

void cp_libraries_free(struct cp_libraries *libraries)
{
	struct cp_library *l;

	cp_vec_for_each(&libraries->list, l) {
		free(l->path);
		free(l->runpath);
		free(l->rpath);
	}
	cp_vec_free(&libraries->list);
	*libraries = (struct cp_libraries){ 0 };
}

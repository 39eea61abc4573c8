/* SPDX-License-Identifier: MIT
 *
 * The other files of an image. Where one may be, for a program /usr/bin/p
 * with build-id 12ab... and a debuglink that names p.debug:
 *
 *     DIR/.build-id/12/ab....debug             for each debug directory
 *     /usr/bin/p.debug  /usr/bin/.debug/p.debug  DIR/usr/bin/p.debug
 *     /usr/bin/p.dwp  DIR/usr/bin/p.dwp        split DWARF, packed; and beside p.debug
 *
 * first below the root of the process, then on this machine. A debuglink is
 * a base name, never a path. A file counts only when it carries the same
 * build-id; without one, when its checksum is what the debuglink says. Packages
 * have neither: their units have ids.
 */
#include "image/debugfile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "image/inflate.h"

#define MAX_CHECKSUMMED (UINT64_C(4) << 30)
#define MAX_MINI (UINT64_C(256) << 20)
#define MAX_LINK 4096

/* A file that is wanted. */
struct wanted {
	const struct cp_image *image;
	const uint8_t *build_id; /* or none: */
	size_t build_id_size;
	bool has_crc;
	uint32_t crc;
};

static bool checksum_is(int fd, uint64_t size, uint32_t want)
{
	uLong crc = crc32(0, NULL, 0);
	uint8_t chunk[65536];
	uint64_t at;
	size_t n;

	if (size > MAX_CHECKSUMMED)
		return false;
	for (at = 0; at < size; at += n) {
		n = cp_pread(fd, chunk, sizeof(chunk), at);
		if (!n)
			return false;
		crc = crc32(crc, chunk, (uInt)n);
	}
	return crc == want;
}

static bool matches(const struct wanted *w, const struct cp_elf *elf)
{
	if (w->build_id_size && elf->build_id_size)
		return w->build_id_size == elf->build_id_size &&
		       !memcmp(w->build_id, elf->build_id, elf->build_id_size);
	return w->has_crc && checksum_is(elf->fd, elf->size, w->crc);
}

static struct cp_elf *try_in(int root_fd, const char *path, const struct wanted *w)
{
	struct cp_elf *elf = NULL;
	int fd = -1;

	cp_error_free(cp_file_open_regular(root_fd, path, &fd));
	if (fd < 0)
		return NULL;
	cp_error_free(cp_elf_open_fd(fd, path, &elf));
	if (elf && matches(w, elf))
		return elf;
	cp_elf_destroy(elf);
	return NULL;
}

/* Below the process's root, then here. */
static struct cp_elf *try(const char *path, const struct wanted *w)
{
	struct cp_elf *elf = NULL;

	if (w->image->root_fd >= 0)
		elf = try_in(w->image->root_fd, path, w);
	return elf ? elf : try_in(-1, path, w);
}

/* *path_ret, when given, gets the path where it was: owned by the caller. */
static struct cp_elf *try_format(const struct wanted *w, char **path_ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static struct cp_elf *try_format(const struct wanted *w, char **path_ret, const char *format, ...)
{
	CP_FREE char *path = NULL;
	struct cp_elf *elf;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&path, format, ap);
	va_end(ap);
	if (n < 0) {
		path = NULL;
		return NULL;
	}
	elf = try(path, w);
	if (elf && path_ret)
		*path_ret = cp_steal(path);
	return elf;
}

static struct cp_elf *by_build_id(const struct wanted *w, char **path_ret)
{
	char hex[2 * CP_BUILD_ID_MAX + 1] = "";
	struct cp_elf *elf = NULL;
	size_t i;

	if (w->build_id_size < 2)
		return NULL;
	for (i = 0; i < w->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", w->build_id[i]);
	for (i = 0; !elf && w->image->debug_dirs[i]; i++)
		elf = try_format(w, path_ret, "%s/.build-id/%.2s/%s.debug", w->image->debug_dirs[i],
				 hex, hex + 2);
	return elf;
}

static struct cp_elf *by_name(const struct wanted *w, const char *name, char **path_ret)
{
	const char *path = w->image->path;
	int dir = (int)(cp_basename(path) - path);
	struct cp_elf *elf;
	size_t i;

	elf = try_format(w, path_ret, "%.*s%s", dir, path, name);
	if (!elf)
		elf = try_format(w, path_ret, "%.*s.debug/%s", dir, path, name);
	for (i = 0; !elf && w->image->debug_dirs[i]; i++)
		elf = try_format(w, path_ret, "%s/%.*s%s", w->image->debug_dirs[i], dir, path,
				 name);
	return elf;
}

/* The name in .gnu_debuglink (a base name, or none) and the checksum. */
static const char *debuglink(struct cp_elf *elf, uint32_t *crc_ret)
{
	size_t size = 0, crc_at;
	const char *name =
		(const char *)cp_elf_load(elf, cp_elf_section(elf, ".gnu_debuglink"), &size);

	if (!name || size < 8 || size > MAX_LINK)
		return NULL;
	crc_at = (strlen(name) + 4) & ~(size_t)3;
	if (crc_at > size - 4 || !name[0] || strchr(name, '/') || !strcmp(name, ".."))
		return NULL;
	memcpy(crc_ret, name + crc_at, sizeof(*crc_ret));
	return name;
}

static struct cp_elf *search(struct cp_image *image, char **path_ret)
{
	struct cp_elf *elf;
	struct wanted w = {
		.image = image,
		.build_id = image->elf->build_id,
		.build_id_size = image->elf->build_id_size,
	};
	const char *name;

	elf = by_build_id(&w, path_ret);
	if (elf)
		return elf;
	name = debuglink(image->elf, &w.crc);
	if (!name)
		return NULL;
	w.has_crc = true;
	return by_name(&w, name, path_ret);
}

/* ---- debuginfod ---- */

#define PATIENCE (UINT64_C(8) * CP_NS_PER_S) /* without a byte more */

/* Loaded when wanted, as libdwfl does: most runs never need an HTTP client. */
struct debuginfod {
	void *(*begin)(void);
	void (*set_progress)(void *client, int (*)(void *client, long done, long all));
	void (*set_user_data)(void *client, void *data);
	void *(*get_user_data)(void *client);
	int (*find)(void *client, const unsigned char *build_id, int size, char **path_ret);
	void (*end)(void *client);
};

static bool load_debuginfod(struct debuginfod *d)
{
	/* The library stays loaded: it may have threads. */
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	*(void **)&d->begin = dlsym(library, "debuginfod_begin");
	*(void **)&d->set_progress = dlsym(library, "debuginfod_set_progressfn");
	*(void **)&d->set_user_data = dlsym(library, "debuginfod_set_user_data");
	*(void **)&d->get_user_data = dlsym(library, "debuginfod_get_user_data");
	*(void **)&d->find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&d->end = dlsym(library, "debuginfod_end");
	return d->begin && d->set_progress && d->set_user_data && d->get_user_data && d->find &&
	       d->end;
}

/* The progress of a lookup that a thread waits for. */
struct progress {
	long done;
	uint64_t since; /* when something last came */
};

/* Nonzero: give up. */
static int on_progress(void *client, long done, long all)
{
	struct debuginfod d = { 0 };
	struct progress *progress;

	(void)all;
	if (!load_debuginfod(&d)) /* it is there: it calls */
		return 1;
	progress = d.get_user_data(client);
	/* Until a server answers, `done` counts the calls; then bytes. */
	if (done > progress->done + 1)
		progress->since = cp_now();
	progress->done = done;
	return cp_now() - progress->since > PATIENCE;
}

/* A path in the cache of debuginfod, malloc()ed, or NULL. */
static char *fetch(const struct wanted *w, struct cp_debuginfod *servers)
{
	struct debuginfod d = { 0 };
	struct progress progress = { .since = cp_now() };
	char *path = NULL;
	void *client;
	int fd;

	if (!load_debuginfod(&d))
		return NULL;
	client = d.begin();
	if (!client)
		return NULL;
	d.set_user_data(client, &progress);
	d.set_progress(client, on_progress);
	fd = d.find(client, w->build_id, (int)w->build_id_size, &path);
	if (fd >= 0)
		close(fd);
	else if (fd != -ENOENT)
		atomic_store(&servers->unreachable, true);
	d.end(client);
	return path;
}

static struct cp_elf *ask_debuginfod(struct cp_image *image, char **path_ret)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct cp_debuginfod *servers = image->debuginfod;
	struct wanted w = {
		.image = image,
		.build_id = image->elf->build_id,
		.build_id_size = image->elf->build_id_size,
	};
	CP_FREE char *path = NULL;
	struct cp_elf *elf;

	if (!servers || !servers->ask || !urls || !urls[0] || !w.build_id_size ||
	    atomic_load(&servers->unreachable))
		return NULL;
	path = fetch(&w, servers);
	elf = path ? try_in(-1, path, &w) : NULL;
	if (elf)
		*path_ret = cp_steal(path);
	return elf;
}

/* ---- what the room asks for ---- */

struct cp_elf *cp_debug_file(struct cp_image *image, bool network)
{
	struct cp_elf *elf, *found;
	char *path = NULL;
	bool ask;

	pthread_mutex_lock(&image->files_lock);
	if (!image->debug_searched) {
		image->debug_searched = true;
		image->debug = search(image, &image->debug_path);
	}
	elf = image->debug;
	ask = network && !elf && !image->debuginfod_asked;
	if (ask)
		image->debuginfod_asked = true;
	pthread_mutex_unlock(&image->files_lock);
	if (!ask)
		return elf;

	/* May take its time: not under the lock that symbols need. */
	found = ask_debuginfod(image, &path);
	pthread_mutex_lock(&image->files_lock);
	if (found) {
		image->debug = found;
		image->debug_path = path;
		atomic_store(&image->symbols_stale, true);
	}
	elf = image->debug;
	pthread_mutex_unlock(&image->files_lock);
	return elf;
}

const char *cp_image_debug_path(struct cp_image *image)
{
	const char *path;

	cp_debug_file(image, false);
	pthread_mutex_lock(&image->files_lock);
	path = image->debug_path ? image->debug_path : "";
	pthread_mutex_unlock(&image->files_lock);
	return path;
}

/* The time of a change is the kernel's, and nobody's to set. */
static uint64_t identity_of(const struct cp_elf *elf)
{
	struct statx st;
	uint64_t words[8];

	if (!elf || elf->fd < 0 || statx(elf->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) ||
	    (st.stx_mask & STATX_BASIC_STATS) != STATX_BASIC_STATS)
		return 0;
	words[0] = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	words[1] = st.stx_ino;
	words[2] = st.stx_size;
	words[3] = (uint64_t)st.stx_mtime.tv_sec;
	words[4] = st.stx_mtime.tv_nsec;
	words[5] = (uint64_t)st.stx_ctime.tv_sec;
	words[6] = st.stx_ctime.tv_nsec;
	words[7] = elf->size;
	return cp_hash_bytes(words, sizeof(words)) | 1;
}

uint64_t cp_image_identity(struct cp_image *image)
{
	uint64_t file = identity_of(image->elf);
	const struct cp_elf *debug = cp_debug_file(image, false);
	uint64_t other = debug ? identity_of(debug) : 1;

	return file && other ? cp_hash_u64(file ^ cp_hash_u64(other)) | 1 : 0;
}

struct cp_elf *cp_debug_alternate(struct cp_image *image, struct cp_elf *of)
{
	struct wanted w = { .image = image };
	struct cp_elf *elf = NULL;
	size_t size = 0, n;
	const char *name =
		(const char *)cp_elf_load(of, cp_elf_section(of, ".gnu_debugaltlink"), &size);
	CP_FREE char *near = NULL;

	if (!name || size > MAX_LINK)
		return NULL;
	n = strlen(name) + 1;
	if (n >= size || size - n > CP_BUILD_ID_MAX || !name[0])
		return NULL;
	w.build_id = (const uint8_t *)name + n;
	w.build_id_size = size - n;
	if (name[0] == '/')
		elf = try(name, &w);
	else
		near = strdup(of == image->elf ? image->path : cp_image_debug_path(image));
	if (near) { /* relative to the file that has the link */
		near[cp_basename(near) - near] = 0;
		elf = try_format(&w, NULL, "%s%s", near, name);
	}
	return elf ? elf : by_build_id(&w, NULL);
}

/* A file that is told apart by what is in it. */
static struct cp_elf *open_any(struct cp_image *image, const char *path)
{
	struct cp_elf *elf = NULL;
	int fd = -1;

	if (image->root_fd >= 0)
		cp_error_free(cp_file_open_regular(image->root_fd, path, &fd));
	if (fd < 0)
		cp_error_free(cp_file_open_regular(-1, path, &fd));
	if (fd >= 0)
		cp_error_free(cp_elf_open_fd(fd, path, &elf));
	return elf;
}

static struct cp_elf *package_of(struct cp_image *image, const char *dir, const char *path)
{
	struct cp_elf *elf = NULL;
	char *name;

	if (path[0] && asprintf(&name, "%s%s.dwp", dir, path) >= 0) {
		elf = open_any(image, name);
		free(name);
	}
	return elf;
}

struct cp_elf *cp_debug_package(struct cp_image *image)
{
	struct cp_elf *elf = package_of(image, "", image->path);
	size_t i;

	if (!elf)
		elf = package_of(image, "", cp_image_debug_path(image));
	for (i = 0; !elf && image->path[0] == '/' && image->debug_dirs[i]; i++)
		elf = package_of(image, image->debug_dirs[i], image->path);
	return elf;
}

struct cp_elf *cp_debug_split(struct cp_image *image, const char *comp_dir, const char *name)
{
	CP_FREE char *path = NULL;

	if (asprintf(&path, "%s%s%s", name[0] == '/' ? "" : comp_dir, name[0] == '/' ? "" : "/",
		     name) < 0) {
		path = NULL;
		return NULL;
	}
	return open_any(image, path);
}

struct cp_elf *cp_debug_mini(struct cp_elf *elf)
{
	struct cp_elf *mini = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;
	const uint8_t *xz = cp_elf_load(elf, cp_elf_section(elf, ".gnu_debugdata"), &size);

	if (xz && cp_inflate_xz(xz, size, MAX_MINI, &bytes, &size))
		cp_error_free(cp_elf_open_blob(bytes, size, ".gnu_debugdata", &mini));
	return mini;
}

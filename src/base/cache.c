/* SPDX-License-Identifier: MIT */
#include "base/cache.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"

#define MAGIC UINT64_C(0x31656863666f7270) /* "profche1" */
#define NAME_SIZE 256
#define TEMPORARY ".new-" /* what names of unfinished entries begin with */
#define UNFINISHED_S 3600 /* after which nobody is at it any more */
#define USED_S 3600 /* an entry's time is not set more often */

struct cp_cache {
	int dir;
	uint64_t maker;
};

struct header {
	uint64_t magic;
	uint64_t of, maker;
	uint64_t size; /* of what follows */
	uint64_t sum; /* of that */
	uint32_t format, pad;
	uint64_t own_sum; /* of all before */
};

/* ---- which build of cprof this is ---- */

static int find_maker(struct dl_phdr_info *info, size_t size, void *ret)
{
	uintptr_t self = (uintptr_t)&find_maker;
	bool ours = false;
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		ours |= p->p_type == PT_LOAD && self - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
	}
	for (i = 0; ours && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t hash;

		if (p->p_type != PT_NOTE)
			continue;
		hash = cp_hash_bytes((const void *)(info->dlpi_addr + p->p_vaddr), p->p_memsz);
		*(uint64_t *)ret = cp_hash_u64(*(uint64_t *)ret ^ hash);
	}
	return ours;
}

/* ---- the directory ---- */

static bool is_own(int fd, mode_t type, mode_t mask)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && (st.st_mode & S_IFMT) == type &&
	       st.st_uid == geteuid() && !(st.st_mode & mask);
}

static int open_directory(int at, const char *name, bool make, int flags)
{
	if (make && mkdirat(at, name, 0700) && errno != EEXIST)
		return -1;
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

/* The user's directory of caches. */
static int open_outer(void)
{
	const char *given = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	CP_CLOSE int outer = -1;

	if (given && *given == '/')
		return open_directory(AT_FDCWD, given, true, 0);
	if (home && *home == '/')
		outer = open_directory(AT_FDCWD, home, false, 0);
	return is_own(outer, S_IFDIR, 022) ? open_directory(outer, ".cache", true, 0) : -1;
}

struct cp_cache *cp_cache_open(void)
{
	CP_CLOSE int outer = open_outer(), dir = -1;
	struct cp_cache *made = NULL;

	if (is_own(outer, S_IFDIR, 022))
		dir = open_directory(outer, "cprof", true, O_NOFOLLOW);
	if (is_own(dir, S_IFDIR, 077))
		made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->dir = cp_steal_fd(&dir);
	dl_iterate_phdr(find_maker, &made->maker);
	return made;
}

void cp_cache_close(struct cp_cache *cache)
{
	if (cache)
		close(cache->dir);
	free(cache);
}

static bool name_of(const struct cp_cache_key *key, char name[NAME_SIZE])
{
	int size = snprintf(name, NAME_SIZE, "%s.%s", key->build_id, key->kind);

	return *key->build_id && size > 0 && size < NAME_SIZE && !strchr(name, '/') && *name != '.';
}

/* ---- reading ---- */

static uint64_t own_sum(const struct header *h)
{
	return cp_hash_bytes(h, offsetof(struct header, own_sum));
}

enum found { FOUND, OTHER, DAMAGED };

/* Reads the header: is the entry the one that is meant? */
static enum found read_header(const struct cp_cache *cache, int fd, const struct cp_cache_key *key,
			      uint64_t *size_ret, uint64_t *sum_ret)
{
	struct header header;
	struct stat st;

	if (fstat(fd, &st) || cp_pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    header.magic != MAGIC || header.own_sum != own_sum(&header) ||
	    header.size > CP_CACHE_ENTRY_MAX ||
	    (uint64_t)st.st_size != sizeof(header) + header.size)
		return DAMAGED;
	*size_ret = header.size;
	*sum_ret = header.sum;
	return header.of == key->of && header.maker == cache->maker && header.format == key->format
		       ? FOUND
		       : OTHER;
}

static enum found read_entry(const struct cp_cache *cache, int fd, const struct cp_cache_key *key,
			     struct cp_buf *out)
{
	size_t before = out->size;
	enum found found;
	uint64_t size, sum;
	char *bytes;

	found = read_header(cache, fd, key, &size, &sum);
	if (found != FOUND)
		return found;
	bytes = cp_buf_take(out, size);
	if (!bytes)
		return OTHER;
	if (cp_pread(fd, bytes, size, sizeof(struct header)) == size &&
	    cp_hash_bytes(bytes, size) == sum)
		return FOUND;
	out->size = before;
	return DAMAGED;
}

static void note_use(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && time(NULL) - st.st_mtime > USED_S)
		futimens(fd, NULL);
}

bool cp_cache_get(const struct cp_cache *cache, const struct cp_cache_key *key, struct cp_buf *out)
{
	enum found found = DAMAGED;
	char name[NAME_SIZE];

	if (!cache || !cache->maker || !name_of(key, name))
		return false;
	CP_CLOSE int fd =
		openat(cache->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno != ELOOP)
		return false;
	if (is_own(fd, S_IFREG, 077))
		found = read_entry(cache, fd, key, out);
	if (found == DAMAGED) {
		cp_info("cache: '%s' is damaged, or not the user's own", name);
		unlinkat(cache->dir, name, 0);
	}
	if (found == FOUND)
		note_use(fd);
	return found == FOUND;
}

/* ---- the bound ---- */

struct entry {
	char name[NAME_SIZE];
	time_t used;
	uint64_t size;
};

struct entries {
	CP_VEC(struct entry) items;
	uint64_t size;
};

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->used > y->used) - (x->used < y->used);
}

static void look_at(const struct cp_cache *cache, const char *name, struct entries *all)
{
	struct entry e = { 0 };
	struct stat st;

	if (strlen(name) >= sizeof(e.name) || fstatat(cache->dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return;
	if (!strncmp(name, TEMPORARY, strlen(TEMPORARY))) {
		if (time(NULL) - st.st_mtime > UNFINISHED_S)
			unlinkat(cache->dir, name, 0);
		return;
	}
	strcpy(e.name, name);
	e.used = st.st_mtime;
	e.size = (uint64_t)st.st_size;
	all->size += e.size;
	if (!cp_vec_push(&all->items, e))
		all->size -= e.size;
}

/* The oldest go, down to three quarters. */
static void keep_bound(const struct cp_cache *cache)
{
	int fd = openat(cache->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct entries all = { 0 };
	const struct dirent *d;
	size_t i;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (d = readdir(dir)))
		look_at(cache, d->d_name, &all);
	if (dir)
		closedir(dir);
	if (all.size > CP_CACHE_ALL_MAX) {
		qsort(all.items.items, all.items.count, sizeof(*all.items.items), by_use);
		for (i = 0; i < all.items.count && all.size > CP_CACHE_ALL_MAX / 4 * 3; i++) {
			unlinkat(cache->dir, all.items.items[i].name, 0);
			all.size -= all.items.items[i].size;
		}
	}
	cp_vec_free(&all.items);
}

/* ---- writing ---- */

static bool write_all(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* Beyond it a signal would be the session's end. */
static bool is_allowed(uint64_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > size);
}

void cp_cache_put(const struct cp_cache *cache, const struct cp_cache_key *key, const void *bytes,
		  size_t size)
{
	char name[NAME_SIZE], temporary[64];
	struct header header = {
		.magic = MAGIC, .of = key->of, .size = size, .format = key->format
	};
	struct timespec now;
	bool ok;

	if (!cache || !cache->maker || size > CP_CACHE_ENTRY_MAX || !name_of(key, name) ||
	    !is_allowed(sizeof(header) + size))
		return;
	header.maker = cache->maker;
	header.sum = cp_hash_bytes(bytes, size);
	header.own_sum = own_sum(&header);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(temporary, sizeof(temporary), TEMPORARY "%d-%lx-%lx", (int)getpid(),
		 (unsigned long)now.tv_sec, (unsigned long)now.tv_nsec);
	CP_CLOSE int fd = openat(cache->dir, temporary,
				 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	ok = write_all(fd, &header, sizeof(header)) && write_all(fd, bytes, size) &&
	     !renameat(cache->dir, temporary, cache->dir, name);
	if (!ok)
		unlinkat(cache->dir, temporary, 0);
	else
		keep_bound(cache);
}

/* SPDX-License-Identifier: MIT */
#include "base/startedas.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#define LONGEST 4096

uint64_t cp_auxv_find(const struct cp_buf *auxv, uint64_t type)
{
	Elf64_auxv_t entry;
	size_t at;

	for (at = 0; at + sizeof(entry) <= auxv->size; at += sizeof(entry)) {
		memcpy(&entry, auxv->bytes + at, sizeof(entry));
		if (entry.a_type == type)
			return entry.a_un.a_val;
	}
	return 0;
}

/* The text lies at the end of the stack, which may be less than LONGEST away. */
static bool read_text(const struct cp_reader *memory, uint64_t at, char *to)
{
	size_t n = 0, piece;

	while (n < LONGEST) {
		piece = 256 - (at + n) % 256;
		piece = piece < LONGEST - n ? piece : LONGEST - n;
		if (memory->read(memory->ctx, at + n, to + n, piece) != piece)
			return false;
		if (memchr(to + n, 0, piece))
			return true;
		n += piece;
	}
	return false;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Links in a container lead to where they lead inside of it. */
static bool stat_inside(int pid, const char *path, struct stat *ret)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	CP_CLOSE int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CP_CLOSE int fd = root_fd < 0 ? -1 : cp_file_open_path(root_fd, path);
	return fd >= 0 && !fstat(fd, ret);
}

/* The directory that a relative path counts from may have changed since; most links
 * lie beside what they lead to. */
static bool leads_to(int pid, const char *path, const char *exe)
{
	char text[LONGEST + 64];
	struct stat is, st;

	snprintf(text, sizeof(text), "/proc/%d/exe", pid);
	if (stat(text, &is))
		return false;
	if (*path == '/')
		return stat_inside(pid, path, &st) && is_same(&is, &st);
	snprintf(text, sizeof(text), "/proc/%d/cwd/%s", pid, path);
	if (!stat(text, &st) && is_same(&is, &st))
		return true;
	snprintf(text, sizeof(text), "%.*s%s", (int)(cp_basename(exe) - exe), exe,
		 cp_basename(path));
	return stat_inside(pid, text, &st) && is_same(&is, &st);
}

char *cp_started_as(int pid, const char *exe, const struct cp_buf *auxv,
		    const struct cp_reader *memory)
{
	uint64_t at = cp_auxv_find(auxv, AT_EXECFN);
	char path[LONGEST];

	if (!at || !exe || *exe != '/' || !read_text(memory, at, path))
		return NULL;
	/* Descriptors are no names: fexecve(). */
	if (!strcmp(cp_basename(path), cp_basename(exe)) || cp_starts_with(path, "/dev/fd/") ||
	    cp_starts_with(path, "/proc/") || !leads_to(pid, path, exe))
		return NULL;
	return strdup(path);
}

static size_t read_file(void *ctx, uint64_t at, void *to, size_t size)
{
	ssize_t n = pread(*(int *)ctx, to, size, (off_t)at);

	return n > 0 ? (size_t)n : 0;
}

char *cp_started_as_pid(int pid, const char *exe)
{
	struct cp_buf auxv CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_reader memory;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	cp_error_free(cp_file_read(AT_FDCWD, path, CP_AUXV_MAX, &auxv));
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	memory = (struct cp_reader){ read_file, &fd };
	return fd < 0 ? NULL : cp_started_as(pid, exe, &auxv, &memory);
}

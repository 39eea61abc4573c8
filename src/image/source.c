/* SPDX-License-Identifier: MIT
 *
 * The bytes of what a process has mapped. Its path is only a hint: the file
 * may be gone, replaced by a newer one, or be in another mount namespace. So
 *
 *   1. the path, below the process's root: taken when it is the same file;
 *   2. /proc/PID/map_files/START-END: always the right one, but reading it
 *      takes CAP_CHECKPOINT_RESTORE;
 *   3. /proc/PID/exe, when that is what is mapped;
 *   4. the path again, when only device or inode differ (overlayfs and btrfs
 *      report other numbers in maps than in stat) and the first page is the
 *      one in memory;
 *   5. the process's memory: program headers, dynamic symbols, build-id, with
 *      which a debug file may be found.
 */
#include "image/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

#define HEAD 4096
#define MAX_MEMORY_IMAGE (UINT64_C(64) << 20)
#define MAX_VDSO (UINT64_C(1) << 20)

static int open_quietly(int root_fd, const char *path)
{
	int fd = -1;

	cp_error_free(cp_file_open_regular(root_fd, path, &fd));
	return fd;
}

static bool same_numbers(const struct cp_image_source *source, int fd)
{
	struct stat st;

	if (!source->device && !source->inode)
		return true;
	return !fstat(fd, &st) && st.st_dev == source->device && st.st_ino == source->inode;
}

/* The first bytes of the file are those at the start of the mapping; they
 * hold the headers and, as every linker lays files out, the build-id. */
static bool same_head(const struct cp_image_source *source, int fd)
{
	uint8_t file[HEAD], memory[HEAD];
	size_t n = cp_pread(fd, file, sizeof(file), 0);

	return source->memory && n &&
	       source->memory->read(source->memory->ctx, source->load_address, memory, n) == n &&
	       !memcmp(file, memory, n);
}

static int open_map_files(const struct cp_image_source *source)
{
	char path[96];

	if (source->pid <= 0 || source->map_end <= source->map_start)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", source->pid,
		 (unsigned long long)source->map_start, (unsigned long long)source->map_end);
	return open_quietly(-1, path);
}

static int open_exe(const struct cp_image_source *source)
{
	char path[64];
	int fd;

	if (source->pid <= 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/exe", source->pid);
	fd = open_quietly(-1, path);
	if (fd < 0 || same_numbers(source, fd) || same_head(source, fd))
		return fd;
	close(fd);
	return -1;
}

static int open_file(const struct cp_image_source *source, struct cp_error **err)
{
	CP_CLOSE int by_path = -1;
	int fd;

	*err = cp_file_open_regular(source->root_fd, source->path, &by_path);
	if (by_path >= 0 && same_numbers(source, by_path))
		return cp_steal_fd(&by_path);
	fd = open_map_files(source);
	if (fd < 0)
		fd = open_exe(source);
	if (fd < 0 && by_path >= 0 && same_head(source, by_path))
		fd = cp_steal_fd(&by_path);
	return fd;
}

/* ---- from memory ---- */

/* A small object that is mapped as one piece, section headers included. */
static struct cp_error *open_vdso(const struct cp_image_source *source, struct cp_elf **ret)
{
	uint64_t size = source->map_end - source->map_start;
	const struct cp_reader *m = source->memory;
	uint8_t *blob;
	size_t n;

	if (source->map_end <= source->map_start || size > MAX_VDSO)
		return cp_error_new(CP_ERR_FORMAT, 0, "%s: no such size", source->path);
	blob = malloc(size);
	if (!blob)
		return cp_error_nomem();
	n = m->read(m->ctx, source->map_start, blob, size);
	return cp_elf_open_blob(blob, n, source->path, ret);
}

/* Segments are worth copying but for the code. */
static bool wanted(const Elf64_Phdr *p)
{
	return p->p_type == PT_LOAD && !(p->p_flags & PF_X) && p->p_filesz &&
	       p->p_offset < MAX_MEMORY_IMAGE && p->p_filesz < MAX_MEMORY_IMAGE - p->p_offset;
}

static void copy_segments(const struct cp_image_source *source, const Elf64_Phdr *phdrs,
			  size_t count, uint64_t bias, uint8_t *blob)
{
	const struct cp_reader *m = source->memory;
	size_t i;

	for (i = 0; i < count; i++) {
		if (wanted(&phdrs[i]))
			m->read(m->ctx, phdrs[i].p_vaddr + bias, blob + phdrs[i].p_offset,
				phdrs[i].p_filesz);
	}
}

/* A file's worth of bytes out of its mappings; what was not copied is zero. */
static struct cp_error *open_memory(const struct cp_image_source *source, struct cp_elf **ret)
{
	const struct cp_reader *m = source->memory;
	uint64_t size = HEAD, bias = source->load_address;
	uint8_t head[HEAD] = { 0 }, *blob;
	Elf64_Phdr phdrs[32];
	Elf64_Ehdr eh;
	size_t i, count;

	m->read(m->ctx, source->load_address, head, sizeof(head));
	memcpy(&eh, head, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(phdrs[0]) || eh.e_phoff > HEAD)
		return cp_error_new(CP_ERR_FORMAT, 0, "%s: no ELF header in memory", source->path);
	count = (HEAD - eh.e_phoff) / sizeof(phdrs[0]);
	count = count < eh.e_phnum ? count : eh.e_phnum;
	count = count < CP_ARRAY_SIZE(phdrs) ? count : CP_ARRAY_SIZE(phdrs);
	memcpy(phdrs, head + eh.e_phoff, count * sizeof(phdrs[0]));
	for (i = 0; i < count; i++) {
		if (wanted(&phdrs[i]) && phdrs[i].p_offset + phdrs[i].p_filesz > size)
			size = phdrs[i].p_offset + phdrs[i].p_filesz;
		if (phdrs[i].p_type == PT_LOAD && !phdrs[i].p_offset)
			bias = source->load_address - phdrs[i].p_vaddr;
	}
	blob = calloc(1, size);
	if (!blob)
		return cp_error_nomem();
	memcpy(blob, head, sizeof(head));
	copy_segments(source, phdrs, count, bias, blob);
	CP_TRY(cp_elf_open_blob(blob, size, source->path, ret));
	(*ret)->bias = bias;
	return NULL;
}

CP_ERROR cp_source_open(const struct cp_image_source *source, struct cp_elf **ret)
{
	struct cp_error *err = NULL, *from_memory;
	int fd;

	if (source->path[0] == '[' && source->memory)
		return open_vdso(source, ret);
	fd = open_file(source, &err);
	if (fd >= 0) {
		cp_error_free(err);
		return cp_elf_open_fd(fd, source->path, ret);
	}
	if (source->memory) {
		from_memory = open_memory(source, ret);
		cp_error_free(err);
		return from_memory;
	}
	if (err)
		return err;
	return cp_error_new(CP_ERR_NOT_FOUND, 0, "%s is not the file that is mapped any more",
			    source->path);
}

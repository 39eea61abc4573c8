/* SPDX-License-Identifier: MIT */
#include "image/image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "image/debugfile.h"
#include "image/dwarf/debuginfo.h"
#include "image/recent.h"
#include "image/source.h"
#include "image/symbols.h"

static const char *const default_dirs[] = { "/usr/lib/debug", NULL };

static void free_dirs(char **dirs)
{
	size_t i;

	for (i = 0; dirs && dirs[i]; i++)
		free(dirs[i]);
	free(dirs);
}

static bool copy_dirs(const char *const *from, char ***ret)
{
	size_t n = 0, i;
	char **dirs;

	if (!from)
		from = default_dirs;
	while (from[n])
		n++;
	dirs = calloc(n + 1, sizeof(*dirs));
	if (!dirs)
		return false;
	for (i = 0; i < n; i++) {
		dirs[i] = strdup(from[i]);
		if (!dirs[i]) {
			free_dirs(dirs);
			return false;
		}
	}
	*ret = dirs;
	return true;
}

/* True when `root_fd` is our own root in our own mount namespace: mounts have
 * numbers of their own everywhere. */
static bool is_our_root(int root_fd)
{
	struct statx theirs, ours;
	unsigned mask = STATX_INO | STATX_MNT_ID;

	return !statx(root_fd, "", AT_EMPTY_PATH, mask, &theirs) &&
	       !statx(AT_FDCWD, "/", 0, mask, &ours) && (theirs.stx_mask & STATX_MNT_ID) &&
	       (ours.stx_mask & STATX_MNT_ID) && theirs.stx_mnt_id == ours.stx_mnt_id &&
	       theirs.stx_ino == ours.stx_ino;
}

CP_ERROR cp_image_create(struct cp_elf *elf, const char *path, int root_fd,
			 const struct cp_image_options *options, struct cp_image **ret)
{
	struct cp_image *image = calloc(1, sizeof(*image));

	if (!image) {
		cp_elf_destroy(elf);
		return cp_error_nomem();
	}
	image->elf = elf;
	/* An ordinary process has our own root: a descriptor less for each of its
	 * images. */
	image->root_fd =
		root_fd >= 0 && !is_our_root(root_fd) ? fcntl(root_fd, F_DUPFD_CLOEXEC, 3) : -1;
	pthread_mutex_init(&image->files_lock, NULL);
	pthread_mutex_init(&image->symbols_lock, NULL);
	pthread_mutex_init(&image->debug_lock, NULL);
	image->debuginfod = options ? options->debuginfod : NULL;
	image->path = strdup(path);
	image->recent = malloc(sizeof(*image->recent));
	if (image->recent)
		cp_recent_init(image->recent);
	if (!image->path || !image->recent ||
	    !copy_dirs(options ? options->debug_dirs : NULL, &image->debug_dirs)) {
		cp_image_destroy(image);
		return cp_error_nomem();
	}
	cp_elf_build_id_hex(elf, image->build_id);
	*ret = image;
	return NULL;
}

CP_ERROR cp_image_open(const struct cp_image_source *source, const struct cp_image_options *options,
		       struct cp_image **ret)
{
	struct cp_elf *elf = NULL;

	CP_TRY(cp_source_open(source, &elf));
	return cp_image_create(elf, source->path, source->root_fd, options, ret);
}

CP_ERROR cp_image_open_file(const char *path, const struct cp_image_options *options,
			    struct cp_image **ret)
{
	struct cp_elf *elf = NULL;
	int fd = -1;

	CP_TRY(cp_file_open_regular(-1, path, &fd));
	CP_TRY(cp_elf_open_fd(fd, path, &elf));
	return cp_image_create(elf, path, -1, options, ret);
}

void cp_image_destroy(struct cp_image *image)
{
	if (!image)
		return;
	cp_debuginfo_destroy(image->debuginfo);
	cp_symbols_destroy(image->symbols);
	cp_elf_destroy(image->debug);
	cp_elf_destroy(image->elf);
	if (image->recent)
		cp_recent_deinit(image->recent);
	free(image->recent);
	free(image->debug_path);
	free(image->path);
	free_dirs(image->debug_dirs);
	if (image->root_fd >= 0)
		close(image->root_fd);
	pthread_mutex_destroy(&image->files_lock);
	pthread_mutex_destroy(&image->symbols_lock);
	pthread_mutex_destroy(&image->debug_lock);
	free(image);
}

const char *cp_image_build_id(const struct cp_image *image)
{
	return image->build_id;
}

uint16_t cp_image_machine(const struct cp_image *image)
{
	return image->elf->machine;
}

struct cp_vaddr cp_image_entry(const struct cp_image *image)
{
	return (struct cp_vaddr){ image->elf->entry };
}

bool cp_image_is_64bit(const struct cp_image *image)
{
	return image->elf->is_64bit;
}

bool cp_image_has_interpreter(const struct cp_image *image)
{
	const Elf64_Phdr *p = image->elf->segments, *end = cp_elf_segments_end(image->elf);

	while (p < end && p->p_type != PT_INTERP)
		p++;
	return p < end;
}

bool cp_image_vaddr_of_offset(const struct cp_image *image, uint64_t offset, struct cp_vaddr *ret)
{
	const Elf64_Phdr *p = image->elf->segments, *end = cp_elf_segments_end(image->elf);

	for (; p < end; p++) {
		if (p->p_type == PT_LOAD && offset >= p->p_offset &&
		    offset - p->p_offset < p->p_filesz) {
			ret->v = p->p_vaddr + (offset - p->p_offset);
			return true;
		}
	}
	/* The mapping is of whole pages: it begins before the segment does. */
	for (p = image->elf->segments; p < end; p++) {
		if (p->p_type == PT_LOAD && p->p_filesz && offset < p->p_offset &&
		    p->p_offset - offset < 4096) {
			ret->v = p->p_vaddr - (p->p_offset - offset);
			return true;
		}
	}
	return false;
}

size_t cp_image_read(const struct cp_image *image, struct cp_vaddr at, void *buffer, size_t size)
{
	const Elf64_Phdr *p = cp_elf_segment_at(image->elf, at.v);
	uint64_t within, left;

	if (!p || at.v - p->p_vaddr >= p->p_filesz)
		return 0;
	within = at.v - p->p_vaddr;
	left = p->p_filesz - within;
	if (size > left)
		size = left;
	if (p->p_offset > UINT64_MAX - within ||
	    !cp_recent_read(image->recent, image->elf, p->p_offset + within, buffer, size))
		return 0;
	return size;
}

size_t cp_image_read_file(const struct cp_image *image, uint64_t offset, void *buffer, size_t size)
{
	if (offset >= image->elf->size)
		return 0;
	if (size > image->elf->size - offset)
		size = image->elf->size - offset;
	return cp_recent_read(image->recent, image->elf, offset, buffer, size) ? size : 0;
}

bool cp_image_has_code(const struct cp_image *image, struct cp_vaddr start, struct cp_vaddr end)
{
	const struct cp_elf *elf = image->elf;
	size_t i;

	for (i = 0; i < elf->code_count; i++)
		if (elf->code[i].start < end.v && elf->code[i].end > start.v)
			return true;
	return false;
}

bool cp_image_code(const struct cp_image *image, struct cp_vaddr at, struct cp_vaddr *end_ret)
{
	const struct cp_elf *elf = image->elf;
	const struct cp_elf_section *s = elf->sections;
	size_t i;

	if (!cp_elf_is_code(elf, at.v))
		return false;
	for (i = 0; i < elf->section_count; i++, s++) {
		if ((s->flags & SHF_EXECINSTR) && at.v >= s->vaddr && at.v - s->vaddr < s->size &&
		    s->size <= UINT64_MAX - s->vaddr) {
			end_ret->v = s->vaddr + s->size;
			return true;
		}
	}
	for (i = 0; i < elf->code_count; i++) {
		if (at.v >= elf->code[i].start && at.v < elf->code[i].end)
			end_ret->v = elf->code[i].end;
	}
	return true;
}

static bool section_of(struct cp_elf *elf, const char *name, const uint8_t **bytes_ret,
		       size_t *size_ret, struct cp_vaddr *addr_ret)
{
	struct cp_elf_section *section = elf ? cp_elf_section(elf, name) : NULL;
	const uint8_t *bytes;
	size_t size = 0;

	bytes = section ? cp_elf_load(elf, section, &size) : NULL;
	if (!bytes)
		return false;
	*bytes_ret = bytes;
	*size_ret = size;
	addr_ret->v = section->vaddr;
	return true;
}

bool cp_image_section(struct cp_image *image, const char *name, const uint8_t **bytes_ret,
		      size_t *size_ret, struct cp_vaddr *addr_ret)
{
	/* The others are read piecemeal, under another lock. */
	if (cp_starts_with(name, ".debug_") && strcmp(name, ".debug_frame") != 0)
		return false;
	return section_of(image->elf, name, bytes_ret, size_ret, addr_ret) ||
	       section_of(cp_debug_file(image, false), name, bytes_ret, size_ret, addr_ret);
}

/* SPDX-License-Identifier: MIT
 *
 * One ELF file: headers at once, contents of a section when asked for. libelf
 * reads the container: headers, segments, sections, names, notes, symbols and
 * headers of compression; who uses cp_elf does not see it. Nothing is mapped
 * (ELF_C_READ): a file that shrinks under us is a short read, not SIGBUS.
 * Contents are read by code of our own, for libelf 0.188
 *
 *     keeps what it read until the end      sections of debug information come
 *                                           in blocks, as they are wanted
 *     reads a section whole or not at all   one cut short is zeros from there on
 *     knows no zstd                         inflate.c
 *     inflates to what the header claims    sizes out of proportion are refused
 *
 * Every size is checked against the file; what does not fit is as if it were
 * not there.
 */
#ifndef CP_IMAGE_ELFFILE_H
#define CP_IMAGE_ELFFILE_H

#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CP_BUILD_ID_MAX 64
#define CP_CODE_MAX 16

struct cp_elf_section {
	const char *name; /* borrowed from the elf; never NULL */
	uint32_t type, link, info;
	uint64_t flags, vaddr, offset, size, entsize, align; /* size: in the file */
	/* Contents, once touched: */
	bool touched;
	uint8_t *bytes; /* `length` and a NUL; NULL when it can't be read */
	uint64_t length; /* uncompressed */
	uint64_t *present; /* blocks that were read; NULL: all */
};

struct Elf;

struct cp_elf {
	/* The source of its bytes: a file, or memory that is owned. */
	int fd;
	uint8_t *blob;
	uint64_t size;
	struct Elf *handle; /* libelf's, owned */

	uint16_t type, machine;
	uint64_t entry; /* where the program begins; 0: it is none */
	uint64_t bias; /* of an image read from memory: dynamic sections hold it; else 0 */
	bool is_64bit; /* of a 32-bit file only these two are known */
	Elf64_Phdr *segments; /* owned */
	size_t segment_count;
	struct cp_elf_section *sections; /* owned */
	size_t section_count;
	struct {
		uint64_t start, end;
	} code[CP_CODE_MAX]; /* the loaded segments that may be executed */
	size_t code_count;
	uint8_t build_id[CP_BUILD_ID_MAX];
	size_t build_id_size;
	pthread_mutex_t lock; /* while cp_elf_load() touches, and libelf reads */
};

/* The end of the segments; of none NULL, to which nothing may be added. */
static inline const Elf64_Phdr *cp_elf_segments_end(const struct cp_elf *elf)
{
	return elf->segment_count ? elf->segments + elf->segment_count : elf->segments;
}

/* `fd` is taken over, also on failure. `name` is for messages. */
CP_ERROR cp_elf_open_fd(int fd, const char *name, struct cp_elf **ret);
/* `blob` (malloc()ed) is taken over, also on failure. */
CP_ERROR cp_elf_open_blob(void *blob, size_t size, const char *name, struct cp_elf **ret);
void cp_elf_destroy(struct cp_elf *elf);

/* Reads file bytes; false unless all are there. */
bool cp_elf_read(const struct cp_elf *elf, uint64_t offset, void *buffer, size_t size);

/* The section of that name; NULL when there is none. */
struct cp_elf_section *cp_elf_section(const struct cp_elf *elf, const char *name);

/* The whole contents, uncompressed, with a NUL behind them; NULL when there
 * are none or they can't be read. Any thread may call it. */
const uint8_t *cp_elf_load(struct cp_elf *elf, struct cp_elf_section *section, size_t *size_ret);

/* `size` bytes at `offset` of the contents, read block by block: for the big
 * debug sections. NULL when they are not all within the section. Pointers
 * stay. One thread at a time; don't mix with cp_elf_load(). */
const uint8_t *cp_elf_need(struct cp_elf *elf, struct cp_elf_section *section, uint64_t offset,
			   uint64_t size);
/* The same, copied to `buffer`, of which nothing is kept; false when it is not all there. */
bool cp_elf_copy(struct cp_elf *elf, struct cp_elf_section *section, uint64_t offset, void *buffer,
		 size_t size);
/* The contents from the beginning to the end, a piece at a time, of which none is kept;
 * each repeats the last `overlap` bytes of the one before. Goes on while `tell` says so;
 * false when the contents can't be read. */
bool cp_elf_each_piece(struct cp_elf *elf, struct cp_elf_section *section, size_t overlap,
		       bool (*tell)(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size),
		       void *ctx);
/* A string there, or NULL; at most 64 KiB long. Not elf_strptr(), which reads
 * the whole section. */
const char *cp_elf_string(struct cp_elf *elf, struct cp_elf_section *section, uint64_t offset);
/* Length of the contents; 0 when there are none. */
uint64_t cp_elf_length(struct cp_elf *elf, struct cp_elf_section *section);

/* The loaded segment that holds `vaddr`, or NULL. */
const Elf64_Phdr *cp_elf_segment_at(const struct cp_elf *elf, uint64_t vaddr);
/* True when `vaddr` is in a segment that may be executed. */
bool cp_elf_is_code(const struct cp_elf *elf, uint64_t vaddr);
/* Writes the build-id as hex digits to `ret`, which holds 2 * CP_BUILD_ID_MAX + 1
 * characters. */
void cp_elf_build_id_hex(const struct cp_elf *elf, char *ret);

#endif

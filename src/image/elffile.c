/* SPDX-License-Identifier: MIT */
#include "image/elffile.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "image/elfsymbols.h"
#include "image/inflate.h"
#include "image/notes.h"

#define BLOCK UINT64_C(16384)
#define MAX_SECTIONS 131072 /* programs have some 40; -ffunction-sections is for objects */
#define MAX_NAMES (UINT64_C(16) << 20)
#define MAX_CONTENT (UINT64_C(1) << 34) /* address space; memory only as it is read */
#define MAX_INFLATED (UINT64_C(1) << 31)
#define MAX_RATIO 64 /* debug information comes to 10; small files cannot claim memory */
#define ANY_RATIO (UINT64_C(16) << 20) /* up to this length it does not matter */
#define MAX_STRING 65536
#define PIECE (UINT64_C(256) << 10)
#define SMALL (UINT64_C(256) << 10)

bool cp_elf_read(const struct cp_elf *elf, uint64_t offset, void *buffer, size_t size)
{
	if (offset > elf->size || size > elf->size - offset)
		return false;
	if (!elf->blob)
		return cp_pread(elf->fd, buffer, size, offset) == size;
	if (size)
		memcpy(buffer, elf->blob + offset, size);
	return true;
}

/* ---- memory for contents ---- */

/* Zeroed; the NUL behind is counted in. Small ones come from the heap, where
 * sanitizers watch their ends. */
static uint8_t *reserve(uint64_t length)
{
	void *got;

	if (length < SMALL)
		return calloc(1, length + 1);
	got = mmap(NULL, length + 1, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return got == MAP_FAILED ? NULL : got;
}

static void release(uint8_t *bytes, uint64_t length)
{
	if (length < SMALL)
		free(bytes);
	else if (bytes)
		munmap(bytes, length + 1);
}

/* ---- libelf ---- */

static struct cp_error *broken(const char *name, const char *why)
{
	return cp_error_new(CP_ERR_FORMAT, 0, "%s: %s", name, why);
}

/* The header alone: with no more than that in sight libelf looks for no sections. */
static struct cp_error *read_header(const struct cp_elf *elf, const char *name, GElf_Ehdr *ret)
{
	size_t size = elf->size < sizeof(*ret) ? elf->size : sizeof(*ret);
	char head[sizeof(*ret)];
	Elf *handle;
	bool ok;

	elf_version(EV_CURRENT);
	if (!cp_elf_read(elf, 0, head, size))
		return broken(name, "its header can't be read");
	handle = elf_memory(head, size);
	ok = elf_kind(handle) == ELF_K_ELF && gelf_getehdr(handle, ret);
	elf_end(handle);
	if (!ok)
		return broken(name, "not an ELF file");
	if (ret->e_ident[EI_DATA] != ELFDATA2LSB)
		return cp_error_new(CP_ERR_UNSUPPORTED, 0, "%s: not little-endian", name);
	return NULL;
}

/* More sections than the header can say are counted in the first of them. libelf
 * makes room for whatever stands there, and fills it: of a sparse file, 4 billion. */
static bool is_crowded(const struct cp_elf *elf, const GElf_Ehdr *eh)
{
	Elf64_Shdr first;

	return !eh->e_shnum && eh->e_shoff &&
	       cp_elf_read(elf, eh->e_shoff, &first, sizeof(first)) && first.sh_size > MAX_SECTIONS;
}

/* A handle of a 64-bit file; its header is in *eh_ret. */
static struct cp_error *begin(const struct cp_elf *elf, const char *name, GElf_Ehdr *eh_ret,
			      Elf **ret)
{
	Elf *handle;

	CP_TRY(read_header(elf, name, eh_ret));
	if (eh_ret->e_ident[EI_CLASS] != ELFCLASS64) {
		*ret = NULL;
		return NULL;
	}
	if (is_crowded(elf, eh_ret))
		return broken(name, "it claims to have more sections than any program");
	handle = elf->blob ? elf_memory((char *)elf->blob, elf->size)
			   : elf_begin(elf->fd, ELF_C_READ, NULL);
	if (!handle || elf_kind(handle) != ELF_K_ELF || gelf_getclass(handle) != ELFCLASS64) {
		elf_end(handle);
		return broken(name, "not an ELF file any more");
	}
	*ret = handle;
	return NULL;
}

/* ---- headers ---- */

static void note_code(struct cp_elf *elf)
{
	const Elf64_Phdr *p;
	size_t n = 0;

	for (p = elf->segments; p < cp_elf_segments_end(elf) && n < CP_CODE_MAX; p++) {
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
		    p->p_memsz > UINT64_MAX - p->p_vaddr)
			continue;
		elf->code[n].start = p->p_vaddr;
		elf->code[n++].end = p->p_vaddr + p->p_memsz;
	}
	elf->code_count = n;
}

static struct cp_error *read_segments(struct cp_elf *elf, const GElf_Ehdr *eh)
{
	size_t count, i;

	/* The size is judged before the first header is read, for libelf reads all
	 * of them at once. */
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || elf_getphdrnum(elf->handle, &count) < 0 ||
	    !count || count > PN_XNUM)
		return NULL;
	elf->segments = calloc(count, sizeof(*elf->segments));
	if (!elf->segments)
		return cp_error_nomem();
	for (i = 0; i < count; i++)
		if (!gelf_getphdr(elf->handle, (int)i, &elf->segments[i]))
			return NULL;
	elf->segment_count = count;
	note_code(elf);
	return NULL;
}

/* False when the section header can't be read. */
static bool read_section(struct cp_elf *elf, size_t i, const char *names, size_t names_size)
{
	struct cp_elf_section *to = &elf->sections[i];
	GElf_Shdr from;

	if (!gelf_getshdr(elf_getscn(elf->handle, i), &from))
		return false;
	to->name = from.sh_name < names_size ? names + from.sh_name : "";
	to->type = from.sh_type;
	to->link = from.sh_link;
	to->info = from.sh_info;
	to->flags = from.sh_flags;
	to->vaddr = from.sh_addr;
	to->offset = from.sh_offset;
	to->size = from.sh_size;
	to->entsize = from.sh_entsize;
	to->align = from.sh_addralign;
	return true;
}

static struct cp_error *read_sections(struct cp_elf *elf, const GElf_Ehdr *eh)
{
	const char *names = NULL;
	size_t count, index, size = 0, i;

	if (eh->e_shentsize != sizeof(Elf64_Shdr) || elf_getshdrnum(elf->handle, &count) < 0 ||
	    !count || count > MAX_SECTIONS)
		return NULL;
	elf->sections = calloc(count + 1, sizeof(*elf->sections));
	if (!elf->sections)
		return cp_error_nomem();
	if (!elf_getshdrstrndx(elf->handle, &index))
		names = cp_elf_strings(elf, index, MAX_NAMES, &size);
	for (i = 0; i < count; i++)
		if (!read_section(elf, i, names, size))
			return NULL;
	elf->section_count = count;
	return NULL;
}

/* ---- build-id ---- */

static bool take_build_id(void *ctx, const struct cp_elf_note *note)
{
	struct cp_elf *elf = ctx;

	if (note->type != NT_GNU_BUILD_ID || note->name_size != 4 || !note->desc_size ||
	    note->desc_size > CP_BUILD_ID_MAX || memcmp(note->name, "GNU", 4) != 0)
		return true;
	memcpy(elf->build_id, note->desc, note->desc_size);
	elf->build_id_size = note->desc_size;
	return false;
}

void cp_elf_build_id_hex(const struct cp_elf *elf, char *ret)
{
	size_t i;

	for (i = 0; i < elf->build_id_size; i++)
		snprintf(ret + 2 * i, 3, "%02x", elf->build_id[i]);
	ret[2 * i] = 0;
}

/* ---- open ---- */

static struct cp_error *read_headers(struct cp_elf *elf, const char *name)
{
	GElf_Ehdr eh;

	CP_TRY(begin(elf, name, &eh, &elf->handle));
	elf->type = eh.e_type;
	elf->machine = eh.e_machine;
	elf->is_64bit = elf->handle != NULL;
	if (!elf->is_64bit)
		return NULL;
	elf->entry = eh.e_entry;
	CP_TRY(read_segments(elf, &eh));
	CP_TRY(read_sections(elf, &eh));
	cp_elf_each_note(elf, take_build_id, elf);
	return NULL;
}

static struct cp_error *open_any(struct cp_elf from, const char *name, struct cp_elf **ret)
{
	struct cp_elf *elf = malloc(sizeof(*elf));
	struct cp_error *err;

	if (!elf) {
		if (from.fd >= 0)
			close(from.fd);
		free(from.blob);
		return cp_error_nomem();
	}
	*elf = from;
	pthread_mutex_init(&elf->lock, NULL);
	err = read_headers(elf, name);
	if (err) {
		cp_elf_destroy(elf);
		return err;
	}
	*ret = elf;
	return NULL;
}

CP_ERROR cp_elf_open_fd(int fd, const char *name, struct cp_elf **ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size < 0) {
		close(fd);
		return cp_error_new(CP_ERR_IO, errno, "cannot stat %s", name);
	}
	return open_any((struct cp_elf){ .fd = fd, .size = (uint64_t)st.st_size }, name, ret);
}

CP_ERROR cp_elf_open_blob(void *blob, size_t size, const char *name, struct cp_elf **ret)
{
	return open_any((struct cp_elf){ .fd = -1, .blob = blob, .size = size }, name, ret);
}

void cp_elf_destroy(struct cp_elf *elf)
{
	size_t i;

	if (!elf)
		return;
	for (i = 0; i < elf->section_count; i++) {
		release(elf->sections[i].bytes, elf->sections[i].length);
		free(elf->sections[i].present);
	}
	free(elf->sections);
	free(elf->segments);
	elf_end(elf->handle);
	free(elf->blob);
	if (elf->fd >= 0)
		close(elf->fd);
	pthread_mutex_destroy(&elf->lock);
	free(elf);
}

/* ---- contents ---- */

struct cp_elf_section *cp_elf_section(const struct cp_elf *elf, const char *name)
{
	size_t i;

	for (i = 1; i < elf->section_count; i++) {
		if (!strcmp(elf->sections[i].name, name))
			return &elf->sections[i];
	}
	return NULL;
}

/* libelf would believe any length. */
static bool is_plausible(uint64_t length, uint64_t packed)
{
	return length && length <= MAX_INFLATED &&
	       (length <= ANY_RATIO || length / MAX_RATIO <= packed);
}

static void inflate_section(struct cp_elf_section *s, enum cp_compression kind,
			    const uint8_t *packed, size_t size, uint64_t length)
{
	uint8_t *bytes = is_plausible(length, s->size) ? reserve(length) : NULL;

	if (!bytes)
		return;
	if (!cp_inflate(kind, packed, size, bytes, length)) {
		release(bytes, length);
		return;
	}
	s->bytes = bytes;
	s->length = length;
}

/* Sizes are read by a handle of its own, for libelf reads all of the section to tell
 * its header, and keeps that. */
static void touch_compressed(struct cp_elf *elf, struct cp_elf_section *s)
{
	Elf *handle = NULL;
	struct cp_error *err;
	Elf_Data *packed;
	Elf_Scn *scn;
	GElf_Ehdr eh;
	GElf_Chdr ch;

	if (s->size > MAX_INFLATED)
		return;
	err = begin(elf, "", &eh, &handle);
	cp_error_free(err);
	scn = handle ? elf_getscn(handle, (size_t)(s - elf->sections)) : NULL;
	packed = gelf_getchdr(scn, &ch) ? elf_rawdata(scn, NULL) : NULL;
	if (packed && (ch.ch_type == ELFCOMPRESS_ZLIB || ch.ch_type == 2 /* ELFCOMPRESS_ZSTD */))
		inflate_section(s,
				ch.ch_type == ELFCOMPRESS_ZLIB ? CP_COMPRESSION_ZLIB
							       : CP_COMPRESSION_ZSTD,
				(const uint8_t *)packed->d_buf + sizeof(Elf64_Chdr),
				packed->d_size - sizeof(Elf64_Chdr), ch.ch_size);
	elf_end(handle);
}

/* The older ".zdebug_" form: "ZLIB", length big-endian. libelf has no more for it
 * than to inflate it whole, whatever the length. */
static void touch_old_compressed(struct cp_elf *elf, struct cp_elf_section *s)
{
	CP_FREE uint8_t *packed = s->size <= MAX_INFLATED ? malloc(s->size) : NULL;
	uint64_t length;

	if (!packed || s->size < 12 || !cp_elf_read(elf, s->offset, packed, s->size) ||
	    memcmp(packed, "ZLIB", 4))
		return;
	memcpy(&length, packed + 4, sizeof(length));
	inflate_section(s, CP_COMPRESSION_ZLIB, packed + 12, s->size - 12,
			__builtin_bswap64(length));
}

static void touch(struct cp_elf *elf, struct cp_elf_section *s)
{
	if (s->touched)
		return;
	s->touched = true;
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || !s->size || s->offset > elf->size ||
	    s->size > elf->size - s->offset || s->size > MAX_CONTENT)
		return;
	if (s->flags & SHF_COMPRESSED) {
		touch_compressed(elf, s);
		return;
	}
	if (!strncmp(s->name, ".zdebug_", 8)) {
		touch_old_compressed(elf, s);
		return;
	}
	s->present = calloc(s->size / BLOCK / 64 + 1, sizeof(*s->present));
	s->bytes = s->present ? reserve(s->size) : NULL;
	s->length = s->bytes ? s->size : 0;
}

static bool have(const struct cp_elf_section *s, uint64_t block)
{
	return s->present[block / 64] >> (block % 64) & 1;
}

/* Reads the missing ones of blocks [from, to], runs of them at once. */
static void fetch(struct cp_elf *elf, struct cp_elf_section *s, uint64_t from, uint64_t to)
{
	uint64_t run, i, end;

	while (from <= to) {
		for (run = from; run <= to && !have(s, run); run++)
			s->present[run / 64] |= UINT64_C(1) << (run % 64);
		if (run > from) {
			i = from * BLOCK;
			end = run * BLOCK < s->length ? run * BLOCK : s->length;
			/* A file cut meanwhile: what is not there stays zero. */
			if (elf->blob)
				memcpy(s->bytes + i, elf->blob + s->offset + i, end - i);
			else
				cp_pread(elf->fd, s->bytes + i, end - i, s->offset + i);
		}
		from = run + 1;
	}
}

/* Has the section these bytes? It is touched. */
static bool has(struct cp_elf *elf, struct cp_elf_section *s, uint64_t offset, uint64_t size)
{
	if (!s)
		return false;
	touch(elf, s);
	return s->bytes && offset <= s->length && size <= s->length - offset;
}

const uint8_t *cp_elf_need(struct cp_elf *elf, struct cp_elf_section *s, uint64_t offset,
			   uint64_t size)
{
	if (!has(elf, s, offset, size))
		return NULL;
	if (s->present && size)
		fetch(elf, s, offset / BLOCK, (offset + size - 1) / BLOCK);
	return s->bytes + offset;
}

bool cp_elf_copy(struct cp_elf *elf, struct cp_elf_section *s, uint64_t offset, void *buffer,
		 size_t size)
{
	if (!has(elf, s, offset, size))
		return false;
	if (s->present)
		return cp_elf_read(elf, s->offset + offset, buffer, size);
	memcpy(buffer, s->bytes + offset, size);
	return true;
}

bool cp_elf_each_piece(struct cp_elf *elf, struct cp_elf_section *s, size_t overlap,
		       bool (*tell)(void *ctx, uint64_t offset, const uint8_t *bytes, size_t size),
		       void *ctx)
{
	CP_FREE uint8_t *piece = NULL;
	uint64_t at = 0, length = cp_elf_length(elf, s), size = PIECE + overlap;

	if (!length)
		return false;
	if (!s->present) {
		tell(ctx, 0, s->bytes, length);
		return true;
	}
	piece = malloc(size);
	for (; piece && length - at > overlap; at += size - overlap) {
		size = size < length - at ? size : length - at;
		if (!cp_elf_copy(elf, s, at, piece, size))
			return false;
		if (!tell(ctx, at, piece, size))
			break;
	}
	return piece != NULL;
}

const uint8_t *cp_elf_load(struct cp_elf *elf, struct cp_elf_section *s, size_t *size_ret)
{
	const uint8_t *bytes;

	if (!s)
		return NULL;
	pthread_mutex_lock(&elf->lock);
	touch(elf, s);
	bytes = cp_elf_need(elf, s, 0, s->length);
	pthread_mutex_unlock(&elf->lock);
	if (bytes)
		*size_ret = s->length;
	return bytes;
}

uint64_t cp_elf_length(struct cp_elf *elf, struct cp_elf_section *s)
{
	if (!s)
		return 0;
	touch(elf, s);
	return s->length;
}

const char *cp_elf_string(struct cp_elf *elf, struct cp_elf_section *s, uint64_t offset)
{
	uint64_t left = cp_elf_length(elf, s), size = 256;
	const uint8_t *at;

	if (offset >= left)
		return NULL;
	left -= offset;
	for (;; size *= 4) {
		if (size >= left && left <= MAX_STRING)
			size = left;
		at = cp_elf_need(elf, s, offset, size);
		/* The NUL behind the section ends its last string. */
		if (!at || memchr(at, 0, size) || size == left)
			return (const char *)at;
		if (size >= MAX_STRING)
			return NULL;
	}
}

/* ---- segments ---- */

const Elf64_Phdr *cp_elf_segment_at(const struct cp_elf *elf, uint64_t vaddr)
{
	const Elf64_Phdr *p;

	for (p = elf->segments; p < cp_elf_segments_end(elf); p++) {
		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr && vaddr - p->p_vaddr < p->p_memsz)
			return p;
	}
	return NULL;
}

bool cp_elf_is_code(const struct cp_elf *elf, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < elf->code_count; i++) {
		if (vaddr >= elf->code[i].start && vaddr < elf->code[i].end)
			return true;
	}
	return false;
}

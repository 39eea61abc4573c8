/* SPDX-License-Identifier: MIT */
#include "image/jit.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "image/debugfile.h"
#include "image/elfsymbols.h"

/* A descriptor as in gdb's manual, of a 64-bit program. */
struct descriptor {
	uint32_t version, action;
	uint64_t relevant, first;
};

struct entry {
	uint64_t next, before, symfile, size;
};

/* ---- the list ---- */

bool cp_jit_read_descriptor(const struct cp_reader *memory, uint64_t at,
			    struct cp_jit_descriptor *ret)
{
	struct descriptor d;

	if (!cp_read_exact(memory, at, &d, sizeof(d)) || d.version != 1)
		return false;
	*ret = (struct cp_jit_descriptor){ d.action, d.relevant, d.first };
	return true;
}

static bool read_entry(const struct cp_reader *memory, uint64_t at, struct cp_jit_entry *ret,
		       uint64_t *next_ret)
{
	struct entry e;

	if (!cp_read_exact(memory, at, &e, sizeof(e)))
		return false;
	*ret = (struct cp_jit_entry){ at, e.symfile, e.size };
	*next_ret = e.next;
	return true;
}

bool cp_jit_read_entry(const struct cp_reader *memory, uint64_t at, struct cp_jit_entry *ret)
{
	uint64_t next;

	return read_entry(memory, at, ret, &next);
}

void cp_jit_read_list(const struct cp_reader *memory, uint64_t first, struct cp_jit_list *ret)
{
	struct cp_map seen = { 0 };
	struct cp_jit_entry e;
	uint64_t at = first;

	*ret = (struct cp_jit_list){ 0 };
	while (at && !ret->cut) {
		ret->cut = ret->entries.count >= CP_JIT_ENTRIES_MAX || cp_map_get(&seen, at) ||
			   !cp_map_put(&seen, at, 1) || !read_entry(memory, at, &e, &at) ||
			   !cp_vec_push(&ret->entries, e);
	}
	cp_map_free(&seen);
}

/* ---- a file in memory ---- */

static struct cp_error *read_symfile(const struct cp_reader *memory,
				     const struct cp_jit_entry *entry, void **ret)
{
	void *blob;

	if (entry->size < sizeof(Elf64_Ehdr) || entry->size > CP_JIT_SYMFILE_MAX)
		return cp_error_new(CP_ERR_FORMAT, 0, "no symbol file has %llu bytes",
				    (unsigned long long)entry->size);
	blob = malloc(entry->size);
	if (!blob)
		return cp_error_nomem();
	if (!cp_read_exact(memory, entry->symfile, blob, entry->size)) {
		free(blob);
		return cp_error_new(CP_ERR_IO, 0, "a symbol file at %llx can't be read",
				    (unsigned long long)entry->symfile);
	}
	*ret = blob;
	return NULL;
}

static void add_code(struct cp_elf *elf, uint64_t start, uint64_t end)
{
	size_t n = elf->code_count;

	if (n < CP_CODE_MAX) {
		elf->code[n].start = start;
		elf->code[n].end = end;
		elf->code_count++;
		return;
	}
	n--;
	elf->code[n].start = start < elf->code[n].start ? start : elf->code[n].start;
	elf->code[n].end = end > elf->code[n].end ? end : elf->code[n].end;
}

/* An object file has no segments: its sections say where the code is, often
 * without its bytes. */
static void find_code(struct cp_elf *elf)
{
	size_t i;

	for (i = 1; !elf->segment_count && i < elf->section_count; i++) {
		const struct cp_elf_section *s = &elf->sections[i];

		if ((s->flags & SHF_EXECINSTR) && s->vaddr && s->size &&
		    s->size <= UINT64_MAX - s->vaddr)
			add_code(elf, s->vaddr, s->vaddr + s->size);
	}
}

static struct cp_error *check(const struct cp_elf *elf, uint16_t machine)
{
	bool any = false;
	size_t i;

	if (!elf->is_64bit || elf->machine != machine)
		return cp_error_new(CP_ERR_UNSUPPORTED, 0,
				    "a symbol file is of another instruction set");
	for (i = 0; i < elf->code_count; i++)
		any |= elf->code[i].start < elf->code[i].end;
	if (!any)
		return cp_error_new(CP_ERR_FORMAT, 0, "a symbol file names no code");
	return NULL;
}

CP_ERROR cp_jit_open(const struct cp_reader *memory, const struct cp_jit_entry *entry,
		     uint16_t machine, struct cp_image **ret, uint64_t *hash_ret)
{
	static const char *const no_dirs[] = { NULL };
	const struct cp_image_options options = { .debug_dirs = no_dirs };
	struct cp_elf *elf = NULL;
	void *blob = NULL;
	struct cp_error *err;
	uint64_t hash;

	CP_TRY(read_symfile(memory, entry, &blob));
	hash = cp_hash_bytes(blob, entry->size);
	CP_TRY(cp_elf_open_blob(blob, entry->size, "[jit]", &elf));
	find_code(elf);
	err = check(elf, machine);
	if (err) {
		cp_elf_destroy(elf);
		return err;
	}
	CP_TRY(cp_image_create(elf, "[jit]", -1, &options, ret));
	(*ret)->debug_searched = true;
	*hash_ret = hash;
	return NULL;
}

uint64_t cp_jit_hash(const struct cp_reader *memory, const struct cp_jit_entry *entry)
{
	CP_FREE void *blob = NULL;
	struct cp_error *err = read_symfile(memory, entry, &blob);
	uint64_t hash = err ? 0 : cp_hash_bytes(blob, entry->size);

	cp_error_free(err);
	return hash;
}

size_t cp_jit_ranges(const struct cp_image *image, struct cp_jit_range *ret)
{
	const struct cp_elf *elf = image->elf;
	size_t n = 0, i;

	for (i = 0; i < elf->code_count; i++)
		if (elf->code[i].start < elf->code[i].end)
			ret[n++] = (struct cp_jit_range){ elf->code[i].start, elf->code[i].end };
	return n;
}

/* ---- variables ---- */

static bool is_named(const char *symbol, const char *name, size_t size)
{
	return !strncmp(symbol, name, size) && (!symbol[size] || symbol[size] == '@');
}

static bool find_in(struct cp_elf *elf, uint32_t type, const char *name, struct cp_vaddr *ret)
{
	struct cp_elf_symbols symbols = { 0 };
	const char *found;
	Elf64_Sym s;
	size_t i;

	if (!cp_elf_symbols(elf, cp_elf_symbol_section(elf, type), &symbols))
		return false;
	for (i = 1; i < symbols.count; i++) {
		found = cp_elf_symbol(&symbols, i, &s);
		if (!found || ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF ||
		    !is_named(found, name, strlen(name)))
			continue;
		ret->v = s.st_value;
		return true;
	}
	return false;
}

bool cp_image_variable(struct cp_image *image, const char *name, struct cp_vaddr *ret)
{
	return find_in(image->elf, SHT_DYNSYM, name, ret) ||
	       find_in(image->elf, SHT_SYMTAB, name, ret) ||
	       find_in(cp_debug_file(image, false), SHT_SYMTAB, name, ret);
}

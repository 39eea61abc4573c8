/* SPDX-License-Identifier: MIT
 *
 * The symbols of a file's tables on their way into the table of an image.
 */
#include "image/raw_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define MAX_SYMBOLS (UINT64_C(4) << 20) /* the largest browsers have 2 million */
#define NAME_BLOCK 65536
#define MAX_NAME CP_SYMBOL_NAME_MAX

/* ---- names ---- */

char *cp_symbols_keep(struct cp_symbols *table, const char *text, size_t size)
{
	size_t block = size < NAME_BLOCK / 4 ? NAME_BLOCK : size + 1;
	char *copy;

	if (size >= table->names_left) {
		copy = malloc(block);
		if (!copy || !cp_vec_push(&table->owned, copy)) {
			free(copy);
			return NULL;
		}
		table->names = copy;
		table->names_left = block;
	}
	copy = table->names;
	table->names += size + 1;
	table->names_left -= size + 1;
	memcpy(copy, text, size);
	copy[size] = 0;
	return copy;
}

bool cp_symbols_push(struct cp_raw_symbols *raw, const struct cp_symbol *s, uint32_t rank,
		     uint64_t limit)
{
	size_t hashed = strnlen(s->name, 256);

	return raw->list.count >= MAX_SYMBOLS ||
	       cp_vec_push(&raw->list,
			   (struct cp_raw_symbol){ *s, limit, rank,
						   (uint32_t)cp_hash_bytes(s->name, hashed) });
}

/* Ranks the names of one address as a person would, for the one rule by which functions are
 * called everywhere: functions before labels, a size before none, few leading underscores
 * (where glibc has __GI_ for its own use, most), global before local, strong before weak,
 * short. So of write, __write, __libc_write and __GI___libc_write it is write. */
static uint32_t rank_of(const Elf64_Sym *sym, const char *name, size_t length)
{
	unsigned bind = ELF64_ST_BIND(sym->st_info);
	size_t underscores = 0;
	uint32_t rank = 0;

	while (underscores < 15 && name[underscores] == '_')
		underscores++;
	if (!strncmp(name, "__GI_", 5))
		underscores = 15;
	else if (underscores && (name[underscores] == 'Z' || name[underscores] == 'R'))
		underscores--; /* mangled */
	if (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE)
		rank |= 1u << 31;
	if (!sym->st_size)
		rank |= 1u << 30;
	rank |= (uint32_t)underscores << 26;
	if (bind == STB_LOCAL)
		rank |= 1u << 25;
	if (bind == STB_WEAK)
		rank |= 1u << 24;
	return rank | (uint32_t)(length < 0xffffff ? length : 0xffffff);
}

/* ---- symbol tables ---- */

struct table {
	const struct cp_elf *elf; /* whose table it is */
	const struct cp_elf *image; /* whose addresses count */
	size_t budget; /* bytes of names that may still be looked at */
};

/* True for functions, and for labels without a type that are in code and that no
 * assembler made up ($x, .L1). */
static bool is_function(const struct table *t, const Elf64_Sym *sym, const char *name)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return sym->st_shndx < t->elf->section_count &&
		       (t->elf->sections[sym->st_shndx].flags & SHF_EXECINSTR) && name[0] != '$' &&
		       strncmp(name, ".L", 2) != 0;
	default:
		return false;
	}
}

static bool within(const struct cp_elf_section *s, uint64_t address)
{
	return address >= s->vaddr && address - s->vaddr < s->size;
}

/* In an object file a symbol has an offset in its section, which has an address
 * when it was made at run time; some who make it write an address at once. */
static uint64_t address_of(const struct table *t, const Elf64_Sym *sym)
{
	const struct cp_elf_section *s;

	if (t->elf->type != ET_REL || sym->st_shndx >= t->elf->section_count)
		return sym->st_value;
	s = &t->elf->sections[sym->st_shndx];
	if (within(s, sym->st_value) || sym->st_value >= s->size ||
	    s->vaddr > UINT64_MAX - sym->st_value)
		return sym->st_value;
	return s->vaddr + sym->st_value;
}

static uint64_t limit_of(const struct table *t, const Elf64_Sym *sym, uint64_t address)
{
	const struct cp_elf_section *s;
	const Elf64_Phdr *p;

	if (sym->st_shndx < t->elf->section_count) {
		s = &t->elf->sections[sym->st_shndx];
		if (within(s, address))
			return s->vaddr + s->size;
	}
	p = cp_elf_segment_at(t->image, address);
	return p ? p->p_vaddr + p->p_memsz : address;
}

static bool add_one(struct table *t, const Elf64_Sym *sym, const char *name,
		    struct cp_raw_symbols *raw)
{
	struct cp_symbol s = { .name = name,
			       .start = { address_of(t, sym) },
			       .size = sym->st_size,
			       .local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL };
	const char *version;
	size_t length;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
	    !cp_elf_is_code(t->image, s.start.v) || !name[0] || !is_function(t, sym, name))
		return true;
	/* Names may share their ends, but not again and again. */
	length = strnlen(s.name, MAX_NAME + 1);
	if (length > MAX_NAME || length > t->budget)
		return true;
	t->budget -= length;
	if (s.size > UINT64_MAX - s.start.v ||
	    !cp_elf_is_code(t->image, s.start.v + s.size - !!s.size))
		s.size = 0;
	s.kind =
		ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ? CP_SYMBOL_IFUNC : CP_SYMBOL_FUNCTION;
	version = memchr(s.name, '@', length);
	if (version && version > s.name) {
		length = (size_t)(version - s.name);
		s.name = cp_symbols_keep(raw->into, s.name, length);
		if (!s.name)
			return false;
	}
	return cp_symbols_push(raw, &s, rank_of(sym, s.name, length),
			       s.size ? 0 : limit_of(t, sym, s.start.v));
}

bool cp_symbols_add_list(const struct cp_elf *elf, const struct cp_elf *image,
			 const struct cp_elf_symbols *symbols, struct cp_raw_symbols *raw)
{
	struct table t = { elf, image, 2 * symbols->names_size + (16u << 20) };
	const char *name;
	Elf64_Sym sym;
	size_t i;

	for (i = 1; i < symbols->count && i < MAX_SYMBOLS; i++) {
		name = cp_elf_symbol(symbols, i, &sym);
		if (name && !add_one(&t, &sym, name, raw))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT
 *
 * Relocations, and the words of the global offset table that they fill with
 * addresses of functions:
 *
 *     JUMP_SLOT, GLOB_DAT   of a symbol, whoever defines it
 *     IRELATIVE             what the resolver at the addend answers
 *
 * Which is which is not told by types, which each instruction set has its own
 * of: the one kind has a symbol, the other has none.
 */
#include "image/got.h"

#include <string.h>

#include "base/text.h"
#include "image/elfsymbols.h"
#include "image/internal.h"

#define MAX_RELOCATIONS (UINT64_C(512) << 20)
#define MAX_TABLES 4 /* .got, .got.plt, and what linkers may invent */

/* The symbols that relocations of a section are about; false: they have none. */
static bool load_symbols(struct cp_elf *elf, const struct cp_elf_section *section,
			 struct cp_elf_symbols *ret)
{
	return section->link && section->link < elf->section_count &&
	       elf->sections[section->link].type == SHT_DYNSYM &&
	       cp_elf_symbols(elf, &elf->sections[section->link], ret);
}

/* Weak ones that no library had when the file was linked are what every program
 * asks for in vain (__gmon_start__). */
static bool is_elsewhere(const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	return sym->st_shndx == SHN_UNDEF && type != STT_OBJECT && type != STT_TLS &&
	       (type != STT_NOTYPE || ELF64_ST_BIND(sym->st_info) != STB_WEAK);
}

/* Its own symbol lies where it is applied: what a library has of that name is copied there. */
static uint64_t copied(const struct cp_relocation *r, const Elf64_Sym *sym)
{
	return sym->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym->st_info) == STT_OBJECT &&
			       sym->st_value == r->at
		       ? sym->st_size
		       : 0;
}

bool cp_elf_each_relocation(struct cp_elf *elf, struct cp_elf_section *section,
			    cp_elf_relocation_fn fn, void *ctx)
{
	struct cp_elf_symbols symbols = { 0 };
	size_t size = 0, i, symbol;
	const Elf64_Rela *relas;
	Elf64_Sym sym;
	bool named;

	if (section->type != SHT_RELA || !(section->flags & SHF_ALLOC) ||
	    section->size > MAX_RELOCATIONS)
		return true;
	relas = (const void *)cp_elf_load(elf, section, &size);
	named = relas && load_symbols(elf, section, &symbols);
	for (i = 0; relas && i < size / sizeof(*relas); i++) {
		struct cp_relocation r = { .at = relas[i].r_offset,
					   .addend = (uint64_t)relas[i].r_addend,
					   .index = i };

		symbol = ELF64_R_SYM(relas[i].r_info);
		r.symbol = symbol != 0;
		r.name = symbol && named ? cp_elf_symbol(&symbols, symbol, &sym) : NULL;
		r.elsewhere = r.name && is_elsewhere(&sym);
		r.copied = r.name ? copied(&r, &sym) : 0;
		if (!fn(ctx, &r))
			return false;
	}
	return true;
}

struct tables {
	const struct cp_elf_section *list[MAX_TABLES];
	size_t count;
	cp_got_word_fn fn;
	void *ctx;
};

static bool tell(void *ctx, const struct cp_relocation *r)
{
	const struct tables *t = ctx;
	struct cp_got_word word = { { r->at }, r->name, r->elsewhere, { 0 } };
	size_t i;

	if (!r->symbol)
		word.resolver.v = r->addend;
	for (i = 0; i < t->count && (r->name || !r->symbol); i++)
		if (r->at >= t->list[i]->vaddr && r->at - t->list[i]->vaddr < t->list[i]->size)
			return t->fn(t->ctx, &word);
	return true;
}

bool cp_elf_got(struct cp_elf *elf, cp_got_word_fn fn, void *ctx)
{
	struct tables t = { .fn = fn, .ctx = ctx };
	bool ok = true;
	size_t i;

	for (i = 1; i < elf->section_count && t.count < MAX_TABLES; i++)
		if (elf->sections[i].flags & SHF_ALLOC &&
		    cp_starts_with(elf->sections[i].name, ".got"))
			t.list[t.count++] = &elf->sections[i];
	for (i = 1; ok && t.count && i < elf->section_count; i++)
		ok = cp_elf_each_relocation(elf, &elf->sections[i], tell, &t);
	return ok;
}

bool cp_image_got(struct cp_image *image, cp_got_word_fn fn, void *ctx)
{
	return cp_elf_got(image->elf, fn, ctx);
}

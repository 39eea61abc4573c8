/* SPDX-License-Identifier: MIT
 *
 * Static variables by their symbols. Few are asked for: nothing is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "image/internal.h"

#define NAME_MAX 4096 /* longer names are none */
#define TABLE_MAX (UINT64_C(512) << 20)

struct found {
	const char *name;
	uint64_t start, size; /* of the smallest one */
};

static const struct cp_elf_section *table_of(const struct cp_elf *elf, uint32_t type)
{
	size_t i;

	for (i = 1; elf && i < elf->section_count; i++)
		if (elf->sections[i].type == type && elf->sections[i].link < elf->section_count &&
		    elf->sections[i].size <= TABLE_MAX)
			return &elf->sections[i];
	return NULL;
}

static void look_through(struct cp_elf *elf, uint32_t type, uint64_t at, struct found *f)
{
	const struct cp_elf_section *table = table_of(elf, type);
	const Elf64_Sym *syms, *s;
	size_t size = 0, names_size = 0;
	const char *names;

	if (!table || elf->sections[table->link].type != SHT_STRTAB ||
	    elf->sections[table->link].size > TABLE_MAX)
		return;
	syms = (const void *)cp_elf_load(elf, &elf->sections[table - elf->sections], &size);
	names = (const void *)cp_elf_load(elf, &elf->sections[table->link], &names_size);
	for (s = syms; syms && names && s < syms + size / sizeof(*s); s++) {
		if (ELF64_ST_TYPE(s->st_info) != STT_OBJECT || s->st_shndx == SHN_UNDEF ||
		    s->st_shndx == SHN_ABS || at < s->st_value || at - s->st_value >= s->st_size ||
		    s->st_name >= names_size || (f->name && s->st_size >= f->size))
			continue;
		if (!names[s->st_name] || strnlen(names + s->st_name, NAME_MAX) == NAME_MAX)
			continue;
		*f = (struct found){ names + s->st_name, s->st_value, s->st_size };
	}
}

char *cp_image_variable_at(struct cp_image *image, struct cp_vaddr at, uint64_t *offset_ret)
{
	struct found f = { 0 };
	char *name;

	if (!cp_elf_segment_at(image->elf, at.v))
		return NULL;
	look_through(image->elf, SHT_SYMTAB, at.v, &f);
	if (!f.name && !table_of(image->elf, SHT_SYMTAB))
		look_through(cp_debug_file(image, false), SHT_SYMTAB, at.v, &f);
	if (!f.name)
		look_through(image->elf, SHT_DYNSYM, at.v, &f);
	if (!f.name)
		return NULL;
	name = cp_demangle(f.name);
	*offset_ret = at.v - f.start;
	return name ? name : strndup(f.name, strcspn(f.name, "@"));
}

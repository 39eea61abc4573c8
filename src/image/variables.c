/* SPDX-License-Identifier: MIT
 *
 * Static variables by their symbols. Few are asked for: nothing is kept.
 */
#include "image/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/debugfile.h"
#include "image/elfsymbols.h"
#include "image/find.h"
#include "image/jit.h"

#define NAME_MAX 4096 /* longer names are none */

struct found {
	const char *name;
	uint64_t start, size; /* of the smallest one */
};

static void look_through(struct cp_elf *elf, uint32_t type, uint64_t at, struct found *f)
{
	struct cp_elf_symbols symbols = { 0 };
	const char *name;
	Elf64_Sym s;
	size_t i;

	if (!cp_elf_symbols(elf, cp_elf_symbol_section(elf, type), &symbols))
		return;
	for (i = 0; i < symbols.count; i++) {
		name = cp_elf_symbol(&symbols, i, &s);
		if (!name || ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF ||
		    s.st_shndx == SHN_ABS || at < s.st_value || at - s.st_value >= s.st_size ||
		    (f->name && s.st_size >= f->size))
			continue;
		if (!name[0] || strnlen(name, NAME_MAX) == NAME_MAX)
			continue;
		*f = (struct found){ name, s.st_value, s.st_size };
	}
}

static struct found find(struct cp_image *image, struct cp_vaddr at)
{
	struct found f = { 0 };

	if (!cp_elf_segment_at(image->elf, at.v))
		return f;
	look_through(image->elf, SHT_SYMTAB, at.v, &f);
	if (!f.name && !cp_elf_symbol_section(image->elf, SHT_SYMTAB))
		look_through(cp_debug_file(image, false), SHT_SYMTAB, at.v, &f);
	if (!f.name)
		look_through(image->elf, SHT_DYNSYM, at.v, &f);
	return f;
}

uint64_t cp_image_variable_size(struct cp_image *image, struct cp_vaddr at)
{
	const struct found f = find(image, at);

	return f.name && f.start == at.v ? f.size : 0;
}

char *cp_image_variable_at(struct cp_image *image, struct cp_vaddr at, uint64_t *offset_ret)
{
	const struct found f = find(image, at);
	char *name;

	if (!f.name)
		return NULL;
	name = cp_demangle(f.name);
	*offset_ret = at.v - f.start;
	return name ? name : strndup(f.name, strcspn(f.name, "@"));
}

/* The mangled name of the variable that begins at `at`. */
static const char *name_at(struct cp_elf *elf, uint32_t type, uint64_t at)
{
	struct cp_elf_symbols symbols = { 0 };
	const char *name;
	Elf64_Sym s;
	size_t i;

	if (!elf || !cp_elf_symbols(elf, cp_elf_symbol_section(elf, type), &symbols))
		return NULL;
	for (i = 0; i < symbols.count; i++) {
		name = cp_elf_symbol(&symbols, i, &s);
		if (name && s.st_value == at && ELF64_ST_TYPE(s.st_info) == STT_OBJECT &&
		    s.st_shndx != SHN_UNDEF && !strncmp(name, "_Z", 2) &&
		    strnlen(name, NAME_MAX) < NAME_MAX)
			return name;
	}
	return NULL;
}

bool cp_image_guard(struct cp_image *image, struct cp_vaddr at, struct cp_vaddr *ret)
{
	const char *name = name_at(image->elf, SHT_SYMTAB, at.v);
	char guard[NAME_MAX + 8];

	if (!name)
		name = name_at(cp_debug_file(image, false), SHT_SYMTAB, at.v);
	if (!name)
		name = name_at(image->elf, SHT_DYNSYM, at.v);
	if (!name)
		return false;
	snprintf(guard, sizeof(guard), "_ZGV%s", name + 2);
	return cp_image_variable(image, guard, ret);
}

/* Is a symbol that of the name: mangled, or (of statics C++ tells no more) as the source has it?
 * The compiler may have put something behind it: `x.lto_priv.0`. */
static bool is_called(const char *symbol, const char *name)
{
	const size_t length = strlen(name);
	char *plain;
	bool is;

	if (!strncmp(symbol, name, length) && (!symbol[length] || symbol[length] == '.'))
		return true;
	plain = cp_demangle(symbol);
	is = plain && !strcmp(cp_name_last_part(plain), name);
	free(plain);
	return is;
}

bool cp_image_lacks_thread_local(struct cp_image *image, const char *name)
{
	struct cp_elf *elf = cp_elf_symbol_section(image->elf, SHT_SYMTAB)
				     ? image->elf
				     : cp_debug_file(image, false);
	struct cp_elf_symbols symbols = { 0 };
	bool other = false;
	const char *is;
	Elf64_Sym s;
	size_t i;

	if (!elf || !cp_elf_symbols(elf, cp_elf_symbol_section(elf, SHT_SYMTAB), &symbols))
		return false;
	for (i = 0; i < symbols.count; i++) {
		is = cp_elf_symbol(&symbols, i, &s);
		if (!is || ELF64_ST_TYPE(s.st_info) != STT_TLS || s.st_shndx == SHN_UNDEF)
			continue;
		if (is_called(is, name))
			return false;
		other |= !s.st_value;
	}
	return other;
}

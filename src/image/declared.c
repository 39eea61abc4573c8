/* SPDX-License-Identifier: MIT */
#include "image/declared.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "image/debugfile.h"
#include "image/elfsymbols.h"
#include "image/find.h"
#include "image/image.h"

struct wanted {
	const char *linkage, *name, *last;
};

#define TAG "[abi:cxx11]" /* which gcc leaves out where it declares one */

static bool is_wanted(const struct wanted *w, const char *symbol)
{
	const char *name = w->linkage ? w->linkage : w->name;
	size_t size = strlen(name);
	char *plain, *tag;
	bool is;

	if (!strncmp(symbol, name, size) && (!symbol[size] || symbol[size] == '@'))
		return true;
	if (strncmp(symbol, "_Z", 2) != 0 || !strstr(symbol, w->last))
		return false;
	plain = cp_demangle(symbol);
	tag = plain ? strstr(plain, TAG) : NULL;
	if (tag)
		memmove(tag, tag + strlen(TAG), strlen(tag + strlen(TAG)) + 1);
	is = plain && !strcmp(plain, w->name);
	free(plain);
	return is;
}

static bool find_in(struct cp_elf *elf, uint32_t type, const struct wanted *w, Elf64_Sym *ret)
{
	struct cp_elf_symbols symbols = { 0 };
	const char *found;
	unsigned kind;
	size_t i;

	if (!elf || !cp_elf_symbols(elf, cp_elf_symbol_section(elf, type), &symbols))
		return false;
	for (i = 1; i < symbols.count; i++) {
		found = cp_elf_symbol(&symbols, i, ret);
		kind = ELF64_ST_TYPE(ret->st_info);
		if (found && (kind == STT_OBJECT || kind == STT_TLS) &&
		    ret->st_shndx != SHN_UNDEF && is_wanted(w, found))
			return true;
	}
	return false;
}

bool cp_image_place_declared(struct cp_image *image, const char *linkage, const char *name,
			     struct cp_arena *arena, struct cp_variable *variable)
{
	const struct wanted w = { linkage, name, cp_name_last_part(name) };
	struct cp_location *at;
	bool of_threads;
	uint8_t *expr;
	Elf64_Sym s;

	if (!find_in(image->elf, SHT_DYNSYM, &w, &s) && !find_in(image->elf, SHT_SYMTAB, &w, &s) &&
	    !find_in(cp_debug_file(image, false), SHT_SYMTAB, &w, &s))
		return false;
	of_threads = ELF64_ST_TYPE(s.st_info) == STT_TLS;
	expr = cp_arena_alloc(arena, 2 + sizeof(s.st_value));
	at = cp_arena_alloc(arena, sizeof(*at));
	if (!expr || !at)
		return false;
	expr[0] = of_threads ? DW_OP_const8u : DW_OP_addr;
	memcpy(expr + 1, &s.st_value, sizeof(s.st_value));
	expr[1 + sizeof(s.st_value)] = DW_OP_form_tls_address;
	*at = (struct cp_location){ .high = UINT64_MAX,
				    .expr = expr,
				    .size = 1 + sizeof(s.st_value) + of_threads };
	variable->locations = (struct cp_locations){ at, 1 };
	return true;
}

/* SPDX-License-Identifier: MIT
 *
 * Tables of symbols, read by libelf.
 */
#ifndef CP_IMAGE_ELFSYMBOLS_H
#define CP_IMAGE_ELFSYMBOLS_H

#include "image/elffile.h"

/* A table of symbols with its names; good as long as the elf. */
struct cp_elf_symbols {
	void *data; /* libelf's, borrowed */
	size_t count; /* the first one is none */
	const char *names; /* the last byte is NUL */
	size_t names_size;
};

/* A string table of at most `max` bytes by the number of its section; its last byte
 * is NUL. NULL: none. For those who hold the lock, or are alone. */
const char *cp_elf_strings(struct cp_elf *elf, size_t index, uint64_t max, size_t *size_ret);
/* The first section of `type` (SHT_SYMTAB, SHT_DYNSYM), or NULL; so for no `elf`. */
const struct cp_elf_section *cp_elf_symbol_section(const struct cp_elf *elf, uint32_t type);
/* The symbols of such a section, with the names that it is linked to. False:
 * none, or they can't be read. Any thread may call it. */
bool cp_elf_symbols(struct cp_elf *elf, const struct cp_elf_section *section,
		    struct cp_elf_symbols *ret);
/* The symbols by places in the file, for what has no sections. */
bool cp_elf_symbols_at(struct cp_elf *elf, uint64_t offset, size_t count, uint64_t names_offset,
		       uint64_t names_size, struct cp_elf_symbols *ret);
/* Symbol `i`, and its name; NULL where there is no such symbol, or no such name. */
const char *cp_elf_symbol(const struct cp_elf_symbols *symbols, size_t i, Elf64_Sym *ret);

#endif

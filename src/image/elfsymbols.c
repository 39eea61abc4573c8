/* SPDX-License-Identifier: MIT
 *
 * Tables of symbols, and of the strings that are their names. libelf keeps both
 * until the file is closed, so names may be pointed to.
 */
#include "image/elfsymbols.h"

#include <gelf.h>
#include <libelf.h>

#define MAX_TABLE (UINT64_C(512) << 20)

/* True when a table ends with a NUL. elf_strptr() is not asked: without a NUL at the
 * end of the table, which is an error (gABI 4, "String Table"), it looks through all
 * the rest for each string. */
static bool is_ended(const Elf_Data *data)
{
	return data && data->d_buf && data->d_size &&
	       !((const char *)data->d_buf)[data->d_size - 1];
}

/* libelf would read whatever length a sparse file claims, and keeps it. */
static Elf_Data *load(struct cp_elf *elf, size_t index, uint64_t max, uint32_t *type_ret)
{
	Elf_Scn *scn = elf_getscn(elf->handle, index);
	GElf_Shdr header;

	if (!gelf_getshdr(scn, &header) || header.sh_size > max)
		return NULL;
	*type_ret = header.sh_type;
	return elf_getdata(scn, NULL);
}

const char *cp_elf_strings(struct cp_elf *elf, size_t index, uint64_t max, size_t *size_ret)
{
	uint32_t type = SHT_NULL;
	Elf_Data *data = load(elf, index, max, &type);

	if (type != SHT_STRTAB || !is_ended(data) || data->d_type != ELF_T_BYTE)
		return NULL;
	*size_ret = data->d_size;
	return data->d_buf;
}

const struct cp_elf_section *cp_elf_symbol_section(const struct cp_elf *elf, uint32_t type)
{
	size_t i;

	for (i = 1; elf && i < elf->section_count; i++) {
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	}
	return NULL;
}

static bool set(Elf_Data *data, const char *names, size_t names_size, struct cp_elf_symbols *ret)
{
	if (!data || !data->d_buf || data->d_type != ELF_T_SYM || !names)
		return false;
	*ret = (struct cp_elf_symbols){ data, data->d_size / sizeof(Elf64_Sym), names, names_size };
	return true;
}

bool cp_elf_symbols(struct cp_elf *elf, const struct cp_elf_section *section,
		    struct cp_elf_symbols *ret)
{
	const char *names = NULL;
	Elf_Data *data = NULL;
	size_t size = 0;
	uint32_t type;

	if (!elf || !section)
		return false;
	pthread_mutex_lock(&elf->lock);
	names = cp_elf_strings(elf, section->link, MAX_TABLE, &size);
	if (names)
		data = load(elf, (size_t)(section - elf->sections), MAX_TABLE, &type);
	pthread_mutex_unlock(&elf->lock);
	return set(data, names, size, ret);
}

/* Part of the file; NULL when it isn't all there. */
static Elf_Data *chunk(struct cp_elf *elf, uint64_t offset, uint64_t size, Elf_Type type)
{
	if (!size || size > MAX_TABLE || offset > INT64_MAX)
		return NULL;
	return elf_getdata_rawchunk(elf->handle, (int64_t)offset, size, type);
}

bool cp_elf_symbols_at(struct cp_elf *elf, uint64_t offset, size_t count, uint64_t names_offset,
		       uint64_t names_size, struct cp_elf_symbols *ret)
{
	Elf_Data *data = NULL, *names;

	if (count > MAX_TABLE / sizeof(Elf64_Sym))
		return false;
	pthread_mutex_lock(&elf->lock);
	names = chunk(elf, names_offset, names_size, ELF_T_BYTE);
	if (is_ended(names))
		data = chunk(elf, offset, count * sizeof(Elf64_Sym), ELF_T_SYM);
	pthread_mutex_unlock(&elf->lock);
	return data && set(data, names->d_buf, names->d_size, ret);
}

const char *cp_elf_symbol(const struct cp_elf_symbols *symbols, size_t i, Elf64_Sym *ret)
{
	if (i >= symbols->count || !gelf_getsym(symbols->data, (int)i, ret) ||
	    ret->st_name >= symbols->names_size)
		return NULL;
	return symbols->names + ret->st_name;
}

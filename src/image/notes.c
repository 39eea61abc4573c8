/* SPDX-License-Identifier: MIT
 *
 * Notes: what a file says of itself to whoever asks (gABI 5, "Note Section").
 */
#include "image/notes.h"

#include <gelf.h>
#include <libelf.h>

#define MAX_NOTES 65536 /* bytes of one section or segment; there are some 100 */
#define MAX_PLACES 256

struct place {
	uint64_t offset, size, align, vaddr;
};

/* The notes of a place, which libelf keeps; NULL when they can't be read. */
static Elf_Data *read_place(struct cp_elf *elf, const struct place *p)
{
	const uint64_t align = p->align == 8 ? 8 : 4;
	uint64_t size = (p->size + align - 1) & ~(align - 1);
	Elf_Data *data;

	if (!p->size || p->size > MAX_NOTES || p->offset > elf->size)
		return NULL;
	/* The padding behind the last one may be missing, and libelf wants it. */
	if (size > elf->size - p->offset)
		size = p->size;
	pthread_mutex_lock(&elf->lock);
	data = elf_getdata_rawchunk(elf->handle, (int64_t)p->offset, size,
				    align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	pthread_mutex_unlock(&elf->lock);
	return data;
}

static bool walk(struct cp_elf *elf, const struct place *p, cp_elf_note_fn fn, void *ctx)
{
	Elf_Data *data = read_place(elf, p);
	size_t at = 0, name, desc;
	GElf_Nhdr header;

	while (data && (at = gelf_getnote(data, at, &header, &name, &desc)) > 0) {
		const struct cp_elf_note note = {
			.name = (const char *)data->d_buf + name,
			.name_size = header.n_namesz,
			.type = header.n_type,
			.desc = (const uint8_t *)data->d_buf + desc,
			.desc_size = header.n_descsz,
			.vaddr = p->vaddr ? p->vaddr + desc : 0,
		};

		if (!fn(ctx, &note))
			return false;
	}
	return true;
}

void cp_elf_each_note(struct cp_elf *elf, cp_elf_note_fn fn, void *ctx)
{
	size_t i, places = 0;

	/* Sections first: debug files keep segments whose contents are gone. */
	for (i = 0; i < elf->section_count && places < MAX_PLACES; i++) {
		const struct cp_elf_section *s = &elf->sections[i];

		if (s->type != SHT_NOTE)
			continue;
		places++;
		if (!walk(elf, &(struct place){ s->offset, s->size, s->align, 0 }, fn, ctx))
			return;
	}
	for (i = 0, places = 0; i < elf->segment_count && places < MAX_PLACES; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type != PT_NOTE)
			continue;
		places++;
		if (!walk(elf, &(struct place){ p->p_offset, p->p_filesz, p->p_align, p->p_vaddr },
			  fn, ctx))
			return;
	}
}

/* SPDX-License-Identifier: MIT
 *
 * Notes: what a file says of itself to whoever asks (gABI 5, "Note Section").
 */
#include "image/elffile.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define MAX_NOTES 65536 /* bytes of one section or segment; there are some 100 */
#define MAX_PLACES 256

/* Padded to 4 bytes. Those that are aligned to 8 (.note.gnu.property) have
 * names and contents for which that is the same. */
static uint64_t padded(uint32_t size)
{
	return ((uint64_t)size + 3) & ~(uint64_t)3;
}

static bool walk(const uint8_t *notes, size_t size, cp_elf_note_fn fn, void *ctx)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		struct cp_elf_note note;
		Elf64_Nhdr nh;

		memcpy(&nh, notes + at, sizeof(nh));
		at += sizeof(nh);
		/* The padding behind the last one may be missing. */
		if (padded(nh.n_namesz) > size - at ||
		    nh.n_descsz > size - at - padded(nh.n_namesz))
			return true;
		note = (struct cp_elf_note){
			.name = (const char *)notes + at,
			.name_size = nh.n_namesz,
			.type = nh.n_type,
			.desc = notes + at + padded(nh.n_namesz),
			.desc_size = nh.n_descsz,
		};
		if (!fn(ctx, &note))
			return false;
		at += padded(nh.n_namesz);
		at = padded(nh.n_descsz) > size - at ? size : at + padded(nh.n_descsz);
	}
	return true;
}

static bool walk_at(const struct cp_elf *elf, uint64_t offset, uint64_t size, cp_elf_note_fn fn,
		    void *ctx)
{
	CP_FREE uint8_t *notes = NULL;

	if (!size || size > MAX_NOTES)
		return true;
	notes = malloc(size);
	return !notes || !cp_elf_read(elf, offset, notes, size) || walk(notes, size, fn, ctx);
}

void cp_elf_each_note(const struct cp_elf *elf, cp_elf_note_fn fn, void *ctx)
{
	size_t i, places = 0;

	/* Sections first: debug files keep segments whose contents are gone. */
	for (i = 0; i < elf->section_count && places < MAX_PLACES; i++) {
		if (elf->sections[i].type != SHT_NOTE)
			continue;
		places++;
		if (!walk_at(elf, elf->sections[i].offset, elf->sections[i].size, fn, ctx))
			return;
	}
	for (i = 0, places = 0; i < elf->segment_count && places < MAX_PLACES; i++) {
		if (elf->segments[i].p_type != PT_NOTE)
			continue;
		places++;
		if (!walk_at(elf, elf->segments[i].p_offset, elf->segments[i].p_filesz, fn, ctx))
			return;
	}
}

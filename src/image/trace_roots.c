/* SPDX-License-Identifier: MIT
 *
 * ELF notes that say where a program's annotations are (cprof/trace_format.h):
 *
 *     namesz 6 │ descsz 8 │ type │ "cprof\0" padded │ int64: root - here
 *
 * They are in loaded segments of type PT_NOTE, so they are found in what was
 * stripped of everything else.
 */
#include <cprof/trace_format.h>
#include <string.h>

#include "base/cursor.h"
#include "image/internal.h"

#define NOTES_MAX 16384 /* bytes of a segment that are looked at */
#define NAME_SIZE 6

struct roots {
	struct cp_vaddr *items;
	size_t count, max;
};

static void add(struct roots *roots, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < roots->count; i++)
		if (roots->items[i].v == vaddr)
			return;
	if (roots->count < roots->max)
		roots->items[roots->count++].v = vaddr;
}

/* The next `size` bytes, which are padded. */
static const uint8_t *take(struct cp_cursor *c, size_t size, size_t align)
{
	size_t padded = (size + align - 1) & ~(align - 1);
	const uint8_t *bytes;

	if (padded < size || padded > cp_cursor_left(c))
		padded = size; /* the last one may lack it */
	bytes = cp_cursor_bytes(c, padded);
	return bytes;
}

static void read_notes(struct roots *roots, const uint8_t *bytes, size_t size, uint64_t vaddr,
		       size_t align)
{
	struct cp_cursor c = cp_cursor(bytes, size);

	while (!c.bad && cp_cursor_left(&c) >= 12) {
		uint32_t name_size = cp_cursor_u32(&c), desc_size = cp_cursor_u32(&c);
		uint32_t type = cp_cursor_u32(&c);
		const uint8_t *name = take(&c, name_size, align);
		const uint8_t *desc = take(&c, desc_size, align);
		int64_t away;

		if (!name || !desc || type != CPROF_TRACE_NOTE_TYPE || name_size != NAME_SIZE ||
		    desc_size != sizeof(away) || memcmp(name, "cprof", NAME_SIZE) != 0)
			continue;
		memcpy(&away, desc, sizeof(away));
		add(roots, vaddr + (uint64_t)(desc - bytes) + (uint64_t)away);
	}
}

size_t cp_image_trace_roots(const struct cp_image *image, struct cp_vaddr *ret, size_t max)
{
	struct roots roots = { ret, 0, max };
	const struct cp_elf *elf = image->elf;
	uint8_t bytes[NOTES_MAX];
	size_t i, size;

	for (i = 0; elf && i < elf->segment_count; i++) {
		const Elf64_Phdr *note = &elf->segments[i];

		if (note->p_type != PT_NOTE)
			continue;
		size = note->p_filesz < sizeof(bytes) ? note->p_filesz : sizeof(bytes);
		if (cp_elf_read(elf, note->p_offset, bytes, size))
			read_notes(&roots, bytes, size, note->p_vaddr, note->p_align == 8 ? 8 : 4);
	}
	return roots.count;
}

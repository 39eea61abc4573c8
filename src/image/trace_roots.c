/* SPDX-License-Identifier: MIT
 *
 * ELF notes that say where a program's annotations are (cprof/trace_format.h):
 *
 *     namesz 6 │ descsz 8 │ type │ "cprof\0" padded │ int64: root - here
 *
 * They are in loaded segments of type PT_NOTE, so they are found in what was
 * stripped of everything else.
 */
#include "image/internal.h"

#include <cprof/trace_format.h>
#include <string.h>

#include "image/notes.h"

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

static bool take_note(void *ctx, const struct cp_elf_note *note)
{
	int64_t away;

	if (!note->vaddr || note->type != CPROF_TRACE_NOTE_TYPE || note->name_size != NAME_SIZE ||
	    note->desc_size != sizeof(away) || memcmp(note->name, "cprof", NAME_SIZE) != 0)
		return true;
	memcpy(&away, note->desc, sizeof(away));
	add(ctx, note->vaddr + (uint64_t)away);
	return true;
}

size_t cp_image_trace_roots(const struct cp_image *image, struct cp_vaddr *ret, size_t max)
{
	struct roots roots = { ret, 0, max };

	cp_elf_each_note(image->elf, take_note, &roots);
	return roots.count;
}

/* SPDX-License-Identifier: MIT
 *
 * Notes, read by libelf.
 */
#ifndef CP_IMAGE_NOTES_H
#define CP_IMAGE_NOTES_H

#include "image/elffile.h"

/* A note, borrowed until the call it was passed to returns. The name's
 * NUL is counted in, and may be missing. */
struct cp_elf_note {
	const char *name;
	size_t name_size;
	uint32_t type;
	const uint8_t *desc; /* aligned to nothing */
	size_t desc_size;
	uint64_t vaddr; /* of desc, in a segment's note; else 0 */
};

/* The answer false means enough. */
typedef bool (*cp_elf_note_fn)(void *ctx, const struct cp_elf_note *note);
/* The notes of the sections, then those of the segments: of a file that has
 * both, each is told twice. */
void cp_elf_each_note(struct cp_elf *elf, cp_elf_note_fn fn, void *ctx);

#endif

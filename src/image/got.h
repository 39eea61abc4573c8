/* SPDX-License-Identifier: MIT
 *
 * Relocations, and the words of the global offset table: see got.c.
 */
#ifndef CP_IMAGE_GOT_H
#define CP_IMAGE_GOT_H

#include "image/elffile.h"
#include "image/image.h"

struct cp_relocation {
	uint64_t at, addend;
	const char *name; /* of its symbol, while the file is open; NULL: none, or not known */
	bool symbol; /* it has one */
	bool elsewhere; /* which another object defines, and which may be a function */
	uint64_t
		copied; /* bytes of a library's variable that the program keeps there; 0: it is none */
	size_t index; /* in its section */
};
/* The answer false means enough, and is that of cp_elf_each_relocation() then. */
typedef bool (*cp_elf_relocation_fn)(void *ctx, const struct cp_relocation *r);
bool cp_elf_each_relocation(struct cp_elf *elf, struct cp_elf_section *section,
			    cp_elf_relocation_fn fn, void *ctx);
/* Tells the words of the table, as cp_image_got() does. */
bool cp_elf_got(struct cp_elf *elf, cp_got_word_fn fn, void *ctx);

#endif

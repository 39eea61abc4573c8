/* SPDX-License-Identifier: MIT
 *
 * Symbols on their way into the table of an image: see symbols.c. All that append
 * answer false only without memory.
 */
#ifndef CP_IMAGE_RAW_SYMBOLS_H
#define CP_IMAGE_RAW_SYMBOLS_H

#include "base/vec.h"
#include "image/elfsymbols.h"
#include "image/image.h"
#include "image/spans.h"

#define CP_SYMBOL_NAME_MAX 65536 /* longer ones are left out */

/* A symbol on its way into the table. */
struct cp_raw_symbol {
	struct cp_symbol s;
	uint64_t limit; /* where a symbol of unknown size ends at the latest */
	uint32_t rank; /* among those at one address the lowest is the best name */
	uint32_t hash; /* of the name: equal names are neighbours */
};

struct cp_symbols {
	struct cp_symbol *items; /* sorted by address, best alias first */
	size_t count;
	struct cp_spans spans; /* of items */
	CP_VEC(void *) owned; /* memory of names that are not in the files */
	char *names; /* where the next such name goes */
	size_t names_left;
	struct cp_elf *mini; /* mini debug information: its names are used */
	struct cp_symbols *older; /* the table that this one replaced: names live on */
};

struct cp_raw_symbols {
	CP_VEC(struct cp_raw_symbol) list;
	struct cp_symbols *into; /* for owned names */
};

/* A copy of `size` bytes with a NUL that lives as long as the table, or NULL. */
char *cp_symbols_keep(struct cp_symbols *table, const char *text, size_t size);
bool cp_symbols_push(struct cp_raw_symbols *raw, const struct cp_symbol *s, uint32_t rank,
		     uint64_t limit);
/* The functions among `symbols` of `elf`, at addresses in the code of `image`. */
bool cp_symbols_add_list(const struct cp_elf *elf, const struct cp_elf *image,
			 const struct cp_elf_symbols *symbols, struct cp_raw_symbols *raw);

#endif

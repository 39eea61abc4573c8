/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share. The locks, in the order in which they may
 * be held together: debug, symbols, files, that of one cp_elf.
 */
#ifndef CP_IMAGE_INTERNAL_H
#define CP_IMAGE_INTERNAL_H

#include <stdatomic.h>

#include "base/vec.h"
#include "image/elffile.h"
#include "image/image.h"
#include "image/spans.h"

struct cp_symbols;
struct cp_debuginfo;

struct cp_image {
	struct cp_elf *elf; /* what is mapped */
	char *path; /* as the process names it */
	int root_fd; /* of its process, or -1: the other files are looked for there too */
	char **debug_dirs; /* NULL-terminated, owned */
	struct cp_debuginfod *debuginfod; /* borrowed; NULL: it is not asked */
	char build_id[2 * CP_BUILD_ID_MAX + 1];

	pthread_mutex_t files_lock;
	bool debug_searched, debuginfod_asked; /* under files_lock, as is what they found: */
	struct cp_elf *debug; /* separate debug file, or NULL */
	char *debug_path;

	pthread_mutex_t symbols_lock; /* while the table is built */
	_Atomic(struct cp_symbols *) symbols;
	atomic_bool symbols_stale; /* a debug file with more came over the network */

	pthread_mutex_t debug_lock; /* whenever debug information is read */
	struct cp_debuginfo *debuginfo; /* once made */
	bool debuginfo_tried;
};

/* ---- image.c ---- */
/* `elf` is taken over, also on failure. */
CP_ERROR cp_image_create(struct cp_elf *elf, const char *path, int root_fd,
			 const struct cp_image_options *options, struct cp_image **ret);

/* ---- source.c: where the bytes of a mapped file are ---- */
CP_ERROR cp_source_open(const struct cp_image_source *source, struct cp_elf **ret);

/* ---- debugfile.c: the other files of an image ---- */
/* The separate debug file, searched for on this machine at the first call;
 * with `network`, debuginfod too. NULL when there is none. */
struct cp_elf *cp_debug_file(struct cp_image *image, bool network);
/* The dwz file that `of` shares debug information with; owned by the caller. */
struct cp_elf *cp_debug_alternate(struct cp_image *image, struct cp_elf *of);
/* A split DWARF file by name; owned by the caller. */
struct cp_elf *cp_debug_split(struct cp_image *image, const char *comp_dir, const char *name);
/* What is in .gnu_debugdata; owned by the caller. */
struct cp_elf *cp_debug_mini(struct cp_elf *elf);

/* ---- symbols.c, plt.c, functions.c: the symbol table ---- */

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
/* All of these append, and answer false only without memory. */
/* The functions among `symbols` of `elf`, at addresses in the code of `image`. */
bool cp_symbols_add_list(const struct cp_elf *elf, const struct cp_elf *image,
			 const struct cp_elf_symbols *symbols, struct cp_raw_symbols *raw);
/* The dynamic symbols of a file without section headers. */
bool cp_symbols_add_dynamic(struct cp_elf *elf, struct cp_raw_symbols *raw);
bool cp_symbols_add_plt(struct cp_elf *elf, struct cp_raw_symbols *raw);
/* Function bounds from .eh_frame that `known` does not cover. */
bool cp_symbols_add_unwind(struct cp_elf *elf, const struct cp_spans *known,
			   struct cp_raw_symbols *raw);
void cp_symbols_destroy(struct cp_symbols *table);

/* ---- got.c ---- */
struct cp_relocation {
	uint64_t at, addend;
	const char *name; /* of its symbol, while the file is open; NULL: none, or not known */
	bool symbol; /* it has one */
	bool elsewhere; /* which another object defines, and which may be a function */
	size_t index; /* in its section */
};
/* False: enough, and cp_elf_each_relocation() answers false. */
typedef bool (*cp_elf_relocation_fn)(void *ctx, const struct cp_relocation *r);
bool cp_elf_each_relocation(struct cp_elf *elf, struct cp_elf_section *section,
			    cp_elf_relocation_fn fn, void *ctx);
/* As cp_image_got(). */
bool cp_elf_got(struct cp_elf *elf, cp_got_word_fn fn, void *ctx);

#endif

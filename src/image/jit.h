/* SPDX-License-Identifier: MIT
 *
 * Code made at run time, as its makers announce it to gdb: a variable
 * __jit_debug_descriptor heads a list of entries, each with an ELF file that
 * lies in memory, and __jit_debug_register_code() is called when one came or
 * is about to go. All of it is the program's memory, and may be anything:
 * what makes no sense is refused.
 */
#ifndef CP_IMAGE_JIT_H
#define CP_IMAGE_JIT_H

#include "base/vec.h"
#include "image/elffile.h"
#include "image/image.h"

#define CP_JIT_ENTRIES_MAX 65536
#define CP_JIT_SYMFILE_MAX (UINT64_C(64) << 20)

/* Actions of a descriptor: what the last call of the hook was for. */
#define CP_JIT_REGISTER 1u
#define CP_JIT_UNREGISTER 2u

struct cp_jit_entry {
	uint64_t at; /* where the entry itself is */
	uint64_t symfile, size;
};

struct cp_jit_descriptor {
	uint32_t action; /* CP_JIT_*; 0: nothing yet */
	uint64_t relevant, first; /* entries; 0: none */
};

struct cp_jit_list {
	CP_VEC(struct cp_jit_entry) entries;
	bool cut; /* it has a circle, is too long, or can't be read to its end */
};

/* False: it can't be read, or is of another version than 1. */
bool cp_jit_read_descriptor(const struct cp_reader *memory, uint64_t at,
			    struct cp_jit_descriptor *ret);
bool cp_jit_read_entry(const struct cp_reader *memory, uint64_t at, struct cp_jit_entry *ret);
/* All entries from `first` on; *ret is freed with cp_vec_free(&ret->entries). */
void cp_jit_read_list(const struct cp_reader *memory, uint64_t first, struct cp_jit_list *ret);

/* The file of an entry, with addresses as in the process: load bias 0. No other
 * file is looked for. *hash_ret is of its bytes. */
CP_ERROR cp_jit_open(const struct cp_reader *memory, const struct cp_jit_entry *entry,
		     uint16_t machine, struct cp_image **ret, uint64_t *hash_ret);
/* A hash of the bytes that are there now; 0: they can't be read. */
uint64_t cp_jit_hash(const struct cp_reader *memory, const struct cp_jit_entry *entry);
/* The ranges of an image that have code: up to CP_CODE_MAX, the last one wide where
 * there are more. Answers how many. */
struct cp_jit_range {
	uint64_t start, end;
};
size_t cp_jit_ranges(const struct cp_image *image, struct cp_jit_range *ret);

/* The address of a variable, by the symbol tables. False: there is none. */
bool cp_image_variable(struct cp_image *image, const char *name, struct cp_vaddr *ret);

#endif

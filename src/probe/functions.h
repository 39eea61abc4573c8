/* SPDX-License-Identifier: MIT
 *
 * The functions of an image: see functions.c.
 */
#ifndef CP_PROBE_FUNCTIONS_H
#define CP_PROBE_FUNCTIONS_H

#include "base/error.h"
#include "base/vec.h"
#include "image/image.h"

struct cp_probe_range {
	uint64_t start, end; /* link-time */
};
#define CP_PROBE_RANGES 4

enum cp_probe_kind {
	CP_PROBE_FUNCTION,
	CP_PROBE_PLT, /* calls of a library function, most by a stub: traced on request */
	CP_PROBE_IFUNC, /* the resolver; its targets are functions of their own */
};

/* Flags of struct cp_probe_function. */
#define CP_PROBE_CLONE 1u /* .isra, .constprop, .part, ...: under its function's name */
#define CP_PROBE_LOCAL 2u /* not global: the compiler may have changed its convention */
#define CP_PROBE_UNNAMED 4u /* known by its call frame information alone: fn_<hex> */
#define CP_PROBE_SLOT 8u /* PLT: no code, but a slot that calls go through */

struct cp_probe_function {
	const char *linkage_name; /* lives as long as the image; clone suffixes kept */
	char *name; /* by cp_probe_function_name(); owned by the functions */
	uint8_t kind; /* enum cp_probe_kind */
	uint8_t flags;
	uint64_t address, size; /* link-time; of its first range */
	struct cp_probe_range ranges[CP_PROBE_RANGES]; /* the first begins at `address`;
							  unused ones are 0, 0 */
	uint32_t range_count;
	uint32_t first_alias, alias_count; /* in cp_probe_functions.aliases: other names */
};

struct cp_probe_alias {
	const char *linkage_name; /* lives as long as the image */
	char *name; /* by cp_probe_alias_name(); owned by the functions */
};

/* Code that belongs to a function which no name tells: unlikely parts. */
struct cp_probe_part {
	struct cp_probe_range range;
	const char *linkage_name;
};

/* A call, or a jump at the end, of a library function without a stub. */
struct cp_probe_library_call {
	uint64_t address; /* link-time, of the instruction */
	uint32_t function; /* number of the PLT one that it calls */
	uint8_t size;
	uint8_t code[16]; /* its bytes */
};

/* All functions of an image, one per address, sorted by it. */
struct cp_probe_functions {
	struct cp_probe_function *items; /* owned */
	size_t count;
	CP_VEC(struct cp_probe_alias) aliases;
	CP_VEC(struct cp_probe_part) parts; /* sorted; who jumps to one owns it */
	/* Landing pads of exceptions, sorted, for cp_probe_blocks_find(). Put here by
	 * who read them (unwind/pads.h), malloc()ed; else there are none. */
	uint64_t *pads;
	size_t pad_count;
	CP_VEC(struct cp_probe_range) sequences; /* restartable ones (sequences.h) */
	/* By function, then address; once cp_probe_find_library_calls() was asked. */
	CP_VEC(struct cp_probe_library_call) calls;
	bool calls_found;
};
/* Demangling is the costly part: names are made when first asked for, by one
 * thread at a time. Clone suffixes are cut off. NULL only without memory. */
CP_ERROR cp_probe_functions_read(struct cp_image *image, struct cp_probe_functions *ret);
/* The name that people use: demangled, without what compilers put behind it. Owned
 * by the caller; NULL without memory. */
char *cp_probe_name(const char *linkage_name);
const char *cp_probe_function_name(struct cp_probe_function *function);
const char *cp_probe_alias_name(struct cp_probe_alias *alias);
/* The function with `address` in its first range (the innermost one), or NULL. */
struct cp_probe_function *cp_probe_functions_find(const struct cp_probe_functions *functions,
						  uint64_t address);
/* A hash of where they are, and of the landing pads. */
uint64_t cp_probe_functions_hash(const struct cp_probe_functions *functions);
void cp_probe_functions_free(struct cp_probe_functions *functions);

/* Reads an image's file at link-time addresses; `image` is borrowed. */
struct cp_reader cp_probe_file_reader(struct cp_image *image);

#endif

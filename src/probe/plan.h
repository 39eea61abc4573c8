/* SPDX-License-Identifier: MIT
 *
 * The plan: which functions an image has, and where breakpoints go to see
 * each of them entered and left. Pure: works on a file without a process.
 *
 *     name ─► function: one address, its aliases, its ranges (.cold too)
 *                 │ decode each range to the end
 *                 ▼
 *     entry │ ret ret ret │ jmp elsewhere: tail call │ jmp *%rax: decided at the stop
 *
 * Code that can't be decoded to the end (data in text) falls back to a
 * breakpoint at each return address, placed at the entry.
 */
#ifndef CP_PROBE_PLAN_H
#define CP_PROBE_PLAN_H

#include "arch/insn.h"
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
	/* By function, then address; once cp_probe_find_library_calls() was asked. */
	CP_VEC(struct cp_probe_library_call) calls;
	bool calls_found;
};
/* Demangling is the costly part: names are made when first asked for, by one
 * thread at a time. Clone suffixes are cut off. NULL only without memory. */
CP_ERROR cp_probe_functions_read(struct cp_image *image, struct cp_probe_functions *ret);
/* What people call it: demangled, without what compilers put behind it. Owned by
 * the caller; NULL without memory. */
char *cp_probe_name(const char *linkage_name);
const char *cp_probe_function_name(struct cp_probe_function *function);
const char *cp_probe_alias_name(struct cp_probe_alias *alias);
/* The function with `address` in its first range (the innermost one), or NULL. */
struct cp_probe_function *cp_probe_functions_find(const struct cp_probe_functions *functions,
						  uint64_t address);
void cp_probe_functions_free(struct cp_probe_functions *functions);

enum cp_probe_site_kind {
	CP_PROBE_SITE_ENTRY,
	CP_PROBE_SITE_RETURN, /* ret */
	CP_PROBE_SITE_TAIL, /* jump to outside: certain */
	CP_PROBE_SITE_TAIL_CONDITIONAL, /* conditional jump to outside */
	CP_PROBE_SITE_INDIRECT, /* jump to who knows where */
};

struct cp_probe_site {
	uint64_t address; /* link-time */
	uint8_t kind; /* enum cp_probe_site_kind */
	uint8_t size; /* of the instruction */
	uint8_t code[16]; /* its bytes */
};

/* Why a function gets no breakpoints, or not all of them. */
enum cp_probe_why {
	CP_PROBE_FULL, /* entry and every exit */
	CP_PROBE_BY_RETURN, /* not decoded to the end: exits by return address */
	CP_PROBE_NO_EXIT, /* it never returns: entry only */
	CP_PROBE_REFUSED, /* no breakpoint can stand at its entry */
	CP_PROBE_NO_CODE, /* no bytes, or not in an executable segment */
	CP_PROBE_WITHHELD, /* code that tracing itself would disturb (see the text) */
};

struct cp_probe_plan {
	enum cp_probe_why why;
	const char *why_text; /* static: for people, "" when FULL */
	/* A jump to its own entry: an ENTRY hit with the sp (and return address)
	 * of its open call is another round of a loop, not a call. */
	bool loops;
	/* What is inside, for the tracer's group: the function's ranges and the
	 * parts that were found on the way. */
	struct cp_probe_range ranges[CP_PROBE_RANGES];
	uint32_t range_count;
	/* The entry first (of a library function: the stub's, then each call without
	 * one), then the exits by address. Of a function whose first
	 * instruction already leaves it (`ret`, `jmp *%rax`), that address is there
	 * twice: as ENTRY and as exit. Other functions may have sites at the same
	 * addresses. */
	CP_VEC(struct cp_probe_site) sites;
	size_t entry_count;
};
/* `decoder` is reused; `memory` reads the image's code and jump tables at
 * link-time addresses (the process's text without its breakpoints, or the
 * file's). `functions`, those of the image, tell entries from code in the
 * middle; NULL: every jump to outside is a tail call. Clears and refills
 * *plan, whose vectors are kept for reuse. */
CP_ERROR cp_probe_plan_function(struct cp_decoder *decoder, const struct cp_reader *memory,
				const struct cp_probe_functions *functions,
				const struct cp_probe_function *function,
				struct cp_probe_plan *plan);
void cp_probe_plan_free(struct cp_probe_plan *plan);

/* library_calls.c: fills functions->calls, which takes the time of looking through
 * all of the code; once. Landing pads should be known by then. */
CP_ERROR cp_probe_find_library_calls(struct cp_decoder *decoder, struct cp_image *image,
				     struct cp_probe_functions *functions);
/* The first of those of the function `number`, or where it would be. */
size_t cp_probe_first_library_call(const struct cp_probe_functions *functions, size_t number);
/* Is there a place where the PLT function `number` is entered? */
bool cp_probe_is_entered(const struct cp_probe_functions *functions, size_t number);

/* Reads an image's file at link-time addresses; `image` is borrowed. */
struct cp_reader cp_probe_file_reader(struct cp_image *image);

#endif

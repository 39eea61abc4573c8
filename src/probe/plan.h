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

enum cp_probe_kind {
	CP_PROBE_FUNCTION,
	CP_PROBE_PLT, /* a stub: traced on request */
	CP_PROBE_IFUNC, /* the resolver; its targets are functions of their own */
};

/* Flags of struct cp_probe_function. */
#define CP_PROBE_CLONE 1u /* .isra, .constprop, .part, ...: under its function's name */
#define CP_PROBE_LOCAL 2u /* not global: the compiler may have changed its convention */

struct cp_probe_function {
	const char *linkage_name; /* lives as long as the image; clone suffixes kept */
	char *name; /* demangled, clone suffix cut off; owned by the plan's functions */
	uint8_t kind; /* enum cp_probe_kind */
	uint8_t flags;
	uint64_t address, size; /* link-time; of its first range */
	struct cp_probe_range ranges[4]; /* the first holds `address`; unused ones are 0, 0 */
	uint32_t range_count;
	uint32_t first_alias, alias_count; /* in cp_probe_functions.aliases: other names */
};

/* All functions of an image, one per address, sorted by it. */
struct cp_probe_functions {
	struct cp_probe_function *items; /* owned */
	size_t count;
	CP_VEC(char *) aliases; /* demangled, owned */
};
/* Demangling is the costly part: names are filled in by
 * cp_probe_function_name(), when first asked for. */
CP_ERROR cp_probe_functions_read(struct cp_image *image, struct cp_probe_functions *ret);
const char *cp_probe_function_name(struct cp_probe_function *function);
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
	CP_VEC(struct cp_probe_site) sites; /* the entry first */
};
/* `decoder` is reused; `memory` reads the image's code and jump tables at
 * link-time addresses (the process's text without its breakpoints, or the
 * file's). Clears and refills *plan, whose vectors are kept for reuse. */
CP_ERROR cp_probe_plan_function(struct cp_decoder *decoder, const struct cp_reader *memory,
				const struct cp_probe_function *function,
				struct cp_probe_plan *plan);
void cp_probe_plan_free(struct cp_probe_plan *plan);

/* Reads an image's file at link-time addresses; `image` is borrowed. */
struct cp_reader cp_probe_file_reader(struct cp_image *image);

#endif

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
#include "probe/functions.h"

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
	/* Something jumps to its own entry, or behind its landing pad: an ENTRY hit with the sp
	 * and the return address of its open call is another round of a loop, not a call. */
	bool loops;
	/* The code of the function, for the tracer's group: its ranges and the parts
	 * that were found on the way. */
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

#endif

/* SPDX-License-Identifier: MIT
 *
 * Coverage: from filters to counters. Private to src/engine.
 *
 *   filters ──► functions ──► blocks and branches of an ELF object  (coverage.c)
 *                                  │ numbers: counters of the link, slots
 *                                  ▼
 *                 armed in each mapping, where they are still needed  (probes/arm.c)
 *                                  ▲
 *   tracer: counters[number]++ ────┘ ──► what is asked of them  (covered.c)
 *
 * An object is planned once, when it is first mapped. Hits make no events: the
 * tracer counts in shared memory, so all that ran is known however a process
 * ends.
 */
#ifndef CP_ENGINE_FAMILIES_COVERAGE_H
#define CP_ENGINE_FAMILIES_COVERAGE_H

#include <cprof/cprof.h>

#include "base/map.h"
#include "base/vec.h"
#include "image/lines.h"
#include "link/sites.h"
#include "probe/blocks.h"

struct engine_count_windows;
struct engine_frontier;
struct engine_known;
struct cp_probe_block;
struct cp_probe_branch;
struct cp_probe_function;

/* A function that filters chose: where its blocks and branches are in the object's
 * arrays. */
struct engine_covered {
	struct cp_probe_function *function; /* of assembly->plans */
	uint32_t first_block, block_count;
	uint32_t first_branch, branch_count;
	uint32_t first_case, case_count;
	uint32_t entry; /* the block that it is entered at */
	bool complete;
};

/* A cut in the middle of a block, behind an instruction that failed (cuts.c). What
 * follows, up to the next cut or the end of the block, has a counter of its own. */
struct engine_cut {
	uint64_t address; /* link-time */
	uint64_t before; /* with exact counts: how often it ran before it had a counter */
	uint32_t block; /* in `blocks` */
	uint32_t counter;
	bool unsure; /* if not counted: it may have run before the cut, but hardly did */
	uint8_t size; /* of its first instruction */
	uint8_t code[16];
};

/* The blocks and branches of an ELF object that are covered. */
struct engine_cover {
	CP_VEC(struct engine_covered) functions; /* by address */
	CP_VEC(struct cp_probe_block) blocks; /* by function, then address */
	CP_VEC(struct cp_probe_branch) branches; /* the same; blocks by number in `blocks` */
	CP_VEC(struct cp_probe_case) cases; /* by function; the same */
	CP_VEC(uint64_t) outside; /* where functions directly jump and call to */
	/* For each branch, its number among the branches with sites of their own, or
	 * CP_NO_BLOCK. */
	CP_VEC(uint32_t) watched;
	uint32_t watched_count;
	uint8_t *awaited; /* owned: of each block, is it one (inferred.c)? NULL: not made yet */
	uint8_t *marks; /* owned: a bit for each address from `low` on; NULL: not made yet */
	uint64_t low, span;
	uint32_t processes; /* that it was placed in */
	bool retries; /* in this one branches that were given up are looked at again */
	bool asked; /* what is known was asked for */
	bool known; /* runs before this one had reached some of it */
	bool counted; /* windows were planned, or there shall be none */
	bool landed; /* landings were looked for (landings.c) */
	struct engine_count_windows *counting; /* owned (counting.c); NULL: there are none */
	struct engine_frontier *frontier; /* owned (frontier.c); NULL: not asked for yet */
	struct engine_cover_made *made; /* owned (cover_arm.c): ready to be sent; NULL: nothing */
	const cprof_image *begun; /* its process is counted in `processes`, and not yet placed */
	uint32_t first_counter; /* one for each block, then two for each watched branch */
	CP_VEC(struct engine_cut) cuts; /* by block, then address */
	/* For each block, where an exception leads that leaves it: 1 + a number among the
	 * function's, or 0. Empty: there are none. */
	CP_VEC(uint32_t) landings;
};

struct engine_coverage {
	bool enabled;
	bool filters; /* some profiler has a filter */
	cprof_coverage_mode mode;
	cprof_coverage_branches branches;
	const struct cprof_profiler_desc *mode_by,
		*branches_by; /* who has set them; NULL: nobody */
	uint32_t counters; /* used */
	uint64_t sites, placing_ns; /* sites placed; what that took */
	/* What detours counted, by counter, as far as it was taken over; and how often
	 * something was. */
	CP_VEC(uint64_t) direct;
	uint64_t direct_changes;
	CP_VEC(struct engine_known *) known; /* owned; by file (known.c) */
	struct cp_map names; /* of inlined functions (addresses): demangled, char *, owned */
};

/* The session's coverage, made when it isn't there; NULL without memory. */
struct engine_coverage *engine_coverage_get(cprof_session *s);
void engine_coverage_free(cprof_session *s);
bool engine_coverage_wanted(const cprof_session *s);
/* What of the image's object is covered, planned when it is first mapped; NULL:
 * nothing. */
struct engine_cover *engine_coverage_plan(cprof_image *image);
void engine_cover_free(struct engine_cover *cover);
/* The first of the two counters of a branch that is watched. */
static inline uint32_t engine_cover_own(const struct engine_cover *cover, uint32_t branch)
{
	return cover->first_counter + (uint32_t)cover->blocks.count +
	       2 * cover->watched.items[branch];
}

/* The block that a direction leads to, though others may, too; CP_NO_BLOCK: none of these. */
uint32_t engine_cover_behind(const struct engine_cover *cover, uint32_t branch, bool passed);

/* A site that is to be placed. */
struct engine_cover_site {
	uint64_t address; /* link-time */
	const uint8_t *code;
	uint8_t size;
	uint16_t flags; /* CP_SITE_* */
	uint32_t counter;
	uint32_t slot;
	uint32_t ways[2]; /* of LATER: counters */
};
/* Another process gets its sites. */
void engine_cover_begin(struct engine_cover *cover);
/* The site of a block, or of a branch that is watched. False: it is not needed any more.
 * Slots are the caller's to choose. */
bool engine_cover_block(const cprof_session *s, const struct engine_cover *cover, uint32_t number,
			struct engine_cover_site *ret);
bool engine_cover_branch(const cprof_session *s, const struct engine_cover *cover, uint32_t number,
			 struct engine_cover_site *ret);
/* The next site that is still needed; a function's are in order of address. The
 * cursor is zero at first. False: no more. */
struct engine_cover_cursor {
	uint32_t block, branch, watched; /* the next ones */
};
bool engine_cover_next(const cprof_session *s, const struct engine_cover *cover,
		       struct engine_cover_cursor *cursor, struct engine_cover_site *ret);
/* No breakpoint can stand at the site: its counters can't be told. */
void engine_cover_refuse(cprof_session *s, const struct engine_cover_site *site);
/* No site of the object could be placed. */
void engine_cover_refuse_all(cprof_session *s, const struct engine_cover *cover);
/* Hits of a branch, in all processes, before the one that is placed now gives its
 * directions up; 0: any. */
uint32_t engine_cover_budget(const cprof_session *s, const struct engine_cover *cover);
/* Is there a site at that link-time address, or was there one? */
bool engine_cover_has(struct engine_cover *cover, uint64_t address);
/* How often a counter was counted; CPROF_COVERAGE_UNKNOWN. By detours: until these were asked
 * last (engine_counting_collect()). */
uint64_t engine_cover_count(const cprof_session *s, uint32_t counter);
/* Was the counter counted, in any process? */
bool engine_cover_seen(const cprof_session *s, uint32_t counter);
/* Was the block also seen to be left at its end? */
bool engine_cover_whole(const cprof_session *s, uint32_t counter);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Coverage: from filters to counters. Private to src/engine.
 *
 *   filters ──► functions ──► blocks and branches of an ELF object  (coverage.c)
 *                                  │ numbers: counters of the link, slots
 *                                  ▼
 *                 armed in each mapping, where they are still needed  (arm.c)
 *                                  ▲
 *   tracer: counters[number]++ ────┘ ──► what is asked of them  (covered.c)
 *
 * An object is planned once, when it is first mapped. Hits make no events: the
 * tracer counts in shared memory, so all that ran is known however a process
 * ends.
 */
#ifndef CP_ENGINE_COVERAGE_H
#define CP_ENGINE_COVERAGE_H

#include "engine/internal.h"
#include "image/lines.h"
#include "link/sites.h"
#include "probe/blocks.h"

/* A function that filters chose. Its pieces of the object's arrays. */
struct engine_covered {
	struct cp_probe_function *function; /* of assembly->plans */
	uint32_t first_block, block_count;
	uint32_t first_branch, branch_count;
	uint32_t entry; /* of its blocks */
	bool complete;
};

/* In the middle of a block: behind an instruction that failed (cuts.c). What
 * follows it, up to the next cut or the end of the block, has a counter of its own. */
struct engine_cut {
	uint64_t address; /* link-time */
	uint64_t before; /* of exact counts: those from before there was a counter */
	uint32_t block; /* in `blocks` */
	uint32_t counter;
	bool unsure; /* if it was not counted: it may have run before, but hardly did */
	uint8_t size; /* of its first instruction */
	uint8_t code[16];
};

/* What of an ELF object is covered. */
struct engine_cover {
	CP_VEC(struct engine_covered) functions; /* by address */
	CP_VEC(struct cp_probe_block) blocks; /* by function, then address */
	CP_VEC(struct cp_probe_branch) branches; /* the same; blocks by number in `blocks` */
	/* Of each branch: its number among those that are watched, or CP_NO_BLOCK. */
	CP_VEC(uint32_t) watched;
	uint32_t watched_count;
	uint8_t *marks; /* owned: a bit for each address from `low` on; NULL: not made yet */
	uint64_t low, span;
	uint32_t first_counter; /* of a block each, then two of a watched branch each */
	CP_VEC(struct engine_cut) cuts; /* by block, then address */
};

struct engine_coverage {
	bool enabled;
	bool filters; /* some profiler has one */
	cprof_coverage_mode mode;
	cprof_coverage_branches branches;
	const struct cprof_profiler_desc *mode_by,
		*branches_by; /* who has set them; NULL: nobody */
	uint32_t counters; /* used */
	uint64_t sites, placing_ns; /* placed; what that took */
	struct cp_map names; /* of inlined functions (addresses): demangled, char *, owned */
};

/* Source lines and functions of an object (sources.c), read when first asked for. */
struct engine_sources {
	struct cp_line_table lines;
	struct cp_source_functions functions;
	bool lines_read, functions_read;
	pthread_t reader; /* reads both while the program runs */
	bool reading;
	bool reading_lines; /* alone: the functions were there before */
	_Atomic bool done; /* the reader is */
};
void engine_sources_free(struct engine_sources *sources);
/* NULL: there are none. */
const struct engine_sources *engine_sources_of(cprof_assembly *a);
/* They will be asked for at the end: begins to read them. */
void engine_sources_prefetch(cprof_assembly *a);
/* Nobody need wait for them. */
bool engine_sources_ready(const cprof_assembly *a);
/* The first with at least that address, or how many there are. */
size_t engine_first_row(const struct cp_line_table *lines, uint64_t address);
size_t engine_first_source(const struct cp_source_functions *functions, uint64_t address);
/* The function that begins there, not an inlined one; NULL: unknown. */
const struct cp_source_function *engine_source_at(const struct cp_source_functions *functions,
						  uint64_t address);

/* coverage.c */
/* Made when it isn't there; or NULL. */
struct engine_coverage *engine_coverage_get(cprof_session *s);
void engine_coverage_free(cprof_session *s);
bool engine_coverage_wanted(const cprof_session *s);
/* What of the image's object is covered, planned at its first time; NULL: nothing. */
struct engine_cover *engine_coverage_plan(cprof_image *image);
void engine_cover_free(struct engine_cover *cover);
/* The first of the two counters of a branch that is watched. */
static inline uint32_t engine_cover_own(const struct engine_cover *cover, uint32_t branch)
{
	return cover->first_counter + (uint32_t)cover->blocks.count +
	       2 * cover->watched.items[branch];
}

/* A site that is to be placed. */
struct engine_cover_site {
	uint64_t address; /* link-time */
	const uint8_t *code;
	uint8_t size;
	uint16_t flags; /* CP_SITE_* */
	uint32_t counter;
	uint32_t slot;
};
/* The next site that is still needed; a function's are in order of address. The
 * cursor is zero at first. False: no more. */
struct engine_cover_cursor {
	uint32_t block, branch, watched; /* the next ones */
};
bool engine_cover_next(const cprof_session *s, const struct engine_cover *cover,
		       struct engine_cover_cursor *cursor, struct engine_cover_site *ret);
/* No breakpoint can stand there: its counters can't be told. */
void engine_cover_refuse(cprof_session *s, const struct engine_cover_site *site);
/* None could be placed. */
void engine_cover_refuse_all(cprof_session *s, const struct engine_cover *cover);
/* cover_arm.c: places them in the image's area, which has room; an errno, or 0. */
int engine_cover_arm(cprof_image *image, const struct engine_cover *cover);
/* Hits of a branch in a process before its directions are given up; 0: any. */
uint32_t engine_cover_budget(const cprof_session *s);
/* Is there a site at that address, or was there one? */
bool engine_cover_has(struct engine_cover *cover, uint64_t address);
uint64_t engine_cover_count(const cprof_session *s, uint32_t counter);
/* Was it counted, in any process? */
bool engine_cover_seen(const cprof_session *s, uint32_t counter);
/* The block was also left at its end, as far as anybody saw. */
bool engine_cover_whole(const cprof_session *s, uint32_t counter);

/* cuts.c */
void engine_on_fault(cprof_session *s, cprof_process *p, const struct cp_event_fault *e);
void engine_cuts_warn(cprof_session *s);
/* Those that are still needed, in an image that has its breakpoints. */
void engine_cuts_arm(cprof_image *image);
/* Of a block: *first_ret in cover->cuts, and how many. */
uint32_t engine_cuts_of(const struct engine_cover *cover, uint32_t block, uint32_t *first_ret);
/* How often the block's n-th piece was executed; piece 0 is up to its first cut. */
uint64_t engine_piece_count(const cprof_session *s, const struct engine_cover *cover,
			    uint32_t block, uint32_t n);

#endif

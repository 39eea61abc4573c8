/* SPDX-License-Identifier: MIT
 *
 * cprof/coverage.h - what of a program ran.
 *
 * Functions that a filter chooses get a breakpoint at each basic block (a run
 * of instructions that one can only enter at its top; calls end one), and at
 * those conditional jumps whose directions the blocks do not tell. All counts
 * are of all processes together, and live until after runtime_shutdown_end.
 */
#ifndef CPROF_COVERAGE_H
#define CPROF_COVERAGE_H

#include <cprof/process.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Mono: MonoProfilerCoverageData. [cb] */
typedef struct cprof_coverage_data {
	const cprof_function *function;
	uint32_t native_offset; /* of the statement, from the function's entry (Mono: il_offset) */
	uint32_t counter; /* times executed; 0 or 1 in ONESHOT mode */
	const char *file_name; /* NULL without debug information */
	uint32_t line, column; /* 0 without debug information */
	uint32_t discriminator; /* DWARF discriminator (several blocks on a line) */
} cprof_coverage_data;

typedef enum cprof_coverage_mode {
	CPROF_COVERAGE_ONESHOT = 0, /* each breakpoint is removed when first hit: cheap */
	CPROF_COVERAGE_COUNT =
		1 /* exact counts: detours where there is room, else breakpoints that stay, slow */
} cprof_coverage_mode;

/* How a conditional jump is watched whose directions the blocks behind it do not both
 * tell. */
typedef enum cprof_coverage_branches {
	CPROF_COVERAGE_BRANCHES_BUDGET = 0, /* until what is missing was seen, or 32 times,
					       of which 8 after the first process: then
					       it is unknown */
	CPROF_COVERAGE_BRANCHES_EXACT = 1, /* until what is missing was seen */
	CPROF_COVERAGE_BRANCHES_NONE = 2
} cprof_coverage_branches;

typedef bool (*cprof_coverage_filter_fn)(cprof_profiler *prof, const cprof_function *function);
typedef void (*cprof_coverage_fn)(cprof_profiler *prof, const cprof_coverage_data *data);

/* Enables coverage. False if too late. [init] */
CPROF_API bool cprof_profiler_enable_coverage(void);
/* Set how counters work. The first caller decides for all profilers; false for a later
 * one that wants something else. [init] */
CPROF_API bool cprof_profiler_set_coverage_mode(cprof_profiler_handle handle,
						cprof_coverage_mode mode);
CPROF_API bool cprof_profiler_set_coverage_branches(cprof_profiler_handle handle,
						    cprof_coverage_branches branches);
/* What is known to have been reached, in runs before this one: it counts from the start,
 * and has no breakpoint. For ONESHOT; without effect on exact counts. */
#define CPROF_COVERAGE_KNOWN_TAKEN 1u
#define CPROF_COVERAGE_KNOWN_PASSED 2u
#define CPROF_COVERAGE_KNOWN_GAVE_UP 4u /* the other direction: it is not asked for long again */
typedef struct cprof_coverage_known {
	uint64_t address; /* link-time */
	uint32_t size; /* of the block; 0: a branch, of which `flags` says the directions */
	uint32_t flags; /* CPROF_COVERAGE_KNOWN_* */
} cprof_coverage_known;
/* Of the file with that build-id (hex). Copied. False: too late, or there is none. [init] */
CPROF_API bool cprof_profiler_set_coverage_known(cprof_profiler_handle handle, const char *build_id,
						 const cprof_coverage_known *known, size_t count);
/* A function is instrumented if any filter of any profiler says true. Every
 * filter is called at least once for each function of an image when it is
 * loaded, whatever the others said: to be set in init. [async] */
CPROF_API void cprof_profiler_set_coverage_filter_callback(cprof_profiler_handle handle,
							   cprof_coverage_filter_fn cb);
/* Calls `cb` for each statement of `function`, executed or not; without debug
 * information for each block. True if it was instrumented; else `cb` is not called. */
CPROF_API bool cprof_profiler_get_coverage_data(cprof_profiler_handle handle,
						const cprof_function *function,
						cprof_coverage_fn cb);

/* ---- everything, for recorders ---- */

/* The count can't be told: no breakpoint could stand there, or, of a branch,
 * the budget was used up before this direction was seen. */
#define CPROF_COVERAGE_UNKNOWN UINT64_MAX

typedef struct cprof_coverage_block {
	uint64_t address; /* link-time */
	uint32_t size; /* bytes */
	uint64_t count;
	/* 1 + index of the block that execution goes on in: the one behind (also when a
	 * call returns, or the conditional jump is not taken), or the one that the
	 * block jumps to. 0: neither is a block of the function. */
	uint32_t next;
	/* In COUNT mode 1 + index of the block that an exception leads to which leaves the
	 * call at its end; 0: none of the function. */
	uint32_t landing;
} cprof_coverage_block;

/* Rows of the line table within blocks. A line is reached when a block ran in which a
 * statement of the line begins or goes on. Other rows don't count: in optimised
 * programs their code may run while its line is not reached, since it was moved. */
#define CPROF_COVERAGE_ROW_STATEMENT 1u /* a statement begins (is_stmt) */
#define CPROF_COVERAGE_ROW_EMPTY \
	2u /* no instruction of its own: the next row begins at the
				       same address */
#define CPROF_COVERAGE_ROW_INSIDE 4u /* the block begins in the middle of a statement */
#define CPROF_COVERAGE_ROW_CUT \
	8u /* the block begins in the middle of the row before, because an instruction failed there */
#define CPROF_COVERAGE_ROW_UNSURE \
	16u /* a block of count 0 may have run before an instruction failed, but hardly did */
#define CPROF_COVERAGE_ROW_BYTE \
	32u /* no more than an instruction of a byte: where a jump of the source leads to */
typedef struct cprof_coverage_row {
	uint32_t block; /* index */
	const char *file; /* source path, absolute where debug information allows */
	uint32_t line, column;
	uint32_t discriminator;
	uint64_t address; /* link-time; where it begins within the block */
	uint32_t flags; /* CPROF_COVERAGE_ROW_* */
} cprof_coverage_row;

/* A conditional jump, at the end of a block. `taken`: the jump; `passed`: on to
 * the next instruction. */
typedef struct cprof_coverage_branch {
	uint64_t address; /* link-time */
	uint32_t block; /* index of the block that it ends */
	const char *file; /* file of the row that it is in; NULL: unknown */
	uint32_t line;
	uint64_t taken, passed; /* counts, 0 or 1 in ONESHOT mode, or UNKNOWN */
	uint32_t target_block; /* 1 + index of the block it jumps to; 0: none of the function */
} cprof_coverage_branch;

/* A function inlined here; it ran when the block with its first instruction
 * did. */
typedef struct cprof_coverage_inline {
	const char *name; /* demangled */
	const char *file; /* where it is declared */
	uint32_t line;
	uint32_t block; /* index */
} cprof_coverage_inline;

/* One instrumented function, its parts (.cold) too. [cb] */
typedef struct cprof_coverage_function {
	cprof_assembly *assembly;
	const char *name, *linkage_name;
	uint64_t address; /* link-time */
	const char *file; /* where it is declared; NULL: unknown */
	uint32_t line;
	bool complete; /* decoded to its end; else `blocks` may be only the entry */
	const cprof_coverage_block *blocks; /* by address; the entry's is `entry` */
	uint32_t entry; /* index */
	size_t block_count;
	const cprof_coverage_row *rows; /* by block, then address */
	size_t row_count;
	const cprof_coverage_branch *branches; /* by address */
	size_t branch_count;
	const cprof_coverage_inline *inlines;
	size_t inline_count;
	bool artificial; /* the compiler's: nobody wrote it */
} cprof_coverage_function;

/* Calls `cb` for each instrumented function of each assembly, an assembly's
 * one after the other, by address; from runtime_shutdown_begin on, or in
 * heartbeat for what is known so far. False from `cb` ends it. */
typedef bool (*cprof_coverage_function_fn)(const cprof_coverage_function *function, void *data);
CPROF_API void cprof_coverage_each(cprof_coverage_function_fn cb, void *data);

/* Has anything been reached, or instrumented, since the last call with the same
 * *seen, which is 0 at first? Costs next to nothing: for recorders that write in
 * heartbeat what is known so far. Also false while debug information is still
 * being read, which cprof_coverage_each would wait for. Mono and the CLR have no
 * counterpart: there coverage is asked for at the end. */
CPROF_API bool cprof_coverage_changed(uint64_t *seen);

/* Where `function` is declared; NULL: unknown. Reads debug information. */
CPROF_API const char *cprof_function_file(const cprof_function *function);
CPROF_API uint32_t cprof_function_line(const cprof_function *function); /* 0: unknown */

typedef struct cprof_coverage_statistics {
	uint64_t functions, blocks, branches; /* instrumented; branches: all */
	uint64_t sites; /* placed, in all processes; blocks already reached are not placed again */
	uint64_t placing_ns; /* what placing them took */
	uint64_t hits; /* stops */
	uint64_t refused; /* blocks where no breakpoint could stand */
	uint64_t unknown_branches; /* budget used up */
} cprof_coverage_statistics;
CPROF_API void cprof_get_coverage_statistics(cprof_coverage_statistics *ret);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 *
 * Options that several commands share: those of collecting (run, attach) and
 * those of looking at stacks (also stack).
 */
#ifndef CP_CMD_COLLECT_H
#define CP_CMD_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options.h"

/* Indices into the choices of --clock and --unwinder. */
enum cp_collect_clock { CP_COLLECT_CPU, CP_COLLECT_WALL };
enum cp_collect_unwinder {
	CP_COLLECT_OWN,
	CP_COLLECT_LIBUNWIND,
	CP_COLLECT_FP,
	CP_COLLECT_LIBUNWIND_PTRACE, /* of cprof stack alone */
};

/* How stacks are walked and frames are named. */
struct cp_stacks_options {
	unsigned unwinder; /* enum cp_collect_unwinder */
	struct cp_texts debug_dirs; /* before the usual ones */
	bool debuginfod; /* ask where DEBUGINFOD_URLS is set */
	bool cache; /* what was worked out of files is kept for later runs */
};

#define CP_COLLECT_NO_RATE UINT64_MAX /* not given */

/* Which calls are recorded, and what of them. */
struct cp_calls_options {
	bool exceptions; /* thrown and caught, with or without calls */
	bool locks; /* waits for them, likewise */
	bool maps; /* mappings made and removed, likewise */
	uint64_t
		allocs; /* what is allocated and freed, likewise: CP_BYTES_ALL, or a sample; 0: not */
	struct cp_texts trace; /* SPECs; together one list */
	const char *args; /* EXPRs; "": all arguments; NULL: none */
	bool result, locals, changes, elements, stack, cpu_time;
	bool fast; /* none of these */
	bool traps; /* no detours */
	unsigned on_full; /* cprof_on_full */
	bool summary; /* no events, but what calls add up to */
	uint64_t depth, string; /* 0: not given */
	const char *when; /* NULL: always */
	uint64_t max_rate;
	struct cp_kept_options {
		const char *under, *not_under, *paths_to, *start_at, *stop_at; /* SPECs, or NULL */
		uint64_t levels, least_ns; /* 0: any */
	} kept;
};

/* What of the program was reached. */
struct cp_coverage_options {
	bool coverage, count;
	unsigned branches; /* enum cprof_coverage_branches */
	struct cp_texts images; /* globs */
	const char *known; /* a recording: what it holds is not asked again; NULL */
	const char *name; /* of the test that this is; NULL */
};

/* Which source files, and which of their lines, count. */
struct cp_source_options {
	struct cp_texts include, exclude, path_map, exclude_line, exclude_region;
	const char *diff; /* a git revision, or NULL */
};

/* How calls are printed, by replay or as they come; with AT() for `flat`, `by_thread`, `fields`; the
 * names of fields are report/replay/fields.h's. */
#define CP_LINES_OPTIONS \
	{ "flat", 0, CP_OPTION_TRUE, AT(flat), .help = "a line for each event, not indented" }, \
		{ "column-view", 0, CP_OPTION_TRUE, AT(by_thread), \
		  .help = "each thread in a column of its own" }, \
	{ \
		"fields", 0, CP_OPTION_TEXT, AT(fields), \
			.value = "LIST", \
			.help = "what stands beside calls, of " CP_FIELD_NAMES \
				", separated by commas; none: nothing" \
	}

#define CP_COLLECT_NO_CAPTURE 3u

/* Calls shown as they come, by the words of replay. */
struct cp_live_options {
	const char *file; /* NULL: not at all */
	const char *fields; /* NULL: time and thread */
	bool flat, by_thread;
};

struct cp_collect_options {
	uint64_t hz; /* 0: not given */
	unsigned clock; /* enum cp_collect_clock */
	unsigned capture; /* cprof_capture; or CP_COLLECT_NO_CAPTURE: not told */
	const char *event; /* "NAME[:N]": what samples are of; NULL: time */
	bool follow;
	uint64_t duration_ns; /* 0: to the end */
	uint64_t wait_ns; /* for processes that CMD leaves; UINT64_MAX: to their end */
	bool annotations;
	const char *rotate; /* "60s:10"; NULL: not at all */
	const char *output; /* NULL: no recording */
	bool keep_source, keep_code; /* in it */
	unsigned signal; /* that pauses, and has it go on: cp_toggling_begin()'s; 0: none */
	bool quiet;
	struct cp_texts profiles; /* NAME[:ARGS] of profiler modules */
	struct cp_texts plugin_dirs;
	unsigned verbose; /* 1: -v, 2: -vv */
	struct cp_calls_options calls;
	struct cp_live_options live;
	struct cp_coverage_options coverage;
	struct cp_source_options sources;
	struct cp_stacks_options stacks;
};

extern const struct cp_option cp_sampling_options[]; /* in struct cp_collect_options */
extern const struct cp_option cp_waiting_options[]; /* the same; where there is a CMD */
extern const struct cp_option cp_recording_options[]; /* the same */
extern const struct cp_option cp_rotating_options[]; /* the same; of a running process */
extern const struct cp_option cp_events_options[]; /* the same */
extern const struct cp_option cp_calls_options[]; /* in struct cp_calls_options */
extern const struct cp_option cp_kept_options[]; /* in struct cp_kept_options */
extern const struct cp_option cp_coverage_options[]; /* in struct cp_coverage_options */
/* In struct cp_source_options: the recorder goes by the files, reports by both. */
extern const struct cp_option cp_source_file_options[];
extern const struct cp_option cp_source_line_options[];
extern const struct cp_option cp_source_diff_options[];
extern const struct cp_option cp_stacks_options[]; /* in struct cp_stacks_options */
extern const struct cp_option cp_held_stacks_options[]; /* the same; where threads are held */

/* The groups and defaults of a command whose options are a struct
 * cp_collect_options. */
extern const struct cp_option_group cp_collect_groups[];
extern const struct cp_option_group cp_run_groups[]; /* where there is a CMD */
extern const struct cp_collect_options cp_collect_defaults;
/* The same of top, which records only where it is told. */
extern const struct cp_option_group cp_top_groups[];
extern const struct cp_collect_options cp_top_defaults;

#endif

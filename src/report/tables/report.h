/* SPDX-License-Identifier: MIT
 *
 * The tables of `cprof report`, for people and as JSON, and the summary at
 * the end of `run` and `attach`.
 */
#ifndef CP_REPORT_REPORT_H
#define CP_REPORT_REPORT_H

#include "base/json.h"
#include "report/profile/profile.h"
#include "report/look/table.h"
#include "report/profile/tree.h"

/* What is shown below the header. */
enum cp_report_what {
	CP_REPORT_OVERVIEW, /* hot functions, threads, images, processes, cost of profiling */
	CP_REPORT_FUNCTIONS,
	CP_REPORT_CALLS, /* traced ones */
	CP_REPORT_COVERAGE, /* by source file */
	CP_REPORT_ANNOTATIONS, /* spans, counters, instants */
	CP_REPORT_EXCEPTIONS,
	CP_REPORT_LOCKS, /* waited for */
	CP_REPORT_HEAP, /* what was allocated */
	CP_REPORT_COUNTERS, /* what profilers counted */
	CP_REPORT_THREADS,
	CP_REPORT_IMAGES,
	CP_REPORT_PROCESSES,
	CP_REPORT_LINES, /* of `function`, or of all */
	CP_REPORT_TREE,
	CP_REPORT_BUTTERFLY, /* callers and callees of `function` */
	CP_REPORT_CALLERS,
	CP_REPORT_CALLEES,
	CP_REPORT_SUMMARY, /* as cp_report_summary() has it */
	CP_REPORT_HEADER, /* what was recorded, and what of it is missing */
};

struct cp_sources; /* report/coverage/sources.h */

struct cp_report_options {
	enum cp_report_what what;
	struct cp_sources *sources; /* of coverage; NULL: those that rules unless told give */
	const char *function; /* as cp_profile_find() takes it; NULL: none */
	enum cp_profile_order order;
	uint64_t limit; /* rows of a table; 0: all */
	double least; /* share of the total below which the tree is not shown */
	enum cp_tree_roots roots; /* of the tree */
	bool traces; /* below functions: the stacks that they were on top of */
};

CP_ERROR cp_report_text(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);
/* These sections alone, one after the other; no header unless it is one. */
CP_ERROR cp_report_some(const struct cp_profile *p, const struct cp_report_options *o,
			const enum cp_report_what *what, size_t count, const struct cp_look *look,
			struct cp_buf *out);
/* The sections that are meant by a list such as "header,sample,call", Mono's
 * names or ours; at most CP_REPORT_SOME of them. */
#define CP_REPORT_SOME 32
CP_ERROR cp_report_parse(const char *list, enum cp_report_what *what, size_t *count_ret);
/* One object with the keys of the contract; `limit` counts for functions. */
CP_ERROR cp_report_json(const struct cp_profile *p, const struct cp_report_options *o,
			struct cp_buf *out);
/* How long, how much, the hottest functions, what profiling cost, and what to
 * type next. `path`: where the recording is; NULL: nothing to type. */
CP_ERROR cp_report_summary(const struct cp_record *record, const char *path,
			   const struct cp_look *look, struct cp_buf *out);

/* ---- parts, for the files of this room ---- */

/* What was asked for and did not happen, a line each and what to try. */
void cp_report_nothing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);
/* What to type next: only what has something to show. */
void cp_report_next(const struct cp_profile *p, const char *path, const struct cp_look *look,
		    struct cp_buf *out);

void cp_report_header(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);
/* What is missing or doubtful, one line each; nothing when all is well. */
void cp_report_missing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);
/* Of that, what concerns calls. */
void cp_report_missing_calls(const struct cp_profile *p, const struct cp_look *look,
			     struct cp_buf *out);
/* "and N more", where not all of a table was shown. */
/* The next cell: what was spent. */
void cp_cost_cell(struct cp_table *t, const struct cp_profile *p, const struct cp_cost *cost);
void cp_report_more(struct cp_buf *out, const struct cp_look *look, size_t shown, size_t count);
void cp_report_overhead(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);
void cp_report_title(struct cp_buf *out, const struct cp_look *look, const char *title,
		     const char *note);
CP_ERROR cp_report_functions(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out);
/* Of a recording that has any. */
CP_ERROR cp_report_covered(const struct cp_record *record, const struct cp_report_options *o,
			   const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_report_covered_json(const struct cp_record *record, const struct cp_report_options *o,
				struct cp_json *j);
CP_ERROR cp_report_traces(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_report_tree(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_report_lines(const struct cp_profile *p, uint32_t function,
			 const struct cp_report_options *o, const struct cp_look *look,
			 struct cp_buf *out);
CP_ERROR cp_report_neighbours(const struct cp_profile *p, uint32_t function,
			      const struct cp_report_options *o, const struct cp_look *look,
			      struct cp_buf *out);

/* From start to end of what was recorded. */
uint64_t cp_report_duration(const struct cp_record *record);
/* CMD's status as a shell has it, or -1 when it did not end. */
int cp_report_exit_status(const struct cp_record *record);
/* The command line in one raw line; "" when there is none. */
void cp_report_command(const struct cp_record *record, struct cp_buf *out);

#endif

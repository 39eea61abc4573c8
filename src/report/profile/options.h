/* SPDX-License-Identifier: MIT
 *
 * What a report is asked for.
 */
#ifndef CP_REPORT_OPTIONS_H
#define CP_REPORT_OPTIONS_H

#include "report/profile/places.h"
#include "report/profile/tree.h"

/* The tables that can be shown below the header. */
enum cp_report_what {
	CP_REPORT_OVERVIEW, /* hot functions, threads, images, processes, cost of profiling */
	CP_REPORT_FUNCTIONS,
	CP_REPORT_CALLS, /* traced ones */
	CP_REPORT_COVERAGE, /* by source file */
	CP_REPORT_ANNOTATIONS, /* spans, counters, instants */
	CP_REPORT_EXCEPTIONS,
	CP_REPORT_LOCKS, /* waited for */
	CP_REPORT_HEAP, /* what was allocated */
	CP_REPORT_MAPS, /* what was mapped */
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
	CP_REPORT_PAGE, /* what the format html has below its graph */
};

/* Which heapshots of a recording are shown; all 0: none. */
struct cp_report_heapshots {
	bool list; /* all, with how much was live */
	uint64_t number; /* what was live then, from 1 on; */
	uint64_t since; /* or what is new since this one; 0: all that was live */
};

struct cp_sources; /* report/coverage/sources.h */

struct cp_report_options {
	enum cp_report_what what;
	const char
		*path; /* of the recording, for commands that are proposed; NULL: the usual one */
	struct cp_sources *sources; /* of coverage; NULL: those that rules unless told give */
	const char *function; /* as cp_profile_find() takes it; NULL: none */
	enum cp_profile_order order;
	uint64_t limit; /* rows of a table; 0: all */
	double least; /* share of the total below which the tree is not shown */
	enum cp_tree_roots roots; /* of the tree */
	struct cp_report_heapshots heapshots; /* of what was allocated */
	bool traces; /* below functions: the stacks that they were on top of */
};

#endif

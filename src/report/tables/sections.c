/* SPDX-License-Identifier: MIT */
#include "report/tables/sections.h"

#include <string.h>

#include "record/annotations.h"
#include "record/calls.h"
#include "record/counters.h"
#include "record/coverage.h"
#include "report/coverage/table.h"
#include "report/events/annotationtable.h"
#include "report/events/callcsv.h"
#include "report/events/calltable.h"
#include "report/events/exceptions.h"
#include "report/events/heap.h"
#include "report/events/heapshots.h"
#include "report/events/locks.h"
#include "report/events/maps.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"
#include "report/profile/summed.h"
#include "report/tables/around.h"
#include "report/tables/cost.h"
#include "report/tables/counters.h"
#include "report/tables/csv.h"
#include "report/tables/functions.h"
#include "report/tables/header.h"
#include "report/tables/missing.h"
#include "report/tables/nothing.h"
#include "report/tables/parts.h"

/* ---- what a recording holds ---- */

static bool holds_calls(const struct cp_profile *p)
{
	return cp_record_holds_calls(p->record);
}

static bool holds_annotations(const struct cp_profile *p)
{
	return cp_record_annotation_count(p->record) != 0;
}

static bool holds_coverage(const struct cp_profile *p)
{
	return cp_record_coverage_count(p->record) != 0;
}

static bool holds_counters(const struct cp_profile *p)
{
	return cp_record_counter_count(p->record) != 0;
}

/* ---- sections without a table ---- */

static CP_ERROR header(const struct cp_profile *p, const struct cp_report_options *o,
		       const struct cp_look *look, struct cp_buf *out)
{
	(void)o;
	cp_report_header(p, look, out);
	cp_report_missing(p, look, out);
	return NULL;
}

/* Does the recording hold what the overview shows without costs? */
static bool holds_more(const struct cp_profile *p)
{
	const struct cp_report_section *s;

	for (s = cp_report_sections; s->write; s++)
		if (s->none && s->in & CP_IN_OVERVIEW && s->holds(p))
			return true;
	return false;
}

/* The reasons why something that was asked for, or all, is not there. */
static CP_ERROR nothing(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	if (o->what == CP_REPORT_SUMMARY)
		cp_report_nothing(p, look, out);
	else if (!cp_profile_has_costs(p) && !holds_more(p))
		cp_report_no_costs(p, look, out);
	return NULL;
}

static CP_ERROR cost(const struct cp_profile *p, const struct cp_report_options *o,
		     const struct cp_look *look, struct cp_buf *out)
{
	(void)o;
	cp_report_title(out, look, "Cost of profiling", NULL);
	cp_report_overhead(p, look, out);
	return NULL;
}

/* ---- sections of two kinds ---- */

static CP_ERROR allocations(const struct cp_profile *p, const struct cp_report_options *o,
			    const struct cp_look *look, struct cp_buf *out)
{
	return o->heapshots.list || o->heapshots.number ? cp_report_heapshots(p, o, look, out)
							: cp_report_heap(p, o, look, out);
}

static CP_ERROR allocations_json(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_json *j)
{
	CP_TRY(cp_report_heap_json(p, o, j));
	return cp_report_heapshots_json(p, o, j);
}

static CP_ERROR allocations_csv(const struct cp_profile *p, const struct cp_report_options *o,
				struct cp_buf *out)
{
	return o->heapshots.list || o->heapshots.number ? cp_report_heapshots_csv(p, o, out)
							: cp_report_heap_csv(p, o, out);
}

/* ---- sections that are made of stacks ---- */

static CP_ERROR lines(const struct cp_profile *p, const struct cp_report_options *o,
		      const struct cp_look *look, struct cp_buf *out)
{
	CP_TRY(cp_profile_need_stacks(p));
	return cp_report_lines(p, o, look, out);
}

static CP_ERROR tree(const struct cp_profile *p, const struct cp_report_options *o,
		     const struct cp_look *look, struct cp_buf *out)
{
	CP_TRY(cp_profile_need_stacks(p));
	return cp_report_tree(p, o, look, out);
}

/* ---- all of them ---- */

#define OVERVIEW CP_IN_OVERVIEW
#define OF_COSTS CP_IN_OVERVIEW_OF_COSTS
#define SUMMARY CP_IN_SUMMARY
#define PAGE CP_IN_PAGE

/* clang-format off */
const struct cp_report_section cp_report_sections[] = {
	{ CP_REPORT_HEADER, { "header" }, 0, NULL, NULL, header, NULL },
	{ CP_REPORT_FUNCTIONS, { "sample", "functions" }, OVERVIEW | SUMMARY,
	  cp_profile_has_costs, NULL, cp_report_functions, NULL, cp_report_functions_csv },
	{ CP_REPORT_CALLS, { "call", "calls" }, OF_COSTS | SUMMARY | PAGE,
	  holds_calls, "call was", cp_report_calls, cp_report_calls_json,
	  cp_report_calls_csv },
	{ CP_REPORT_EXCEPTIONS, { "exception", "exceptions" }, OVERVIEW | SUMMARY | PAGE,
	  cp_report_holds_exceptions, "exceptions were",
	  cp_report_exceptions, cp_report_exceptions_json,
	  cp_report_exceptions_csv },
	{ CP_REPORT_LOCKS, { "monitor", "locks" }, OVERVIEW | SUMMARY | PAGE,
	  cp_report_holds_locks, "locks were", cp_report_locks, cp_report_locks_json,
	  cp_report_locks_csv },
	{ CP_REPORT_HEAP, { "alloc", "allocations" }, OVERVIEW | SUMMARY | PAGE,
	  cp_report_holds_heap, "allocations were", allocations, allocations_json,
	  allocations_csv },
	{ CP_REPORT_MAPS, { "maps", "mappings" }, OVERVIEW | SUMMARY | PAGE,
	  cp_report_holds_maps, "mappings were", cp_report_maps, cp_report_maps_json,
	  cp_report_maps_csv },
	{ CP_REPORT_ANNOTATIONS, { "annotations" }, OVERVIEW | SUMMARY,
	  holds_annotations, "annotation was",
	  cp_report_annotations, cp_report_annotations_json },
	{ CP_REPORT_COVERAGE, { "coverage" }, OVERVIEW | SUMMARY,
	  holds_coverage, "coverage was", cp_report_covered, cp_report_covered_json },
	{ CP_REPORT_OVERVIEW, { NULL }, OVERVIEW | SUMMARY, NULL, NULL, nothing, NULL },
	{ CP_REPORT_PROCESSES, { "domain", "processes" }, OVERVIEW,
	  NULL, NULL, cp_report_processes, NULL, cp_report_processes_csv },
	{ CP_REPORT_THREADS, { "thread", "threads" }, OVERVIEW,
	  NULL, NULL, cp_report_threads, NULL, cp_report_threads_csv },
	{ CP_REPORT_OVERVIEW, { NULL }, OVERVIEW, NULL, NULL, cp_report_several_lives, NULL },
	{ CP_REPORT_IMAGES, { "metadata", "images" }, OVERVIEW,
	  cp_profile_has_costs, NULL, cp_report_images, NULL,
	  cp_report_images_csv },
	{ CP_REPORT_COUNTERS, { "counter", "counters" }, OF_COSTS,
	  holds_counters, "counters were", cp_report_counters, NULL },
	{ CP_REPORT_LINES, { "lines" }, 0, cp_profile_has_costs, NULL, lines, NULL },
	{ CP_REPORT_TREE, { "tree" }, 0, cp_profile_has_costs, NULL, tree, NULL,
	  cp_report_tree_csv },
	{ CP_REPORT_BUTTERFLY, { NULL }, 0,
	  cp_profile_has_costs, NULL, cp_report_neighbours, NULL },
	{ CP_REPORT_CALLERS, { NULL }, 0, cp_profile_has_costs, NULL, cp_report_neighbours, NULL },
	{ CP_REPORT_CALLEES, { NULL }, 0, cp_profile_has_costs, NULL, cp_report_neighbours, NULL },
	{ CP_REPORT_OVERVIEW, { NULL }, OVERVIEW | SUMMARY, NULL, NULL, cost, NULL },
	{ 0 }
};
/* clang-format on */

const struct cp_report_section *cp_report_section_named(const char *name, size_t size)
{
	const struct cp_report_section *s;
	size_t i;

	for (s = cp_report_sections; s->write; s++)
		for (i = 0; i < CP_ARRAY_SIZE(s->names) && s->names[i]; i++)
			if (strlen(s->names[i]) == size && !memcmp(s->names[i], name, size))
				return s;
	return NULL;
}

const struct cp_report_section *cp_report_section_of(enum cp_report_what what)
{
	const struct cp_report_section *s;

	for (s = cp_report_sections; s->write; s++)
		if (s->what == what && what != CP_REPORT_OVERVIEW)
			return s;
	return NULL;
}

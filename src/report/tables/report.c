/* SPDX-License-Identifier: MIT
 *
 * The sections of `cprof report`.
 */
#include "report/tables/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/types.h"
#include "record/counters.h"
#include "report/events/annotations.h"
#include "report/events/calls.h"
#include "report/coverage/coverage.h"
#include "report/events/exceptions.h"
#include "report/profile/heap.h"
#include "report/events/locks.h"
#include "report/events/lives.h"

/* Rows of the smaller tables in the overview. */
#define OVERVIEW_ROWS 10

void cp_cost_cell(struct cp_table *t, const struct cp_profile *p, const struct cp_cost *cost)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_cost_add_words(p, cost, &text);
	cp_table_cell(t, CP_PAINT_PLAIN, "%s", text.bytes ? text.bytes : "");
}

static uint64_t overview_rows(const struct cp_report_options *o)
{
	return o->limit < OVERVIEW_ROWS ? o->limit : OVERVIEW_ROWS;
}

static size_t limited(size_t count, uint64_t limit)
{
	return limit && limit < count ? (size_t)limit : count;
}

void cp_report_more(struct cp_buf *out, const struct cp_look *look, size_t shown, size_t count)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (shown >= count)
		return;
	cp_buf_str(&text, "  and ");
	cp_add_count(&text, count - shown);
	cp_buf_str(&text, " more (--limit=0 shows all)\n");
	cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
}

/* ---- functions ---- */

static const struct cp_column function_columns[] = {
	{ "self", true, 0, false },  { "", false, 0, true },	    { "time", true, 0, false },
	{ "total", true, 0, false }, { "image", false, 12, false }, { "function", false, 0, false },
};

#define SELF_COLUMNS 3 /* empty for who does nothing himself */

static void function_row(struct cp_table *t, const struct cp_profile *p, uint32_t number,
			 uint64_t most)
{
	const struct cp_function *f = &p->functions.items[number];
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	unsigned i;

	if (f->self.weight) {
		cp_table_percent(t, f->self.weight, p->total.weight);
		cp_table_bar(t, f->self.weight, most, p->total.weight);
		cp_table_time(t, CP_PAINT_PLAIN, f->self.weight);
	} else {
		for (i = 0; i < SELF_COLUMNS; i++)
			cp_table_name(t, CP_PAINT_PLAIN, "");
	}
	cp_table_percent(t, f->total.weight, p->total.weight);
	cp_table_name(t, CP_PAINT_DIM, cp_profile_image_name(p, f));
	if (!f->waits_in) {
		cp_table_function(t, CP_PAINT_PLAIN, f->name);
		return;
	}
	cp_buf_printf(&name, "%s  (waits in %s)", f->name,
		      p->functions.items[f->waits_in - 1].name);
	cp_table_function(t, CP_PAINT_PLAIN, name.bytes ? name.bytes : f->name);
}

CP_ERROR cp_report_functions(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out)
{
	CP_FREE uint32_t *order = NULL;
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t count, shown, i;
	uint64_t most = 0;

	cp_table_init(&t, function_columns, 6);
	CP_TRY(cp_profile_sorted(p, o->order, &order, &count));
	/* Those that do nothing themselves come last, and are left to who asks for all. */
	while (o->what != CP_REPORT_FUNCTIONS && o->order == CP_ORDER_SELF && count &&
	       !p->functions.items[order[count - 1]].self.weight)
		count--;
	shown = limited(count, o->limit);
	for (i = 0; i < shown; i++) {
		uint64_t self = p->functions.items[order[i]].self.weight;

		most = self > most ? self : most;
	}
	for (i = 0; i < shown; i++)
		function_row(&t, p, order[i], most);
	cp_table_print(&t, look, out);
	if (o->what != CP_REPORT_SUMMARY)
		cp_report_more(out, look, shown, count);
	return o->traces ? cp_report_traces(p, o, look, out) : NULL;
}

/* ---- threads, processes, images ---- */

/* What the parts are, and how one is named. */
struct part_kind {
	struct cp_column columns[5];
	void (*name)(const struct cp_profile *p, uint32_t number, struct cp_buf *out);
};
#define PART_COLUMNS(what) \
	{ \
		{ "share", true, 0, false }, { "", false, 0, true }, { "time", true, 0, false }, \
			{ "count", true, 0, false }, { what, false, 0, false }, \
	}

/* A table of those of `costs` that are not zero, most first. */
static CP_ERROR parts(const struct cp_profile *p, const struct cp_cost *costs, size_t count,
		      const struct part_kind *kind, uint64_t limit, const struct cp_look *look,
		      struct cp_buf *out)
{
	CP_FREE uint32_t *order = NULL;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t used, shown, i;

	cp_table_init(&t, kind->columns, 5);
	t.calm = true;
	CP_TRY(cp_cost_sorted(costs, count, &order, &used));
	shown = limited(used, limit);
	for (i = 0; i < shown; i++) {
		const struct cp_cost *cost = &costs[order[i]];

		cp_table_percent(&t, cost->weight, p->total.weight);
		cp_table_bar(&t, cost->weight, costs[order[0]].weight, p->total.weight);
		cp_cost_cell(&t, p, cost);
		cp_buf_clear(&text);
		cp_add_count(&text, cost->ticks);
		cp_table_name(&t, CP_PAINT_DIM, text.bytes ? text.bytes : "");
		cp_buf_clear(&text);
		kind->name(p, order[i], &text);
		cp_table_name(&t, CP_PAINT_PLAIN, text.bytes ? text.bytes : "");
	}
	cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, used);
	return NULL;
}

static void thread_name(const struct cp_profile *p, uint32_t n, struct cp_buf *out)
{
	cp_thread_name(p, n, out);
	if (cp_tree_roots_for(p, CP_ROOTS_AUTO) != CP_ROOTS_PROCESS)
		return;
	cp_buf_str(out, " of ");
	cp_process_name(p, cp_profile_process(p, n), out);
}

static void process_name(const struct cp_profile *p, uint32_t n, struct cp_buf *out)
{
	const struct cp_record_process *q = cp_record_get_process(p->record, n);

	cp_process_name(p, n, out);
	if (q && q->exe && *q->exe) {
		cp_buf_str(out, "  ");
		cp_buf_str(out, *q->started_as ? q->started_as : q->exe);
	}
}

static const struct part_kind thread_kind = { PART_COLUMNS("thread"), thread_name };
static const struct part_kind process_kind = { PART_COLUMNS("process"), process_name };

static CP_ERROR threads(const struct cp_profile *p, uint64_t limit, const struct cp_look *look,
			struct cp_buf *out)
{
	return parts(p, p->threads, cp_record_thread_count(p->record), &thread_kind, limit, look,
		     out);
}

static CP_ERROR processes(const struct cp_profile *p, uint64_t limit, const struct cp_look *look,
			  struct cp_buf *out)
{
	return parts(p, p->processes, cp_record_process_count(p->record), &process_kind, limit,
		     look, out);
}

static void image_path(const struct cp_profile *p, uint32_t n, struct cp_buf *out)
{
	const struct cp_profile_image *image = &p->images.items[n];

	cp_buf_str(out, image->path);
	if (*image->started_as)
		cp_buf_printf(out, ", started as %s", image->started_as);
}

static const struct part_kind image_kind = { PART_COLUMNS("file"), image_path };

static CP_ERROR images(const struct cp_profile *p, uint64_t limit, const struct cp_look *look,
		       struct cp_buf *out)
{
	CP_FREE struct cp_cost *costs = cp_profile_image_costs(p);

	if (!costs)
		return cp_error_nomem();
	return parts(p, costs, p->images.count, &image_kind, limit, look, out);
}

/* ---- calls ---- */

static CP_ERROR calls(const struct cp_profile *p, const struct cp_report_options *o,
		      const struct cp_look *look, struct cp_buf *out)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };

	CP_TRY(cp_calls_build(p, &c));
	if (!c.calls) {
		cp_buf_str(out, "\nNo call passes the filter.\n");
		return NULL;
	}
	cp_calls_sort(&c, o->order);
	cp_report_calls(&c, o, look, out);
	if (o->what == CP_REPORT_CALLS)
		cp_report_call_threads(&c, o, look, out);
	return NULL;
}

/* Callers and callees: as sampled, as traced, or both. */
static CP_ERROR neighbours(const struct cp_profile *p, const struct cp_report_options *o,
			   const struct cp_look *look, struct cp_buf *out)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };
	bool sampled = cp_record_sample_count(p->record) != 0;
	uint32_t function = CP_RECORD_NONE;
	struct cp_error *err;

	if (!o->function)
		return cp_error_new(CP_ERR_USAGE, 0, "callers and callees of which function?");
	if (cp_record_call_count(p->record))
		CP_TRY(cp_calls_build(p, &c));
	if (sampled) {
		err = cp_profile_find(p, o->function, &function);
		if (err && (!c.calls || err->code != CP_ERR_NOT_FOUND))
			return err;
		cp_error_free(err);
	}
	if (function != CP_RECORD_NONE)
		CP_TRY(cp_report_neighbours(p, function, o, look, out));
	else
		CP_TRY(cp_calls_find(&c, o->function, &function));
	if (c.calls)
		cp_report_call_neighbours(&c, function, o, look, out);
	return NULL;
}

/* ---- all of it ---- */

static CP_ERROR covered(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	if (!cp_record_coverage_count(p->record))
		return NULL;
	cp_report_title(out, look, "Coverage", "the worst files first");
	return cp_report_covered(p->record, o, look, out);
}

static CP_ERROR annotated(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out)
{
	return cp_record_annotation_count(p->record) ? cp_report_annotations(p, o, look, out)
						     : NULL;
}

static void counters(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	static const struct cp_column columns[] = { { .title = "PROFILER" },
						    { .title = "COUNTER", .give = 20 },
						    { .title = "VALUE", .right = true } };
	struct cp_table t;
	size_t i;

	if (!cp_record_counter_count(p->record))
		return;
	cp_report_title(out, look, "Counters", "what profilers counted");
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < cp_record_counter_count(p->record); i++) {
		const struct cp_record_counter *c = cp_record_get_counter(p->record, i);

		cp_table_name(&t, CP_PAINT_NAME, c->module);
		cp_table_name(&t, CP_PAINT_PLAIN, c->name);
		cp_table_cell(&t, CP_PAINT_PLAIN, "%" PRIu64, c->value);
	}
	cp_table_print(&t, look, out);
	cp_table_deinit(&t);
}

/* Where there is more to say than the header has. */
static CP_ERROR several_lives(const struct cp_profile *p, uint64_t limit,
			      const struct cp_look *look, struct cp_buf *out)
{
	if (cp_lives_count(p, false) > 1)
		CP_TRY(cp_report_lives(p, false, limit, look, out));
	if (cp_lives_count(p, true) > 1)
		CP_TRY(cp_report_lives(p, true, limit, look, out));
	return NULL;
}

/* What is neither a sample nor a call. */
static CP_ERROR moments(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	CP_TRY(cp_report_exceptions(p, o, look, out));
	CP_TRY(cp_report_locks(p, o, look, out));
	return cp_report_heap(p, o, look, out);
}

static CP_ERROR overview(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out)
{
	uint64_t rows = overview_rows(o);

	if (!p->by_calls) {
		cp_report_title(out, look, "Hot functions",
				"self: in it; total: with all that it calls");
		CP_TRY(cp_report_functions(p, o, look, out));
	}
	if (cp_record_call_count(p->record))
		CP_TRY(calls(p, o, look, out));
	CP_TRY(moments(p, o, look, out));
	CP_TRY(annotated(p, o, look, out));
	CP_TRY(covered(p, o, look, out));
	if (cp_cost_used(p->processes, cp_record_process_count(p->record)) > 1) {
		cp_report_title(out, look, "Processes", NULL);
		CP_TRY(processes(p, rows, look, out));
	}
	if (cp_cost_used(p->threads, cp_record_thread_count(p->record)) > 1) {
		cp_report_title(out, look, "Threads", NULL);
		CP_TRY(threads(p, rows, look, out));
	}
	CP_TRY(several_lives(p, rows, look, out));
	cp_report_title(out, look, "Images", "the files that the code came from");
	CP_TRY(images(p, rows, look, out));
	counters(p, look, out);
	cp_report_title(out, look, "Cost of profiling", NULL);
	cp_report_overhead(p, look, out);
	return NULL;
}

static CP_ERROR sections(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out)
{
	uint32_t function = CP_RECORD_NONE;

	if (o->function && o->what == CP_REPORT_LINES)
		CP_TRY(cp_profile_find(p, o->function, &function));
	switch (o->what) {
	case CP_REPORT_OVERVIEW:
		return overview(p, o, look, out);
	case CP_REPORT_FUNCTIONS:
		cp_report_title(out, look, "Functions", NULL);
		return cp_report_functions(p, o, look, out);
	case CP_REPORT_CALLS:
		return calls(p, o, look, out);
	case CP_REPORT_COVERAGE:
		return covered(p, o, look, out);
	case CP_REPORT_ANNOTATIONS:
		return annotated(p, o, look, out);
	case CP_REPORT_THREADS:
		cp_report_title(out, look, "Threads", NULL);
		CP_TRY(threads(p, o->limit, look, out));
		return cp_report_lives(p, true, o->limit, look, out);
	case CP_REPORT_IMAGES:
		cp_report_title(out, look, "Images", NULL);
		return images(p, o->limit, look, out);
	case CP_REPORT_PROCESSES:
		cp_report_title(out, look, "Processes", NULL);
		CP_TRY(processes(p, o->limit, look, out));
		return cp_report_lives(p, false, o->limit, look, out);
	case CP_REPORT_LINES:
		return cp_report_lines(p, function, o, look, out);
	case CP_REPORT_TREE:
		return cp_report_tree(p, o, look, out);
	case CP_REPORT_EXCEPTIONS:
	case CP_REPORT_LOCKS:
	case CP_REPORT_HEAP:
	case CP_REPORT_COUNTERS:
	case CP_REPORT_SUMMARY:
	case CP_REPORT_HEADER:
		break;
	case CP_REPORT_BUTTERFLY:
	case CP_REPORT_CALLERS:
	case CP_REPORT_CALLEES:
		return neighbours(p, o, look, out);
	}
	return NULL;
}

static bool holds_others(const struct cp_profile *p)
{
	return cp_record_info(p->record)->holds &
	       (CP_RECORD_HAS_EXCEPTIONS | CP_RECORD_HAS_LOCKS | CP_RECORD_HAS_ALLOCATIONS);
}

static void nothing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	size_t size = out->size;

	if (!cp_record_sample_count(p->record) && !cp_record_call_count(p->record))
		cp_report_nothing(p, look, out);
	if (out->size != size)
		return;
	cp_buf_str(out, p->by_calls ? "\nNo call" : "\nNo sample");
	cp_buf_str(out, p->by_calls || cp_record_sample_count(p->record) ? " passes the filter.\n"
									 : " was taken.\n");
}

/* What is neither of samples nor of calls. False: it is another report. */
static bool event_section(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out, struct cp_error **err_ret)
{
	uint32_t holds = cp_record_info(p->record)->holds;
	const char *none = NULL;

	if (o->what == CP_REPORT_EXCEPTIONS) {
		none = holds & CP_RECORD_HAS_EXCEPTIONS ? NULL : "exceptions";
		*err_ret = cp_report_exceptions(p, o, look, out);
	} else if (o->what == CP_REPORT_LOCKS) {
		none = holds & CP_RECORD_HAS_LOCKS ? NULL : "locks";
		*err_ret = cp_report_locks(p, o, look, out);
	} else if (o->what == CP_REPORT_HEAP) {
		none = holds & CP_RECORD_HAS_ALLOCATIONS ? NULL : "allocations";
		*err_ret = cp_report_heap(p, o, look, out);
	} else if (o->what == CP_REPORT_COUNTERS) {
		none = cp_record_counter_count(p->record) ? NULL : "counters";
		counters(p, look, out);
	} else {
		return false;
	}
	if (none)
		cp_buf_printf(out, "\nNo %s were recorded.\n", none);
	return true;
}

/* All below the header. */
static CP_ERROR below(const struct cp_profile *p, const struct cp_report_options *o,
		      const struct cp_look *look, struct cp_buf *out)
{
	struct cp_error *err = NULL;

	if (event_section(p, o, look, out, &err))
		return err;
	if (o->what == CP_REPORT_CALLS && !cp_record_call_count(p->record)) {
		cp_buf_str(out, "\nNo call was recorded.\n");
	} else if (o->what == CP_REPORT_COVERAGE && !cp_record_coverage_count(p->record)) {
		cp_buf_str(out, "\nNo coverage was recorded.\n");
	} else if (o->what == CP_REPORT_ANNOTATIONS && !cp_record_annotation_count(p->record)) {
		cp_buf_str(out, "\nNo annotation was recorded.\n");
	} else if (!p->total.ticks && !p->total.weight && o->what != CP_REPORT_CALLS &&
		   o->what != CP_REPORT_COVERAGE && o->what != CP_REPORT_ANNOTATIONS) {
		if (o->what == CP_REPORT_OVERVIEW) {
			CP_TRY(moments(p, o, look, out));
			CP_TRY(annotated(p, o, look, out));
			CP_TRY(covered(p, o, look, out));
		}
		if (o->what != CP_REPORT_OVERVIEW ||
		    (!cp_record_coverage_count(p->record) &&
		     !cp_record_annotation_count(p->record) && !holds_others(p)))
			nothing(p, look, out);
		if (o->what == CP_REPORT_THREADS || o->what == CP_REPORT_PROCESSES)
			CP_TRY(cp_report_lives(p, o->what == CP_REPORT_THREADS, o->limit, look,
					       out));
		if (o->what == CP_REPORT_OVERVIEW) {
			CP_TRY(several_lives(p, overview_rows(o), look, out));
			cp_report_title(out, look, "Cost of profiling", NULL);
			cp_report_overhead(p, look, out);
		}
	} else {
		CP_TRY(sections(p, o, look, out));
	}
	return out->failed ? cp_error_nomem() : NULL;
}

CP_ERROR cp_report_text(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out)
{
	cp_report_header(p, look, out);
	cp_report_missing(p, look, out);
	return below(p, o, look, out);
}

CP_ERROR cp_report_some(const struct cp_profile *p, const struct cp_report_options *o,
			const enum cp_report_what *what, size_t count, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_report_options one = *o;
	size_t i;

	for (i = 0; i < count; i++) {
		one.what = what[i];
		if (one.what == CP_REPORT_HEADER) {
			cp_report_header(p, look, out);
			cp_report_missing(p, look, out);
		} else {
			CP_TRY(below(p, &one, look, out));
		}
	}
	return out->failed ? cp_error_nomem() : NULL;
}

static CP_ERROR summary(const struct cp_profile *p, const char *path, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_report_options o = { .what = CP_REPORT_SUMMARY, .limit = 10 };

	cp_report_header(p, look, out);
	cp_report_missing(p, look, out);
	if ((p->total.ticks || p->total.weight) && !p->by_calls) {
		cp_report_title(out, look, "Hottest functions", NULL);
		CP_TRY(cp_report_functions(p, &o, look, out));
	}
	if (cp_record_call_count(p->record))
		CP_TRY(calls(p, &o, look, out));
	CP_TRY(moments(p, &o, look, out));
	if (cp_record_annotation_count(p->record))
		CP_TRY(cp_report_hottest_spans(p, look, out));
	CP_TRY(covered(p, &o, look, out));
	cp_report_nothing(p, look, out);
	cp_report_title(out, look, "Cost of profiling", NULL);
	cp_report_overhead(p, look, out);
	if (path)
		cp_report_next(p, path, look, out);
	return out->failed ? cp_error_nomem() : NULL;
}

CP_ERROR cp_report_summary(const struct cp_record *record, const char *path,
			   const struct cp_look *look, struct cp_buf *out)
{
	struct cp_profile *p = NULL;
	struct cp_error *err;

	CP_TRY(cp_profile_create(record, NULL, &p));
	err = summary(p, path, look, out);
	cp_profile_destroy(p);
	return err;
}

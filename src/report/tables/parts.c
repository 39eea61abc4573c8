/* SPDX-License-Identifier: MIT */
#include "report/tables/parts.h"

#include "base/cleanup.h"
#include "report/events/lives.h"
#include "report/look/csv.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"
#include "report/profile/tree.h"
#include "report/profile/unit.h"
#include "report/tables/nothing.h"

/* Rows in the overview. */
#define OVERVIEW_ROWS 10

static uint64_t rows(const struct cp_report_options *o)
{
	return o->what != CP_REPORT_OVERVIEW || o->limit < OVERVIEW_ROWS ? o->limit : OVERVIEW_ROWS;
}

/* How the parts are called, and how one of them is. */
struct part_kind {
	struct cp_column columns[5];
	void (*name)(const struct cp_profile *p, uint32_t number, struct cp_buf *out);
};
#define PART_COLUMNS(what) \
	{ \
		{ "share", true, 0, false }, { "", false, 0, true }, { "$", true, 0, false }, \
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
	t.amounts = p->unit->heading;
	t.calm = true;
	CP_TRY(cp_cost_sorted(costs, count, &order, &used));
	shown = limit && limit < used ? (size_t)limit : used;
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

static void image_path(const struct cp_profile *p, uint32_t n, struct cp_buf *out)
{
	const struct cp_profile_image *image = &p->images.items[n];

	cp_buf_str(out, image->path);
	if (*image->started_as)
		cp_buf_printf(out, ", started as %s", image->started_as);
}

static const struct part_kind thread_kind = { PART_COLUMNS("thread"), thread_name };
static const struct part_kind process_kind = { PART_COLUMNS("process"), process_name };
static const struct part_kind image_kind = { PART_COLUMNS("file"), image_path };

/* The threads or the processes: in the overview where there are several; alone with
 * their lives, which are known where nothing was spent, too. */
static CP_ERROR several(const struct cp_profile *p, const struct cp_report_options *o, bool threads,
			const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_cost *costs = threads ? p->threads : p->processes;
	size_t count =
		threads ? cp_record_thread_count(p->record) : cp_record_process_count(p->record);
	bool alone = o->what != CP_REPORT_OVERVIEW;

	if (!alone && cp_cost_used(costs, count) <= 1)
		return NULL;
	if (cp_profile_has_costs(p)) {
		cp_report_title(out, look, threads ? "Threads" : "Processes", NULL);
		CP_TRY(parts(p, costs, count, threads ? &thread_kind : &process_kind, rows(o), look,
			     out));
	} else {
		cp_report_no_costs(p, look, out);
	}
	return alone ? cp_report_lives(p, threads, o->limit, look, out) : NULL;
}

CP_ERROR cp_report_threads(const struct cp_profile *p, const struct cp_report_options *o,
			   const struct cp_look *look, struct cp_buf *out)
{
	return several(p, o, true, look, out);
}

CP_ERROR cp_report_processes(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out)
{
	return several(p, o, false, look, out);
}

CP_ERROR cp_report_several_lives(const struct cp_profile *p, const struct cp_report_options *o,
				 const struct cp_look *look, struct cp_buf *out)
{
	if (cp_lives_count(p, false) > 1)
		CP_TRY(cp_report_lives(p, false, rows(o), look, out));
	if (cp_lives_count(p, true) > 1)
		CP_TRY(cp_report_lives(p, true, rows(o), look, out));
	return NULL;
}

CP_ERROR cp_report_images(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out)
{
	CP_FREE struct cp_cost *costs = cp_profile_image_costs(p);

	if (!costs)
		return cp_error_nomem();
	cp_report_title(out, look, "Images",
			o->what == CP_REPORT_OVERVIEW ? "the files that the code came from" : NULL);
	return parts(p, costs, p->images.count, &image_kind, rows(o), look, out);
}

/* ---- comma-separated values ---- */

static void thread_csv(const struct cp_profile *p, uint32_t n, struct cp_buf *out)
{
	const struct cp_record_thread *t = cp_record_get_thread(p->record, n);

	cp_csv_text(out, t->name);
	cp_csv_u64(out, (uint64_t)t->tid);
	cp_csv_u64(out, (uint64_t)cp_record_get_process(p->record, t->process)->pid);
}

static void process_csv(const struct cp_profile *p, uint32_t n, struct cp_buf *out)
{
	const struct cp_record_process *q = cp_record_get_process(p->record, n);

	cp_csv_text(out, q->name);
	cp_csv_u64(out, (uint64_t)q->pid);
	cp_csv_text(out, q->exe);
}

static void image_csv(const struct cp_profile *p, uint32_t n, struct cp_buf *out)
{
	cp_csv_text(out, p->images.items[n].path);
}

/* Those of `costs` that are not zero, most first; `titles` is of what `name` writes. */
static CP_ERROR parts_csv(const struct cp_profile *p, const struct cp_cost *costs, size_t count,
			  const char *titles,
			  void (*name)(const struct cp_profile *p, uint32_t n, struct cp_buf *out),
			  uint64_t limit, struct cp_buf *out)
{
	CP_FREE uint32_t *order = NULL;
	size_t used, i;

	CP_TRY(cp_cost_sorted(costs, count, &order, &used));
	cp_buf_printf(out, "%s,time_ns,%s\n", titles, p->by_calls ? "calls" : "samples");
	for (i = 0; i < used && (!limit || i < limit); i++) {
		name(p, order[i], out);
		cp_csv_u64(out, cp_cost_shown(p, &costs[order[i]]).ns);
		cp_csv_u64(out, costs[order[i]].ticks);
		cp_csv_end(out);
	}
	return NULL;
}

CP_ERROR cp_report_threads_csv(const struct cp_profile *p, const struct cp_report_options *o,
			       struct cp_buf *out)
{
	return parts_csv(p, p->threads, cp_record_thread_count(p->record), "name,tid,pid",
			 thread_csv, o->limit, out);
}

CP_ERROR cp_report_processes_csv(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_buf *out)
{
	return parts_csv(p, p->processes, cp_record_process_count(p->record), "name,pid,exe",
			 process_csv, o->limit, out);
}

CP_ERROR cp_report_images_csv(const struct cp_profile *p, const struct cp_report_options *o,
			      struct cp_buf *out)
{
	CP_FREE struct cp_cost *costs = cp_profile_image_costs(p);

	if (!costs)
		return cp_error_nomem();
	return parts_csv(p, costs, p->images.count, "file", image_csv, o->limit, out);
}

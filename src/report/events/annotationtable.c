/* SPDX-License-Identifier: MIT
 *
 * The sections of the report about annotations.
 */
#include "report/events/annotationtable.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "report/events/annotations.h"
#include "report/events/annotationsums.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"

/* ---- tables ---- */

static const struct cp_column span_columns[] = {
	{ "count", true, 0, false }, { "total", true, 0, false },  { "self", true, 0, false },
	{ "min", true, 0, true },    { "median", true, 0, false }, { "p99", true, 0, true },
	{ "max", true, 0, false },   { "", false, 0, true },	   { "category", false, 12, true },
	{ "span", false, 0, false },
};

static void quantile_cell(struct cp_table *t, const struct cp_annotated *it, double share)
{
	if (it->durations.count)
		cp_table_time(t, CP_PAINT_PLAIN, cp_annotated_quantile(it, share));
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static void span_row(struct cp_table *t, const struct cp_annotations *a,
		     const struct cp_annotated *it)
{
	(void)a;
	cp_table_count(t, CP_PAINT_PLAIN, it->count);
	cp_table_time(t, CP_PAINT_PLAIN, it->total_ns);
	if (it->kind == CP_RECORD_SPAN_BEGIN)
		cp_table_time(t, CP_PAINT_PLAIN, it->self_ns);
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
	quantile_cell(t, it, 0);
	quantile_cell(t, it, 0.5);
	quantile_cell(t, it, 0.99);
	quantile_cell(t, it, 1);
	cp_table_cell(t, CP_PAINT_DIM, it->kind == CP_RECORD_ASYNC_START ? "async" : "");
	cp_table_name(t, CP_PAINT_DIM, it->category);
	cp_table_name(t, CP_PAINT_PLAIN, it->name);
}

static const struct cp_column counter_columns[] = {
	{ "count", true, 0, false },	{ "min", true, 0, false },
	{ "max", true, 0, false },	{ "last", true, 0, false },
	{ "process", true, 0, true },	{ "category", false, 12, true },
	{ "counter", false, 0, false },
};

static void counter_row(struct cp_table *t, const struct cp_annotations *a,
			const struct cp_annotated *it)
{
	cp_table_count(t, CP_PAINT_PLAIN, it->count);
	cp_table_cell(t, CP_PAINT_PLAIN, "%" PRId64, it->least);
	cp_table_cell(t, CP_PAINT_PLAIN, "%" PRId64, it->most);
	cp_table_cell(t, CP_PAINT_PLAIN, "%" PRId64, it->last);
	cp_table_cell(t, CP_PAINT_DIM, "%d",
		      cp_record_get_process(a->profile->record, it->process)->pid);
	cp_table_name(t, CP_PAINT_DIM, it->category);
	cp_table_name(t, CP_PAINT_PLAIN, it->name);
}

static const struct cp_column instant_columns[] = {
	{ "count", true, 0, false },
	{ "category", false, 12, true },
	{ "instant", false, 0, false },
};

static void instant_row(struct cp_table *t, const struct cp_annotations *a,
			const struct cp_annotated *it)
{
	(void)a;
	cp_table_count(t, CP_PAINT_PLAIN, it->count);
	cp_table_name(t, CP_PAINT_DIM, it->category);
	cp_table_name(t, CP_PAINT_PLAIN, it->name);
}

struct section {
	unsigned kinds; /* bits */
	const char *title, *note;
	const struct cp_column *columns;
	size_t count;
	void (*row)(struct cp_table *t, const struct cp_annotations *a,
		    const struct cp_annotated *it);
};

static const struct section sections[] = {
	{ 1u << CP_RECORD_SPAN_BEGIN | 1u << CP_RECORD_ASYNC_START, "Spans",
	  "announced by the program; time on the clock", span_columns, CP_ARRAY_SIZE(span_columns),
	  span_row },
	{ 1u << CP_RECORD_COUNTER, "Counters", NULL, counter_columns,
	  CP_ARRAY_SIZE(counter_columns), counter_row },
	{ 1u << CP_RECORD_INSTANT, "Instants", NULL, instant_columns,
	  CP_ARRAY_SIZE(instant_columns), instant_row },
};

static void section(const struct cp_annotations *a, const struct cp_annotation_sums *s,
		    const struct section *what, uint64_t limit, const struct cp_look *look,
		    struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	const struct cp_annotated *it;
	size_t shown = 0, all = 0;

	cp_table_init(&t, what->columns, what->count);
	cp_vec_for_each(&s->items, it) {
		if (!(what->kinds >> it->kind & 1) || (limit && all++ >= limit))
			continue;
		what->row(&t, a, it);
		shown++;
	}
	if (!shown)
		return;
	cp_report_title(out, look, what->title, what->note);
	cp_table_print(&t, look, out);
	if (limit)
		cp_report_more(out, look, shown, all);
}

/* ---- threads and fibers ---- */

struct busy {
	uint32_t track;
	uint64_t spans, ns; /* ns: in the outermost ones */
};

/* By track, the caller's to free; NULL without memory. */
static struct busy *busy_tracks(const struct cp_annotations *a)
{
	struct busy *list = calloc(a->tracks.count + 1, sizeof(*list));
	const struct cp_noted_span *span;
	size_t i;

	if (!list)
		return NULL;
	for (i = 0; i < a->tracks.count; i++)
		list[i].track = (uint32_t)i;
	cp_vec_for_each(&a->spans, span) {
		if (span->async || !cp_noted_shown(a, span))
			continue;
		list[span->track].spans++;
		if (span->outer == CP_RECORD_NONE)
			list[span->track].ns += span->end_ns - span->start_ns;
	}
	return list;
}

static int by_time(const void *pa, const void *pb)
{
	const struct busy *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->track < b->track ? -1 : a->track > b->track;
}

static const struct cp_column track_columns[] = {
	{ "spans", true, 0, false },
	{ "time", true, 0, false },
	{ "", false, 0, true },
	{ "thread or fiber", false, 0, false },
};

/* Threads have their number, as in other tables: many have one name. */
static void track_cell(struct cp_table *t, const struct cp_annotations *a, uint32_t number)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_track *track = &a->tracks.items[number];

	cp_track_name(a, number, &name);
	if (!track->is_fiber)
		cp_buf_printf(&name, " (%d)",
			      cp_record_get_thread(a->profile->record, track->thread)->tid);
	cp_table_name(t, CP_PAINT_PLAIN, name.bytes ? name.bytes : "");
}

static CP_ERROR tracks(const struct cp_annotations *a, uint64_t limit, const struct cp_look *look,
		       struct cp_buf *out)
{
	CP_FREE struct busy *list = busy_tracks(a);
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t i, shown = 0, all = 0;

	if (!list)
		return cp_error_nomem();
	for (i = 0; i < a->tracks.count; i++)
		all += list[i].spans != 0;
	if (all < 2)
		return NULL;
	qsort(list, a->tracks.count, sizeof(*list), by_time);
	cp_table_init(&t, track_columns, CP_ARRAY_SIZE(track_columns));
	for (i = 0; i < a->tracks.count && (!limit || shown < limit); i++) {
		if (!list[i].spans)
			continue;
		shown++;
		cp_table_count(&t, CP_PAINT_PLAIN, list[i].spans);
		cp_table_time(&t, CP_PAINT_PLAIN, list[i].ns);
		cp_table_bar(&t, list[i].ns, list[0].ns, list[0].ns);
		track_cell(&t, a, list[i].track);
	}
	cp_report_title(out, look, "Spans by thread and fiber", "time in their outermost spans");
	cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, all);
	return NULL;
}

/* How many there are, and how often they take turns: all that is known of those
 * without spans. */
static void fibers(const struct cp_annotations *a, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_track *track;
	uint64_t count = 0, switches = 0;
	size_t i;

	cp_vec_for_each(&a->tracks, track)
		count += track->is_fiber;
	if (!count)
		return;
	for (i = 0; i < a->count; i++)
		switches += cp_record_get_annotation(a->profile->record, a->order[i]).kind ==
			    CP_RECORD_FIBER_SWITCH;
	cp_add_plural(&text, count, "fiber", "fibers");
	cp_buf_str(&text, ", ");
	cp_add_plural(&text, switches, "switch", "switches");
	cp_buf_str(&text, " between them and their threads");
	cp_report_title(out, look, "Fibers", text.bytes);
}

static void unmatched(const struct cp_annotations *a, const struct cp_look *look,
		      struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!a->unmatched)
		return;
	cp_add_plural(&text, a->unmatched, "end", "ends");
	cp_buf_str(&text, " of spans that did not begin here, or were over");
	cp_report_title(out, look, "Unmatched", text.bytes);
}

/* ---- all of it ---- */

#define HOTTEST 4

/* The spans that took most, in a line. */
static CP_ERROR hottest_spans(const struct cp_profile *p, const struct cp_look *look,
			      struct cp_buf *out)
{
	struct cp_annotations a CP_CLEANUP(cp_annotations_deinit) = { 0 };
	struct cp_annotation_sums s CP_CLEANUP(cp_annotation_sums_deinit) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_annotated *it;
	size_t n = 0;

	CP_TRY(cp_annotations_build(p, &a));
	CP_TRY(cp_annotation_sums_build(&a, CP_ORDER_SELF, &s));
	cp_vec_for_each(&s.items, it) {
		if (it->kind != CP_RECORD_SPAN_BEGIN || n == HOTTEST)
			break;
		cp_buf_str(&text, n++ ? ", " : "");
		cp_add_name(&text, it->name);
		cp_buf_u8(&text, ' ');
		cp_add_time(&text, it->self_ns);
		cp_buf_str(&text, " in ");
		cp_add_count(&text, it->count);
	}
	if (!n)
		cp_add_plural(&text, a.recorded, "annotation, no span", "annotations, no span");
	cp_report_title(out, look, "Hottest spans", "time in themselves, and how many");
	cp_buf_str(out, "  ");
	cp_add_wrapped(out, look, 2, 2, text.bytes ? text.bytes : "");
	return NULL;
}

CP_ERROR cp_report_annotations(const struct cp_profile *p, const struct cp_report_options *o,
			       const struct cp_look *look, struct cp_buf *out)
{
	struct cp_annotations a CP_CLEANUP(cp_annotations_deinit) = { 0 };
	struct cp_annotation_sums s CP_CLEANUP(cp_annotation_sums_deinit) = { 0 };
	size_t i;

	if (o->what == CP_REPORT_SUMMARY)
		return hottest_spans(p, look, out);
	CP_TRY(cp_annotations_build(p, &a));
	CP_TRY(cp_annotation_sums_build(&a, o->order, &s));
	for (i = 0; i < CP_ARRAY_SIZE(sections); i++)
		section(&a, &s, &sections[i], o->limit, look, out);
	fibers(&a, look, out);
	unmatched(&a, look, out);
	return o->what == CP_REPORT_ANNOTATIONS ? tracks(&a, o->limit, look, out) : NULL;
}

/* ---- JSON ---- */

static void span_json(const struct cp_annotations *a, const struct cp_annotated *it,
		      struct cp_json *j)
{
	(void)a;
	cp_json_u64(j, "open", it->open);
	cp_json_u64(j, "total_ns", it->total_ns);
	if (it->kind == CP_RECORD_SPAN_BEGIN)
		cp_json_u64(j, "self_ns", it->self_ns);
	if (!it->durations.count)
		return;
	cp_json_u64(j, "min_ns", cp_annotated_quantile(it, 0));
	cp_json_u64(j, "median_ns", cp_annotated_quantile(it, 0.5));
	cp_json_u64(j, "p99_ns", cp_annotated_quantile(it, 0.99));
	cp_json_u64(j, "max_ns", cp_annotated_quantile(it, 1));
}

static void counter_json(const struct cp_annotations *a, const struct cp_annotated *it,
			 struct cp_json *j)
{
	cp_json_i64(j, "pid", cp_record_get_process(a->profile->record, it->process)->pid);
	cp_json_i64(j, "min", it->least);
	cp_json_i64(j, "max", it->most);
	cp_json_i64(j, "last", it->last);
}

static void list_json(const struct cp_annotations *a, const struct cp_annotation_sums *s,
		      unsigned kind, const char *key,
		      void (*add)(const struct cp_annotations *a, const struct cp_annotated *it,
				  struct cp_json *j),
		      struct cp_json *j)
{
	const struct cp_annotated *it;

	cp_json_begin(j, key, '[');
	cp_vec_for_each(&s->items, it) {
		if (it->kind != kind)
			continue;
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "name", it->name);
		cp_json_str(j, "category", it->category);
		cp_json_u64(j, "count", it->count);
		if (add)
			add(a, it, j);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static CP_ERROR tracks_json(const struct cp_annotations *a, struct cp_json *j)
{
	CP_FREE struct busy *list = busy_tracks(a);
	const struct cp_record *r = a->profile->record;
	size_t i;

	if (!list)
		return cp_error_nomem();
	cp_json_begin(j, "tracks", '[');
	for (i = 0; i < a->tracks.count; i++) {
		const struct cp_track *t = &a->tracks.items[i];
		struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

		cp_track_name(a, (uint32_t)i, &name);
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "name", name.bytes ? name.bytes : "");
		cp_json_i64(j, "pid", cp_record_get_process(r, t->process)->pid);
		cp_json_i64(j, "tid", cp_record_get_thread(r, t->thread)->tid);
		if (t->is_fiber)
			cp_json_u64(j, "fiber", t->fiber);
		cp_json_u64(j, "spans", list[i].spans);
		cp_json_u64(j, "total_ns", list[i].ns);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	return NULL;
}

CP_ERROR cp_report_annotations_json(const struct cp_profile *p, const struct cp_report_options *o,
				    struct cp_json *j)
{
	struct cp_annotations a CP_CLEANUP(cp_annotations_deinit) = { 0 };
	struct cp_annotation_sums s CP_CLEANUP(cp_annotation_sums_deinit) = { 0 };

	CP_TRY(cp_annotations_build(p, &a));
	CP_TRY(cp_annotation_sums_build(&a, o->order, &s));
	cp_json_begin(j, "annotations", '{');
	cp_json_u64(j, "events", a.recorded);
	cp_json_u64(j, "lost", a.lost);
	cp_json_u64(j, "unmatched", a.unmatched);
	list_json(&a, &s, CP_RECORD_SPAN_BEGIN, "spans", span_json, j);
	list_json(&a, &s, CP_RECORD_ASYNC_START, "async", span_json, j);
	list_json(&a, &s, CP_RECORD_INSTANT, "instants", NULL, j);
	list_json(&a, &s, CP_RECORD_COUNTER, "counters", counter_json, j);
	CP_TRY(tracks_json(&a, j));
	cp_json_end(j, '}');
	return NULL;
}

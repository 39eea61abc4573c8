/* SPDX-License-Identifier: MIT
 *
 * The sections of the report about traced calls.
 */
#include "report/events/calltable.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/types.h"
#include "base/vec.h"
#include "record/calls.h"
#include "record/nettime.h"
#include "record/record.h"
#include "record/sum_rows.h"
#include "report/events/calls.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"
#include "report/profile/summed.h"
#include "report/profile/tree.h"

#define CPU_COLUMN 2 /* where it was asked for */
#define TAILED_COLUMN 4 /* where anything is known of it */
#define AVERAGE_COLUMN 6 /* where that is asked for, and the next */

static const struct cp_column columns[] = {
	{ "calls", true, 0, false },
	{ "total", true, 0, false },
	{ "CPU", true, 0, false },
	{ "self", true, 0, false },
	{ "tail called", true, 0, false },
	{ "min", true, 0, true },
	{ "average", true, 0, false },
	{ "deviation", true, 0, false },
	{ "median", true, 0, CP_SPARE_LAST },
	{ "p95", true, 0, true },
	{ "p99", true, 0, true },
	{ "p99.9", true, 0, true },
	{ "max", true, 0, false },
	{ "image", false, 12, true },
	{ "function", false, 0, false },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static bool has_cpu(const struct cp_calls *c)
{
	const struct cp_called *f;

	cp_vec_for_each(&c->functions, f)
		if (f->sum.cpu_ns)
			return true;
	return false;
}

/* Were there more calls than are counted, of whom is not known? */
static bool is_lower_bound(const struct cp_calls *c)
{
	return cp_record_totals_lack_calls(cp_record_final(c->profile->record));
}

/* Or of this function, which was no longer traced from some time on? */
static bool lacks_calls(const struct cp_calls *c, const struct cp_called *f)
{
	return f->disarmed || is_lower_bound(c);
}

static void calls_cell(struct cp_table *t, bool lower_bound, enum cp_paint paint, uint64_t calls)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (lower_bound)
		cp_buf_str(&text, ">= ");
	cp_add_count(&text, calls);
	cp_table_cell(t, paint, "%s", text.bytes ? text.bytes : "");
}

/* "-" where no call of it is over. */
static void quantile_cell(struct cp_table *t, const struct cp_called *f, double share)
{
	if (cp_call_sum_over(&f->sum))
		cp_table_net_time(t, CP_PAINT_PLAIN, cp_called_quantile(f, share));
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static enum cp_paint heat(uint64_t part, uint64_t whole)
{
	double share = cp_share(part, whole);

	return share >= 0.1 ? CP_PAINT_HOT : share >= 0.02 ? CP_PAINT_WARM : CP_PAINT_PLAIN;
}

/* The own name of a function that was asked for by that of an indirect function, as
 * in the symbol table. NULL: they are the same, but for how compilers write it. */
static const char *own_name(const struct cp_function *f)
{
	size_t size = strlen(f->name);

	if (!f->linkage || cp_starts_with(f->linkage, "_Z") || cp_starts_with(f->linkage, "_R") ||
	    (cp_starts_with(f->linkage, f->name) && (!f->linkage[size] || f->linkage[size] == '.')))
		return NULL;
	return f->linkage;
}

static void add_function(struct cp_table *t, const struct cp_function *f)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	const char *own = own_name(f);

	if (own)
		cp_buf_printf(&name, "%s [%s]", f->name, own);
	cp_table_function(t, CP_PAINT_PLAIN, own && name.bytes ? name.bytes : f->name);
}

/* The columns that there are, of a function. */
struct shown_columns {
	bool cpu, tailed, average;
};

static void moment_cells(struct cp_table *t, const struct cp_called *f)
{
	if (!cp_call_sum_over(&f->sum)) {
		cp_table_cell(t, CP_PAINT_DIM, "-");
		cp_table_cell(t, CP_PAINT_DIM, "-");
		return;
	}
	cp_table_net_time(t, CP_PAINT_PLAIN, f->average);
	cp_table_net_time(t, CP_PAINT_PLAIN, f->deviation);
}

static void row(struct cp_table *t, const struct cp_calls *c, const struct cp_called *f,
		struct shown_columns has)
{
	const struct cp_function *is = &c->profile->functions.items[f->function];

	calls_cell(t, lacks_calls(c, f), CP_PAINT_PLAIN, f->sum.calls);
	cp_table_net_time(t, CP_PAINT_PLAIN, f->total);
	if (has.cpu)
		cp_table_time(t, CP_PAINT_PLAIN, f->sum.cpu_ns);
	cp_table_net_time(t, heat(f->self.ns, c->outermost.ns), f->self);
	if (has.tailed && cp_called_has_tailed(f))
		cp_table_net_time(t, CP_PAINT_PLAIN, f->tailed);
	else if (has.tailed)
		cp_table_name(t, CP_PAINT_DIM, "");
	quantile_cell(t, f, 0);
	if (has.average)
		moment_cells(t, f);
	quantile_cell(t, f, 0.5);
	quantile_cell(t, f, 0.95);
	quantile_cell(t, f, 0.99);
	quantile_cell(t, f, 0.999);
	quantile_cell(t, f, 1);
	cp_table_name(t, CP_PAINT_DIM, cp_profile_image_name(c->profile, is));
	add_function(t, is);
}

void cp_add_disarmed(struct cp_buf *out, uint64_t rate)
{
	cp_buf_str(out, " is no longer traced: ");
	if (rate)
		cp_add_plural(out, rate, "call", "calls");
	cp_buf_str(out, rate ? " in a second" : "signals came faster than they were handled");
}

static bool is_disarmed(const struct cp_called *f, bool starved)
{
	return f->disarmed && f->starved == starved;
}

/* "one was called 12,000 times in a second and is no longer traced", or all of them
 * that are not for the same reason in one sentence. */
static void say_disarmed(const struct cp_calls *c, bool starved, struct cp_buf *text)
{
	const struct cp_called *f, *last = NULL;
	size_t count = 0, said = 0;

	cp_vec_for_each(&c->functions, f) {
		count += is_disarmed(f, starved);
		last = is_disarmed(f, starved) ? f : last;
	}
	if (!last)
		return;
	if (starved) {
		cp_buf_str(text, "no longer traced from some time on, for signals whose handler "
				 "calls them came faster than it was done, and nothing else went "
				 "on: ");
	} else if (count > 1) {
		cp_add_count(text, count);
		cp_buf_str(text, " functions were called too often (--max-rate) and are no longer "
				 "traced from then on: ");
	}
	cp_vec_for_each(&c->functions, f) {
		if (!is_disarmed(f, starved))
			continue;
		cp_buf_str(text, said++ ? ", " : "");
		cp_add_name(text, c->profile->functions.items[f->function].name);
	}
	if (starved || count > 1)
		return;
	cp_buf_str(text, " was called ");
	cp_add_plural(text, last->disarmed, "time", "times");
	cp_buf_str(text, " in a second and is no longer traced from then on (--max-rate)");
}

/* Functions that this is said of by name. */
#define NAMED_MAX 5u

/* "one, two and 3 more ended in tail calls": those that did so more often than not, and of
 * which the table has no time of what they jumped to. */
static void say_tailed(const struct cp_calls *c, struct cp_buf *text)
{
	const struct cp_called *f;
	size_t count = 0;

	cp_vec_for_each(&c->functions, f) {
		if (f->sum.tail_calls <= f->sum.calls / 2 || f->tailed_inside ||
		    cp_called_has_tailed(f))
			continue;
		if (count++ >= NAMED_MAX)
			continue;
		cp_buf_str(text, count > 1 ? ", " : "");
		cp_add_name(text, c->profile->functions.items[f->function].name);
	}
	if (count > NAMED_MAX) {
		cp_buf_str(text, " and ");
		cp_add_count(text, count - NAMED_MAX);
		cp_buf_str(text, " more");
	}
	if (count)
		cp_buf_str(text, " ended in tail calls: their time is up to the jump, without "
				 "that of the functions that they jumped to");
}

/* Lines below the table: what it can't say of its functions. */
static void remarks(const struct cp_calls *c, const struct cp_look *look, struct cp_buf *out)
{
	int line;

	for (line = 0; line < 3; line++) {
		struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

		if (line < 2)
			say_disarmed(c, line, &text);
		else
			say_tailed(c, &text);
		if (!text.bytes)
			continue;
		cp_buf_str(out, "  ");
		cp_paint(out, look, CP_PAINT_WARNING, "! ");
		cp_add_wrapped(out, look, 4, 4, text.bytes);
	}
}

/* What the title says of all times. */
static void add_note(struct cp_buf *out, const struct cp_calls *c)
{
	const struct cp_called *f;
	bool given_up = false;

	cp_buf_str(out, "less what tracing added");
	if (cp_record_sum_count(c->profile->record))
		cp_buf_str(out, "; percentiles to 3 %");
	if (c->upper_bound)
		cp_buf_str(out, "; <=: at most that");
	cp_vec_for_each(&c->functions, f)
		given_up |= f->disarmed && f->sum.calls;
	if (is_lower_bound(c))
		cp_buf_str(out, "; >=: at least that, events were lost");
	else if (given_up)
		cp_buf_str(out, "; >=: at least that, then no longer traced");
	if (c->tailed)
		cp_buf_str(out, "; tail called: what it ended by jumping to, "
				"not in total");
}

static void print_functions(const struct cp_calls *c, const struct cp_report_options *o,
			    const struct cp_look *look, struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	const struct cp_called *f;
	struct cp_column present[COLUMNS];
	size_t shown = 0, all = 0, count = 0, i;
	struct shown_columns has = { has_cpu(c), c->tailed,
				     o->order == CP_ORDER_AVERAGE ||
					     o->order == CP_ORDER_DEVIATION };
	struct cp_buf note CP_CLEANUP(cp_buf_free) = { 0 };

	add_note(&note, c);
	cp_report_title(out, look, "Calls", note.bytes);
	for (i = 0; i < COLUMNS; i++)
		if (i == CPU_COLUMN	      ? has.cpu
		    : i == TAILED_COLUMN      ? has.tailed
		    : i - AVERAGE_COLUMN < 2u ? has.average
					      : true)
			present[count++] = columns[i];
	cp_table_init(&t, present, count);
	cp_vec_for_each(&c->functions, f) {
		if (!(f->sum.calls || f->sum.inherited) || (o->limit && all++ >= o->limit))
			continue;
		row(&t, c, f, has);
		shown++;
	}
	cp_table_print(&t, look, out);
	cp_table_say_left_out(&t, look, out);
	if (o->what != CP_REPORT_SUMMARY && o->limit)
		cp_report_more(out, look, shown, all);
	remarks(c, look, out);
}

static const struct cp_column thread_columns[] = {
	{ "share", true, 0, false }, { "", false, 0, true },	    { "time", true, 0, false },
	{ "calls", true, 0, false }, { "thread", false, 0, false },
};

static void print_threads(const struct cp_calls *c, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	const struct cp_calling_thread *it;
	size_t shown = 0;

	if (c->threads.count < 2)
		return;
	cp_report_title(out, look, "Threads", "time in their outermost traced calls");
	cp_table_init(&t, thread_columns, 5);
	cp_vec_for_each(&c->threads, it) {
		struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

		if (o->limit && shown >= o->limit)
			break;
		shown++;
		cp_thread_name(c->profile, it->thread, &name);
		cp_table_percent(&t, it->time.ns, c->outermost.ns);
		cp_table_bar(&t, it->time.ns, c->threads.items[0].time.ns, c->outermost.ns);
		cp_table_net_time(&t, CP_PAINT_PLAIN, it->time);
		calls_cell(&t, is_lower_bound(c), CP_PAINT_DIM, it->calls);
		cp_table_name(&t, CP_PAINT_PLAIN, name.bytes ? name.bytes : "");
	}
	cp_table_print(&t, look, out);
	cp_report_more(out, look, shown, c->threads.count);
}

/* ---- callers and callees ---- */

static const struct cp_column edge_columns[] = {
	{ "calls", true, 0, false },	 { "time", true, 0, false }, { "share", true, 0, false },
	{ "", false, 0, true },		 { "self", true, 0, true },  { "median", true, 0, true },
	{ "p99", true, 0, true },	 { "max", true, 0, true },   { "image", false, 12, false },
	{ "function", false, 0, false },
};

static void edge_quantile(struct cp_table *t, const struct cp_call_edge *e, double share)
{
	if (cp_call_sum_over(&e->sum))
		cp_table_net_time(t, CP_PAINT_PLAIN, cp_call_sum_quantile(&e->sum, share));
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static void edges(const struct cp_calls *c, uint32_t function, bool callers, uint64_t whole,
		  const struct cp_report_options *o, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	const struct cp_call_edge *e;
	uint64_t all = 0, shown = 0, most = 0;

	cp_table_init(&t, edge_columns, sizeof(edge_columns) / sizeof(*edge_columns));
	cp_vec_for_each(&c->edges, e) {
		uint32_t other = callers ? e->caller : e->callee;
		const struct cp_function *f =
			other == CP_RECORD_NONE ? NULL : &c->profile->functions.items[other];

		if ((callers ? e->callee : e->caller) != function ||
		    (o->limit && all++ >= o->limit))
			continue;
		shown++;
		most = most ? most : e->time.ns;
		calls_cell(&t, is_lower_bound(c), CP_PAINT_PLAIN, e->sum.calls);
		cp_table_net_time(&t, CP_PAINT_PLAIN, e->time);
		cp_table_percent(&t, e->time.ns, whole);
		cp_table_bar(&t, e->time.ns, most, whole);
		cp_table_net_time(&t, CP_PAINT_PLAIN, e->self);
		edge_quantile(&t, e, 0.5);
		edge_quantile(&t, e, 0.99);
		edge_quantile(&t, e, 1);
		cp_table_name(&t, CP_PAINT_DIM, f ? cp_profile_image_name(c->profile, f) : "");
		cp_table_function(&t, f ? CP_PAINT_PLAIN : CP_PAINT_DIM,
				  f ? f->name : "(nobody that was traced)");
	}
	if (shown)
		cp_table_print(&t, look, out);
	else
		cp_paint(out, look, CP_PAINT_DIM, "  none\n");
	cp_table_say_left_out(&t, look, out);
	if (o->limit)
		cp_report_more(out, look, shown, all);
}

static void the_function(const struct cp_calls *c, const struct cp_called *f,
			 const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_function *is = &c->profile->functions.items[f->function];
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_u8(out, '\n');
	cp_add_name(&text, is->name);
	cp_paint(out, look, CP_PAINT_BOLD, text.bytes ? text.bytes : "");
	cp_buf_clear(&text);
	cp_buf_str(out, "\n  ");
	cp_add_plural(&text, f->sum.calls, "call", "calls");
	cp_buf_str(&text, " · total ");
	cp_add_net_time(&text, f->total);
	cp_buf_str(&text, " · self ");
	cp_add_net_time(&text, f->self);
	if (cp_call_sum_over(&f->sum)) {
		cp_buf_str(&text, " · median ");
		cp_add_net_time(&text, cp_called_quantile(f, 0.5));
		cp_buf_str(&text, " · p99 ");
		cp_add_net_time(&text, cp_called_quantile(f, 0.99));
		cp_buf_str(&text, " · p99.9 ");
		cp_add_net_time(&text, cp_called_quantile(f, 0.999));
		cp_buf_str(&text, " · max ");
		cp_add_net_time(&text, cp_called_quantile(f, 1));
	}
	if (f->sum.unwound) {
		cp_buf_str(&text, " · ");
		cp_add_count(&text, f->sum.unwound);
		cp_buf_str(&text, " unwound");
	}
	if (f->sum.tail_calls) {
		cp_buf_str(&text, " · ");
		cp_add_count(&text, f->sum.tail_calls);
		cp_buf_str(&text, " ended in a tail call");
		if (cp_called_has_tailed(f)) {
			cp_buf_str(&text, ", ");
			cp_add_net_time(&text, f->tailed);
			cp_buf_str(&text, " in what was called so, not in total");
		}
	}
	cp_add_wrapped(out, look, 2, 2, text.bytes ? text.bytes : "");
}

void cp_report_call_neighbours(const struct cp_calls *c, uint32_t function,
			       const struct cp_report_options *o, const struct cp_look *look,
			       struct cp_buf *out)
{
	const struct cp_called *f = cp_calls_of(c, function);

	if (!f)
		return;
	the_function(c, f, look, out);
	if (o->what != CP_REPORT_CALLEES) {
		cp_report_title(out, look, "Callers",
				"who called it, as far as traced, or told by --stack");
		edges(c, function, true, f->total.ns, o, look, out);
	}
	if (o->what != CP_REPORT_CALLERS) {
		cp_report_title(out, look, "Callees", "what it called, as far as traced");
		edges(c, function, false, f->total.ns, o, look, out);
	}
}

CP_ERROR cp_report_calls(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };
	struct cp_error *err;

	err = cp_profile_check_sums(p);
	if (err && o->what != CP_REPORT_CALLS) { /* there are other tables */
		cp_buf_printf(out, "\nNo calls: %s.\n", err->what);
		cp_error_free(err);
		return NULL;
	}
	CP_TRY(err);
	CP_TRY(cp_calls_build(p, &c));
	if (!c.calls) {
		if (o->what != CP_REPORT_PAGE)
			cp_buf_str(out, "\nNo call passes the filter.\n");
		return NULL;
	}
	cp_calls_sort(&c, o->order);
	print_functions(&c, o, look, out);
	if (o->what == CP_REPORT_CALLS)
		print_threads(&c, o, look, out);
	return NULL;
}

/* ---- JSON ---- */

static void function_name(const struct cp_calls *c, uint32_t function, struct cp_json *j)
{
	const struct cp_function *f =
		function == CP_RECORD_NONE ? NULL : &c->profile->functions.items[function];

	cp_json_str(j, "function", f ? f->name : NULL);
	cp_json_str(j, "image", f ? cp_profile_image_name(c->profile, f) : NULL);
}

/* The key of an object with one time, where that is a bound. */
static void bound_json(const struct cp_net_time *time, struct cp_json *j)
{
	if (time->at_most)
		cp_json_bool(j, "upper_bound", true);
}

struct timed {
	const char *key;
	struct cp_net_time time;
};

/* Times, and which of them are bounds. */
static void timed_json(const struct timed *times, size_t count, struct cp_json *j)
{
	bool any = false;
	size_t i;

	for (i = 0; i < count; i++) {
		cp_json_u64(j, times[i].key, times[i].time.ns);
		any |= times[i].time.at_most;
	}
	if (!any)
		return;
	cp_json_begin(j, "upper_bounds", '[');
	for (i = 0; i < count; i++) {
		if (times[i].time.at_most)
			cp_json_str(j, NULL, times[i].key);
	}
	cp_json_end(j, ']');
}

static void times_json(const struct cp_called *f, struct cp_json *j)
{
	const struct timed times[] = {
		{ "total_ns", f->total },
		{ "self_ns", f->self },
		{ "min_ns", cp_called_quantile(f, 0) },
		{ "average_ns", f->average },
		{ "deviation_ns", f->deviation },
		{ "median_ns", cp_called_quantile(f, 0.5) },
		{ "p90_ns", cp_called_quantile(f, 0.9) },
		{ "p95_ns", cp_called_quantile(f, 0.95) },
		{ "p99_ns", cp_called_quantile(f, 0.99) },
		{ "p999_ns", cp_called_quantile(f, 0.999) },
		{ "max_ns", cp_called_quantile(f, 1) },
		{ "tail_called_ns", f->tailed }, /* the last, for it may be missing */
	};

	timed_json(times, CP_ARRAY_SIZE(times) - !cp_called_has_tailed(f), j);
}

static void edge_times_json(const struct cp_call_edge *e, struct cp_json *j)
{
	const struct timed times[] = {
		{ "self_ns", e->self },
		{ "min_ns", cp_call_sum_quantile(&e->sum, 0) },
		{ "median_ns", cp_call_sum_quantile(&e->sum, 0.5) },
		{ "p90_ns", cp_call_sum_quantile(&e->sum, 0.9) },
		{ "p99_ns", cp_call_sum_quantile(&e->sum, 0.99) },
		{ "p999_ns", cp_call_sum_quantile(&e->sum, 0.999) },
		{ "max_ns", cp_call_sum_quantile(&e->sum, 1) },
	};

	timed_json(times, sizeof(times) / sizeof(times[0]), j);
}

static void function_json(const struct cp_calls *c, const struct cp_called *f, struct cp_json *j)
{
	const char *own = own_name(&c->profile->functions.items[f->function]);

	cp_json_begin(j, NULL, '{');
	function_name(c, f->function, j);
	if (own)
		cp_json_str(j, "linkage_name", own);
	cp_json_u64(j, "calls", f->sum.calls);
	if (lacks_calls(c, f))
		cp_json_bool(j, "lower_bound", true);
	if (f->sum.inherited)
		cp_json_u64(j, "inherited", f->sum.inherited);
	times_json(f, j);
	cp_json_u64(j, "overhead_ns", f->sum.overhead_ns);
	if (f->sum.cpu_ns)
		cp_json_u64(j, "cpu_ns", f->sum.cpu_ns);
	cp_json_u64(j, "unwound", f->sum.unwound);
	cp_json_u64(j, "tail_calls", f->sum.tail_calls);
	cp_json_u64(j, "open", f->sum.open);
	if (f->disarmed)
		cp_json_u64(j, "disarmed_rate", f->starved ? 0 : f->disarmed);
	cp_json_end(j, '}');
}

static void edges_json(const struct cp_calls *c, uint32_t function, bool callers, struct cp_json *j)
{
	const struct cp_call_edge *e;

	cp_json_begin(j, callers ? "callers" : "callees", '[');
	cp_vec_for_each(&c->edges, e) {
		if ((callers ? e->callee : e->caller) != function)
			continue;
		cp_json_begin(j, NULL, '{');
		function_name(c, callers ? e->caller : e->callee, j);
		cp_json_u64(j, "calls", e->sum.calls);
		if (is_lower_bound(c))
			cp_json_bool(j, "lower_bound", true);
		cp_json_u64(j, "ns", e->time.ns);
		bound_json(&e->time, j);
		edge_times_json(e, j);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void threads_json(const struct cp_calls *c, struct cp_json *j)
{
	const struct cp_calling_thread *it;

	cp_json_begin(j, "threads", '[');
	cp_vec_for_each(&c->threads, it) {
		cp_json_begin(j, NULL, '{');
		cp_json_i64(j, "tid", cp_record_get_thread(c->profile->record, it->thread)->tid);
		cp_json_u64(j, "calls", it->calls);
		cp_json_u64(j, "total_ns", it->time.ns);
		bound_json(&it->time, j);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void calls_json(const struct cp_calls *c, const struct cp_report_options *o,
		       uint32_t function, struct cp_json *j)
{
	const struct cp_record_totals *t = cp_record_final(c->profile->record);
	const struct cp_called *f;
	uint64_t count = 0;

	cp_json_begin(j, "calls", '{');
	cp_json_u64(j, "events",
		    cp_record_call_count(c->profile->record) +
			    cp_record_summed_count(c->profile->record));
	cp_json_u64(j, "lost", t->calls_lost);
	cp_json_u64(j, "calls", c->calls);
	if (is_lower_bound(c))
		cp_json_bool(j, "lower_bound", true);
	cp_json_u64(j, "total_ns", c->outermost.ns);
	cp_json_bool(j, "upper_bound", c->upper_bound);
	cp_json_begin(j, "functions", '[');
	cp_vec_for_each(&c->functions, f) {
		if (!o->limit || count++ < o->limit)
			function_json(c, f, j);
	}
	cp_json_end(j, ']');
	if (function != CP_RECORD_NONE) {
		cp_json_begin(j, "function", '{');
		function_name(c, function, j);
		edges_json(c, function, true, j);
		edges_json(c, function, false, j);
		cp_json_end(j, '}');
	}
	threads_json(c, j);
	cp_json_end(j, '}');
}

CP_ERROR cp_report_calls_json(const struct cp_profile *p, const struct cp_report_options *o,
			      struct cp_json *j)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };
	uint32_t function = CP_RECORD_NONE;
	struct cp_error *err = NULL;

	CP_TRY(cp_calls_build(p, &c));
	cp_calls_sort(&c, o->order);
	if (o->function)
		err = cp_calls_find(&c, o->function, &function);
	if (err && (p->by_calls || err->code != CP_ERR_NOT_FOUND))
		return err;
	cp_error_free(err);
	calls_json(&c, o, function, j);
	return NULL;
}

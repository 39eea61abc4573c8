/* SPDX-License-Identifier: MIT */
#include "report/tables/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "record/calls.h"
#include "record/coverage.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/profile.h"
#include "report/profile/summed.h"
#include "report/profile/recorded.h"
#include "report/profile/unit.h"
#include "report/tables/diffcalls.h"
#include "report/tables/diffcoverage.h"
#include "report/tables/missing.h"

/* ---- pairing ---- */

static CP_ERROR row_for(struct cp_diff *d, struct cp_interner *keys, const struct cp_profile *p,
			const struct cp_function *f, struct cp_diff_row **ret)
{
	const char *image = cp_profile_image_name(p, f);
	struct cp_buf key CP_CLEANUP(cp_buf_free) = { 0 };
	uint32_t n;
	bool fresh;

	cp_buf_add(&key, image, strlen(image) + 1);
	cp_buf_str(&key, f->name);
	if (key.failed || !cp_intern(keys, key.bytes, key.size, &n, &fresh))
		return cp_error_nomem();
	if (fresh &&
	    !cp_vec_push(&d->rows, (struct cp_diff_row){ .name = f->name, .image = image }))
		return cp_error_nomem();
	*ret = &d->rows.items[n];
	return NULL;
}

static CP_ERROR add_side(struct cp_diff *d, struct cp_interner *keys, bool new)
{
	const struct cp_profile *p = new ? d->new : d->old;
	const struct cp_function *f;
	struct cp_diff_row *row = NULL;

	cp_vec_for_each(&p->functions, f) {
		if (!f->total.weight && !f->total.ticks)
			continue;
		CP_TRY(row_for(d, keys, p, f, &row));
		cp_cost_add(new ? &row->new_self : &row->old_self, &f->self);
		cp_cost_add(new ? &row->new_total : &row->old_total, &f->total);
		*(new ? &row->in_new : &row->in_old) = true;
	}
	return NULL;
}

/* ---- change ---- */

static double amount(const struct cp_diff *d, const struct cp_profile *p, uint64_t ns)
{
	uint64_t duration = cp_report_duration(p->record);

	switch (d->options.by) {
	case CP_DIFF_BY_SHARE:
		return 100 * cp_share(ns, p->total.weight);
	case CP_DIFF_BY_RATE:
		return cp_share(ns, duration) * (double)CP_NS_PER_S;
	case CP_DIFF_BY_TIME:
		break;
	}
	return (double)ns;
}

static double change(const struct cp_diff *d, uint64_t old_ns, uint64_t new_ns)
{
	return amount(d, d->new, new_ns) - amount(d, d->old, old_ns);
}

double cp_diff_deviations(size_t rows)
{
	double low = 0, high = 40, chance = 0.05 / (double)(rows ? rows : 1);
	int i;

	for (i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / sqrt(2)) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The normal distribution stands in for that of counts, which are whole: hence half
 * a sample less on either side. Where there is next to nothing, it says too much. */
bool cp_diff_matters(const struct cp_profile *old, uint64_t old_ns, const struct cp_profile *new,
		     uint64_t new_ns, double deviations)
{
	double a = cp_share(old_ns, old->total.weight), b = cp_share(new_ns, new->total.weight);
	double n = (double)old->total.ticks, m = (double)new->total.ticks, p, half;

	if (n < 1 || m < 1)
		return false;
	p = (a * n + b * m) / (n + m);
	half = (1 / n + 1 / m) / 2;
	return fabs(b - a) - half > deviations * sqrt(p * (1 - p) * (1 / n + 1 / m));
}

/* Square of the deviation that chance gives to an amount of `ticks` samples; none
 * might have been one. */
static double variance(double amount_, uint64_t ticks, double one)
{
	return ticks ? amount_ * amount_ / (double)ticks : one * one;
}

/* The amount that one sample of `p` stands for. */
static double one_of(const struct cp_diff *d, const struct cp_profile *p)
{
	return p->total.ticks ? amount(d, p, p->total.weight) / (double)p->total.ticks : 0;
}

static bool matters(const struct cp_diff *d, const struct cp_cost *before,
		    const struct cp_cost *after, double deviations)
{
	double a = amount(d, d->old, before->weight), b = amount(d, d->new, after->weight);

	if (d->options.by == CP_DIFF_BY_SHARE)
		return cp_diff_matters(d->old, before->weight, d->new, after->weight, deviations);
	return fabs(b - a) > deviations * sqrt(variance(a, before->ticks, one_of(d, d->old)) +
					       variance(b, after->ticks, one_of(d, d->new)));
}

static int compare(const void *va, const void *vb, void *ctx)
{
	const struct cp_diff_row *a = va, *b = vb;
	const struct cp_diff *d = ctx;
	double da = fabs(d->options.by_total ? a->total : a->self);
	double db = fabs(d->options.by_total ? b->total : b->self);
	double ta = fabs(a->total), tb = fabs(b->total);
	int by_name;

	if (da > db || da < db)
		return da < db ? 1 : -1;
	if (ta > tb || ta < tb)
		return ta < tb ? 1 : -1;
	by_name = strcmp(a->name, b->name);
	return by_name ? by_name : strcmp(a->image, b->image);
}

CP_ERROR cp_diff_build(const struct cp_profile *old, const struct cp_profile *new,
		       const struct cp_diff_options *o, struct cp_diff *ret)
{
	struct cp_diff d = { .old = old, .new = new, .options = *o };
	struct cp_interner keys = { 0 };
	struct cp_error *err = add_side(&d, &keys, false);
	struct cp_diff_row *row;
	double deviations;

	if (!err)
		err = add_side(&d, &keys, true);
	cp_interner_free(&keys);
	if (err) {
		cp_diff_deinit(&d);
		return err;
	}
	deviations = cp_diff_deviations(d.rows.count);
	cp_vec_for_each(&d.rows, row) {
		row->self = change(&d, row->old_self.weight, row->new_self.weight);
		row->total = change(&d, row->old_total.weight, row->new_total.weight);
		row->self_matters = matters(&d, &row->old_self, &row->new_self, deviations);
		row->total_matters = matters(&d, &row->old_total, &row->new_total, deviations);
	}
	if (d.rows.count)
		qsort_r(d.rows.items, d.rows.count, sizeof(*d.rows.items), compare, &d);
	*ret = d;
	return NULL;
}

void cp_diff_deinit(struct cp_diff *d)
{
	cp_vec_free(&d->rows);
}

/* ---- for people ---- */

static const char *by_note(enum cp_diff_by by)
{
	switch (by) {
	case CP_DIFF_BY_SHARE:
		return "by share of each recording's total, in percentage points";
	case CP_DIFF_BY_RATE:
		return "by time spent a second of recording";
	case CP_DIFF_BY_TIME:
		break;
	}
	return "by time spent";
}

/* A change in the unit of the comparison: "+1.23 pp", "-4.5 ms". */
static void change_cell(struct cp_table *t, const struct cp_diff *d, double by, bool matters)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	enum cp_paint paint = !matters ? CP_PAINT_DIM : by > 0 ? CP_PAINT_HOT : CP_PAINT_COOL;

	if (d->options.by == CP_DIFF_BY_SHARE) {
		cp_buf_printf(&text, "%+.2f", by);
	} else {
		cp_buf_str(&text, by < 0 ? "-" : "+");
		d->new->unit->add(&text, (uint64_t)(fabs(by) + 0.5));
	}
	cp_table_cell(t, paint, "%s%s", matters ? "" : "~", text.bytes ? text.bytes : "");
}

static void amount_cell(struct cp_table *t, const struct cp_diff *d, const struct cp_profile *p,
			uint64_t ns, bool there)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!there)
		cp_buf_str(&text, "-");
	else if (d->options.by == CP_DIFF_BY_SHARE)
		cp_add_percent(&text, ns, p->total.weight);
	else
		p->unit->add(&text, (uint64_t)amount(d, p, ns));
	cp_table_cell(t, there ? CP_PAINT_PLAIN : CP_PAINT_DIM, "%s", text.bytes ? text.bytes : "");
}

static void add_amounts(struct cp_buf *line, const struct cp_profile *p)
{
	if (CP_RECORD_EVENTS(cp_record_info(p->record)->holds) == CP_RECORD_HAS_COVERAGE) {
		cp_buf_str(line, "coverage of ");
		cp_add_time(line, cp_report_duration(p->record));
		return;
	}
	cp_cost_add_words(p, &p->total, line);
	cp_buf_printf(line, " %s in ", p->unit->of);
	cp_add_time(line, cp_report_duration(p->record));
	cp_buf_str(line, ", ");
	if (p->by_calls)
		cp_add_plural(line, p->total.ticks, "call", "calls");
	else
		cp_add_plural(line, p->total.ticks, "sample", "samples");
}

static bool has_coverage(const struct cp_profile *p)
{
	return cp_record_coverage_count(p->record) != 0;
}

static void totals(const struct cp_diff *d, const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_profile *sides[2] = { d->old, d->new };
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	size_t i;

	for (i = 0; i < 2; i++) {
		cp_paint(out, look, CP_PAINT_BOLD, i ? "new  " : "old  ");
		cp_buf_clear(&raw);
		cp_buf_clear(&line);
		cp_buf_clear(&cut);
		add_amounts(&line, sides[i]);
		if (has_coverage(sides[i]))
			cp_buf_str(&line, ", coverage");
		cp_report_command(sides[i]->record, &raw);
		cp_buf_str(&line, "  ");
		cp_add_name(&line, raw.bytes ? raw.bytes : "");
		cp_text_fit(&cut, line.bytes ? line.bytes : "",
			    look->columns > 8 ? look->columns - 5 : SIZE_MAX);
		cp_buf_str(out, cut.bytes ? cut.bytes : "");
		cp_buf_u8(out, '\n');
		cp_report_missing(sides[i], look, out);
	}
	if (d->old->unit != d->new->unit)
		cp_buf_printf(out, "  ! one is %s, the other %s\n", d->old->unit->of,
			      d->new->unit->of);
}

static const struct cp_column columns[] = {
	{ "self", true, 0, false },    { "old", true, 0, false },	{ "new", true, 0, false },
	{ "total", true, 0, false },   { "old", true, 0, false },	{ "new", true, 0, false },
	{ "image", false, 12, false }, { "function", false, 0, false },
};

/* Rows that became hotter (or cooler), up to the limit. */
static void section(const struct cp_diff *d, bool hotter, const struct cp_look *look,
		    struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	const struct cp_diff_row *row;
	uint64_t count = 0;

	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	cp_vec_for_each(&d->rows, row) {
		double by = d->options.by_total ? row->total : row->self;

		if ((hotter ? by <= 0 : by >= 0) || (d->options.limit && count >= d->options.limit))
			continue;
		count++;
		change_cell(&t, d, row->self, row->self_matters);
		amount_cell(&t, d, d->old, row->old_self.weight, row->in_old);
		amount_cell(&t, d, d->new, row->new_self.weight, row->in_new);
		change_cell(&t, d, row->total, row->total_matters);
		amount_cell(&t, d, d->old, row->old_total.weight, row->in_old);
		amount_cell(&t, d, d->new, row->new_total.weight, row->in_new);
		cp_table_name(&t, CP_PAINT_DIM, row->image);
		cp_table_function(&t, CP_PAINT_PLAIN, row->name);
	}
	cp_report_title(out, look, hotter ? "Hotter" : "Cooler", count ? NULL : "nothing");
	if (count)
		cp_table_print(&t, look, out);
}

static bool has_calls(const struct cp_diff *d)
{
	return cp_record_holds_calls(d->old->record) || cp_record_holds_calls(d->new->record);
}

/* Nothing was sampled or traced. */
static bool only_coverage(const struct cp_profile *p)
{
	return has_coverage(p) && !p->total.ticks && !p->total.weight;
}

static CP_ERROR coverage(const struct cp_diff *d, const struct cp_look *look, struct cp_buf *out)
{
	if (has_coverage(d->old) && has_coverage(d->new))
		return cp_diff_coverage_text(d->old->record, d->new->record, d->options.limit, look,
					     out);
	if (has_coverage(d->old) || has_coverage(d->new))
		cp_buf_printf(out, "\nOnly the %s recording has coverage.\n",
			      has_coverage(d->new) ? "new" : "old");
	return NULL;
}

CP_ERROR cp_diff_text(const struct cp_diff *d, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	totals(d, look, out);
	if (has_calls(d))
		CP_TRY(cp_diff_calls_text(d->old, d->new, d->options.limit, look, out));
	CP_TRY(coverage(d, look, out));
	if ((d->old->by_calls && d->new->by_calls) ||
	    (only_coverage(d->old) && only_coverage(d->new)))
		return out->failed ? cp_error_nomem() : NULL;
	cp_buf_u8(out, '\n');
	cp_buf_printf(&text, "%s compared %s; ordered by %s. What has a ~ may be chance.",
		      d->old->by_calls || d->new->by_calls ? "Times" : "Samples",
		      by_note(d->options.by), d->options.by_total ? "total" : "self");
	cp_add_wrapped(out, look, 0, 0, text.bytes ? text.bytes : "");
	section(d, true, look, out);
	section(d, false, look, out);
	return out->failed ? cp_error_nomem() : NULL;
}

/* ---- for tools ---- */

static void add_profile(const struct cp_profile *p, const char *key, struct cp_json *j)
{
	cp_json_begin(j, key, '{');
	cp_json_u64(j, "samples", p->by_calls ? 0 : p->total.ticks);
	cp_json_cost(j, p, "total", &p->total);
	cp_json_u64(j, "duration_ns", cp_report_duration(p->record));
	cp_json_end(j, '}');
}

static void add_row(const struct cp_diff *d, const struct cp_diff_row *row, struct cp_json *j)
{
	uint64_t old_total = d->old->total.weight, new_total = d->new->total.weight;

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "function", row->name);
	cp_json_str(j, "image", row->image);
	cp_json_cost(j, d->old, "old_self", &row->old_self);
	cp_json_cost(j, d->new, "new_self", &row->new_self);
	cp_json_cost(j, d->old, "old_total", &row->old_total);
	cp_json_cost(j, d->new, "new_total", &row->new_total);
	cp_json_f64(j, "self_points",
		    100 * (cp_share(row->new_self.weight, new_total) -
			   cp_share(row->old_self.weight, old_total)));
	cp_json_f64(j, "total_points",
		    100 * (cp_share(row->new_total.weight, new_total) -
			   cp_share(row->old_total.weight, old_total)));
	cp_json_f64(j, "self_change", row->self);
	cp_json_f64(j, "total_change", row->total);
	cp_json_bool(j, "self_matters", row->self_matters);
	cp_json_bool(j, "total_matters", row->total_matters);
	cp_json_end(j, '}');
}

CP_ERROR cp_diff_json(const struct cp_diff *d, struct cp_buf *out)
{
	static const char *const names[] = { "share", "time", "rate" };
	struct cp_json j = { .out = out, .pretty = true };
	const struct cp_diff_row *row;
	uint64_t count = 0;

	cp_json_begin(&j, NULL, '{');
	cp_json_str(&j, "by", names[d->options.by]);
	add_profile(d->old, "old", &j);
	add_profile(d->new, "new", &j);
	cp_json_begin(&j, "functions", '[');
	cp_vec_for_each(&d->rows, row) {
		if (d->options.limit && count++ >= d->options.limit)
			break;
		add_row(d, row, &j);
	}
	cp_json_end(&j, ']');
	if (has_calls(d))
		CP_TRY(cp_diff_calls_json(d->old, d->new, d->options.limit, &j));
	if (has_coverage(d->old) && has_coverage(d->new))
		CP_TRY(cp_diff_coverage_json(d->old->record, d->new->record, &j));
	cp_json_end(&j, '}');
	cp_buf_u8(out, '\n');
	return out->failed ? cp_error_nomem() : NULL;
}

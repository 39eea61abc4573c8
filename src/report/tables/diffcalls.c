/* SPDX-License-Identifier: MIT
 *
 * What two recordings say of the same traced functions: called more often,
 * slower.
 */
#include "report/tables/diffcalls.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "record/nettime.h"
#include "report/events/calls.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/profile.h"

struct row {
	const char *name, *image;
	const struct cp_called *old, *new; /* NULL: not called */
};

struct diff {
	struct cp_calls old, new;
	CP_VEC(struct row) rows;
};

static void diff_free(struct diff *d)
{
	cp_calls_deinit(&d->old);
	cp_calls_deinit(&d->new);
	cp_vec_free(&d->rows);
}

static CP_ERROR add_side(struct diff *d, struct cp_interner *keys, bool new)
{
	const struct cp_calls *c = new ? &d->new : &d->old;
	const struct cp_called *f;

	cp_vec_for_each(&c->functions, f) {
		const struct cp_function *is = &c->profile->functions.items[f->function];
		const char *image = cp_profile_image_name(c->profile, is);
		struct cp_buf key CP_CLEANUP(cp_buf_free) = { 0 };
		uint32_t n;
		bool fresh;

		cp_buf_add(&key, image, strlen(image) + 1);
		cp_buf_str(&key, is->name);
		if (key.failed || !cp_intern(keys, key.bytes, key.size, &n, &fresh) ||
		    (fresh && !cp_vec_push(&d->rows, (struct row){ is->name, image, NULL, NULL })))
			return cp_error_nomem();
		*(new ? &d->rows.items[n].new : &d->rows.items[n].old) = f;
	}
	return NULL;
}

static CP_ERROR build(const struct cp_profile *old, const struct cp_profile *new, struct diff *d)
{
	struct cp_interner keys = { 0 };
	struct cp_error *err = cp_calls_build(old, &d->old);

	if (!err)
		err = cp_calls_build(new, &d->new);
	if (!err)
		err = add_side(d, &keys, false);
	if (!err)
		err = add_side(d, &keys, true);
	cp_interner_free(&keys);
	return err;
}

static uint64_t calls(const struct cp_called *f)
{
	return f ? f->sum.calls : 0;
}

static struct cp_net_time quantile(const struct cp_called *f, double share)
{
	return f ? cp_called_quantile(f, share) : (struct cp_net_time){ 0 };
}

static struct cp_net_time total(const struct cp_called *f)
{
	return f ? f->total : (struct cp_net_time){ 0 };
}

static struct cp_net_time self(const struct cp_called *f)
{
	return f ? f->self : (struct cp_net_time){ 0 };
}

static struct cp_net_time median(const struct cp_called *f)
{
	return quantile(f, 0.5);
}

/* ---- for people ---- */

enum section { MORE_OFTEN, LESS_OFTEN, SLOWER, FASTER, SECTIONS };

static uint64_t more_by(uint64_t a, uint64_t b)
{
	return b > a ? b - a : 0;
}

/* By how much more `b` is at least: of a bound it is known that it is no more. */
static uint64_t slower_by(struct cp_net_time a, struct cp_net_time b)
{
	return b.at_most ? 0 : more_by(a.ns, b.ns);
}

/* A function that was called in one recording only is neither slower nor faster. */
static bool has_both(const struct row *row)
{
	return median(row->old).ns && median(row->new).ns;
}

/* How much a row belongs to a section; 0: not at all. */
static uint64_t weight(const struct row *row, enum section section)
{
	switch (section) {
	case MORE_OFTEN:
		return more_by(calls(row->old), calls(row->new));
	case LESS_OFTEN:
		return more_by(calls(row->new), calls(row->old));
	case SLOWER:
		return has_both(row) ? slower_by(median(row->old), median(row->new)) : 0;
	case FASTER:
		return has_both(row) ? slower_by(median(row->new), median(row->old)) : 0;
	case SECTIONS:
		break;
	}
	return 0;
}

/* Bounds that differ, and do not tell which one is slower. */
static bool is_unknown(const struct row *row)
{
	return has_both(row) && median(row->old).ns != median(row->new).ns &&
	       !weight(row, SLOWER) && !weight(row, FASTER);
}

struct ordering {
	enum section section;
};

static int compare(const void *va, const void *vb, void *ctx)
{
	const struct row *a = va, *b = vb;
	const struct ordering *o = ctx;
	uint64_t wa = weight(a, o->section), wb = weight(b, o->section);
	int order = (wa < wb) - (wa > wb);

	order = order ? order : strcmp(a->name, b->name);
	return order ? order : strcmp(a->image, b->image);
}

static const struct cp_column columns[] = {
	{ "calls", true, 0, false },  { "new", true, 0, false },       { "median", true, 0, false },
	{ "new", true, 0, false },    { "total", true, 0, false },     { "new", true, 0, false },
	{ "image", false, 12, true }, { "function", false, 0, false },
};

static void count_cell(struct cp_table *t, const struct cp_called *f)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_add_count(&text, calls(f));
	cp_table_name(t, CP_PAINT_PLAIN, f && text.bytes ? text.bytes : "-");
}

static void time_cell(struct cp_table *t, const struct cp_called *f, struct cp_net_time time)
{
	if (f)
		cp_table_net_time(t, CP_PAINT_PLAIN, time);
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static void section(struct diff *d, enum section which, uint64_t limit, const struct cp_look *look,
		    struct cp_buf *out)
{
	static const char *const titles[] = { "Called more often", "Called less often", "Slower",
					      "Faster" };
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	struct ordering o = { which };
	uint64_t count = 0;
	const struct row *row;

	if (d->rows.count)
		qsort_r(d->rows.items, d->rows.count, sizeof(*d->rows.items), compare, &o);
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	cp_vec_for_each(&d->rows, row) {
		if (!weight(row, which) || (limit && count >= limit))
			continue;
		count++;
		count_cell(&t, row->old);
		count_cell(&t, row->new);
		time_cell(&t, row->old, quantile(row->old, 0.5));
		time_cell(&t, row->new, quantile(row->new, 0.5));
		time_cell(&t, row->old, total(row->old));
		time_cell(&t, row->new, total(row->new));
		cp_table_name(&t, CP_PAINT_DIM, row->image);
		cp_table_function(&t, CP_PAINT_PLAIN, row->name);
	}
	cp_report_title(out, look, titles[which],
			!count		 ? "nothing"
			: which < SLOWER ? NULL
					 : "by the median of a call");
	if (count)
		cp_table_print(&t, look, out);
}

static void say_unknown(const struct diff *d, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	uint64_t count = 0;
	const struct row *row;

	cp_vec_for_each(&d->rows, row)
		count += is_unknown(row);
	if (!count)
		return;
	cp_buf_str(&text, "of ");
	cp_add_plural(&text, count, "function", "functions");
	cp_buf_str(&text, " a call takes at most so long (<=) that nothing tells whether it became "
			  "slower or faster");
	cp_buf_str(out, "\n  ");
	cp_paint(out, look, CP_PAINT_WARNING, "! ");
	cp_add_wrapped(out, look, 4, 4, text.bytes ? text.bytes : "");
}

CP_ERROR cp_diff_calls_text(const struct cp_profile *old, const struct cp_profile *new,
			    uint64_t limit, const struct cp_look *look, struct cp_buf *out)
{
	struct diff d CP_CLEANUP(diff_free) = { 0 };
	unsigned which;

	CP_TRY(build(old, new, &d));
	for (which = MORE_OFTEN; which < SECTIONS; which++)
		section(&d, (enum section)which, limit, look, out);
	say_unknown(&d, look, out);
	return NULL;
}

/* ---- for tools ---- */

static void add_sides(struct cp_json *j, const struct row *row)
{
	const struct {
		const char *key;
		struct cp_net_time time;
	} times[] = {
		{ "old_total_ns", total(row->old) },
		{ "new_total_ns", total(row->new) },
		{ "old_self_ns", self(row->old) },
		{ "new_self_ns", self(row->new) },
		{ "old_median_ns", quantile(row->old, 0.5) },
		{ "new_median_ns", quantile(row->new, 0.5) },
		{ "old_p99_ns", quantile(row->old, 0.99) },
		{ "new_p99_ns", quantile(row->new, 0.99) },
	};
	size_t i;

	cp_json_u64(j, "old_calls", calls(row->old));
	cp_json_u64(j, "new_calls", calls(row->new));
	for (i = 0; i < CP_ARRAY_SIZE(times); i++)
		cp_json_u64(j, times[i].key, times[i].time.ns);
	cp_json_begin(j, "upper_bounds", '[');
	for (i = 0; i < CP_ARRAY_SIZE(times); i++)
		if (times[i].time.at_most)
			cp_json_str(j, NULL, times[i].key);
	cp_json_end(j, ']');
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int compare_totals(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;
	uint64_t da = distance(total(a->old).ns, total(a->new).ns);
	uint64_t db = distance(total(b->old).ns, total(b->new).ns);
	int order = (da < db) - (da > db);

	order = order ? order : strcmp(a->name, b->name);
	return order ? order : strcmp(a->image, b->image);
}

CP_ERROR cp_diff_calls_json(const struct cp_profile *old, const struct cp_profile *new,
			    uint64_t limit, struct cp_json *j)
{
	struct diff d CP_CLEANUP(diff_free) = { 0 };
	const struct row *row;
	uint64_t count = 0;

	CP_TRY(build(old, new, &d));
	if (d.rows.count)
		qsort(d.rows.items, d.rows.count, sizeof(*d.rows.items), compare_totals);
	cp_json_begin(j, "calls", '{');
	cp_json_u64(j, "old_calls", d.old.calls);
	cp_json_u64(j, "new_calls", d.new.calls);
	cp_json_begin(j, "functions", '[');
	cp_vec_for_each(&d.rows, row) {
		if (limit && count++ >= limit)
			break;
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "function", row->name);
		cp_json_str(j, "image", row->image);
		add_sides(j, row);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	cp_json_end(j, '}');
	return NULL;
}

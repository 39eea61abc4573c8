/* SPDX-License-Identifier: MIT */
#include "report/events/callcsv.h"

#include "base/cleanup.h"
#include "base/types.h"
#include "report/events/calls.h"
#include "report/look/csv.h"

static const char titles[] =
	"function,image,calls,total_ns,self_ns,min_ns,average_ns,deviation_ns,"
	"median_ns,p95_ns,p99_ns,p999_ns,max_ns,cpu_ns,unwound,tail_calls,open,"
	"tail_called_ns,upper_bounds\n";

static void row(const struct cp_calls *c, const struct cp_called *f, struct cp_buf *out)
{
	const struct cp_function *is = &c->profile->functions.items[f->function];
	const struct {
		const char *title;
		struct cp_net_time time;
	} times[] = {
		{ "total_ns", f->total },
		{ "self_ns", f->self },
		{ "min_ns", cp_called_quantile(f, 0) },
		{ "average_ns", f->average },
		{ "deviation_ns", f->deviation },
		{ "median_ns", cp_called_quantile(f, 0.5) },
		{ "p95_ns", cp_called_quantile(f, 0.95) },
		{ "p99_ns", cp_called_quantile(f, 0.99) },
		{ "p999_ns", cp_called_quantile(f, 0.999) },
		{ "max_ns", cp_called_quantile(f, 1) },
	};
	struct cp_buf bounds CP_CLEANUP(cp_buf_free) = { 0 };
	size_t i;

	cp_csv_text(out, is->name);
	cp_csv_text(out, cp_profile_image_name(c->profile, is));
	cp_csv_u64(out, f->sum.calls);
	for (i = 0; i < CP_ARRAY_SIZE(times); i++) {
		cp_csv_u64(out, times[i].time.ns);
		if (times[i].time.at_most)
			cp_buf_printf(&bounds, "%s%s", bounds.size ? " " : "", times[i].title);
	}
	cp_csv_u64(out, f->sum.cpu_ns);
	cp_csv_u64(out, f->sum.unwound);
	cp_csv_u64(out, f->sum.tail_calls);
	cp_csv_u64(out, f->sum.open);
	if (cp_called_has_tailed(f)) {
		cp_csv_u64(out, f->tailed.ns);
		if (f->tailed.at_most)
			cp_buf_printf(&bounds, "%stail_called_ns", bounds.size ? " " : "");
	} else {
		cp_csv_text(out, "");
	}
	cp_csv_text(out, bounds.bytes ? bounds.bytes : "");
	cp_csv_end(out);
}

CP_ERROR cp_report_calls_csv(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_buf *out)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };
	const struct cp_called *f;
	uint64_t count = 0;

	CP_TRY(cp_calls_build(p, &c));
	cp_calls_sort(&c, o->order);
	cp_buf_str(out, titles);
	cp_vec_for_each(&c.functions, f)
		if ((f->sum.calls || f->sum.inherited) && (!o->limit || count++ < o->limit))
			row(&c, f, out);
	return NULL;
}

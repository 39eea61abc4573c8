/* SPDX-License-Identifier: MIT
 *
 * Everything that is made of a recording, of recordings made from the input
 * as text (tests/unit/made_recording.h): whatever is in one, nothing crashes,
 * text never steers a terminal, and sums agree.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "made_recording.h"
#include "record/calls.h"
#include "report/coverage/covered.h"
#include "report/export/export.h"
#include "report/profile/create.h"
#include "report/replay/fields.h"
#include "report/replay/json.h"
#include "report/replay/replay.h"
#include "report/tables/diff.h"
#include "report/tables/json.h"
#include "report/tables/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(struct cp_error *err)
{
	if (err && err->code == CP_ERR_NOMEM)
		abort();
	cp_error_free(err);
}

static void must_be_harmless(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (((uint8_t)text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f)
			abort();
}

static void run_texts(const struct cp_profile *p)
{
	static const struct cp_look looks[] = { { 0, false }, { 1, false }, { 80, false } };
	struct cp_report_options o = { .limit = 5, .function = "a" };
	struct cp_buf out = { 0 };
	unsigned what;

	for (what = CP_REPORT_OVERVIEW; what <= CP_REPORT_SUMMARY; what++) {
		o.what = (enum cp_report_what)what;
		cp_buf_clear(&out);
		must(cp_report_text(p, &o, &looks[what % 3], &out));
		must_be_harmless(out.bytes ? out.bytes : "", out.size);
	}
	cp_buf_clear(&out);
	must(cp_report_json(p, &o, &out));
	must_be_harmless(out.bytes, out.size);
	cp_buf_free(&out);
}

static void run_exports(const struct cp_profile *p)
{
	const struct cp_export_format *f;
	struct cp_export_options o = { .roots = CP_ROOTS_THREAD, .old = p };
	char *text;
	size_t size;
	FILE *file;

	for (f = cp_export_formats; f->name; f++) {
		struct cp_error *err = cp_export_check(f, p);

		cp_error_free(err);
		if (err || !f->write)
			continue; /* it is not made of that; of coverage */
		text = NULL;
		file = open_memstream(&text, &size);
		if (!file)
			abort();
		must(cp_export(f, p, &o, file));
		fclose(file);
		/* The style sheets have tabs; no name comes with one. */
		if (!f->binary && strcmp(f->extension, "svg") && strcmp(f->extension, "html"))
			must_be_harmless(text, size);
		free(text);
	}
}

/* All formats have the same totals: those of the files, and functions of
 * programs without lines are in none. */
static void run_coverage(const struct cp_record *r)
{
	const struct cp_export_format *f;
	struct cp_coverage_totals sum = { 0 }, t;
	struct cp_coverage c = { 0 };
	struct cp_covered_file *file;
	char *text;
	size_t size;
	FILE *out;

	must(cp_coverage_build(r, NULL, &c));
	cp_vec_for_each(&c.files, file) {
		t = cp_file_totals(file);
		cp_totals_add(&sum, &t);
	}
	if (sum.lines != c.totals.lines || sum.lines_covered != c.totals.lines_covered ||
	    sum.branches != c.totals.branches || sum.functions > c.totals.functions ||
	    (!c.binaries.count && sum.functions != c.totals.functions))
		abort();
	for (f = cp_export_formats; f->name; f++) {
		if (!f->cover)
			continue;
		text = NULL;
		out = open_memstream(&text, &size);
		if (!out)
			abort();
		must(cp_export_coverage(f, &c, out));
		fclose(out);
		must_be_harmless(text, size);
		free(text);
	}
	cp_coverage_deinit(&c);
}

static void run_replay(const struct cp_profile *p, bool json, bool flat)
{
	struct cp_replay_options o = { .flat = flat, .by_thread = flat };
	struct cp_fields fields;
	struct cp_look look = { p->total.ticks % 2 ? 60 : 0, false };
	struct cp_sink sink = { 0 };
	char *text = NULL;
	size_t size;

	must(cp_fields_parse("time,delta,process,thread,depth,image,source,site,duration",
			     &fields));
	o.fields = flat && p->total.ticks % 2 ? &fields : NULL;
	sink.file = open_memstream(&text, &size);
	if (!sink.file)
		abort();
	must(json ? cp_replay_json(p, &o, &sink) : cp_replay_text(p, &o, &look, &sink));
	must(cp_sink_finish(&sink));
	fclose(sink.file);
	must_be_harmless(text, size);
	free(text);
}

static void check_sums(const struct cp_profile *p)
{
	struct cp_cost functions = { 0, 0 }, hits = { 0, 0 };
	const struct cp_function *f;
	const struct cp_hit *hit;

	cp_vec_for_each(&p->functions, f)
		cp_cost_add(&functions, &f->self);
	cp_vec_for_each(&p->hits, hit)
		cp_cost_add(&hits, &hit->cost);
	if (functions.weight != p->total.weight || functions.ticks != p->total.ticks ||
	    (!p->by_sums && hits.weight != p->total.weight))
		abort();
}

static void run_diff(const struct cp_profile *p)
{
	struct cp_diff_options o = { .by = CP_DIFF_BY_RATE, .limit = 3 };
	struct cp_look look = { 40, false };
	struct cp_buf out = { 0 };
	struct cp_diff d = { 0 };

	must(cp_diff_build(p, p, &o, &d));
	must(cp_diff_text(&d, &look, &out));
	must_be_harmless(out.bytes, out.size);
	must(cp_diff_json(&d, &out));
	cp_diff_deinit(&d);
	cp_buf_free(&out);
}

static void run_all(const struct cp_profile *p)
{
	run_texts(p);
	run_exports(p);
	run_replay(p, false, false);
	run_replay(p, false, true);
	run_replay(p, true, false);
	check_sums(p);
	run_diff(p);
}

static bool is_meant(void *spec, const struct cp_profile *p, const struct cp_function *f)
{
	(void)p;
	return (size_t)f->name[0] % 3 == (size_t)spec % 3;
}

/* Some of the calls, if there are any. */
static void run_choices(const struct cp_record *r)
{
	struct cp_profile_filter filter = { .calls.matches = is_meant };
	struct cp_call_choice *calls = &filter.calls;
	struct cp_profile *p = NULL;
	uintptr_t i = cp_record_call_count(r) % 4 + 1;

	calls->under = (void *)(i & 1 ? i : 0);
	calls->paths_to = (void *)(i & 2 ? i : 0);
	calls->not_under = (void *)(i == 2 ? i + 2 : 0);
	calls->levels = i == 3 ? 2 : 0;
	calls->least_ns = i == 4 ? 2000 : 0;
	filter.no_costs = i == 2;
	must(cp_profile_create(r, &filter, &p));
	if (p) {
		run_texts(p);
		run_replay(p, i & 1, i & 2);
		check_sums(p);
	}
	cp_profile_destroy(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);
	struct cp_record *r = NULL;
	struct cp_profile *p = NULL;

	if (!text)
		return 0;
	memcpy(text, bytes, size);
	text[size] = 0;
	cp_error_free(made_load(text, &r));
	free(text);
	if (!r)
		return 0;
	must(cp_profile_create(r, NULL, &p));
	run_all(p);
	run_coverage(r);
	cp_profile_destroy(p);
	run_choices(r);
	cp_record_destroy(r);
	return 0;
}

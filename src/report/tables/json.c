/* SPDX-License-Identifier: MIT */
#include "report/tables/json.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "record/counters.h"
#include "record/coverage.h"
#include "record/enclosed.h"
#include "record/nettime.h"
#include "report/events/lives.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"
#include "report/profile/unit.h"
#include "report/tables/sections.h"

static void add_cost(const struct cp_profile *p, struct cp_json *j, const char *count_key,
		     const char *key, const struct cp_cost *cost)
{
	cp_json_u64(j, count_key, cost->ticks);
	cp_json_cost(j, p, key, cost);
	if (cp_cost_shown(p, cost).at_most)
		cp_json_bool(j, "upper_bound", true);
}

static void add_command(const struct cp_profile *p, struct cp_json *j)
{
	const struct cp_record_info *info = cp_record_info(p->record);
	int status = cp_report_exit_status(p->record);
	char *const *arg = info->command;

	cp_json_begin(j, "command", '[');
	for (; arg && *arg; arg++)
		cp_json_str(j, NULL, *arg);
	cp_json_end(j, ']');
	cp_json_u64(j, "duration_ns", cp_report_duration(p->record));
	cp_json_u64(j, "placing_ns", cp_record_final(p->record)->placing_ns);
	if (status < 0)
		cp_json_null(j, "exit_status");
	else
		cp_json_i64(j, "exit_status", status);
	cp_json_str(j, "clock",
		    info->clock == CP_RECORD_CLOCK_CPU	   ? "cpu"
		    : info->clock == CP_RECORD_CLOCK_WALL  ? "wall"
		    : info->clock == CP_RECORD_CLOCK_EVENT ? "event"
							   : NULL);
	cp_json_str(j, "event", *info->event ? info->event : NULL);
	cp_json_u64(j, "hz", info->hz);
	cp_json_str(j, "capture", *info->capture ? info->capture : NULL);
	cp_json_str(j, "capture_reason", *info->capture_reason ? info->capture_reason : NULL);
	cp_json_bool(j, "attached", info->attached);
	cp_json_i64(j, "pid", info->pid);
	cp_json_str(j, "host", info->host);
	cp_json_str(j, "machine", info->machine);
	cp_json_str(j, "kernel", info->kernel);
	cp_json_u64(j, "cpus", info->cpus);
	cp_json_u64(j, "start_real_ns", info->start_real_ns);
	cp_json_str(j, "cprof_version", info->cprof_version);
}

static CP_ERROR add_functions(const struct cp_profile *p, const struct cp_report_options *o,
			      struct cp_json *j)
{
	CP_FREE uint32_t *order = NULL;
	size_t count, i;

	CP_TRY(cp_profile_sorted(p, o->order, &order, &count));
	cp_json_begin(j, "functions", '[');
	for (i = 0; i < count && (!o->limit || i < o->limit); i++) {
		const struct cp_function *f = &p->functions.items[order[i]];

		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "function", f->name);
		cp_json_str(j, "image", cp_profile_image_name(p, f));
		add_cost(p, j, "self", "self", &f->self);
		add_cost(p, j, "total", "total", &f->total);
		if (f->linkage)
			cp_json_str(j, "linkage_name", f->linkage);
		if (f->file)
			cp_json_str(j, "file", f->file);
		if (f->decl_line)
			cp_json_u64(j, "line", f->decl_line);
		if (f->waits_in)
			cp_json_str(j, "waits_in", p->functions.items[f->waits_in - 1].name);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	return NULL;
}

static void add_images(const struct cp_profile *p, struct cp_json *j)
{
	const struct cp_profile_image *image;

	cp_json_begin(j, "images", '[');
	cp_vec_for_each(&p->images, image) {
		if (!image->total.weight && !image->total.ticks)
			continue;
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "image", image->name);
		cp_json_str(j, "path", image->path);
		if (*image->started_as)
			cp_json_str(j, "started_as", image->started_as);
		add_cost(p, j, "self", "self", &image->self);
		add_cost(p, j, "total", "total", &image->total);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static CP_ERROR add_samples(const struct cp_profile *p, const struct cp_report_options *o,
			    struct cp_json *j)
{
	const struct cp_record_totals *t = cp_record_final(p->record);
	const struct cp_cost none = { 0 };

	cp_json_begin(j, "samples", '{');
	add_cost(p, j, "total", "total", p->by_calls ? &none : &p->total);
	cp_json_u64(j, "lost", t->samples_lost);
	add_cost(p, j, "waiting", "waiting", &p->waiting);
	if (p->waiting.weight)
		add_cost(p, j, "ready", "ready", &p->ready);
	cp_json_u64(j, "unsampled_ns", t->unsampled_ns);
	cp_json_u64(j, "paused_ns", t->paused_ns);
	cp_json_u64(j, "cpu_ns", t->cpu_ns);
	add_cost(p, j, "truncated", "truncated", &p->truncated);
	add_cost(p, j, "guessed", "guessed", &p->guessed);
	if (!p->by_calls) {
		CP_TRY(add_functions(p, o, j));
		add_images(p, j);
	} else {
		cp_json_begin(j, "functions", '[');
		cp_json_end(j, ']');
	}
	cp_json_end(j, '}');
	return NULL;
}

static void add_edges(const struct cp_profile *p, const char *key, const struct cp_edges *edges,
		      struct cp_json *j)
{
	size_t i;

	cp_json_begin(j, key, '[');
	for (i = 0; i < edges->count; i++) {
		const struct cp_edge *e = &edges->items[i];
		const struct cp_function *f =
			e->function == CP_RECORD_NONE ? NULL : &p->functions.items[e->function];

		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "function", f ? f->name : NULL);
		cp_json_str(j, "image", f ? cp_profile_image_name(p, f) : NULL);
		add_cost(p, j, "samples", NULL, &e->cost);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void add_lines(const struct cp_profile *p, const struct cp_lines *lines, struct cp_json *j)
{
	const struct cp_line *line;

	cp_json_begin(j, "lines", '[');
	cp_vec_for_each(&lines->items, line) {
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "file", line->file);
		cp_json_u64(j, "line", line->line);
		add_cost(p, j, "self", "self", &line->self);
		add_cost(p, j, "total", "total", &line->total);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

/* The function that was asked for: who calls it, what it calls, its lines. */
static CP_ERROR add_function(const struct cp_profile *p, const char *name, struct cp_json *j)
{
	struct cp_butterfly b CP_CLEANUP(cp_butterfly_deinit) = { 0 };
	struct cp_lines lines CP_CLEANUP(cp_lines_deinit) = { 0 };
	const struct cp_function *f;
	uint32_t number = 0;

	CP_TRY(cp_profile_find(p, name, &number));
	CP_TRY(cp_butterfly_build(p, number, &b));
	CP_TRY(cp_lines_build(p, number, &lines));
	f = &p->functions.items[number];
	cp_json_begin(j, "function", '{');
	cp_json_str(j, "function", f->name);
	cp_json_str(j, "image", cp_profile_image_name(p, f));
	add_cost(p, j, "self", "self", &f->self);
	add_cost(p, j, "total", "total", &f->total);
	add_edges(p, "callers", &b.callers, j);
	add_edges(p, "callees", &b.callees, j);
	add_lines(p, &lines, j);
	cp_json_end(j, '}');
	return NULL;
}

static void add_threads(const struct cp_profile *p, struct cp_json *j)
{
	size_t count = cp_record_thread_count(p->record), i;

	cp_json_begin(j, "threads", '[');
	for (i = 0; i < count; i++) {
		const struct cp_record_thread *t = cp_record_get_thread(p->record, (uint32_t)i);
		uint32_t process = cp_profile_process(p, (uint32_t)i);

		if (!t)
			continue;
		cp_json_begin(j, NULL, '{');
		cp_json_i64(j, "tid", t->tid);
		if (t->ns_tid != t->tid)
			cp_json_i64(j, "ns_tid", t->ns_tid);
		if (process != CP_RECORD_NONE)
			cp_json_i64(j, "pid", cp_record_get_process(p->record, process)->pid);
		cp_json_str(j, "name", t->name);
		add_cost(p, j, "samples", "total", &p->threads[i]);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void add_processes(const struct cp_profile *p, struct cp_json *j)
{
	size_t count = cp_record_process_count(p->record), i;

	cp_json_begin(j, "processes", '[');
	for (i = 0; i < count; i++) {
		const struct cp_record_process *q = cp_record_get_process(p->record, (uint32_t)i);

		if (!q)
			continue;
		cp_json_begin(j, NULL, '{');
		cp_json_i64(j, "pid", q->pid);
		if (q->ns_pid != q->pid)
			cp_json_i64(j, "ns_pid", q->ns_pid);
		cp_json_i64(j, "ppid", q->ppid);
		cp_json_str(j, "name", q->name);
		cp_json_str(j, "exe", q->exe);
		if (*q->started_as)
			cp_json_str(j, "started_as", q->started_as);
		add_cost(p, j, "samples", "total", &p->processes[i]);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void add_counters(const struct cp_profile *p, struct cp_json *j)
{
	size_t i;

	cp_json_begin(j, "counters", '[');
	for (i = 0; i < cp_record_counter_count(p->record); i++) {
		const struct cp_record_counter *c = cp_record_get_counter(p->record, i);

		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "profiler", c->module);
		cp_json_str(j, "counter", c->name);
		cp_json_u64(j, "value", c->value);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void add_overhead(const struct cp_profile *p, struct cp_json *j)
{
	const struct cp_record_totals *t = cp_record_final(p->record);

	cp_json_begin(j, "overhead", '{');
	cp_json_u64(j, "stopped_ns", t->stopped_ns);
	cp_json_u64(j, "waited_ns", t->waited_ns);
	cp_json_u64(j, "stops", t->stops);
	cp_json_f64(j, "stops_per_event",
		    t->calls ? cp_share(t->call_stops, t->calls) : cp_share(t->stops, t->samples));
	cp_json_begin(j, "rejected", '{');
	if (t->calls || t->call_stops || t->call_condition_unknown) {
		cp_json_u64(j, "inside", t->call_rejected_inside);
		cp_json_u64(j, "unsampled", t->alloc_passed);
		cp_json_u64(j, "condition", t->call_rejected_condition);
		cp_json_u64(j, "condition_unknown", t->call_condition_unknown);
		cp_json_u64(j, "late", t->call_rejected_late);
		cp_json_u64(j, "unmatched", t->call_unmatched);
	}
	cp_json_end(j, '}');
	cp_json_u64(j, "call_stops", t->call_stops);
	if (t->calls_left_out)
		cp_json_u64(j, "calls_left_out", t->calls_left_out);
	if (t->placing_cut)
		cp_json_u64(j, "placing_cut", t->placing_cut);
	cp_json_u64(j, "call_functions", t->call_functions);
	cp_json_u64(j, "call_sites", t->call_sites);
	cp_json_u64(j, "disarmed", t->call_disarmed);
	cp_json_u64(j, "fast_functions", t->call_fast);
	cp_json_u64(j, "records", t->call_records);
	cp_json_u64(j, "records_lost", t->call_records_lost);
	cp_json_u64(j, "records_unread", t->call_records_unread);
	cp_json_u64(j, "fast_sites", t->call_fast_sites);
	if (t->detour_ns)
		cp_json_u64(j, "detour_ns", t->detour_ns);
	cp_json_u64(j, "trap_ns", t->trap_ns);
	if (t->traps) {
		cp_json_u64(j, "trap_low_ns", t->trap_low_ns);
		cp_json_u64(j, "trap_high_ns", t->trap_high_ns);
		cp_json_u64(j, "traps", t->traps);
	}
	cp_json_u64(j, "restarted", t->restarted);
	if (t->strayed)
		cp_json_u64(j, "strayed", t->strayed);
	cp_json_u64(j, "finished", t->finished);
	cp_json_u64(j, "cut_short", t->cut_short);
	cp_json_u64(j, "perf_samples", t->perf_samples);
	cp_json_u64(j, "perf_lost", t->perf_lost);
	cp_json_u64(j, "perf_cut", t->perf_cut);
	cp_json_u64(j, "perf_throttled", t->perf_throttled);
	cp_json_u64(j, "perf_left", t->perf_left);
	cp_json_u64(j, "event_count", t->event_count);
	cp_json_u64(j, "event_unsampled", t->event_unsampled);
	cp_json_u64(j, "reads", t->reads);
	cp_json_u64(j, "hold_median_ns", t->hold_median_ns);
	cp_json_u64(j, "hold_p99_ns", t->hold_p99_ns);
	cp_json_u64(j, "tracer_cpu_ns", t->tracer_cpu_ns);
	cp_json_u64(j, "controller_cpu_ns", t->controller_cpu_ns);
	cp_json_end(j, '}');
}

/* What the recording has beside what was recorded. */
static void add_enclosed(const struct cp_profile *p, struct cp_json *j)
{
	const struct cp_record_totals *t = cp_record_final(p->record);

	cp_json_begin(j, "kept", '{');
	cp_json_u64(j, "sources", cp_record_source_count(p->record));
	cp_json_u64(j, "source_bytes", t->source_bytes);
	cp_json_u64(j, "sources_left_out", t->sources_left_out);
	cp_json_u64(j, "functions", cp_record_code_count(p->record));
	cp_json_u64(j, "code_bytes", t->code_bytes);
	cp_json_u64(j, "functions_left_out", t->codes_left_out);
	cp_json_end(j, '}');
}

static void add_damage(const struct cp_profile *p, struct cp_json *j)
{
	const struct cp_record_damage *d = cp_record_damage(p->record);

	cp_json_begin(j, "damage", '{');
	cp_json_bool(j, "no_end", d->no_end);
	cp_json_u64(j, "bad_chunks", d->bad_chunks);
	cp_json_u64(j, "missing_bytes", d->missing_bytes);
	cp_json_u64(j, "dropped", d->dropped);
	cp_json_u64(j, "lost", d->lost);
	cp_json_end(j, '}');
}

CP_ERROR cp_report_json(const struct cp_profile *p, const struct cp_report_options *o,
			struct cp_buf *out)
{
	struct cp_json j = { .out = out, .pretty = true };
	const struct cp_report_section *s;

	cp_json_begin(&j, NULL, '{');
	add_command(p, &j);
	CP_TRY(add_samples(p, o, &j));
	if (o->function && !p->by_calls)
		CP_TRY(add_function(p, o->function, &j));
	for (s = cp_report_sections; s->write; s++)
		if (s->json && (!s->holds || s->holds(p)))
			CP_TRY(s->json(p, o, &j));
	add_threads(p, &j);
	add_processes(p, &j);
	CP_TRY(cp_report_lives_json(p, &j));
	add_overhead(p, &j);
	add_counters(p, &j);
	add_enclosed(p, &j);
	add_damage(p, &j);
	cp_json_end(&j, '}');
	cp_buf_u8(out, '\n');
	return out->failed ? cp_error_nomem() : NULL;
}

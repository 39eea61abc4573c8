/* SPDX-License-Identifier: MIT */
#include "report/tables/cost.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "record/lives.h"
#include "report/look/table.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"

static void row(struct cp_buf *out, const struct cp_look *look, const char *key,
		struct cp_buf *text)
{
	cp_buf_str(out, "  ");
	cp_paint(out, look, CP_PAINT_DIM, key);
	cp_add_wrapped(out, look, 2 + strlen(key), 2 + strlen(key), text->bytes ? text->bytes : "");
	cp_buf_clear(text);
}

static void stops_row(const struct cp_record_totals *t, struct cp_buf *text)
{
	cp_add_count(text, t->stops);
	if (t->stops) {
		cp_buf_str(text, ", a thread held ");
		cp_add_time(text, t->hold_median_ns);
		cp_buf_str(text, " (median), ");
		cp_add_time(text, t->hold_p99_ns);
		cp_buf_str(text, " (p99)");
	}
	if (t->reads) {
		cp_buf_str(text, "; stacks of threads that slept were read ");
		cp_add_plural(text, t->reads, "time", "times");
		cp_buf_str(text, ", without a stop");
	}
}

/* How samples were taken, where more than stops were asked for. */
static void capture_row(const struct cp_record_info *info, const struct cp_record_totals *t,
			const struct cp_look *look, struct cp_buf *text, struct cp_buf *out)
{
	uint64_t by_stops = t->samples > t->perf_samples ? t->samples - t->perf_samples : 0;

	cp_buf_str(text, info->capture);
	if (*info->capture_reason) {
		cp_buf_str(text, ": ");
		cp_escape(text, CP_ESCAPE_TERMINAL, info->capture_reason,
			  strlen(info->capture_reason));
	}
	if (!strncmp(info->capture, "perf", 4) && (t->perf_samples || !by_stops)) {
		cp_buf_str(text, ": ");
		cp_add_plural(text, t->perf_samples, "sample", "samples");
		cp_buf_str(text, " without a stop");
	}
	if (by_stops && (t->perf_samples || t->perf_left || !strncmp(info->capture, "perf", 4))) {
		cp_buf_str(text, t->perf_samples ? ", " : ": ");
		if (t->perf_samples)
			cp_add_count(text, by_stops);
		else
			cp_add_plural(text, by_stops, "sample", "samples");
		cp_buf_str(text, " by stops");
	}
	if (by_stops && t->perf_left) {
		cp_buf_str(text, ", of ");
		cp_add_plural(text, t->perf_left, "thread", "threads");
		cp_buf_str(text, " whose stacks were too deep, or whose time the kernel told "
				 "too little of");
	}
	row(out, look, "capture       ", text);
}

#define TRAPS_ENOUGH 8 /* of fewer, any may have been delayed */

/* How long stops take on their way depends on who else wants the CPUs. */
static void trap_part(const struct cp_record_totals *t, struct cp_buf *text)
{
	bool few = t->traps && t->traps < TRAPS_ENOUGH;

	if (!t->trap_ns)
		return;
	cp_buf_str(text, "; each stop takes ");
	cp_add_time(text, few ? t->trap_low_ns : t->trap_ns);
	if (few && t->trap_high_ns > t->trap_low_ns) {
		cp_buf_str(text, " to ");
		cp_add_time(text, t->trap_high_ns);
	}
	cp_buf_str(text, " more to get to cprof and back");
	if (few) {
		cp_buf_str(text, " (only ");
		cp_add_plural(text, t->traps, "was", "were");
		cp_buf_str(text, " measured)");
	} else if (t->trap_high_ns > 2 * t->trap_low_ns) {
		cp_buf_str(text, " (median; a tenth less than ");
		cp_add_time(text, t->trap_low_ns);
		cp_buf_str(text, ", a tenth more than ");
		cp_add_time(text, t->trap_high_ns);
		cp_buf_str(text, ")");
	}
}

/* How calls were seen. */
static void stops_of_calls(const struct cp_record_totals *t, struct cp_buf *text)
{
	cp_add_plural(text, t->calls, "event", "events");
	cp_buf_str(text, " of ");
	if (t->call_records) {
		cp_add_plural(text, t->call_records, "record", "records");
		cp_buf_str(text, " without a stop and ");
	}
	cp_add_plural(text, t->call_stops, "stop", "stops");
	if (!t->call_records_lost)
		return;
	cp_buf_str(text, ", ");
	cp_add_plural(text, t->call_records_lost, "record", "records");
	cp_buf_str(text, " lost for want of room");
}

/* Stops at breakpoints, and what became of them. */
static void calls_rows(const struct cp_record_totals *t, const struct cp_look *look,
		       struct cp_buf *text, struct cp_buf *out)
{
	const struct {
		uint64_t count;
		const char *why;
	} rejected[] = { { t->call_rejected_inside, "at jumps inside the function" },
			 { t->call_rejected_condition, "where the condition did not hold" },
			 { t->call_condition_unknown, "where it could not be evaluated" },
			 { t->alloc_passed, "at allocations and frees that are not sampled" },
			 { t->call_rejected_late, "at breakpoints just taken out" },
			 { t->call_unmatched, "at the end of calls that began untraced" } };
	size_t i, n = 0;

	stops_of_calls(t, text);
	for (i = 0; i < CP_ARRAY_SIZE(rejected); i++) {
		if (!rejected[i].count)
			continue;
		cp_buf_str(text, n++ ? ", " : "; no event: ");
		cp_add_count(text, rejected[i].count);
		cp_buf_printf(text, " %s", rejected[i].why);
	}
	row(out, look, "calls         ", text);
	cp_add_plural(text, t->call_functions, "function", "functions");
	if (t->call_fast) {
		cp_buf_str(text, ", ");
		cp_add_count(text, t->call_fast);
		cp_buf_str(text, " by detours,");
	}
	cp_buf_str(text, " at ");
	cp_add_plural(text, t->call_sites, "place", "places");
	if (t->call_fast_sites) {
		cp_buf_str(text, " (");
		cp_add_count(text, t->call_fast_sites);
		cp_buf_str(text, " by detours)");
	}
	if (t->call_disarmed) {
		cp_buf_str(text, ", ");
		cp_add_count(text, t->call_disarmed);
		cp_buf_str(text, " no longer for being called too often");
	}
	if (t->detour_ns) {
		cp_buf_str(text, "; a call by detours took ");
		cp_add_time(text, t->detour_ns);
		cp_buf_str(text, " more, tried out alone");
	}
	trap_part(t, text);
	row(out, look, "traced        ", text);
}

/* Calls that move data, and that a stop interrupted (cprof-run(1), LIMITS). */
static void transfers_row(const struct cp_record_totals *t, const struct cp_look *look,
			  struct cp_buf *text, struct cp_buf *out)
{
	cp_add_plural(text, t->finished, "interrupted transfer", "interrupted transfers");
	cp_buf_str(text, " finished");
	if (t->cut_short) {
		cp_buf_str(text, "; ");
		cp_add_plural(text, t->cut_short, "transfer", "transfers");
		cp_buf_str(text, " came back short because of profiling");
	}
	row(out, look, "transfers     ", text);
}

/* How long all threads together were there; 0: not known. */
static uint64_t threads_time(const struct cp_record *r)
{
	uint64_t start = cp_record_info(r)->start_ns, end = start + cp_report_duration(r), sum = 0;
	uint32_t i;

	if (cp_record_part_count(r) > 1) /* each has a time of its own */
		return 0;
	for (i = 0; i < cp_record_life_count(r); i++) {
		const struct cp_record_life *l = cp_record_get_life(r, i);
		uint64_t from = l->start_ns > start ? l->start_ns : start;
		uint64_t to = l->end_ns && l->end_ns < end ? l->end_ns : end;

		sum += l->thread && to > from ? to - from : 0;
	}
	return sum;
}

/* Who waits is stopped, too, so it may be longer than what the program computed. */
static void stopped_row(const struct cp_record *r, struct cp_buf *text)
{
	const struct cp_record_totals *t = cp_record_final(r);
	uint64_t all = threads_time(r);

	cp_add_time(text, t->stopped_ns);
	if (!t->stopped_ns)
		return;
	if (all) {
		cp_buf_str(text, ", ");
		cp_add_percent(text, t->stopped_ns, all);
		cp_buf_str(text, " of the ");
		cp_add_time(text, all);
		cp_buf_str(text, " that its threads were there");
	} else if (t->cpu_ns) {
		cp_buf_str(text, ", ");
		cp_add_percent(text, t->stopped_ns, t->cpu_ns);
		cp_buf_str(text, " of the program's CPU time");
	}
}

void cp_report_overhead(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_record_info *info = cp_record_info(p->record);
	const struct cp_record_totals *t = cp_record_final(p->record);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	uint64_t own = t->tracer_cpu_ns + t->controller_cpu_ns;

	if (t->perf_samples || *info->capture_reason || !strncmp(info->capture, "perf", 4))
		capture_row(info, t, look, &text, out);
	stops_row(t, &text);
	row(out, look, "stops         ", &text);
	stopped_row(p->record, &text);
	if (t->waited_ns) {
		cp_buf_str(&text, "; ");
		cp_add_time(&text, t->waited_ns);
		cp_buf_str(&text, " of it waiting for cprof");
	}
	row(out, look, "time stopped  ", &text);
	if (t->calls || t->call_stops)
		calls_rows(t, look, &text, out);
	cp_add_time(&text, own);
	cp_buf_str(&text, " of CPU");
	if (t->cpu_ns) {
		cp_buf_str(&text, ", ");
		cp_add_percent(&text, own, t->cpu_ns);
		cp_buf_str(&text, " of the program's");
	}
	cp_buf_str(&text, " (tracer ");
	cp_add_time(&text, t->tracer_cpu_ns);
	cp_buf_str(&text, ", controller ");
	cp_add_time(&text, t->controller_cpu_ns);
	cp_buf_str(&text, ")");
	row(out, look, "cprof itself  ", &text);
	cp_add_plural(&text, t->samples_lost, "sample; ", "samples; ");
	cp_add_plural(&text, t->restarted, "system call", "system calls");
	cp_buf_str(&text, " restarted");
	if (t->strayed) {
		cp_buf_str(&text, "; ");
		cp_add_plural(&text, t->strayed, "signal", "signals");
		cp_buf_str(&text, " handled by another thread than the first");
	}
	row(out, look, "lost          ", &text);
	if (t->finished || t->cut_short)
		transfers_row(t, look, &text, out);
}

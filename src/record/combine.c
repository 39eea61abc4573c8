/* SPDX-License-Identifier: MIT
 *
 * Nothing here may depend on the order in which recordings were given, or on
 * how often they were merged before: it is all made anew from the parts.
 */
#include "record/combine.h"

#include <string.h>

#include "base/buf.h"

#define DESCRIPTION_MAX 240

static const char several[] = "(several)";

static const char *one_string(const char *a, const char *b)
{
	return strcmp(a, b) ? several : a;
}

static bool same_command(char *const *a, char *const *b)
{
	for (; *a && *b; a++, b++) {
		if (strcmp(*a, *b))
			return false;
	}
	return !*a && !*b;
}

/* Joins two infos: what both say, and what only one says or they say differently. */
static void join(struct cp_record_info *to, const struct cp_record_info *from)
{
	static const char *const several_commands[] = { several, NULL };
	uint64_t start = from->start_ns + cp_record_shift(from);

	to->holds |= from->holds;
	to->cprof_version = one_string(to->cprof_version, from->cprof_version);
	to->host = one_string(to->host, from->host);
	to->machine = one_string(to->machine, from->machine);
	to->kernel = one_string(to->kernel, from->kernel);
	to->boot_id = one_string(to->boot_id, from->boot_id);
	if (!same_command(to->command, from->command))
		to->command = (char *const *)(uintptr_t)several_commands;
	to->attached = to->attached && from->attached;
	to->pid = to->pid == from->pid ? to->pid : 0;
	if (to->clock == CP_RECORD_CLOCK_NONE)
		to->clock = from->clock;
	to->hz = to->hz == from->hz ? to->hz : 0;
	if (!*to->event)
		to->event = from->event;
	if (!to->event_period || !from->event_period)
		to->event_period += from->event_period;
	else if (to->event_period != from->event_period)
		to->event_period = 0;
	to->capture = one_string(to->capture, from->capture);
	to->capture_reason = one_string(to->capture_reason, from->capture_reason);
	if (start < to->start_ns)
		to->start_ns = start;
	if (from->cpus > to->cpus)
		to->cpus = from->cpus;
	if (from->resolution_ns > to->resolution_ns)
		to->resolution_ns = from->resolution_ns;
}

static char *describe(const struct cp_record_part *part, struct cp_record_arena *arena)
{
	struct cp_buf line = { 0 };
	char *const *arg, *got = NULL;
	size_t size;

	cp_buf_printf(&line, "%s %s %d", part->id, part->info->host, part->info->pid);
	for (arg = part->info->command; *arg && line.size <= DESCRIPTION_MAX; arg++)
		cp_buf_printf(&line, " %s", *arg);
	size = line.size;
	if (size > DESCRIPTION_MAX) {
		size = DESCRIPTION_MAX;
		memcpy(line.bytes + size - 3, "...", 3);
	}
	if (!line.failed)
		got = cp_record_copy(arena, line.bytes, size);
	cp_buf_free(&line);
	return got;
}

/* Blocks of a sample stand for others, by how it was taken. */
static CP_ERROR same_sampling(const struct cp_record_part *a, const struct cp_record_part *b)
{
	if (!(a->info->holds & b->info->holds & CP_RECORD_HAS_ALLOCATIONS) ||
	    a->totals->alloc_every == b->totals->alloc_every)
		return NULL;
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "the recordings hold different samples of allocations"),
			     "merge those with the same --allocs=BYTES");
}

static const char *what_counts(const struct cp_record_info *info)
{
	return info->clock == CP_RECORD_CLOCK_CPU    ? "CPU time"
	       : info->clock == CP_RECORD_CLOCK_WALL ? "elapsed time"
						     : info->event;
}

/* Page faults and time have no sum, nor have CPU time and elapsed time. */
static CP_ERROR same_clock(const struct cp_record_info *a, const struct cp_record_info *b)
{
	if (!a->clock || !b->clock || (a->clock == b->clock && !strcmp(a->event, b->event)))
		return NULL;
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "some of the recordings count %s, others %s",
					  what_counts(a), what_counts(b)),
			     "merge those with the same --clock or --event; cprof diff shows two "
			     "beside each other");
}

CP_ERROR cp_record_combine_info(const struct cp_record_part *const *parts, size_t count,
				struct cp_record_arena *arena, struct cp_record_info *ret)
{
	struct cp_record_info info = *parts[0]->info;
	char **merged = cp_record_alloc(arena, (count + 1) * sizeof(*merged));
	size_t i;

	if (!merged)
		return cp_error_nomem();
	info.start_ns += cp_record_shift(parts[0]->info);
	info.test = ""; /* each part keeps its own */
	for (i = 0; i < count; i++) {
		const struct cp_record_info *from = parts[i]->info;

		CP_TRY(same_clock(&info, from));
		CP_TRY(same_sampling(parts[0], parts[i]));
		join(&info, from);
		merged[i] = describe(parts[i], arena);
		if (!merged[i])
			return cp_error_nomem();
	}
	merged[count] = NULL;
	info.start_real_ns = info.start_ns;
	info.merged = merged;
	*ret = info;
	return NULL;
}

static void add_enclosed(struct cp_record_totals *sum, const struct cp_record_totals *t)
{
	sum->sources += t->sources;
	sum->source_bytes += t->source_bytes;
	sum->sources_left_out += t->sources_left_out;
	sum->codes += t->codes;
	sum->code_bytes += t->code_bytes;
	sum->codes_left_out += t->codes_left_out;
}

static void add_perf(struct cp_record_totals *sum, const struct cp_record_totals *t)
{
	sum->finished += t->finished;
	sum->cut_short += t->cut_short;
	sum->perf_samples += t->perf_samples;
	sum->perf_lost += t->perf_lost;
	sum->perf_cut += t->perf_cut;
	sum->perf_throttled += t->perf_throttled;
	sum->perf_left += t->perf_left;
}

/* Of several that were left, the last time counts, as that does of their ends. */
static uint64_t later_left(uint64_t left_ns, const struct cp_record_totals *t,
			   const struct cp_record_info *info)
{
	uint64_t its = t->left_ns ? t->left_ns + cp_record_shift(info) : 0;

	return its > left_ns ? its : left_ns;
}

struct cp_record_totals cp_record_combine_totals(const struct cp_record_part *const *parts,
						 size_t count)
{
	struct cp_record_totals sum = { .ended = true };
	double held = 0; /* medians have no sum: weighed by stops */
	uint64_t measured = 0; /* most that stand behind a median */
	size_t i;

	for (i = 0; i < count; i++) {
		const struct cp_record_totals *t = parts[i]->totals;
		uint64_t end = t->end_ns + cp_record_shift(parts[i]->info);

		if (end > sum.end_ns)
			sum.end_ns = end;
		sum.left_ns = later_left(sum.left_ns, t, parts[i]->info);
		sum.samples += t->samples;
		sum.samples_lost += t->samples_lost;
		sum.cpu_ns += t->cpu_ns;
		sum.unsampled_ns += t->unsampled_ns;
		sum.event_count += t->event_count;
		sum.paused_ns += t->paused_ns;
		sum.event_unsampled += t->event_unsampled;
		sum.stops += t->stops;
		sum.stopped_ns += t->stopped_ns;
		held += (double)t->hold_median_ns * (double)t->stops;
		if (t->hold_p99_ns > sum.hold_p99_ns)
			sum.hold_p99_ns = t->hold_p99_ns;
		sum.restarted += t->restarted;
		sum.reads += t->reads;
		sum.threads += t->threads;
		sum.processes += t->processes;
		sum.tracer_cpu_ns += t->tracer_cpu_ns;
		sum.controller_cpu_ns += t->controller_cpu_ns;
		sum.calls += t->calls;
		sum.calls_lost += t->calls_lost;
		sum.call_stops += t->call_stops;
		sum.call_rejected_inside += t->call_rejected_inside;
		sum.call_rejected_condition += t->call_rejected_condition;
		sum.call_rejected_late += t->call_rejected_late;
		sum.call_unmatched += t->call_unmatched;
		sum.call_functions += t->call_functions;
		sum.call_sites += t->call_sites;
		sum.call_disarmed += t->call_disarmed;
		sum.call_fast += t->call_fast;
		sum.call_records += t->call_records;
		sum.call_records_lost += t->call_records_lost;
		sum.call_fast_sites += t->call_fast_sites;
		sum.call_records_unread += t->call_records_unread;
		sum.call_condition_unknown += t->call_condition_unknown;
		sum.calls_left_out += t->calls_left_out;
		sum.placing_cut += t->placing_cut;
		sum.strayed += t->strayed;
		sum.call_conditional |= t->call_conditional;
		if (t->detour_ns > sum.detour_ns)
			sum.detour_ns = t->detour_ns;
		if (t->traps >= measured)
			sum.trap_ns = t->trap_ns;
		measured = t->traps > measured ? t->traps : measured;
		if (t->traps && (!sum.traps || t->trap_low_ns < sum.trap_low_ns))
			sum.trap_low_ns = t->trap_low_ns;
		if (t->trap_high_ns > sum.trap_high_ns)
			sum.trap_high_ns = t->trap_high_ns;
		sum.traps += t->traps;
		sum.annotations += t->annotations;
		sum.annotations_lost += t->annotations_lost;
		sum.waited_ns += t->waited_ns;
		sum.alloc_pauses += t->alloc_pauses;
		sum.alloc_paused_ns += t->alloc_paused_ns;
		sum.alloc_watched_ns += t->alloc_watched_ns;
		if (t->alloc_every)
			sum.alloc_every = t->alloc_every; /* the same in all */
		sum.alloc_passed += t->alloc_passed;
		add_perf(&sum, t);
		add_enclosed(&sum, t);
		sum.ended = sum.ended && t->ended;
		if (!sum.wait_status)
			sum.wait_status = t->wait_status; /* one that failed, if any */
	}
	if (sum.stops && held < 1e19 * (double)sum.stops)
		sum.hold_median_ns = (uint64_t)(held / (double)sum.stops);
	return sum;
}

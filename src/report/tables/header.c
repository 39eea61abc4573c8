/* SPDX-License-Identifier: MIT */
#include "report/tables/header.h"

#include "record/annotations.h"
#include "record/coverage.h"
#include "record/enclosed.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/look/table.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"
#include "report/profile/unit.h"

/* Adds `text` as items of one paragraph, wrapped to the width. */
struct flow {
	struct cp_buf *out;
	const struct cp_look *look;
	size_t column;
};

static void flow_item(struct flow *f, struct cp_buf *text)
{
	size_t w = text->bytes ? cp_text_columns(text->bytes) : 0;

	if (!w)
		return;
	if (f->column && f->look->columns && f->column + 3 + w > f->look->columns) {
		cp_buf_u8(f->out, '\n');
		f->column = 0;
	}
	cp_buf_str(f->out, f->column ? " · " : "  ");
	cp_buf_add(f->out, text->bytes, text->size);
	f->column += (f->column ? 3 : 2) + w;
	cp_buf_clear(text);
}

static void flow_end(struct flow *f)
{
	if (f->column)
		cp_buf_u8(f->out, '\n');
	f->column = 0;
}

/* "exceptions, allocations of ": where there is nothing else. */
static bool add_others(uint32_t holds, struct cp_buf *item)
{
	static const struct {
		uint32_t holds;
		const char *name;
	} kinds[] = { { CP_RECORD_HAS_EXCEPTIONS, "exceptions" },
		      { CP_RECORD_HAS_LOCKS, "locks" },
		      { CP_RECORD_HAS_ALLOCATIONS, "allocations" },
		      { CP_RECORD_HAS_MAPS, "mappings" } };
	uint32_t known = 0;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(kinds); i++)
		known |= kinds[i].holds;
	if (!holds || holds & ~known)
		return false;
	for (i = 0; i < CP_ARRAY_SIZE(kinds); i++) {
		if (!(holds & kinds[i].holds))
			continue;
		cp_buf_printf(item, "%s%s", holds & (kinds[i].holds - 1) & known ? ", " : "",
			      kinds[i].name);
	}
	cp_buf_str(item, " of ");
	return true;
}

#define READY_SHARE 0.01 /* of the time waited: less is not said */
#define PLACING_SHARE 20 /* one in so many */
#define PLACING_NS UINT64_C(50000000)

/* How long it is, and how much of that nobody looked yet, where that is a share of it. */
static void add_duration(const struct cp_profile *p, struct cp_buf *item)
{
	uint64_t all = cp_report_duration(p->record);
	uint64_t placing = cp_record_final(p->record)->placing_ns;

	if (placing < PLACING_NS || placing < all / PLACING_SHARE || placing > all) {
		cp_add_time(item, all);
		return;
	}
	cp_add_time(item, all - placing);
	cp_buf_str(item, ", after ");
	cp_add_time(item, placing);
	cp_buf_str(item, " of preparing");
}

static bool is_filtered(const struct cp_profile *p)
{
	const struct cp_profile_filter *o = &p->filter;

	return o->thread || o->pid || o->image || o->from_ns || o->to_ns || o->state;
}

static void add_amounts(const struct cp_profile *p, struct flow *f, struct cp_buf *item)
{
	const struct cp_record_info *info = cp_record_info(p->record);
	const struct cp_record_totals *t = cp_record_final(p->record);
	size_t processes = cp_cost_used(p->processes, cp_record_process_count(p->record));
	size_t threads = cp_cost_used(p->threads, cp_record_thread_count(p->record));
	uint32_t holds = CP_RECORD_EVENTS(info->holds);
	bool all = !is_filtered(p);
	bool unsampled = !p->by_calls && !cp_record_sample_count(p->record);

	if (holds == CP_RECORD_HAS_COVERAGE) {
		cp_buf_str(item, "coverage of ");
		add_duration(p, item);
		flow_item(f, item);
		return;
	}
	if (holds == CP_RECORD_HAS_ANNOTATIONS) {
		cp_add_plural(item, cp_record_annotation_count(p->record), "annotation",
			      "annotations");
		cp_buf_str(item, " in ");
		add_duration(p, item);
		flow_item(f, item);
		return;
	}
	if (add_others(holds, item)) {
		add_duration(p, item);
		flow_item(f, item);
		return;
	}
	/* Too short to be sampled, it used a little of both all the same. */
	if (unsampled && info->clock == CP_RECORD_CLOCK_CPU)
		cp_add_time(item, t->cpu_ns);
	else
		cp_cost_add_words(p, &p->total, item);
	cp_buf_printf(item, " %s in ", p->unit->of);
	add_duration(p, item);
	flow_item(f, item);
	if (p->by_calls && cp_record_totals_lack_calls(t))
		cp_buf_str(item, ">= ");
	if (p->by_calls)
		cp_add_plural(item, p->total.ticks, "call", "calls");
	flow_item(f, item);
	if (p->waiting.weight) {
		cp_add_time(item, p->waiting.weight);
		cp_buf_str(item, " of it waiting");
		if (cp_share(p->ready.weight, p->waiting.weight) >= READY_SHARE) {
			cp_buf_str(item, ", ");
			cp_add_time(item, p->ready.weight);
			cp_buf_str(item, " for a CPU");
		}
	}
	flow_item(f, item);
	if (!p->by_calls)
		cp_add_plural(item, p->total.ticks, "sample", "samples");
	if (info->event_period && !p->by_calls) {
		cp_buf_str(item, ", each of ");
		cp_add_count(item, info->event_period);
	} else if (info->hz && !p->by_calls) {
		cp_buf_printf(item, " at %u Hz", info->hz);
	}
	flow_item(f, item);
	if (all && t->threads > threads)
		threads = t->threads;
	if (all && t->processes > processes)
		processes = t->processes;
	cp_add_plural(item, threads, "thread", "threads");
	flow_item(f, item);
	if (processes > 1) {
		cp_add_plural(item, processes, "process", "processes");
		flow_item(f, item);
	}
}

/* What it has beside what was recorded. */
static void add_enclosed(const struct cp_profile *p, struct flow *f, struct cp_buf *item)
{
	const struct cp_record_totals *t = cp_record_final(p->record);
	const struct {
		size_t count;
		uint64_t left_out;
		const char *one, *several;
	} kinds[] = { { cp_record_source_count(p->record), t->sources_left_out, "source file",
			"source files" },
		      { cp_record_code_count(p->record), t->codes_left_out, "function's code",
			"functions' code" } };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(kinds); i++) {
		if (!kinds[i].count && !kinds[i].left_out)
			continue;
		cp_buf_str(item, "with ");
		cp_add_plural(item, kinds[i].count, kinds[i].one, kinds[i].several);
		if (kinds[i].left_out) {
			cp_buf_str(item, ", too large ");
			cp_add_count(item, kinds[i].left_out);
		}
		flow_item(f, item);
	}
}

static void add_circumstances(const struct cp_profile *p, struct flow *f, struct cp_buf *item)
{
	const struct cp_record_info *info = cp_record_info(p->record);
	int status = cp_report_exit_status(p->record);
	time_t at = (time_t)(info->start_real_ns / CP_NS_PER_S);
	struct tm tm;
	char date[64];

	if (at && localtime_r(&at, &tm) && strftime(date, sizeof(date), "%F %T %Z", &tm)) {
		cp_buf_str(item, date);
		flow_item(f, item);
	}
	if (info->host && *info->host) {
		cp_add_name(item, info->host[0] == '(' ? "several hosts" : info->host);
		flow_item(f, item);
	}
	if (info->machine && *info->machine && info->machine[0] != '(') {
		cp_add_name(item, info->machine);
		if (info->cpus) {
			cp_buf_str(item, ", ");
			cp_add_plural(item, info->cpus, "CPU", "CPUs");
		}
		flow_item(f, item);
	}
	if (info->attached)
		cp_buf_printf(item, "attached to %d", info->pid);
	flow_item(f, item);
	if (status >= 128 && WIFSIGNALED(cp_record_final(p->record)->wait_status))
		cp_buf_printf(item, "ended by signal %d (%s)", status - 128,
			      strsignal(status - 128));
	else if (status >= 0)
		cp_buf_printf(item, "exit status %d", status);
	flow_item(f, item);
	add_enclosed(p, f, item);
}

static void add_filter(const struct cp_profile *p, struct flow *f, struct cp_buf *item)
{
	const struct cp_profile_filter *o = &p->filter;

	if (!is_filtered(p))
		return;
	cp_buf_str(item, "only");
	if (o->state)
		cp_buf_str(item, o->state == CP_STATE_WAITING ? " waiting" : " running");
	if (o->thread) {
		cp_buf_str(item, " thread ");
		cp_add_name(item, o->thread);
	}
	if (o->pid)
		cp_buf_printf(item, " process %d", o->pid);
	if (o->image) {
		cp_buf_str(item, " code of ");
		cp_add_name(item, o->image);
	}
	if (o->from_ns || o->to_ns) {
		cp_buf_str(item, " from ");
		cp_add_time(item, o->from_ns);
		cp_buf_str(item, o->to_ns ? " to " : " on");
		if (o->to_ns)
			cp_add_time(item, o->to_ns);
	}
	flow_item(f, item);
}

void cp_report_header(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf item CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf line CP_CLEANUP(cp_buf_free) = { 0 };
	char *const *merged = cp_record_info(p->record)->merged;
	struct flow f = { out, look, 0 };
	size_t n = 0;

	cp_report_command(p->record, &raw);
	if (raw.size) {
		cp_add_name(&item, raw.bytes);
		cp_text_fit(&line, item.bytes, look->columns ? look->columns : SIZE_MAX);
		cp_paint(out, look, CP_PAINT_BOLD, line.bytes);
		cp_buf_u8(out, '\n');
		cp_buf_clear(&item);
	}
	add_amounts(p, &f, &item);
	flow_end(&f);
	add_circumstances(p, &f, &item);
	while (merged && merged[n])
		n++;
	if (n) {
		cp_buf_str(&item, "merged from ");
		cp_add_plural(&item, n, "recording", "recordings");
		flow_item(&f, &item);
	}
	flow_end(&f);
	add_filter(p, &f, &item);
	flow_end(&f);
}

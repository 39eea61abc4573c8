/* SPDX-License-Identifier: MIT
 *
 * What was recorded, what of it is missing, and what it cost.
 */
#include "record/annotations.h"
#include "record/coverage.h"
#include "report/profile/left.h"
#include "report/tables/report.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

uint64_t cp_report_duration(const struct cp_record *record)
{
	uint64_t start = cp_record_info(record)->start_ns, end = cp_record_final(record)->end_ns;
	const struct cp_record_sample *s = cp_record_samples(record);
	size_t count = cp_record_sample_count(record), i;

	for (i = 0; !end && i < count; i++) /* never closed: the last sample tells */
		end = s[i].ts_ns > end ? s[i].ts_ns : end;
	return end > start ? end - start : 0;
}

int cp_report_exit_status(const struct cp_record *record)
{
	const struct cp_record_totals *t = cp_record_final(record);

	if (!t->ended)
		return -1;
	return WIFSIGNALED(t->wait_status) ? 128 + WTERMSIG(t->wait_status)
					   : WEXITSTATUS(t->wait_status);
}

void cp_report_command(const struct cp_record *record, struct cp_buf *out)
{
	char *const *arg = cp_record_info(record)->command;

	for (; arg && *arg; arg++) {
		if (out->size)
			cp_buf_u8(out, ' ');
		cp_buf_str(out, *arg);
	}
}

void cp_report_title(struct cp_buf *out, const struct cp_look *look, const char *title,
		     const char *note)
{
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	size_t used = cp_text_columns(title) + 2;

	cp_buf_u8(out, '\n');
	cp_paint(out, look, CP_PAINT_TITLE, title);
	if (note && *note) {
		cp_text_fit(&cut, note,
			    look->columns > used + 12 ? look->columns - used : SIZE_MAX);
		cp_buf_str(out, "  ");
		cp_paint(out, look, CP_PAINT_DIM, cut.bytes ? cut.bytes : "");
	}
	cp_buf_u8(out, '\n');
}

/* ---- header ---- */

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
		      { CP_RECORD_HAS_ALLOCATIONS, "allocations" } };
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
	bool all = !is_filtered(p);
	bool unsampled = !p->by_calls && !cp_record_sample_count(p->record);

	if (info->holds == CP_RECORD_HAS_COVERAGE) {
		cp_buf_str(item, "coverage of ");
		cp_add_time(item, cp_report_duration(p->record));
		flow_item(f, item);
		return;
	}
	if (info->holds == CP_RECORD_HAS_ANNOTATIONS) {
		cp_add_plural(item, cp_record_annotation_count(p->record), "annotation",
			      "annotations");
		cp_buf_str(item, " in ");
		cp_add_time(item, cp_report_duration(p->record));
		flow_item(f, item);
		return;
	}
	if (add_others(info->holds, item)) {
		cp_add_time(item, cp_report_duration(p->record));
		flow_item(f, item);
		return;
	}
	/* Too short to be sampled, it used a little of both all the same. */
	if (unsampled && info->clock == CP_RECORD_CLOCK_CPU)
		cp_add_time(item, t->cpu_ns);
	else
		cp_cost_add_words(p, &p->total, item);
	cp_buf_printf(item, " %s in ", p->unit->of);
	cp_add_time(item, cp_report_duration(p->record));
	flow_item(f, item);
	if (p->by_calls)
		cp_add_plural(item, p->total.ticks, "call", "calls");
	flow_item(f, item);
	if (p->waiting.weight) {
		cp_add_time(item, p->waiting.weight);
		cp_buf_str(item, " of it waiting");
	}
	flow_item(f, item);
	if (!p->by_calls)
		cp_add_plural(item, p->total.ticks, "sample", "samples");
	if (info->hz && !p->by_calls)
		cp_buf_printf(item, " at %u Hz", info->hz);
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

/* ---- what is missing ---- */

static void doubt(struct cp_buf *out, const struct cp_look *look, struct cp_buf *text)
{
	cp_buf_str(out, "  ");
	cp_paint(out, look, CP_PAINT_WARNING, "! ");
	cp_add_wrapped(out, look, 4, 4, text->bytes ? text->bytes : "");
	cp_buf_clear(text);
}

static void missing_bytes(const struct cp_record_damage *d, const struct cp_look *look,
			  struct cp_buf *text, struct cp_buf *out)
{
	if (d->no_end) {
		cp_buf_str(text, "the recording was not closed: cprof was killed, the disk was "
				 "full, or it is still running");
		doubt(out, look, text);
	}
	if (d->missing_bytes) {
		cp_buf_str(text, "the file was cut short: at least ");
		cp_add_plural(text, d->missing_bytes, "byte is", "bytes are");
		cp_buf_str(text, " missing");
		doubt(out, look, text);
	}
	if (d->bad_chunks) {
		cp_add_plural(text, d->bad_chunks, "chunk is", "chunks are");
		cp_buf_str(text, " damaged and left out");
		doubt(out, look, text);
	}
	if (d->dropped) {
		cp_add_plural(text, d->dropped, "event", "events");
		cp_buf_str(text, " of whole chunks had to be dropped with them");
		doubt(out, look, text);
	}
	if (d->lost) {
		cp_buf_str(text, "about ");
		cp_add_plural(text, d->lost, "event", "events");
		cp_buf_str(text, " were in what is missing");
		doubt(out, look, text);
	}
}

static void missing_samples(const struct cp_profile *p, const struct cp_look *look,
			    struct cp_buf *text, struct cp_buf *out)
{
	const struct cp_record_totals *t = cp_record_final(p->record);

	if (t->samples_lost) {
		cp_add_plural(text, t->samples_lost, "sample was", "samples were");
		cp_buf_str(text, " lost");
		doubt(out, look, text);
	}
	if (cp_record_info(p->record)->clock != CP_RECORD_CLOCK_WALL &&
	    cp_record_sample_count(p->record) && cp_share(t->unsampled_ns, t->cpu_ns) > 0.01) {
		cp_add_time(text, t->unsampled_ns);
		cp_buf_str(text, " (");
		cp_add_percent(text, t->unsampled_ns, t->cpu_ns);
		cp_buf_str(text, ") of the program's CPU time is missing above: it was used ");
		cp_buf_str(text, t->ended ? "by threads that ended before their next sample"
					  : "after the last sample of a thread: before that "
					    "ended, or before cprof left");
		doubt(out, look, text);
	}
	if (cp_share(p->truncated.weight, p->total.weight) > 0.01) {
		cp_add_percent(text, p->truncated.weight, p->total.weight);
		cp_buf_printf(text, " %s is in stacks that don't reach the root", p->unit->whole);
		doubt(out, look, text);
	}
	if (cp_share(p->guessed.weight, p->total.weight) > 0.01) {
		cp_add_percent(text, p->guessed.weight, p->total.weight);
		cp_buf_printf(text, " %s is in stacks with a guessed frame", p->unit->whole);
		doubt(out, look, text);
	}
}

void cp_report_missing_calls(const struct cp_profile *p, const struct cp_look *look,
			     struct cp_buf *out)
{
	const struct cp_record_totals *t = cp_record_final(p->record);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	missing_bytes(cp_record_damage(p->record), look, &text, out);
	if (t->calls_lost) {
		cp_add_plural(&text, t->calls_lost, "event", "events");
		cp_buf_str(&text, " of calls could not be recorded");
		doubt(out, look, &text);
	}
	if (t->annotations_lost) {
		cp_add_plural(&text, t->annotations_lost, "annotation was", "annotations were");
		cp_buf_str(&text, " lost: they came faster than they were read (CPROF_TRACE_EVENTS "
				  "in the program's environment makes its ring larger)");
		doubt(out, look, &text);
	}
}

/* Who was attached to lives on as a rule; coverage says it beside its table. */
static CP_ERROR missing_ends(const struct cp_profile *p, const struct cp_look *look,
			     struct cp_buf *text, struct cp_buf *out)
{
	struct cp_lefts left = { 0 };

	if (cp_record_info(p->record)->attached || cp_record_coverage_count(p->record))
		return NULL;
	CP_TRY(cp_lefts_of(p->record, &left));
	cp_lefts_add(text, &left);
	if (left.count)
		doubt(out, look, text);
	cp_lefts_free(&left);
	return NULL;
}

void cp_report_missing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_error *err = missing_ends(p, look, &text, out);

	out->failed |= err != NULL;
	cp_error_free(err);
	cp_report_missing_calls(p, look, out);
	missing_samples(p, look, &text, out);
}

/* ---- the cost of profiling ---- */

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

/* Stops at breakpoints, and what became of them. */
static void calls_rows(const struct cp_record_totals *t, const struct cp_look *look,
		       struct cp_buf *text, struct cp_buf *out)
{
	const struct {
		uint64_t count;
		const char *why;
	} rejected[] = { { t->call_rejected_inside, "at jumps inside the function" },
			 { t->call_rejected_condition, "where the condition did not hold" },
			 { t->alloc_passed, "at allocations and frees that are not sampled" },
			 { t->call_rejected_late, "at breakpoints just taken out" },
			 { t->call_unmatched, "at the end of calls that began untraced" } };
	size_t i, n = 0;

	cp_add_plural(text, t->calls, "event", "events");
	cp_buf_str(text, " of ");
	cp_add_plural(text, t->call_stops, "stop", "stops");
	for (i = 0; i < CP_ARRAY_SIZE(rejected); i++) {
		if (!rejected[i].count)
			continue;
		cp_buf_str(text, n++ ? ", " : "; no event: ");
		cp_add_count(text, rejected[i].count);
		cp_buf_printf(text, " %s", rejected[i].why);
	}
	row(out, look, "calls         ", text);
	cp_add_plural(text, t->call_functions, "function", "functions");
	cp_buf_str(text, " at ");
	cp_add_plural(text, t->call_sites, "place", "places");
	if (t->call_disarmed) {
		cp_buf_str(text, ", ");
		cp_add_count(text, t->call_disarmed);
		cp_buf_str(text, " no longer for being called too often");
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

void cp_report_overhead(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_record_totals *t = cp_record_final(p->record);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	uint64_t own = t->tracer_cpu_ns + t->controller_cpu_ns;

	stops_row(t, &text);
	row(out, look, "stops         ", &text);
	cp_add_time(&text, t->stopped_ns);
	if (t->cpu_ns) {
		cp_buf_str(&text, ", ");
		cp_add_percent(&text, t->stopped_ns, t->cpu_ns);
		cp_buf_str(&text, " of the program's CPU time");
	}
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
	row(out, look, "lost          ", &text);
	if (t->finished || t->cut_short)
		transfers_row(t, look, &text, out);
}

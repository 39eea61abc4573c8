/* SPDX-License-Identifier: MIT */
#include "report/tables/missing.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "record/coverage.h"
#include "record/record.h"
#include "report/look/table.h"
#include "report/profile/left.h"
#include "report/profile/profile.h"
#include "report/profile/unit.h"

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

/* What the kernel's interrupt could not tell. */
static void missing_perf(const struct cp_record *r, const struct cp_look *look, struct cp_buf *text,
			 struct cp_buf *out)
{
	const struct cp_record_totals *t = cp_record_final(r);
	bool event = cp_record_info(r)->clock == CP_RECORD_CLOCK_EVENT;

	if (t->perf_lost) {
		cp_add_plural(text, t->perf_lost, "sample", "samples");
		cp_buf_str(text, " found no room in the kernel's rings");
		cp_buf_str(text,
			   event ? "" : "; their time is in other samples of the same threads");
		doubt(out, look, text);
	}
	if (t->perf_throttled) {
		cp_buf_str(text, "the kernel paused samples ");
		cp_add_plural(text, t->perf_throttled, "time", "times");
		cp_buf_str(text, " for being too many");
		cp_buf_str(text,
			   event ? "" : "; that time is in other samples of the same threads");
		doubt(out, look, text);
	}
	if (event && cp_share(t->event_unsampled, t->event_count) > 0.01) {
		cp_add_count(text, t->event_unsampled);
		cp_buf_printf(text, " of ");
		cp_add_count(text, t->event_count);
		cp_buf_printf(text,
			      " %s are in no sample: ", cp_sample_unit(cp_record_info(r))->of);
		cp_buf_str(text, t->perf_lost
					 ? "they had no room there; a larger N of --event=NAME:N "
					   "makes fewer samples"
				 : cp_record_info(r)->event_period > 1
					 ? "each thread's last ones, fewer than make a sample"
					 : "where the program has no stack: while it is executed, "
					   "and ends");
		doubt(out, look, text);
	}
}

/* CPU time that no sample stands for, and why. */
static void missing_time(const struct cp_record *r, const struct cp_look *look, struct cp_buf *text,
			 struct cp_buf *out)
{
	const struct cp_record_totals *t = cp_record_final(r);
	uint64_t paused = t->paused_ns < t->unsampled_ns ? t->paused_ns : t->unsampled_ns;
	uint64_t rest = t->unsampled_ns - paused;

	if (cp_share(paused, t->cpu_ns) > 0.01) {
		cp_add_time(text, paused);
		cp_buf_str(text, " (");
		cp_add_percent(text, paused, t->cpu_ns);
		cp_buf_str(text, ") of the program's CPU time is not above: samples were paused, "
				 "or over while cprof was leaving");
		doubt(out, look, text);
	}
	if (cp_share(rest, t->cpu_ns) <= 0.01)
		return;
	cp_add_time(text, rest);
	cp_buf_str(text, " (");
	cp_add_percent(text, rest, t->cpu_ns);
	if (t->threads == 1 && t->ended &&
	    strcmp(cp_record_info(r)->capture, CP_RECORD_CAPTURE_USER) != 0) {
		cp_buf_str(text, ") of the program's CPU time is not above: it came after its last "
				 "sample");
		doubt(out, look, text);
		return;
	}
	cp_buf_str(text, ") of the program's CPU time is missing above: it was used ");
	cp_buf_str(text, !strcmp(cp_record_info(r)->capture, CP_RECORD_CAPTURE_USER)
				 ? "in the kernel, which may not be looked at here, or "
				 : "");
	cp_buf_str(text,
		   t->ended ? "by threads that ended before their next sample"
			    : "after the last sample of a thread: before that ended, or before "
			      "cprof left");
	doubt(out, look, text);
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
	missing_perf(p->record, look, text, out);
	if (!p->choice && cp_record_info(p->record)->clock == CP_RECORD_CLOCK_CPU &&
	    cp_record_sample_count(p->record))
		missing_time(p->record, look, text, out);
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
	if (t->call_records_lost) {
		cp_add_plural(&text, t->call_records_lost, "event", "events");
		cp_buf_str(&text, " of calls found no room: calls came faster than they were read, "
				  "and the program was not to wait (--on-full=wait), or there was "
				  "no memory for the thread (RLIMIT_AS, more than 510 threads)");
		doubt(out, look, &text);
	}
	if (t->call_records_unread) {
		cp_add_plural(&text, t->call_records_unread, "event", "events");
		cp_buf_str(&text, " of calls lack what pointers lead to: cprof had no time to say "
				  "that it was there to read");
		doubt(out, look, &text);
	}
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

/* Processes that lived on. One that was attached to does as a rule; the table of coverage says
 * it by itself. */
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

/* As somebody asked for it. */
static void left_out(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *text,
		     struct cp_buf *out)
{
	uint64_t count = cp_record_final(p->record)->calls_left_out;

	if (!count)
		return;
	cp_add_plural(text, count, "call was", "calls were");
	cp_buf_str(text, " left out while recording (--under, --levels, --min-duration, ...)");
	doubt(out, look, text);
}

static void unknown_conditions(const struct cp_profile *p, const struct cp_look *look,
			       struct cp_buf *text, struct cp_buf *out)
{
	uint64_t count = cp_record_final(p->record)->call_condition_unknown;

	if (!count)
		return;
	cp_add_plural(text, count, "call is", "calls are");
	cp_buf_str(text, " not here, for which the condition of --when could not be evaluated");
	doubt(out, look, text);
}

void cp_report_missing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_error *err = missing_ends(p, look, &text, out);

	out->failed |= err != NULL;
	cp_error_free(err);
	cp_report_missing_calls(p, look, out);
	left_out(p, look, &text, out);
	unknown_conditions(p, look, &text, out);
	missing_samples(p, look, &text, out);
}

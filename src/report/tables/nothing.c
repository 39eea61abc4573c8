/* SPDX-License-Identifier: MIT
 *
 * What the summary says of what was asked for and did not happen, and what there
 * is to look at.
 */
#include "report/tables/nothing.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/annotations.h"
#include "record/calls.h"
#include "record/counters.h"
#include "record/coverage.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/profile.h"
#include "report/profile/recorded.h"
#include "report/profile/summed.h"
#include "report/profile/places.h"
#include "report/profile/unit.h"

/* `word` as a shell reads it. */
static void add_word(struct cp_buf *out, const char *word)
{
	bool plain =
		*word && word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=@%,:")] == 0;
	struct cp_buf shown CP_CLEANUP(cp_buf_free) = { 0 };
	const char *c;

	cp_add_name(&shown, word);
	if (!plain)
		cp_buf_u8(out, '\'');
	for (c = shown.bytes; c && *c; c++)
		cp_buf_str(out, *c == '\'' ? "'\\''" : (char[]){ *c, 0 });
	if (!plain)
		cp_buf_u8(out, '\'');
}

/* ---- what did not happen ---- */

#define CUT "it was ended while code was prepared, before all of"

static void add_program(struct cp_buf *out, const struct cp_record_info *info)
{
	if (info->attached || !info->command || !info->command[0])
		cp_buf_printf(out, "%d", (int)info->pid);
	else
		add_word(out, info->command[0]);
}

static void no_calls(const struct cp_record *r, struct cp_buf *out)
{
	const struct cp_record_info *info = cp_record_info(r);
	const struct cp_record_totals *t = cp_record_final(r);

	cp_buf_str(out, "\nNo calls: ");
	if (t->placing_cut) {
		cp_buf_str(out, CUT " the functions that SPEC means were traced.\n");
		return;
	}
	if (!t->call_functions) {
		cp_buf_str(out, "no function was there that SPEC means");
		if (info->attached) {
			cp_buf_str(out, " in the ");
			cp_add_time(out, cp_report_duration(r));
			cp_buf_str(out, " that were looked at");
		}
	} else if (t->call_condition_unknown) {
		cp_buf_str(out, "the condition of --when could not be evaluated for ");
		cp_add_count(out, t->call_condition_unknown);
		cp_buf_str(out, t->call_rejected_condition ? ", and held for no other.\n" : ".\n");
		return;
	} else if (t->call_rejected_condition) {
		cp_buf_str(out, "the condition of --when held for none.\n"
				"  Without it all of them are shown.\n");
		return;
	} else if (t->calls_left_out) {
		cp_buf_str(out, "all of the ");
		cp_add_count(out, t->calls_left_out);
		cp_buf_str(out, " that there were are left out (--under, --levels, "
				"--min-duration, ...).\n");
		return;
	} else if (t->call_functions == 1) {
		cp_buf_str(out, "the function that is traced was not called");
	} else {
		cp_buf_str(out, "none of the ");
		cp_add_count(out, t->call_functions);
		cp_buf_str(out, " functions that are traced was called");
	}
	/* Detours do not count what they refuse. */
	if (t->call_conditional && t->call_fast)
		cp_buf_str(out, ", or the condition of --when held for none");
	cp_buf_str(out, ".\n  -t program traces all of the program's own; cprof functions ");
	add_program(out, info);
	cp_buf_str(out, " SPEC shows what is meant by SPEC.\n");
}

static void no_samples(const struct cp_record_info *info, const struct cp_record_totals *t,
		       struct cp_buf *out)
{
	cp_buf_str(out, "\nNo samples: ");
	if (info->clock == CP_RECORD_CLOCK_EVENT) {
		cp_buf_str(out, "there were ");
		cp_add_count(out, t->event_count);
		cp_buf_printf(out, " %s", cp_sample_unit(info)->of);
		if (info->event_period > 1) {
			cp_buf_str(out, ", and each ");
			cp_add_count(out, info->event_period);
			cp_buf_printf(out,
				      " of a thread make a sample.\n  --event=%s:1 takes one "
				      "with each",
				      info->event);
		}
		cp_buf_str(out, ".\n");
		return;
	}
	if (info->clock == CP_RECORD_CLOCK_WALL) {
		cp_buf_str(out, "none fell into the time that it ran");
	} else {
		cp_buf_str(out, "the program used ");
		cp_add_time(out, t->cpu_ns);
		cp_buf_str(out, " of CPU time");
	}
	if (info->hz) {
		cp_buf_str(out, ", and one is taken each ");
		cp_add_time(out, UINT64_C(1000000000) / info->hz);
	}
	cp_buf_str(out, ".\n  --sample=9999 takes more");
	if (info->clock != CP_RECORD_CLOCK_WALL)
		cp_buf_str(out, "; --clock=wall shows what it waits for");
	cp_buf_str(out, ".\n");
}

static void no_allocations(const struct cp_record_totals *t, struct cp_buf *out)
{
	if (t->placing_cut)
		cp_buf_str(out, "\nNo allocations: " CUT " what allocates was watched.\n");
	else if (t->alloc_every)
		cp_buf_str(out, "\nNo allocations: none was chosen. A smaller --allocs=BYTES "
				"chooses more.\n");
	else
		cp_buf_str(out,
			   "\nNo allocations: malloc, operator new and their like were not "
			   "called.\n  An allocator of the program's own without symbols is not "
			   "seen; -t mmap@libc shows what it asks the kernel for.\n");
}

/* Kinds of events that `report` and `export` have something to show of. */
struct there {
	bool costs; /* samples, or calls that took time */
	bool calls, covered, noted, allocated, others;
	bool single; /* calls are told one by one */
};

static struct there look_for(const struct cp_profile *p)
{
	const struct cp_record_info *info = cp_record_info(p->record);

	return (struct there){
		.costs = p->total.ticks || p->total.weight,
		.calls = cp_record_holds_calls(p->record),
		.single = !cp_record_sum_count(p->record) || info->holds & CP_RECORD_HAS_CALLS,
		.covered = cp_record_coverage_count(p->record) != 0,
		.noted = cp_record_annotation_count(p->record) != 0,
		.allocated = cp_record_heap_count(p->record) != 0,
		.others = cp_record_exception_count(p->record) || cp_record_wait_count(p->record) ||
			  cp_record_map_count(p->record) || cp_record_counter_count(p->record),
	};
}

/* A recording of which nothing is missing: what it does not hold did not happen. */
static bool is_whole(const struct cp_record *r)
{
	uint32_t n;

	for (n = 0; n < cp_record_part_count(r); n++) {
		const struct cp_record_damage *d = cp_record_get_part(r, n)->damage;

		if (d->no_end || d->missing_bytes || d->bad_chunks || d->dropped || d->lost)
			return false;
	}
	return true;
}

static bool is_empty(struct there t)
{
	return !t.costs && !t.calls && !t.covered && !t.noted && !t.allocated && !t.others;
}

static void add_reasons(const struct cp_profile *p, struct cp_buf *out)
{
	const struct cp_record_info *info = cp_record_info(p->record);
	const struct cp_record_totals *t = cp_record_final(p->record);

	if (!is_whole(p->record)) {
		if (is_empty(look_for(p)))
			cp_buf_str(out, "\nNothing is in what there is of the recording.\n");
		return;
	}
	if (info->holds & (CP_RECORD_HAS_CALLS | CP_RECORD_HAS_CALL_SUMS) &&
	    !cp_record_holds_calls(p->record))
		no_calls(p->record, out);
	if (info->holds & CP_RECORD_HAS_SAMPLES && !cp_record_sample_count(p->record))
		no_samples(info, t, out);
	if (info->holds & CP_RECORD_HAS_ALLOCATIONS && !cp_record_heap_count(p->record))
		no_allocations(t, out);
	if (info->holds & CP_RECORD_HAS_ANNOTATIONS && !cp_record_annotation_count(p->record))
		cp_buf_str(out, "\nNo annotations: nothing that includes cprof/trace.h came to "
				"one; see cprof-trace(3).\n");
}

void cp_report_nothing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	char *line, *next;

	add_reasons(p, &text);
	for (line = text.size ? text.bytes : NULL; line && *line; line = next) {
		size_t indent = strspn(line, " ");

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		cp_buf_add(out, line, indent);
		cp_add_wrapped(out, look, indent, 2, line + indent);
	}
}

void cp_report_no_costs(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out)
{
	size_t size = out->size;

	if (!cp_record_sample_count(p->record) && !look_for(p).calls)
		cp_report_nothing(p, look, out);
	if (out->size != size)
		return;
	cp_buf_str(out, p->by_calls ? "\nNo call" : "\nNo sample");
	cp_buf_str(out, p->by_calls || cp_record_sample_count(p->record) ? " passes the filter.\n"
									 : " was taken.\n");
}

/* ---- what to type next ---- */

/* The option of `report`; NULL: there is nothing to report. */
static const char *report_option(const struct there *t)
{
	if (t->costs || t->calls || t->noted || t->others)
		return "";
	return t->covered ? "--coverage " : t->allocated ? "--allocs " : NULL;
}

static const char *export_option(const struct there *t)
{
	if (t->covered && !t->costs)
		return "html -o coverage";
	if (t->noted || (t->calls && !t->costs))
		return "chrome -o trace.json";
	return t->costs || t->allocated ? "flamegraph -o flame.svg" : NULL;
}

void cp_report_next(const struct cp_profile *p, const char *path, const struct cp_look *look,
		    struct cp_buf *out)
{
	struct cp_buf file CP_CLEANUP(cp_buf_free) = { 0 };
	const struct there there = look_for(p);
	const char *report = report_option(&there), *export = export_option(&there);

	if (!report)
		return;
	add_word(&file, path);
	if (file.failed || !file.bytes)
		return;
	cp_report_title(out, look, "Next", NULL);
	if ((there.calls && there.single) || there.noted || there.allocated ||
	    cp_record_exception_count(p->record) || cp_record_wait_count(p->record) ||
	    cp_record_map_count(p->record))
		cp_buf_printf(out, "  cprof replay %s\n", file.bytes);
	cp_buf_printf(out, "  cprof report %s%s\n", report, file.bytes);
	if (export && (there.single || cp_record_sample_count(p->record)))
		cp_buf_printf(out, "  cprof export -f %s %s\n", export, file.bytes);
}

void cp_report_next_listings(const struct cp_profile *p, const char *path,
			     const uint32_t *functions, size_t count, const struct cp_look *look,
			     struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	bool usual = !path || !strcmp(path, "cprof.data"), any = false;
	uint32_t found;
	size_t i;

	for (i = 0; i < count; i++) {
		const char *name = p->functions.items[functions[i]].name;
		struct cp_error *err = cp_profile_find(p, name, &found);

		/* Names that several functions have lead nowhere. */
		if (err || found != functions[i]) {
			cp_error_free(err);
			continue;
		}
		cp_buf_clear(&text);
		cp_buf_str(&text, "  cprof annotate ");
		if (!usual)
			add_word(&text, path);
		cp_buf_str(&text, usual ? "" : " ");
		add_word(&text, name);
		if (!any)
			cp_report_title(
				out, look, "Next",
				"a function's lines and instructions, with the time of each");
		any = true;
		cp_buf_printf(out, "%s\n", text.bytes ? text.bytes : "");
	}
}

/* SPDX-License-Identifier: MIT */
#include "cmd/collecting.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/sourcepath.h"
#include "base/text.h"
#include "base/types.h"
#include "cmd/cmd.h"
#include "cmd/complain.h"
#include "cmd/guard.h"
#include "cmd/reports.h"
#include "cmd/terminal.h"
#include "engine/api/profiler.h"
#include "inspect/chosen.h"
#include "inspect/inspect.h"
#include "modules/modules.h"
#include "probe/spec.h"
#include "report/look/table.h"
#include "report/look/title.h"

#define DEFAULT_HZ 99

void cp_collecting_complain(const cprof_session *s)
{
	cp_complain_text(cprof_session_error(s));
	if (*cprof_session_error_hint(s))
		cp_complain_text(cprof_session_error_hint(s));
}

cprof_session *cp_collecting_session(const struct cp_stacks_options *stacks, unsigned verbose)
{
	static const cprof_unwinder unwinders[] = {
		[CP_COLLECT_OWN] = CPROF_UNWINDER_OWN,
		[CP_COLLECT_LIBUNWIND] = CPROF_UNWINDER_LIBUNWIND,
		[CP_COLLECT_FP] = CPROF_UNWINDER_FP,
		[CP_COLLECT_LIBUNWIND_PTRACE] = CPROF_UNWINDER_LIBUNWIND_PTRACE,
	};
	cprof_session *s;

	cp_log_level = verbose >= 2 ? CP_LOG_DEBUG : verbose ? CP_LOG_INFO : CP_LOG_OFF;
	s = cprof_session_create();
	if (!s) {
		fprintf(stderr, "cprof: cannot start: out of memory, descriptors or processes\n");
		return NULL;
	}
	cprof_session_set_unwinder(s, unwinders[stacks->unwinder]);
	cprof_session_set_debug_info(s, stacks->debug_dirs.items, stacks->debuginfod);
	cprof_session_set_cache(s, stacks->cache);
	return s;
}

char *cp_collecting_specs(const struct cp_texts *specs)
{
	struct cp_buf list = { 0 };
	size_t i;

	for (i = 0; i < specs->count; i++)
		cp_buf_printf(&list, "%s%s", i ? "," : "", specs->items[i]);
	return list.bytes;
}

/* Settings of coverage without it. */
static int check_coverage(const struct cp_args *args, const struct cp_collect_options *o)
{
	const struct cp_coverage_options *c = &o->coverage;
	const char *alone = c->count			? "count"
			    : c->branches		? "branches"
			    : c->images.count		? "image"
			    : c->name			? "name"
			    : o->sources.include.count	? "include"
			    : o->sources.exclude.count	? "exclude"
			    : o->sources.path_map.count ? "path-map"
							: NULL;
	const char *broken = cp_path_map_broken(o->sources.path_map.items);

	if (alone && !c->coverage)
		return cp_usage(args, "--%s is about coverage: say --coverage", alone);
	if (c->name && !*c->name)
		return cp_usage(args, "--name needs the name of a test");
	return broken ? cp_usage(args, "--path-map takes OLD=NEW, not '%s'", broken) : CP_EXIT_OK;
}

/* Events beside calls: options that the recorder calls the same. */
static const struct {
	const char *name;
	size_t at; /* in struct cp_calls_options */
	bool bytes; /* uint64_t: 0: not asked for; CP_BYTES_ALL: without a value */
} events[] = {
	{ "exceptions", offsetof(struct cp_calls_options, exceptions), false },
	{ "locks", offsetof(struct cp_calls_options, locks), false },
	{ "maps", offsetof(struct cp_calls_options, maps), false },
	{ "allocs", offsetof(struct cp_calls_options, allocs), true },
};

/* 0: not asked for. */
static uint64_t event_asked(const struct cp_calls_options *c, size_t n)
{
	const void *at = (const char *)c + events[n].at;

	if (events[n].bytes)
		return *(const uint64_t *)at;
	return *(const bool *)at ? CP_BYTES_ALL : 0;
}

static bool others(const struct cp_calls_options *c)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(events); i++)
		if (event_asked(c, i))
			return true;
	return false;
}

/* An option by which more is told of calls than --fast tells; NULL: none. */
static const char *told(const struct cp_calls_options *c)
{
	return c->args	     ? "args"
	       : c->result   ? "result"
	       : c->locals   ? "locals"
	       : c->changes  ? "changes"
	       : c->elements ? "elements"
	       : c->cpu_time ? "cpu-time"
			     : NULL;
}

/* The same, or one by which something has to be read of the program. */
static const char *captured(const struct cp_calls_options *c)
{
	const char *what = told(c);

	return what ? what : c->stack ? "stack" : c->when ? "when" : NULL;
}

/* What a single call would have to be kept for; NULL: nothing. Stacks may be for others. */
static const char *kept(const struct cp_calls_options *c)
{
	return c->args			? "args"
	       : c->result		? "result"
	       : c->locals		? "locals"
	       : c->changes		? "changes"
	       : c->elements		? "elements"
	       : c->depth		? "depth"
	       : c->string		? "string"
	       : c->stack && !others(c) ? "stack"
					: NULL;
}

/* SPECs of which calls are kept. */
static const struct {
	const char *name;
	size_t at; /* in struct cp_kept_options */
} kept_specs[CP_COLLECT_KEPT] = {
	{ "under", offsetof(struct cp_kept_options, under) },
	{ "not-under", offsetof(struct cp_kept_options, not_under) },
	{ "paths-to", offsetof(struct cp_kept_options, paths_to) },
	{ "start-at", offsetof(struct cp_kept_options, start_at) },
	{ "stop-at", offsetof(struct cp_kept_options, stop_at) },
};

const char *cp_collecting_kept(const struct cp_kept_options *k, size_t n)
{
	return *(const char *const *)((const char *)k + kept_specs[n].at);
}

/* An option by which calls are left out; NULL: none. */
static const char *choosy(const struct cp_kept_options *k)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(kept_specs); i++)
		if (cp_collecting_kept(k, i))
			return kept_specs[i].name;
	return k->levels ? "levels" : k->least_ns ? "min-duration" : NULL;
}

static CP_ERROR check_kept(const struct cp_kept_options *k)
{
	struct cp_spec *spec;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(kept_specs); i++) {
		if (!cp_collecting_kept(k, i))
			continue;
		spec = NULL;
		CP_TRY(cp_spec_parse(cp_collecting_kept(k, i), &spec));
		cp_spec_destroy(spec);
	}
	return NULL;
}

/* An option that needs --trace; NULL: none. */
static const char *without_trace(const struct cp_collect_options *o, bool modules)
{
	const struct cp_calls_options *c = &o->calls;
	bool traps = c->traps && !(o->coverage.coverage && o->coverage.count);
	const char *what = captured(c);
	bool shared = others(c); /* events that these are about, too */

	if (what && !(shared && !strcmp(what, "stack")))
		return what;
	if (!shared && !modules && (c->max_rate <= UINT32_MAX || traps || c->on_full))
		return traps ? "traps" : c->on_full ? "on-full" : "max-rate";
	if (choosy(&c->kept))
		return choosy(&c->kept);
	return c->fast	    ? "fast"
	       : c->summary ? "summary"
	       : c->depth   ? "depth"
	       : c->string  ? "string"
			    : NULL;
}

/* Does the recorder take samples though nobody said so? */
static bool samples_unasked(const struct cp_collect_options *o, bool named)
{
	return !o->calls.trace.count && !o->coverage.coverage && !o->annotations &&
	       !others(&o->calls) && (!named || o->clock == CP_COLLECT_WALL);
}

/* "NAME[:N]"; false: N is no number, or there is no such event. */
static bool parse_event(const char *text, char **name_ret, uint64_t *period_ret)
{
	const char *colon = strchrnul(text, ':'), *known;
	size_t i;

	*period_ret = 0;
	*name_ret = strndup(text, (size_t)(colon - text));
	if (*colon && (!cp_parse_u64(colon + 1, INT64_MAX, period_ret) || !*period_ret))
		return false;
	for (i = 0; *name_ret && (known = cprof_event_name(i)); i++)
		if (!strcmp(known, *name_ret))
			return true;
	return false;
}

static int check_event(const struct cp_args *args, const struct cp_collect_options *o)
{
	struct cp_buf names CP_CLEANUP(cp_buf_free) = { 0 };
	CP_FREE char *name = NULL;
	uint64_t period;
	size_t i;

	if (!o->event)
		return CP_EXIT_OK;
	if (!parse_event(o->event, &name, &period)) {
		for (i = 0; cprof_event_name(i); i++)
			cp_buf_printf(&names, "%s%s", i ? ", " : "", cprof_event_name(i));
		return cp_usage(args, "--event takes NAME or NAME:N, not '%s'; names: %s", o->event,
				names.bytes ? names.bytes : "");
	}
	if (o->hz)
		return cp_usage(args, "samples come with each Nth --event=NAME:N, not so often a "
				      "second as --sample says");
	if (o->clock == CP_COLLECT_WALL)
		return cp_usage(args, "--event counts in the place of a clock, and there is one "
				      "with --clock=wall");
	return CP_EXIT_OK;
}

/* Settings of samples of CPU time without those. */
static int check_capture(const struct cp_args *args, const struct cp_collect_options *o)
{
	if (o->capture == CPROF_CAPTURE_PERF && o->clock == CP_COLLECT_WALL)
		return cp_usage(args, "--capture=perf is about CPU time: threads that wait have no "
				      "interrupt");
	if (o->capture && o->capture != CP_COLLECT_NO_CAPTURE && !o->hz && !o->event &&
	    !o->profiles.count && !samples_unasked(o, false))
		return cp_usage(args, "--capture is about samples: say how many with --sample");
	return check_event(args, o);
}

/* "TIME[:N]" */
static int check_rotate(const struct cp_args *args, const struct cp_collect_options *o)
{
	const char *colon = o->rotate ? strchrnul(o->rotate, ':') : NULL;
	CP_FREE char *time = colon ? strndup(o->rotate, (size_t)(colon - o->rotate)) : NULL;
	uint64_t ns, n;

	if (!o->rotate)
		return CP_EXIT_OK;
	if (!time || !cp_parse_duration(time, &ns) || !ns ||
	    (*colon && (!cp_parse_u64(colon + 1, UINT32_MAX, &n) || !n)))
		return cp_usage(args,
				"--rotate takes TIME or TIME:N, as 60s:10, with N from 1, not '%s'",
				o->rotate);
	if (o->coverage.coverage)
		return cp_usage(args, "--rotate can't be with --coverage, which is one sum from "
				      "the beginning to the end");
	return CP_EXIT_OK;
}

/* Calls as they come: settings without them, and what can't be with them. */
static int check_live(const struct cp_args *args, const struct cp_collect_options *o)
{
	const struct cp_live_options *live = &o->live;
	const char *alone = live->fields      ? "fields"
			    : live->flat      ? "flat"
			    : live->by_thread ? "column-view"
					      : NULL;

	if (!live->file)
		return alone ? cp_usage(args,
					"--%s is about calls as they come: say --live (or see "
					"cprof replay)",
					alone)
			     : CP_EXIT_OK;
	if (!o->calls.trace.count && !others(&o->calls))
		return cp_usage(args, "--live is about calls: say which with --trace");
	if (o->calls.summary)
		return cp_usage(args, "--summary keeps no single calls that --live could print");
	if (o->rotate)
		return cp_usage(args, "--rotate can't be with --live");
	return CP_EXIT_OK;
}

int cp_collecting_check(const struct cp_args *args, const struct cp_collect_options *o)
{
	const struct cp_calls_options *c = &o->calls;
	CP_FREE char *list = cp_collecting_specs(&c->trace);
	struct cp_condition *condition = NULL;
	struct cp_chosen *chosen = NULL;
	struct cp_spec *spec = NULL;
	struct cp_error *err;
	int status = check_coverage(args, o);

	if (!status)
		status = check_capture(args, o);
	if (!status)
		status = check_rotate(args, o);
	if (!status)
		status = check_live(args, o);
	if (status)
		return status;
	if (c->on_full && c->traps)
		return cp_usage(args,
				"--on-full is about calls by detours, which there are none of "
				"with --traps");
	if (!c->trace.count) {
		const char *alone = without_trace(o, o->profiles.count);

		return alone ? cp_usage(args, "--%s is about calls: say which with --trace", alone)
			     : CP_EXIT_OK;
	}
	if (c->fast && told(c))
		return cp_usage(args, "--fast tells nothing but times and stacks, and --%s more",
				told(c));
	if (c->changes && c->args && *c->args)
		return cp_usage(args,
				"--changes is of all pointer arguments: without =EXPR at --args");
	if (c->summary && kept(c))
		return cp_usage(args,
				"--summary keeps nothing of a single call, as --%s would have to",
				kept(c));
	if (c->summary && (c->kept.least_ns || c->kept.paths_to))
		return cp_usage(args, "--summary keeps no single calls that --%s could choose",
				c->kept.least_ns ? "min-duration" : "paths-to");
	err = cp_spec_parse(list, &spec);
	cp_spec_destroy(spec);
	if (!err)
		err = check_kept(&c->kept);
	if (!err && c->args && *c->args) {
		err = cp_chosen_parse(c->args, &chosen);
		cp_chosen_destroy(chosen);
	}
	if (!err && c->when) {
		err = cp_condition_parse(c->when, &condition);
		cp_condition_destroy(condition);
	}
	return err ? cp_usage_error(args, err) : CP_EXIT_OK;
}

static void add_text(struct cp_buf *desc, const char *key, const char *text)
{
	cp_buf_printf(desc, ",%s=", key);
	for (; *text; text++) {
		if (strchr(",\\\"'", *text))
			cp_buf_u8(desc, '\\');
		cp_buf_u8(desc, (uint8_t)*text);
	}
}

static void describe_kept(struct cp_buf *desc, const struct cp_kept_options *k)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(kept_specs); i++)
		if (cp_collecting_kept(k, i))
			add_text(desc, kept_specs[i].name, cp_collecting_kept(k, i));
	if (k->levels)
		cp_buf_printf(desc, ",levels=%" PRIu64, k->levels);
	if (k->least_ns)
		cp_buf_printf(desc, ",min-duration=%" PRIu64 "ns", k->least_ns);
}

static void describe_calls(struct cp_buf *desc, const struct cp_calls_options *c)
{
	CP_FREE char *list = cp_collecting_specs(&c->trace);

	if (!list)
		return;
	add_text(desc, "trace", list);
	if (c->when)
		add_text(desc, "when", c->when);
	if (c->args && *c->args)
		add_text(desc, "args", c->args);
	cp_buf_printf(desc, "%s%s%s%s%s%s%s", c->args && !*c->args ? ",args" : "",
		      c->result ? ",result" : "", c->locals ? ",locals" : "",
		      c->changes ? ",changes" : "", c->elements ? ",elements" : "",
		      c->stack ? ",stack" : "", c->cpu_time ? ",cpu-time" : "");
	describe_kept(desc, &c->kept);
	if (c->summary)
		cp_buf_str(desc, ",summary");
	if (c->depth)
		cp_buf_printf(desc, ",depth=%u", (unsigned)c->depth);
	if (c->string)
		cp_buf_printf(desc, ",string=%u", (unsigned)c->string);
	if (c->max_rate != CP_COLLECT_NO_RATE)
		cp_buf_printf(desc, ",max-rate=%u", (unsigned)c->max_rate);
}

static void describe_others(struct cp_buf *desc, const struct cp_calls_options *c)
{
	uint64_t asked;
	size_t i;

	if (!others(c))
		return;
	for (i = 0; i < CP_ARRAY_SIZE(events); i++) {
		asked = event_asked(c, i);
		if (asked)
			cp_buf_printf(desc, ",%s", events[i].name);
		if (asked && asked != CP_BYTES_ALL)
			cp_buf_printf(desc, "=%" PRIu64, asked);
	}
	if (c->trace.count)
		return; /* the rest was said */
	if (c->stack)
		cp_buf_str(desc, ",stack");
	if (c->max_rate != CP_COLLECT_NO_RATE)
		cp_buf_printf(desc, ",max-rate=%u", (unsigned)c->max_rate);
}

static void describe_coverage(struct cp_buf *desc, const struct cp_collect_options *o)
{
	static const char *const branches[] = { "budget", "exact", "none" };
	const struct {
		const char *key;
		const struct cp_texts *texts;
	} lists[] = { { "image", &o->coverage.images },
		      { "include", &o->sources.include },
		      { "exclude", &o->sources.exclude },
		      { "path-map", &o->sources.path_map } };
	size_t i, n;

	if (!o->coverage.coverage)
		return;
	cp_buf_printf(desc, ",coverage%s,branches=%s", o->coverage.count ? ",count" : "",
		      branches[o->coverage.branches]);
	if (o->coverage.known)
		add_text(desc, "known", o->coverage.known);
	if (o->coverage.name)
		add_text(desc, "test", o->coverage.name);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (n = 0; n < lists[i].texts->count; n++)
			add_text(desc, lists[i].key, lists[i].texts->items[n]);
}

/* ARGS of --profile=log:ARGS; NULL: it names another profiler. */
static const char *recorder_args(const char *profile)
{
	if (!strcmp(profile, "default") || !strcmp(profile, "log"))
		return "";
	return cp_starts_with(profile, "log:") ? cprof_profiler_desc_args(profile) : NULL;
}

/* The first profile that names the recorder, or NULL. */
static const char *recorder_of(const struct cp_collect_options *o)
{
	size_t i;

	for (i = 0; i < o->profiles.count; i++)
		if (recorder_args(o->profiles.items[i]))
			return o->profiles.items[i];
	return NULL;
}

uint32_t cp_collecting_rate(const struct cp_collect_options *o)
{
	if (o->hz)
		return (uint32_t)o->hz;
	if (o->event)
		return DEFAULT_HZ;
	return samples_unasked(o, recorder_of(o) != NULL) ? DEFAULT_HZ : 0;
}

/* The recorder's description: "log:report,sample=99,output=FILE". What was
 * said to it by name comes last, and so wins. */
static char *describe(const struct cp_collect_options *o)
{
	const char *named = recorder_of(o);
	struct cp_buf desc = { 0 };

	cp_buf_str(&desc, "log:report");
	if (cp_collecting_rate(o))
		cp_buf_printf(&desc, ",%s=%u",
			      o->clock == CP_COLLECT_WALL ? "sample-real" : "sample",
			      (unsigned)cp_collecting_rate(o));
	if (o->live.file)
		cp_buf_str(&desc, ",follow");
	if (o->output && !cp_collecting_only_shows(o))
		add_text(&desc, "file", o->output);
	if (o->rotate)
		add_text(&desc, "rotate", o->rotate);
	cp_buf_str(&desc, o->keep_source ? ",keep-source" : "");
	cp_buf_str(&desc, o->keep_code ? ",keep-code" : "");
	describe_calls(&desc, &o->calls);
	describe_others(&desc, &o->calls);
	describe_coverage(&desc, o);
	cp_buf_str(&desc, o->annotations ? ",annotations" : "");
	if (named && *recorder_args(named))
		cp_buf_printf(&desc, ",%s", recorder_args(named));
	return desc.bytes;
}

bool cp_collecting_only_shows(const struct cp_collect_options *o)
{
	return o->live.file && o->output == cp_collect_defaults.output;
}

bool cp_collecting_records(const struct cp_collect_options *o)
{
	if (!o->output)
		return recorder_of(o) != NULL;
	return !o->profiles.count || recorder_of(o) || o->hz || o->rotate || o->keep_source ||
	       o->keep_code || o->calls.trace.count || o->output != cp_collect_defaults.output ||
	       o->coverage.coverage || o->annotations || others(&o->calls);
}

/* --profile=default, log:report: the report is wanted, too. */
static bool wants_report(const struct cp_collect_options *o)
{
	const char *named = recorder_of(o), *args = named ? recorder_args(named) : "";
	bool wants = named && !strcmp(named, "default");
	char *key, *value;

	while (cprof_profiler_desc_next(&args, NULL, &key, &value, NULL)) {
		wants |= !strcmp(key, "report");
		free(key);
	}
	return wants;
}

static bool load(cprof_session *s, const char *desc)
{
	if (cprof_profiler_load(desc) == CPROF_OK && !cprof_session_profiler_failed(s))
		return true;
	cp_collecting_complain(s);
	return false;
}

/* "NAME:help", or help among other options, which need not mean that. */
static bool asks_for_help(const char *desc)
{
	const char *args = cprof_profiler_desc_args(desc);
	char *key, *value;
	bool asks = false;

	while (!asks && cprof_profiler_desc_next(&args, NULL, &key, &value, NULL)) {
		asks = !value && !strcmp(key, "help");
		free(key);
	}
	return asks;
}

static const char *help_wanted(const struct cp_collect_options *o)
{
	size_t i;

	for (i = 0; i < o->profiles.count; i++)
		if (asks_for_help(o->profiles.items[i]))
			return o->profiles.items[i];
	return NULL;
}

bool cp_collecting_helps(const struct cp_collect_options *o, int failure, int *status_ret)
{
	const char *desc = help_wanted(o), *help;
	cprof_session *s;
	bool helps = true;

	if (!desc)
		return false;
	*status_ret = failure;
	s = cp_collecting_session(&o->stacks, o->verbose);
	if (!s)
		return true;
	cp_guard_begin(s, failure);
	cprof_session_set_plugin_dirs(s, o->plugin_dirs.items);
	if (cprof_profiler_load(desc) != CPROF_OK ||
	    (!cprof_session_help(s) && cprof_session_profiler_failed(s))) {
		cp_collecting_complain(s);
	} else {
		help = cprof_session_help(s);
		if (help) /* else it printed what it had to say */
			printf("%s%s", help, cp_ends_with(help, "\n") ? "" : "\n");
		else /* or to it the word means something else */
			helps = !strcmp(cprof_profiler_desc_args(desc), "help");
		*status_ret = cp_finish_output();
	}
	cp_guard_end(s);
	return helps;
}

bool cp_collecting_load(cprof_session *s, const struct cp_collect_options *o)
{
	size_t i;

	for (i = 0; i < o->profiles.count; i++)
		if (!recorder_args(o->profiles.items[i]) && !load(s, o->profiles.items[i]))
			return false;
	/* A module's own rate is a default. */
	if (o->profiles.count && o->calls.max_rate <= UINT32_MAX)
		cprof_profiler_set_max_rate((uint32_t)o->calls.max_rate,
					    (uint32_t)o->calls.max_rate);
	return true;
}

bool cp_collecting_record(cprof_session *s, const struct cp_collect_options *o)
{
	const char *named = recorder_of(o);
	CP_FREE char *desc = describe(o);
	size_t i;

	if (!cp_collecting_records(o))
		return true;
	if (!desc || !load(s, desc))
		return false;
	for (i = 0; i < o->profiles.count; i++)
		if (recorder_args(o->profiles.items[i]) && strcmp(o->profiles.items[i], named) &&
		    !load(s, o->profiles.items[i])) /* which warns */
			return false;
	return true;
}

/* Who takes no samples needs nothing for them, and there are none without stops of who waits. */
static cprof_capture capture_of(const struct cp_collect_options *o)
{
	bool samples = cp_collecting_rate(o) || o->profiles.count;

	if (o->capture != CP_COLLECT_NO_CAPTURE)
		return (cprof_capture)o->capture;
	return samples && o->clock != CP_COLLECT_WALL ? CPROF_CAPTURE_AUTO : CPROF_CAPTURE_PTRACE;
}

bool cp_collecting_capture(cprof_session *s, const struct cp_collect_options *o)
{
	uint32_t hz = o->hz ? (uint32_t)o->hz : DEFAULT_HZ;

	CP_FREE char *name = NULL;
	uint64_t period;

	if (o->event ? parse_event(o->event, &name, &period) &&
			       cprof_session_set_event(s, name, period) == CPROF_OK
		     : cprof_session_set_capture(s, capture_of(o), hz) == CPROF_OK)
		return true;
	cp_collecting_complain(s);
	return false;
}

unsigned cp_collecting_flags(const struct cp_collect_options *o)
{
	return (o->follow ? CPROF_SESSION_FOLLOW_FORKS : 0) |
	       (o->calls.trace.count || o->coverage.coverage || o->annotations ||
				o->profiles.count || others(&o->calls)
			? CPROF_SESSION_CALLS
			: 0);
}

/* A warning may quote the program. */
static void print_warning(const char *warning)
{
	struct cp_buf line = { 0 };

	cp_escape(&line, CP_ESCAPE_TERMINAL, warning, strlen(warning));
	fprintf(stderr, "cprof: warning: %s\n", line.bytes ? line.bytes : warning);
	cp_buf_free(&line);
}

static void add_counter(const char *module, const char *name, uint64_t value, void *data)
{
	struct cp_table *t = data;

	cp_table_name(t, CP_PAINT_NAME, *module ? module : "-");
	cp_table_name(t, CP_PAINT_PLAIN, name);
	cp_table_cell(t, CP_PAINT_PLAIN, "%" PRIu64, value);
}

/* Counters that profilers registered. */
static void print_counters(void)
{
	static const struct cp_column columns[] = { { .title = "PROFILER" },
						    { .title = "COUNTER", .give = 20 },
						    { .title = "VALUE", .right = true } };
	const struct cp_terminal term = cp_terminal_of(STDERR_FILENO);
	const struct cp_look look = { term.columns, term.color };
	struct cp_buf out CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_table t;

	cp_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	cprof_profiler_each_counter(add_counter, &t);
	if (t.cells.count) {
		cp_report_title(&out, &look, "Counters", NULL);
		cp_table_print(&t, &look, &out);
		cp_terminal_print(stderr, &out);
	}
	cp_table_deinit(&t);
}

/* A recording says so itself. */
static void warn_of_lost(void)
{
	cprof_call_statistics c = { 0 };

	cprof_get_call_statistics(&c);
	if (c.records_lost)
		fprintf(stderr,
			"cprof: warning: %" PRIu64 " events of calls found no room and were lost "
			"(--on-full)\n",
			c.records_lost);
}

bool cp_collecting_end(const struct cp_collect_options *o, const cprof_session *s)
{
	bool failed = cprof_session_profiler_failed(s) || *cprof_session_error(s);
	const char *recording = cp_module_log_recording(engine_profiler_named(s, "log")), *warning;
	size_t n;

	for (n = 0; (warning = cprof_session_warning(s, n)); n++)
		print_warning(warning);
	if (!recording)
		warn_of_lost();
	if (failed)
		cp_collecting_complain(s);
	if (recording && wants_report(o))
		return cp_print_whole_report(recording) && !failed;
	if (!o->quiet)
		print_counters();
	if (!o->quiet && recording)
		cp_print_summary(recording);
	return !failed;
}

/* SPDX-License-Identifier: MIT
 *
 * The recorder's options that have their names from Mono's log profiler:
 *
 *   log:calls, callspec=SPEC       calls of the program, or of these functions
 *   log:calldepth=N, maxframes=N, maxsamples=N
 *   log:nodefaults                 no samples unless asked for; before them
 *   log:EVENT, noEVENT             kinds of events
 *   log:verbose                    what happens, on standard error (verbose.c)
 *
 * Here an option either does what it says or is refused: a recording without
 * what was asked for is worse than none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/types.h"
#include "modules/log/recorder.h"

/* ---- events ---- */

enum source { ALWAYS, NEVER, EXCEPTIONS, LOCKS, HEAP };

/* What Mono's profiler can be told to record or not. */
static const struct {
	const char *name;
	enum source source;
} events[] = {
	{ "domain", ALWAYS }, /* processes */
	{ "context", ALWAYS },	   { "assembly", ALWAYS }, /* files that code came from */
	{ "module", ALWAYS },	   { "thread", ALWAYS },
	{ "jit", ALWAYS }, /* names of code made at run time */
	{ "class", NEVER },	   { "exception", EXCEPTIONS },
	{ "monitor", LOCKS },	   { "gc", NEVER },
	{ "gcalloc", HEAP },	   { "gcmove", HEAP },
	{ "gcroot", NEVER },	   { "gchandle", NEVER },
	{ "finalization", NEVER }, { "counter", NEVER },
	{ "alloc", HEAP },	   { "move", HEAP },
	{ "root", NEVER },	   { "handle", NEVER },
	{ "legacy", NEVER },
};

static bool refuse(cprof_profiler *log, const char *key, const char *why)
{
	cprof_profiler_fail(log->handle, "log: %s can't be recorded: %s", key, why);
	return false;
}

static bool object(cprof_profiler *log, const char *key, const char *why)
{
	cprof_profiler_fail(log->handle, "log: %s: %s", key, why);
	return false;
}

/* *known_ret: it is the name of events. */
static bool take_event(cprof_profiler *log, const char *key, bool *known_ret)
{
	bool off = cp_starts_with(key, "no");
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(events); i++) {
		bool named = !strcmp(key, events[i].name);

		if (!named && (!off || strcmp(key + 2, events[i].name) != 0))
			continue;
		*known_ret = true;
		if (events[i].source == EXCEPTIONS)
			log->exceptions = named;
		if (events[i].source == LOCKS)
			log->locks = named;
		if (events[i].source == HEAP)
			log->allocations = named;
		return !named || events[i].source != NEVER ||
		       refuse(log, key, "this version does not write such events");
	}
	return false;
}

/* ---- calls ---- */

/* Mono's words for what cprof's SPEC says otherwise. */
static bool take_callspec(cprof_profiler *log, const char *value)
{
	struct cp_buf spec CP_CLEANUP(cp_buf_free) = { 0 };
	const char *at = value, *end;

	if (!strcmp(value, "none") || !strcmp(value, "disabled")) {
		log->no_calls = true;
		return true;
	}
	for (; *at; at = *end ? end + 1 : end) {
		bool minus = *at == '-';
		size_t size;

		end = strchrnul(at, ',');
		size = (size_t)(end - at) - minus;
		if (cp_starts_with(at + minus, "E:"))
			return refuse(log, value,
				      "exceptions are not chosen by their class: "
				      "'exceptions' records all of them");
		if (spec.size)
			cp_buf_u8(&spec, ',');
		if (minus)
			cp_buf_u8(&spec, '-');
		if (size == 7 && !strncmp(at + minus, "wrapper", 7))
			cp_buf_str(&spec, "plt:*");
		else
			cp_buf_add(&spec, at + minus, size);
	}
	return spec.bytes && log_calls_option(log, "trace", spec.bytes);
}

static bool take_number(const char *value, uint32_t *ret)
{
	uint64_t n;

	if (!cp_parse_u64(value, UINT32_MAX, &n))
		return false;
	*ret = (uint32_t)n;
	return true;
}

static bool take_word(cprof_profiler *log, const char *key, bool *known_ret)
{
	static const char *const elsewhere[] = { "heapshot", "heapshot-on-shutdown" };
	size_t i;

	*known_ret = true;
	for (i = 0; i < CP_ARRAY_SIZE(elsewhere); i++)
		if (!strcmp(key, elsewhere[i]))
			return object(log, key, "this version takes no snapshots of the heap");
	if (!strcmp(key, "zip"))
		return true; /* recordings are compressed in any case */
	if (!strcmp(key, "calls") || !strcmp(key, "nocalls")) {
		log->calls_asked = *key == 'c';
		log->no_calls = *key == 'n';
		return true;
	}
	if (!strcmp(key, "verbose"))
		return log_verbose_start(log);
	if (strcmp(key, "nodefaults") != 0) {
		*known_ret = false;
		return false;
	}
	if (log->sample_asked || log->trace || log->calls_asked)
		return object(log, key, "it comes before what is to be recorded");
	log->no_defaults = true;
	return true;
}

bool log_mono_option(cprof_profiler *log, const char *key, const char *value, bool *known_ret)
{
	bool good;

	*known_ret = true;
	if (!value) {
		good = take_word(log, key, known_ret);
		return *known_ret ? good : take_event(log, key, known_ret);
	}
	if (!strcmp(key, "callspec"))
		return take_callspec(log, value);
	if (!strcmp(key, "calldepth"))
		return take_number(value, &log->call_depth);
	if (!strcmp(key, "maxframes"))
		return take_number(value, &log->max_frames);
	if (!strcmp(key, "maxsamples"))
		return cp_parse_u64(value, UINT64_MAX, &log->max_samples);
	if (!strcmp(key, "heapshot"))
		return object(log, key, "this version takes no snapshots of the heap");
	if (!strcmp(key, "port"))
		return object(log, key, "this version listens to nobody");
	*known_ret = false;
	return false;
}

const char log_usage[] =
	"log: the recorder; --profile=log[:OPTION[,OPTION...]]\n"
	"  output=FILE        the recording; cprof.data unless told. +FILE: FILE.PID; #N: a\n"
	"                     descriptor; |COMMAND: its standard input; -: standard output. In\n"
	"                     names %p is the process's id, %t date and time, %% a %\n"
	"  report             prints the report at the end\n"
	"  sample[=HZ]        samples of CPU time (99; unless other things are asked for)\n"
	"  sample-real[=HZ]   samples of elapsed time\n"
	"  maxsamples=N       no more after so many; 0: any number\n"
	"  maxframes=N        innermost frames of a stack; 0: all\n"
	"  nodefaults         no samples unless asked for; before what is\n"
	"  calls              calls of the program's functions\n"
	"  callspec=SPEC      calls of these; as --trace takes it, and none, wrapper\n"
	"  calldepth=N        no calls inside so many traced ones; 0: all\n"
	"  args, result, locals, changes, stack, cpu-time, depth=N, string=N, when=EXPR, "
	"max-rate=N\n"
	"                     as options of run\n"
	"  coverage, count, branches=HOW, image=GLOB, include=GLOB, exclude=GLOB, "
	"path-map=OLD=NEW\n"
	"                     as options of run\n"
	"  locks              waits for locks\n"
	"  allocs[=BYTES]     what is allocated and freed, or a sample of it\n"
	"  annotations        what the program announces itself\n"
	"  [no]EVENT          domain, context, assembly, module, thread, jit: always recorded; "
	"exception:\n"
	"                     thrown and caught; monitor: locks; alloc, move, gcalloc, gcmove: "
	"the\n"
	"                     heap; class, gc, gcroot, gchandle, finalization, counter, legacy: "
	"never\n"
	"                     in this version, and refused\n"
	"  verbose            says on standard error what is loaded and started\n"
	"  help               this";

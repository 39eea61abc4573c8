/* SPDX-License-Identifier: MIT
 *
 * Options by the names of Mono's log profiler:
 *
 *   log:maxframes=N                innermost frames of a stack
 *   log:nodefaults                 no samples unless asked for; before them
 *   log:EVENT, noEVENT             kinds of events
 *   log:port=N                     a port of 127.0.0.1 at which "heapshot" is said
 *   log:verbose                    what happens, on standard error (verbose.c)
 *
 * Here an option either does what it says or is refused: a recording without
 * what was asked for is worse than none.
 */
#include "modules/log/mono.h"

#include <string.h>

#include "base/text.h"
#include "base/types.h"
#include "modules/log/port.h"
#include "modules/log/verbose.h"

static bool refuse(cprof_profiler *log, const char *key, const char *why)
{
	cprof_profiler_fail(log->handle, "log: %s: %s", key, why);
	return false;
}

/* ---- events ---- */

static bool is_among(const char *name, const char *const *names)
{
	for (; names && *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* Turns the family on or off whose events have that name; false: none has. */
static bool take_family(cprof_profiler *log, const char *name, bool on)
{
	bool known = false;
	size_t i;

	for (i = 0; i < log->part_count; i++) {
		if (!is_among(name, log->parts[i].family->mono))
			continue;
		log->parts[i].on = on;
		known = true;
	}
	return known;
}

/* *known_ret: it is the name of events. */
static bool take_event(cprof_profiler *log, const char *key, bool *known_ret)
{
	static const char *const always[] = { "domain", /* processes */
					      "context", "assembly", /* files that code came from */
					      "module",	 "thread",
					      "jit", /* names of code made at run time */
					      NULL };
	static const char *const never[] = { "class",	     "gc",	"gcroot", "gchandle",
					     "finalization", "counter", "root",	  "handle",
					     "legacy",	     NULL };
	bool off = cp_starts_with(key, "no");
	const char *name = off ? key + 2 : key;

	*known_ret =
		take_family(log, name, !off) || is_among(name, always) || is_among(name, never);
	if (off || !is_among(name, never))
		return *known_ret;
	cprof_profiler_fail(log->handle, "log: %s can't be recorded: %s", key,
			    "this version does not write such events");
	return false;
}

/* ---- words ---- */

static bool take_nodefaults(cprof_profiler *log)
{
	size_t i;

	for (i = 0; i < log->part_count; i++)
		if (log->parts[i].on && log->parts[i].family->follows_nodefaults)
			return refuse(log, "nodefaults", "it comes before what is to be recorded");
	log->no_defaults = true;
	return true;
}

static bool take_word(cprof_profiler *log, const char *key, bool *known_ret)
{
	*known_ret = true;
	if (!strcmp(key, "zip"))
		return true; /* recordings are compressed in any case */
	if (!strcmp(key, "verbose"))
		return cp_recorder_be_verbose(log);
	if (!strcmp(key, "nodefaults"))
		return take_nodefaults(log);
	return take_event(log, key, known_ret);
}

static bool take_port(cprof_profiler *log, const char *value)
{
	struct cp_error *err;
	uint32_t port;

	if (!cp_recorder_number(value, &port) || !port || port > UINT16_MAX || log->server)
		return false;
	err = cp_recorder_port_open(log, (uint16_t)port);
	if (err)
		refuse(log, "port", err->what);
	cp_error_free(err);
	return log->server != NULL;
}

bool cp_recorder_mono_option(cprof_profiler *log, const char *key, const char *value,
			     bool *known_ret)
{
	if (!value)
		return take_word(log, key, known_ret);
	*known_ret = true;
	if (!strcmp(key, "maxframes"))
		return cp_recorder_number(value, &log->max_frames);
	if (!strcmp(key, "port"))
		return take_port(log, value);
	*known_ret = false;
	return false;
}

const char cp_recorder_mono_help[] =
	"  [no]EVENT          domain, context, assembly, module, thread, jit: always recorded; "
	"exception:\n"
	"                     thrown and caught; monitor: locks; alloc, move, gcalloc, gcmove: "
	"the\n"
	"                     heap; class, gc, gcroot, gchandle, finalization, counter, legacy: "
	"never\n"
	"                     in this version, and refused\n"
	"  port=N             a port of 127.0.0.1 at which the line 'heapshot' is taken\n"
	"  verbose            says on standard error what is loaded and started\n"
	"  help               this";

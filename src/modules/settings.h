/* SPDX-License-Identifier: MIT
 *
 * Options of the built-in profilers that write text: parsing, opening what
 * output= names, saying what is wrong.
 */
#ifndef CP_MODULES_SETTINGS_H
#define CP_MODULES_SETTINGS_H

#include <cprof/cprof.h>

#include "base/output.h"

/* Takes one option; *value is NULL without '='. False: it is none, or its value
 * makes no sense, or why was said with cprof_profiler_fail(). */
typedef bool (*settings_take_fn)(cprof_profiler *profiler, const char *key, const char *value);

/* Gives all options of `desc` to `take`; "help" makes `usage` known. False when
 * the profiler can't do its work: that was said. */
bool settings_parse(cprof_profiler_handle handle, cprof_profiler *profiler, const char *desc,
		    const char *usage, settings_take_fn take);

/* Adds a SPEC to the functions that are traced with `flags`, and keeps it in
 * *spec_ret (owned). False: it makes no sense, and that was said. */
bool settings_trace(cprof_profiler_handle handle, const char *text, unsigned flags,
		    cprof_callspec **spec_ret);

/* Opens it now, or when the process is known that is in its name: to be called
 * in init, and in runtime_initialized. False: it failed, and that was said. */
bool settings_open_early(cprof_profiler_handle handle, const char *spec,
			 struct cp_text_output *out);
bool settings_open_late(cprof_profiler_handle handle, const char *spec, struct cp_text_output *out);
/* Closes it; what failed is said. */
void settings_close(cprof_profiler_handle handle, const char *spec, struct cp_text_output *out);

/* Enables sampling. Where another profiler has the sampler, its settings count: they
 * go to *mode and *hz, and are told when others were asked for. False: too late. */
bool settings_sample(cprof_profiler_handle handle, bool asked, cprof_sample_mode *mode,
		     uint32_t *hz);

#endif

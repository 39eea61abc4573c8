/* SPDX-License-Identifier: MIT */
#include "modules/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool settings_parse(cprof_profiler_handle handle, cprof_profiler *profiler, const char *desc,
		    const char *usage, settings_take_fn take)
{
	const char *args = cprof_profiler_desc_args(desc);
	int name = (int)strcspn(desc, ":");
	char *key, *value;
	bool good = true;

	while (good && cprof_profiler_desc_next(&args, NULL, &key, &value, NULL)) {
		good = strcmp(key, "help") != 0;
		if (!good)
			cprof_profiler_set_help(handle, usage);
		else
			good = take(profiler, key, value);
		if (!good && strcmp(key, "help") != 0 &&
		    !cprof_session_profiler_failed(cprof_session_current()))
			cprof_profiler_fail(handle,
					    "%.*s: '%s%s%s' is no option, or its value makes no "
					    "sense: see --profile=%.*s:help",
					    name, desc, key, value ? "=" : "", value ? value : "",
					    name, desc);
		free(key);
	}
	return good;
}

bool settings_trace(cprof_profiler_handle handle, const char *text, unsigned flags,
		    cprof_callspec **spec_ret)
{
	char *error = NULL;
	cprof_callspec *spec = cprof_callspec_parse(text, &error);
	cprof_status status;

	if (!spec)
		cprof_profiler_fail(handle, "%s", error ? error : "out of memory");
	free(error);
	if (!spec)
		return false;
	status = cprof_profiler_trace(handle, spec, flags);
	if (status != CPROF_OK) {
		cprof_profiler_fail(handle, "calls can't be traced: %s",
				    cprof_status_string(status));
		cprof_callspec_free(spec);
		return false;
	}
	*spec_ret = spec;
	return true;
}

bool settings_sample(cprof_profiler_handle handle, bool asked, cprof_sample_mode *mode,
		     uint32_t *hz)
{
	cprof_sample_mode has;
	uint32_t rate;

	if (!cprof_profiler_enable_sampling(handle))
		return false;
	if (cprof_profiler_set_sample_mode(handle, *mode, *hz))
		return true;
	cprof_profiler_get_sample_mode(handle, &has, &rate);
	if (asked && (has != *mode || rate != *hz))
		cprof_profiler_printf(handle,
				      "another profiler has the sampler: %u samples a second of %s",
				      rate,
				      has == CPROF_SAMPLE_MODE_REAL ? "elapsed time" : "CPU time");
	*mode = has;
	*hz = rate;
	return true;
}

static bool open_output(cprof_profiler_handle handle, const char *spec, int32_t pid,
			struct cp_text_output *out)
{
	char *error;

	if (cp_text_output_open(spec, pid, out, &error))
		return true;
	cprof_profiler_fail(handle, "%s", error ? error : "out of memory");
	free(error);
	return false;
}

bool settings_open_early(cprof_profiler_handle handle, const char *spec, struct cp_text_output *out)
{
	return cp_output_needs_pid(spec) || open_output(handle, spec, 0, out);
}

bool settings_open_late(cprof_profiler_handle handle, const char *spec, struct cp_text_output *out)
{
	return out->file ||
	       open_output(handle, spec, cprof_session_target(cprof_session_current()), out);
}

void settings_close(cprof_profiler_handle handle, const char *spec, struct cp_text_output *out)
{
	if (cp_text_output_close(out))
		return;
	if (errno)
		cprof_profiler_fail(handle, "writing %s: %s", spec, strerror(errno));
	else
		cprof_profiler_fail(handle, "the command behind output=%s failed", spec);
}

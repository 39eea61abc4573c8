/* SPDX-License-Identifier: MIT */
#include "modules/log/callspec.h"

#include <string.h>

#include "base/text.h"

static bool refuse_exceptions(cprof_profiler *log, const char *value)
{
	cprof_profiler_fail(log->handle,
			    "log: %s can't be recorded: exceptions are not chosen by their class: "
			    "'exceptions' records all of them",
			    value);
	return false;
}

bool cp_recorder_callspec(cprof_profiler *log, const char *value, struct cp_buf *out)
{
	const char *at = value, *end;

	for (; *at; at = *end ? end + 1 : end) {
		bool minus = *at == '-';
		size_t size;

		end = strchrnul(at, ',');
		size = (size_t)(end - at) - minus;
		if (cp_starts_with(at + minus, "E:"))
			return refuse_exceptions(log, value);
		if (out->size)
			cp_buf_u8(out, ',');
		if (minus)
			cp_buf_u8(out, '-');
		if (size == 7 && !strncmp(at + minus, "wrapper", 7))
			cp_buf_str(out, "plt:*");
		else
			cp_buf_add(out, at + minus, size);
	}
	return out->bytes && !out->failed;
}

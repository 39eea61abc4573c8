/* SPDX-License-Identifier: MIT */
#include "cmd/collecting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/reports.h"
#include "cmd/reports.h"

#define DEFAULT_HZ 99

void cp_collecting_complain(const cprof_session *s)
{
	fprintf(stderr, "cprof: %s\n", cprof_session_error(s));
	if (*cprof_session_error_hint(s))
		fprintf(stderr, "cprof: %s\n", cprof_session_error_hint(s));
}

cprof_session *cp_collecting_session(const struct cp_stacks_options *stacks, unsigned verbose)
{
	static const cprof_unwinder unwinders[] = {
		[CP_COLLECT_OWN] = CPROF_UNWINDER_OWN,
		[CP_COLLECT_LIBUNWIND] = CPROF_UNWINDER_LIBUNWIND,
		[CP_COLLECT_FP] = CPROF_UNWINDER_FP,
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
	return s;
}

/* The recorder's description: "log:sample=99,output='FILE'". */
static char *describe(const struct cp_collect_options *o)
{
	struct cp_buf desc = { 0 };
	const char *c;

	cp_buf_printf(&desc,
		      "log:%s=%u,output=", o->clock == CP_COLLECT_WALL ? "sample-real" : "sample",
		      o->hz ? (unsigned)o->hz : DEFAULT_HZ);
	for (c = o->output; *c; c++) {
		if (strchr(",\\\"'", *c))
			cp_buf_u8(&desc, '\\');
		cp_buf_u8(&desc, (uint8_t)*c);
	}
	return desc.bytes;
}

bool cp_collecting_record(cprof_session *s, const struct cp_collect_options *o)
{
	CP_FREE char *desc = describe(o);

	if (cprof_profiler_load(desc) == CPROF_OK && !cprof_session_profiler_failed(s))
		return true;
	cp_collecting_complain(s);
	return false;
}

unsigned cp_collecting_flags(const struct cp_collect_options *o)
{
	return o->follow ? CPROF_SESSION_FOLLOW_FORKS : 0;
}

bool cp_collecting_end(const struct cp_collect_options *o, const cprof_session *s)
{
	bool failed = cprof_session_profiler_failed(s);

	if (failed || *cprof_session_error(s))
		cp_collecting_complain(s);
	if (!o->quiet && strcmp(o->output, "-"))
		cp_print_summary(o->output);
	return !failed;
}

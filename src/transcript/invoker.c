/* SPDX-License-Identifier: MIT */
#include "transcript/invoker.h"

#include "base/text.h"
#include "base/types.h"

/* NULL: a traced function, or unknown. */
static const char *word(const struct cp_invoker *by)
{
	static const char *const words[] = {
		[CPROF_INVOKER_TRACED] = NULL,	   [CPROF_INVOKER_START] = "start",
		[CPROF_INVOKER_THREAD] = "thread", [CPROF_INVOKER_SIGNAL] = "signal",
		[CPROF_INVOKER_CODE] = "callback",
	};

	return by->by < CP_ARRAY_SIZE(words) ? words[by->by] : NULL;
}

void cp_invoker_text(const struct cp_invoker *by, struct cp_buf *out)
{
	if (!word(by))
		return;
	cp_buf_str(out, word(by));
	if (by->by == CPROF_INVOKER_SIGNAL) {
		cp_buf_u8(out, ' ');
		cp_add_signal(out, by->signal);
	}
	if (by->by != CPROF_INVOKER_CODE || (!by->caller && !by->image))
		return;
	cp_buf_str(out, " from ");
	if (by->caller)
		cp_buf_add(out, by->caller, cp_short_name(by->caller));
	else
		cp_buf_str(out, by->image);
}

void cp_invoker_members(const struct cp_invoker *by, struct cp_json *j)
{
	if (!word(by))
		return;
	cp_json_str(j, "invoked_by", word(by));
	if (by->by == CPROF_INVOKER_SIGNAL)
		cp_json_u64(j, "signal", by->signal);
	if (by->by != CPROF_INVOKER_CODE)
		return;
	if (by->caller)
		cp_json_str(j, "caller", by->caller);
	if (by->image)
		cp_json_str(j, "caller_image", by->image);
}

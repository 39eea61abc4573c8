/* SPDX-License-Identifier: MIT */
#include "report/profile/invoker.h"

#include "base/text.h"
#include "report/profile/profile.h"

static const char *const invokers[] = {
	[CPROF_INVOKER_TRACED] = NULL,	   [CPROF_INVOKER_START] = "start",
	[CPROF_INVOKER_THREAD] = "thread", [CPROF_INVOKER_SIGNAL] = "signal",
	[CPROF_INVOKER_CODE] = "callback",
};

static const char *invoker(const struct cp_record_call *call)
{
	unsigned by = CP_RECORD_CALL_INVOKER(call->flags);

	return call->kind == CP_RECORD_ENTER && by < CP_ARRAY_SIZE(invokers) ? invokers[by] : NULL;
}

static const struct cp_function *caller(const struct cp_profile *p,
					const struct cp_record_call *call)
{
	if (CP_RECORD_CALL_INVOKER(call->flags) != CPROF_INVOKER_CODE ||
	    call->target == CP_RECORD_NONE)
		return NULL;
	return &p->functions.items[cp_profile_outermost(p, call->target)];
}

void cp_invoker_name(const struct cp_profile *p, const struct cp_record_call *call,
		     struct cp_buf *out)
{
	const struct cp_function *from = caller(p, call);
	const char *by = invoker(call);

	if (!by)
		return;
	cp_buf_str(out, by);
	if (CP_RECORD_CALL_INVOKER(call->flags) == CPROF_INVOKER_SIGNAL) {
		cp_buf_u8(out, ' ');
		cp_add_signal(out, call->count);
	} else if (from) {
		cp_buf_str(out, " from ");
		cp_buf_add(out, from->name, cp_short_name(from->name));
	}
}

void cp_invoker_json(const struct cp_profile *p, const struct cp_record_call *call,
		     struct cp_json *j)
{
	const struct cp_function *from = caller(p, call);
	const char *by = invoker(call);

	if (!by)
		return;
	cp_json_str(j, "invoked_by", by);
	if (CP_RECORD_CALL_INVOKER(call->flags) == CPROF_INVOKER_SIGNAL)
		cp_json_u64(j, "signal", call->count);
	if (from) {
		cp_json_str(j, "caller", from->name);
		cp_json_str(j, "caller_image", cp_profile_image_name(p, from));
	}
}

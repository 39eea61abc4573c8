/* SPDX-License-Identifier: MIT */
#include "report/profile/invoker.h"

#include "report/profile/profile.h"
#include "transcript/invoker.h"

/* False: a traced function called, or the recording does not say. */
static bool names(const struct cp_profile *p, const struct cp_record_call *call,
		  struct cp_invoker *ret)
{
	const struct cp_function *from;

	if (call->kind != CP_RECORD_ENTER)
		return false;
	*ret = (struct cp_invoker){ .by = CP_RECORD_CALL_INVOKER(call->flags),
				    .signal = call->count };
	if (ret->by != CPROF_INVOKER_CODE || call->target == CP_RECORD_NONE)
		return true;
	from = &p->functions.items[cp_profile_outermost(p, call->target)];
	ret->caller = from->name;
	ret->image = cp_profile_image_name(p, from);
	return true;
}

void cp_invoker_name(const struct cp_profile *p, const struct cp_record_call *call,
		     struct cp_buf *out)
{
	struct cp_invoker by;

	if (names(p, call, &by))
		cp_invoker_text(&by, out);
}

void cp_invoker_json(const struct cp_profile *p, const struct cp_record_call *call,
		     struct cp_json *j)
{
	struct cp_invoker by;

	if (names(p, call, &by))
		cp_invoker_members(&by, j);
}

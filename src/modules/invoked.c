/* SPDX-License-Identifier: MIT */
#include "modules/invoked.h"

#include <string.h>

#include "base/text.h"

/* A library calls into the program: with a function that it was given, or a
 * constructor. */
static bool is_callback(const cprof_invocation *by, const cprof_function *f)
{
	const cprof_image *image = cprof_function_image(f);

	return by->image != image &&
	       !strcmp(cprof_image_path(image), cprof_process_exe(cprof_current_process()));
}

bool invoked_by(const cprof_function *f, cprof_invocation *ret)
{
	return cprof_current_invocation(ret) && ret->by != CPROF_INVOKER_TRACED &&
	       (ret->by != CPROF_INVOKER_CODE || is_callback(ret, f));
}

void invoked_name(const cprof_invocation *by, struct cp_buf *out)
{
	const char *name;

	switch (by->by) {
	case CPROF_INVOKER_TRACED:
		break;
	case CPROF_INVOKER_START:
		cp_buf_str(out, "start");
		break;
	case CPROF_INVOKER_THREAD:
		cp_buf_str(out, "thread");
		break;
	case CPROF_INVOKER_SIGNAL:
		cp_buf_str(out, "signal ");
		cp_add_signal(out, (unsigned)by->signal);
		break;
	case CPROF_INVOKER_CODE:
		cp_buf_str(out, "callback");
		if (!by->image)
			break;
		name = by->function ? cprof_function_name(by->function)
				    : cprof_image_name(by->image);
		cp_buf_str(out, " from ");
		cp_buf_add(out, name, by->function ? cp_short_name(name) : strlen(name));
		break;
	}
}

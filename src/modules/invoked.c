/* SPDX-License-Identifier: MIT */
#include "modules/invoked.h"

#include <string.h>

/* A library calls into the program: with a function that it was given, or a
 * constructor. */
bool invoked_as_callback(const cprof_function *f, const cprof_image *from)
{
	const cprof_image *image = cprof_function_image(f);

	return from != image &&
	       !strcmp(cprof_image_path(image), cprof_process_exe(cprof_current_process()));
}

bool invoked_by(const cprof_function *f, cprof_invocation *ret)
{
	return cprof_current_invocation(ret) && ret->by != CPROF_INVOKER_TRACED &&
	       (ret->by != CPROF_INVOKER_CODE || invoked_as_callback(f, ret->image));
}

struct cp_invoker invoked_names(const cprof_invocation *by)
{
	return (struct cp_invoker){
		.by = by->by,
		.signal = (unsigned)by->signal,
		.caller = by->image && by->function ? cprof_function_name(by->function) : NULL,
		.image = by->image ? cprof_image_name(by->image) : NULL,
	};
}

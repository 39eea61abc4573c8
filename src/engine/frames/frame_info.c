/* SPDX-License-Identifier: MIT
 *
 * What a frame of a walk knows, while its callback runs.
 */
#include "engine/frames/frame.h"
#include "engine/target/live.h"
#include "engine/target/state.h"

static const struct engine_frame *frame_of(const cprof_frame_info *handle)
{
	return engine_live(ENGINE_LIVE_FRAME, handle);
}

cprof_addr cprof_frame_info_cfa(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f ? f->frame->cfa.v : 0;
}

const cprof_image *cprof_frame_info_image(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f ? f->image : NULL;
}

uint64_t cprof_frame_info_address(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f ? f->address : 0;
}

bool cprof_frame_info_is_inlined(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f && f->is_inlined;
}

bool cprof_frame_info_is_signal(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f && f->frame->flags & CP_FRAME_SIGNAL;
}

bool cprof_frame_info_is_guessed(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f && f->frame->flags & CP_FRAME_GUESSED;
}

bool cprof_frame_info_is_truncated(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f && f->is_truncated;
}

const char *cprof_frame_info_name(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	if (!f || f->name)
		return f ? f->name : NULL;
	return f->function ? cprof_function_name(f->function) : NULL;
}

const char *cprof_frame_info_source(const cprof_frame_info *handle, uint32_t *line)
{
	const struct engine_frame *f = frame_of(handle);
	const struct cp_inline_frame *source = f ? f->source : NULL;

	if (line)
		*line = source ? source->line : 0;
	return source ? source->file : NULL;
}

const char *cprof_frame_info_unwinder(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	if (!f)
		return "";
	switch (f->frame->by) {
	case CP_UNWIND_BY_CFI:
		return "cfi";
	case CP_UNWIND_BY_SIGFRAME:
		return "signal";
	case CP_UNWIND_BY_CODE:
		return "code";
	case CP_UNWIND_BY_CALL:
		return "call";
	case CP_UNWIND_BY_FP:
		return "fp";
	case CP_UNWIND_BY_SCAN:
		return "scan";
	case CP_UNWIND_BY_NOTHING:
	default:
		return "root";
	}
}

uint32_t cprof_frame_info_run_length(const cprof_frame_info *handle)
{
	const struct engine_frame *f = frame_of(handle);

	return f ? f->run_length : 0;
}

/* SPDX-License-Identifier: MIT */
#include "modules/log/stack.h"

#include <string.h>

#include "modules/log/numbers.h"
#include "modules/log/taker.h"

#define MAX_STACK 16384

static void seek_taker(cprof_profiler *log, const cprof_frame_info *frame, cprof_addr ip,
		       uint32_t location)
{
	const cprof_image *image = cprof_frame_info_image(frame);
	bool leaf = !log->locations.count;

	if (leaf)
		log->innermost = image;
	log->taker_sought = cp_recorder_is_runtime(log, image, leaf ? ip : ip - 1,
						   cprof_frame_info_address(frame), location);
	if (!log->taker_sought || (log->taker == CP_RECORD_NONE && image != log->innermost))
		log->taker = location;
}

static cprof_walk add_frame(const cprof_function *function, cprof_addr ip,
			    const cprof_frame_info *frame, size_t size,
			    const cprof_context *context, void *data)
{
	cprof_profiler *log = data;
	uint32_t flags = 0, location;

	(void)function;
	(void)size;
	(void)context;
	if (ip == log->entered && !log->locations.count)
		flags |= CP_RECORD_LOC_ENTRY;
	if (cprof_frame_info_is_signal(frame))
		flags |= CP_RECORD_LOC_SIGNAL;
	if (cprof_frame_info_is_guessed(frame))
		flags |= CP_RECORD_LOC_GUESSED;
	if (cprof_frame_info_is_truncated(frame))
		log->stack_flags |= CP_RECORD_STACK_TRUNCATED;
	location = cp_record_location(log->writer,
				      cp_recorder_image(log, cprof_frame_info_image(frame)),
				      cprof_frame_info_address(frame), flags);
	if (log->taker_sought)
		seek_taker(log, frame, ip, location);
	else if (log->taker_alone)
		return CPROF_WALK_ABORT;
	if (log->locations.count >= (log->max_frames ? log->max_frames : MAX_STACK)) {
		log->stack_flags |= CP_RECORD_STACK_TRUNCATED;
		return log->taker_sought ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
	}
	return cp_vec_push(&log->locations, location) ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
}

/* The stack of the event being delivered, into log->locations. */
static void walk_stack(cprof_profiler *log)
{
	cprof_status status;

	log->locations.count = 0;
	log->stack_flags = 0;
	status = cprof_do_stack_snapshot(cprof_current_thread(), add_frame,
					 CPROF_SNAPSHOT_ALL_FRAMES | CPROF_SNAPSHOT_ADDRESSES, log,
					 NULL, 0);
	if (status != CPROF_OK)
		log->stack_flags |= CP_RECORD_STACK_TRUNCATED;
}

static uint32_t record_stack(cprof_profiler *log, cprof_addr ip)
{
	if (!log->locations.count &&
	    !cp_vec_push(&log->locations, cp_record_location(log->writer, CP_RECORD_NONE, ip, 0)))
		return CP_RECORD_NONE;
	return cp_record_stack(log->writer, log->locations.items, log->locations.count,
			       log->stack_flags);
}

static size_t place_of(uint64_t key)
{
	return cp_hash_u64(key) % CP_RECORDER_STACKS;
}

bool cp_recorder_taker_known(const cprof_profiler *log, uint64_t key, bool with_stack,
			     uint32_t *taker_ret, uint32_t *stack_ret)
{
	const struct cp_recorder_stack *at = &log->stacks_known[place_of(key)];

	if (!key || at->key != key || at->taker == CP_RECORD_NONE ||
	    (with_stack && at->stack == CP_RECORD_NONE))
		return false;
	*taker_ret = at->taker;
	*stack_ret = with_stack ? at->stack : CP_RECORD_NONE;
	return true;
}

struct cp_recorder_stack *cp_recorder_stack_known(cprof_profiler *log)
{
	uint64_t key = cprof_current_stack_key();
	struct cp_recorder_stack *at = &log->stacks_known[place_of(key)];

	if (!key)
		return NULL;
	if (at->key != key)
		*at = (struct cp_recorder_stack){ key, CP_RECORD_NONE, CP_RECORD_NONE,
						  CP_RECORD_NONE };
	return at;
}

uint32_t cp_recorder_stack(cprof_profiler *log, cprof_addr ip)
{
	struct cp_recorder_stack *to = cp_recorder_stack_known(log);
	uint32_t stack;

	if (to && to->stack != CP_RECORD_NONE)
		return to->stack;
	walk_stack(log);
	stack = record_stack(log, ip);
	if (to)
		to->stack = stack;
	return stack;
}

uint32_t cp_recorder_call_stack(cprof_profiler *log, cprof_addr entry)
{
	uint32_t stack;

	log->entered = entry;
	stack = cp_recorder_stack(log, entry);
	log->entered = 0;
	return stack;
}

static uint32_t walk_to_taker(cprof_profiler *log, uint32_t *stack_ret)
{
	log->taker = CP_RECORD_NONE;
	log->taker_sought = true;
	log->taker_alone = !stack_ret;
	walk_stack(log);
	log->taker_sought = log->taker_alone = false;
	if (stack_ret)
		*stack_ret = record_stack(log, 0);
	if (log->taker == CP_RECORD_NONE && log->locations.count)
		log->taker = log->locations.items[log->locations.count - 1];
	return log->taker != CP_RECORD_NONE ? log->taker
					    : cp_record_location(log->writer, CP_RECORD_NONE, 0, 0);
}

uint32_t cp_recorder_taker(cprof_profiler *log, uint32_t *stack_ret)
{
	struct cp_recorder_stack *to = cp_recorder_stack_known(log);
	uint32_t taker;

	if (to && to->taker != CP_RECORD_NONE && (!stack_ret || to->stack != CP_RECORD_NONE)) {
		if (stack_ret)
			*stack_ret = to->stack;
		return to->taker;
	}
	taker = walk_to_taker(log, stack_ret);
	if (to) {
		to->taker = taker;
		to->stack = stack_ret ? *stack_ret : to->stack;
	}
	return taker;
}

void cp_recorder_stacks_forget(cprof_profiler *log)
{
	memset(log->stacks_known, 0, sizeof(log->stacks_known));
}

/* SPDX-License-Identifier: MIT */
#include "record/call_state.h"

static bool leaves(unsigned kind)
{
	return kind == CP_RECORD_LEAVE || kind == CP_RECORD_TAIL_CALL || kind == CP_RECORD_UNWIND;
}

static uint64_t frame_key(uint32_t thread, uint32_t depth)
{
	return (uint64_t)thread << 32 | depth;
}

uint32_t cp_record_call_depth(const struct cp_record_call_state *s, uint32_t thread, unsigned kind)
{
	const uint64_t *place = cp_map_get(&s->thread_places, thread);

	if (!place)
		return 0;
	return leaves(kind) ? s->threads.items[*place].leave : s->threads.items[*place].enter;
}

const struct cp_record_call_frame *cp_record_call_left(const struct cp_record_call_state *s,
						       uint32_t thread, uint32_t depth,
						       unsigned kind)
{
	const uint64_t *place;

	if (!leaves(kind))
		return NULL;
	place = cp_map_get(&s->frame_places, frame_key(thread, depth));
	return place ? &s->frames.items[*place] : NULL;
}

bool cp_record_call_step(struct cp_record_call_state *s, const struct cp_record_call *call)
{
	struct cp_record_call_frame frame = { call->ts_ns, call->function };
	uint64_t key = frame_key(call->thread, call->depth);
	struct cp_record_call_thread *thread;
	const uint64_t *place;

	if (call->kind >= CP_RECORD_DISARMED) /* no call begins or ends */
		return true;
	place = cp_map_get(&s->thread_places, call->thread);
	if (!place && (!cp_map_put(&s->thread_places, call->thread, s->threads.count) ||
		       !cp_vec_push(&s->threads, (struct cp_record_call_thread){ 0 })))
		return false;
	thread = &s->threads.items[place ? *place : s->threads.count - 1];
	if (leaves(call->kind)) {
		thread->enter = call->depth;
		thread->leave = call->depth ? call->depth - 1 : 0;
		return true;
	}
	thread->enter = call->depth + 1;
	thread->leave = call->depth;
	place = cp_map_get(&s->frame_places, key);
	if (place) {
		s->frames.items[*place] = frame;
		return true;
	}
	return cp_vec_push(&s->frames, frame) &&
	       cp_map_put(&s->frame_places, key, s->frames.count - 1);
}

void cp_record_call_state_free(struct cp_record_call_state *s)
{
	cp_map_free(&s->thread_places);
	cp_map_free(&s->frame_places);
	cp_vec_free(&s->threads);
	cp_vec_free(&s->frames);
}

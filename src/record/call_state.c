/* SPDX-License-Identifier: MIT */
#include "record/call_state.h"

/* Frames by depth are made for so many depths at once: a file that leaves out more takes no
 * more memory for that than for its events. */
#define DEPTHS_AT_ONCE 32u

static bool leaves(unsigned kind)
{
	return kind == CP_RECORD_LEAVE || kind == CP_RECORD_TAIL_CALL || kind == CP_RECORD_UNWIND;
}

static uint64_t frame_key(uint32_t thread, uint32_t depth)
{
	return (uint64_t)thread << 32 | depth;
}

/* NULL: nothing is known of it. */
static struct cp_record_call_thread *thread_of(struct cp_record_call_state *s, uint32_t thread)
{
	const uint64_t *place;

	if (s->last < s->threads.count && s->threads.items[s->last].number == thread)
		return &s->threads.items[s->last];
	place = cp_map_get(&s->thread_places, thread);
	if (!place)
		return NULL;
	s->last = (size_t)*place;
	return &s->threads.items[s->last];
}

uint32_t cp_record_call_depth(struct cp_record_call_state *s, uint32_t thread, unsigned kind)
{
	const struct cp_record_call_thread *t = thread_of(s, thread);

	if (!t)
		return 0;
	return leaves(kind) ? t->leave : t->enter;
}

const struct cp_record_call_frame *cp_record_call_left(struct cp_record_call_state *s,
						       uint32_t thread, uint32_t depth,
						       unsigned kind)
{
	const struct cp_record_call_thread *t = leaves(kind) ? thread_of(s, thread) : NULL;
	const uint64_t *place;

	if (!t)
		return NULL;
	if (depth < t->frames.count && t->frames.items[depth].known)
		return &t->frames.items[depth];
	place = s->frames.count ? cp_map_get(&s->frame_places, frame_key(thread, depth)) : NULL;
	return place ? &s->frames.items[*place] : NULL;
}

static bool put_far_frame(struct cp_record_call_state *s, uint64_t key,
			  struct cp_record_call_frame frame)
{
	const uint64_t *place = cp_map_get(&s->frame_places, key);

	if (place) {
		s->frames.items[*place] = frame;
		return true;
	}
	return cp_vec_push(&s->frames, frame) &&
	       cp_map_put(&s->frame_places, key, s->frames.count - 1);
}

static bool put_frame(struct cp_record_call_state *s, struct cp_record_call_thread *t,
		      const struct cp_record_call *call)
{
	struct cp_record_call_frame frame = { call->ts_ns, call->function, true };

	if (call->depth >= t->frames.count + DEPTHS_AT_ONCE)
		return put_far_frame(s, frame_key(call->thread, call->depth), frame);
	while (t->frames.count <= call->depth)
		if (!cp_vec_push(&t->frames, (struct cp_record_call_frame){ 0 }))
			return false;
	t->frames.items[call->depth] = frame;
	return true;
}

bool cp_record_call_step(struct cp_record_call_state *s, const struct cp_record_call *call)
{
	struct cp_record_call_thread *thread;

	if (call->kind >= CP_RECORD_DISARMED) /* no call begins or ends */
		return true;
	thread = thread_of(s, call->thread);
	if (!thread) {
		if (!cp_map_put(&s->thread_places, call->thread, s->threads.count) ||
		    !cp_vec_push(&s->threads,
				 (struct cp_record_call_thread){ .number = call->thread }))
			return false;
		s->last = s->threads.count - 1;
		thread = &s->threads.items[s->last];
	}
	if (leaves(call->kind)) {
		thread->enter = call->depth;
		thread->leave = call->depth ? call->depth - 1 : 0;
		return true;
	}
	thread->enter = call->depth + 1;
	thread->leave = call->depth;
	return put_frame(s, thread, call);
}

void cp_record_call_state_free(struct cp_record_call_state *s)
{
	struct cp_record_call_thread *thread;

	cp_vec_for_each(&s->threads, thread)
		cp_vec_free(&thread->frames);
	cp_vec_free(&s->threads);
	cp_map_free(&s->thread_places);
	cp_map_free(&s->frame_places);
	cp_vec_free(&s->frames);
	s->last = 0;
}

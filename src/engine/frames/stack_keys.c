/* SPDX-License-Identifier: MIT
 *
 * Keys of stacks: who keeps what a stack was made into does so by its key, and is spared
 * being told the frames once more. A walk is a fraction of what is done with each frame.
 *
 * A key is good for the mappings that the process has: other code may lie there later.
 */
#include "engine/frames/stack_keys.h"

#include <cprof/stack.h>

#include "engine/frames/frame.h"
#include "engine/frames/snapshot.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "unwind/paths.h"

#define FRAMES_MOST 256 /* deeper stacks have no key */
#define STACKS_MOST 65536 /* of a process */
#define FLAG_BITS 4 /* of a frame */

/* Stacks with code that is no file's are none to keep: there it may be written anew. */
static bool is_of_files(const cprof_process *p, const struct cp_frame *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct engine_text *text = engine_find_text(p, frames[i].pc.v);

		if (!text || !text->image->assembly->image)
			return false;
	}
	return true;
}

static uint64_t first_key(cprof_session *s, cprof_process *p)
{
	cp_interner_free(&p->stacks.walked);
	if (p->stacks.paths && p->stacks.made != p->texts_made)
		cp_unwind_paths_clear(p->stacks.paths);
	p->stacks.made = p->texts_made;
	p->stacks.keys = s->stack_keys;
	s->stack_keys += STACKS_MOST;
	return p->stacks.keys;
}

/* 0 without memory, and where none is to be had. */
static uint64_t key_of(cprof_session *s, cprof_process *p, size_t count, bool whole)
{
	uint64_t words[FRAMES_MOST + 1];
	uint32_t number;
	size_t i;

	for (i = 0; i < count; i++)
		words[i] = s->frames[i].pc.v << FLAG_BITS | s->frames[i].flags;
	words[count] = whole;
	if (p->stacks.made != p->texts_made || !p->stacks.keys)
		first_key(s, p);
	if (!cp_interned(&p->stacks.walked, words, (count + 1) * sizeof(*words), &number)) {
		if (!is_of_files(p, s->frames, count))
			return 0;
		if (p->stacks.walked.count == STACKS_MOST)
			first_key(s, p);
		if (!cp_intern(&p->stacks.walked, words, (count + 1) * sizeof(*words), &number,
			       NULL))
			return 0;
	}
	return p->stacks.keys + number + 1;
}

/* What a walk of the event that a detour told of begins with, where that is all that it depends
 * on. */
static bool find_capture(const cprof_session *s, struct cp_unwind_capture *ret)
{
	const struct engine_capture *c = &s->current.capture;

	if (!c->recorded || s->unwinder != CPROF_UNWINDER_OWN || c->held || !c->stack ||
	    s->current.sample || s->current.repeat)
		return false;
	*ret = engine_unwind_capture(c, s->current.process->pid);
	return true;
}

/* The key of a stack that was walked before. False: it was not, or its texts are others now. */
static bool find_key(cprof_process *p, const struct cp_unwind_capture *capture, uint64_t ts_ns,
		     uint64_t *ret)
{
	engine_refresh_maps(p, ts_ns, false);
	return p->stacks.paths && p->stacks.made == p->texts_made &&
	       cp_unwind_paths_find(p->stacks.paths, capture, ret);
}

bool engine_stacks_known(cprof_session *s, cprof_process *p, uint64_t now_ns)
{
	if (s->unwinder != CPROF_UNWINDER_OWN || s->walking)
		return false;
	engine_refresh_maps(p, now_ns, false);
	return p->stacks.paths && p->stacks.made == p->texts_made;
}

bool engine_stack_key(const cprof_process *p, const struct cp_unwind_capture *capture,
		      uint64_t *key_ret)
{
	return cp_unwind_paths_find(p->stacks.paths, capture, key_ret);
}

static void keep_key(cprof_process *p, const struct cp_unwind_capture *capture,
		     const struct cp_frame *frames, size_t count, enum cp_unwind_end end,
		     uint64_t key)
{
	struct cp_unwind_space *space = engine_unwind_space(p);

	if (!p->stacks.paths)
		p->stacks.paths = cp_unwind_paths_create();
	if (key && space && p->stacks.paths && p->stacks.made == p->texts_made)
		cp_unwind_paths_add(p->stacks.paths, space, capture, frames, count, end, key);
}

uint64_t cprof_current_stack_key(void)
{
	cprof_session *s = cprof_session_current();
	struct cp_unwind_capture capture;
	enum cp_unwind_end end;
	uint64_t key;
	size_t count;
	bool whole;

	if (!s || !s->current.hit || !s->current.walkable || s->walking)
		return 0;
	whole = find_capture(s, &capture);
	if (whole && find_key(s->current.process, &capture, s->current.capture.ts_ns, &key))
		return key;
	if (!engine_walk_again(s, &count, &end) || count > FRAMES_MOST)
		return 0;
	key = key_of(s, s->current.process, count, end == CP_UNWIND_END_ROOT);
	if (whole)
		keep_key(s->current.process, &capture, s->frames, count, end, key);
	return key;
}

/* SPDX-License-Identifier: MIT
 *
 * Keys of stacks: who keeps what a stack was made into does so by its key, and is spared
 * being told the frames once more. A walk is a fraction of what is done with each frame.
 *
 * A key is good for the mappings that the process has: other code may lie there later.
 */
#include <cprof/stack.h>

#include "engine/frames/frame.h"
#include "engine/frames/snapshot.h"
#include "engine/target/images.h"
#include "engine/target/state.h"

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

uint64_t cprof_current_stack_key(void)
{
	cprof_session *s = cprof_session_current();
	enum cp_unwind_end end;
	size_t count;

	if (!s || !s->current.hit || !s->current.walkable || s->walking ||
	    !engine_walk_again(s, &count, &end) || count > FRAMES_MOST)
		return 0;
	return key_of(s, s->current.process, count, end == CP_UNWIND_END_ROOT);
}

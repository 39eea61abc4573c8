/* SPDX-License-Identifier: MIT
 *
 * What the events so far say of the next one: how deep it is, which function
 * it leaves, how long that took. Writer and reader know the same, so only what
 * comes otherwise is written. Within one chunk, that a lost one spoils
 * nothing else.
 */
#ifndef CP_RECORD_CALL_STATE_H
#define CP_RECORD_CALL_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "record/calls.h"

struct cp_record_call_frame {
	uint64_t ts_ns;
	uint32_t function;
	bool known;
};

struct cp_record_call_thread {
	uint32_t number;
	uint32_t enter, leave; /* depth of an enter or a leave, were it the next */
	CP_VEC(struct cp_record_call_frame) frames; /* by depth */
};

struct cp_record_call_state {
	struct cp_map thread_places;
	CP_VEC(struct cp_record_call_thread) threads;
	size_t last; /* the place of the one that was asked for last */
	struct cp_map frame_places; /* of those that leave many depths out: thread << 32 | depth */
	CP_VEC(struct cp_record_call_frame) frames;
};

/* The depth of the next event of `thread`, as far as one can tell. */
uint32_t cp_record_call_depth(struct cp_record_call_state *s, uint32_t thread, unsigned kind);
/* The call that a leave (of any kind) ends; NULL: not known. */
const struct cp_record_call_frame *cp_record_call_left(struct cp_record_call_state *s,
						       uint32_t thread, uint32_t depth,
						       unsigned kind);
/* Goes on behind `call`; false without memory. */
bool cp_record_call_step(struct cp_record_call_state *s, const struct cp_record_call *call);
void cp_record_call_state_free(struct cp_record_call_state *s);

#endif

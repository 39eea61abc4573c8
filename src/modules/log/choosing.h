/* SPDX-License-Identifier: MIT
 *
 * Which calls are kept, decided as they happen: what is left out never reaches the
 * recording.
 *
 *   log:under=SPEC, not-under=SPEC    by the calls around them
 *   log:paths-to=SPEC                 by what they lead to: an enter is held until its call
 *                                     has, or is over
 *   log:levels=N                      by how many of these are kept
 *   log:start-at=SPEC, stop-at=SPEC   between two calls, of any thread
 *   log:min-duration=TIME             by how long they were: an enter is held until its call
 *                                     is over, or has lasted as long
 */
#ifndef CP_MODULES_LOG_CHOOSING_H
#define CP_MODULES_LOG_CHOOSING_H

#include <cprof/cprof.h>

#include "base/vec.h"
#include "record/held.h"
#include "record/spans.h"

/* The SPECs: an index of struct cp_recorder_choosing's. */
enum cp_recorder_choice {
	CP_UNDER,
	CP_NOT_UNDER,
	CP_PATHS_TO,
	CP_START_AT,
	CP_STOP_AT,
	CP_CHOICES
};

/* Begins as zeros. */
struct cp_recorder_choosing {
	cprof_callspec *specs[CP_CHOICES]; /* owned; NULL: not given */
	uint32_t levels; /* 0: any */
	uint64_t least_ns;
	bool chooses; /* something of these is given */
	/* ---- as it goes on ---- */
	bool begun, on; /* on: between start-at and stop-at */
	struct cp_spans spans;
	struct cp_map said; /* location -> bits by enum cp_recorder_choice */
	struct cp_map tails; /* thread -> struct tail *; choosing.c */
	struct cp_held_queue *held; /* borrowed; the recorder's, which all events go through */
	uint64_t left_out; /* calls; */
	uint64_t unwritten; /* events of these that were given to cp_recorder_choice_write() */
	uint64_t last_ns, beat_ns; /* the last event; that at the last beat */
	const cprof_function *function; /* of the event that is looked at */
	struct cp_record_writer *writer; /* borrowed, for that event */
	bool keeps; /* what was decided of it */
	uint32_t depth; /* likewise */
	struct cp_fate *fate; /* of the call that it enters; borrowed until it is held */
	struct cp_fate *ended; /* of the call that it ends, which is not decided; likewise */
	CP_VEC(const struct cp_span *) leading; /* those that a call leads back to */
	bool no_memory; /* all is kept from there on */
};

/* Takes an option; *known_ret: it is one of these. False: it makes no sense, and *error_ret
 * (to be freed) may say why. */
bool cp_recorder_choice_take(struct cp_recorder_choosing *c, const char *key, const char *value,
			     bool *known_ret, char **error_ret);
/* Looks at the next event of calls: is it to be written, with cp_recorder_choice_write()? Its depth
 * becomes that among the calls that are kept. */
bool cp_recorder_choice_keeps(struct cp_recorder_choosing *c, struct cp_record_writer *w,
			      const cprof_function *f, struct cp_record_call *call);
/* Writes the event that was looked at last, or holds it. */
void cp_recorder_choice_write(struct cp_recorder_choosing *c, struct cp_record_writer *w,
			      const struct cp_record_call *call);
/* Nothing tells any more how calls of a function end. */
void cp_recorder_choice_disarmed(struct cp_recorder_choosing *c, struct cp_record_writer *w,
				 const struct cp_record_call *call);
/* Has what was held for long enough written; once a second. */
void cp_recorder_choice_beat(struct cp_recorder_choosing *c, struct cp_record_writer *w);
/* A thread is gone. */
void cp_recorder_choice_forget(struct cp_recorder_choosing *c, uint32_t thread);
/* The recording ends: what is open has lasted up to now, and all goes on that is wanted.
 * Numbers of the recording are forgotten. */
void cp_recorder_choice_end(struct cp_recorder_choosing *c, struct cp_record_writer *w,
			    uint64_t now_ns);
void cp_recorder_choice_deinit(struct cp_recorder_choosing *c);

#endif

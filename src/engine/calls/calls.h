/* SPDX-License-Identifier: MIT
 *
 * Hits into calls. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_CALLS_H
#define CP_ENGINE_CALLS_CALLS_H

#include <cprof/cprof.h>

struct cp_call;
struct cp_event_hit;
struct engine_calls;
struct cp_reader;
struct cp_regs;
struct engine_hit;
struct engine_site;

/* A breakpoint was hit: brings the process's open calls up to date, and tells
 * profilers. */
void engine_on_hit(cprof_session *s, const struct cp_event_hit *e);
/* The same of a hit that was put together already, in s->current's thread. */
void engine_calls_deliver(cprof_session *s, const struct engine_hit *hit);
/* Where a jump at `pc` that leaves its function leads to, by the registers there; 0: that
 * is not known, or it is no jump. */
uint64_t engine_target_of(struct engine_calls *c, const struct engine_site *site, uint64_t pc,
			  const struct cp_regs *regs, const struct cp_reader *memory);
/* A thread is held to be given a ring, or room in its own: `straight` then it makes the record
 * that it came for. */
void engine_calls_held(cprof_thread *t, const struct cp_event_hit *e, bool straight);
/* Finds out on which stack a thread is that came to the ring of its detours. */
void engine_calls_place(cprof_session *s, const struct cp_event_hit *e);
/* The open calls of a thread end, with tid 0 those of the whole process. */
void engine_calls_exit(cprof_process *p, int32_t tid, uint64_t ts_ns);
/* The session is over: calls that are still open are forgotten, and profilers told
 * nothing of them. */
void engine_calls_end(cprof_session *s);
/* Sets the call that cprof_current_call() tells of in the next event. */
void engine_calls_set_current(struct engine_calls *c, const struct cp_call *call);
/* Makes the process's shadow stack if it has none; false without memory. */
bool engine_calls_shadow(cprof_process *p);
/* The thread of the event has unwound its stack up to `sp`: the calls below it
 * end, and cprof_current_call() says where the thread is. */
void engine_calls_reach(cprof_session *s, const struct cp_event_hit *e, uint64_t sp);

#endif

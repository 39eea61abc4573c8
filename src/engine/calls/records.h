/* SPDX-License-Identifier: MIT
 *
 * Records of detours into calls. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_RECORDS_H
#define CP_ENGINE_CALLS_RECORDS_H

#include <cprof/cprof.h>

struct cp_event;
struct cp_event_hit;
struct cp_record;
struct engine_site;

/* Tells what detours recorded up to `until_ns`, in the order of time, but no more than
 * about `most` records. How many they were. */
size_t engine_records_take(cprof_session *s, uint64_t until_ns, size_t most);
/* Of what a thread recorded whose ring is full, half: before it is let go, which takes a while
 * in which there is something to do. Not where the order among threads matters. */
void engine_records_make_room(cprof_session *s, const struct cp_event_hit *full);
/* The same of all that was recorded before the event happened: then it can be delivered. */
void engine_records_before(cprof_session *s, const struct cp_event *e);
/* A thread has a ring from now on. */
void engine_records_ring(cprof_session *s, const struct cp_event_hit *e);
/* A thread, with tid 0 all of a process, has none any more. */
void engine_records_end(cprof_process *p, int32_t tid);
/* Says to the program that somebody reads, and whether it is to wait for room; now and
 * then, and `last` for good. */
void engine_records_beat(cprof_session *s, bool last);
/* Do detours write so fast that who looks a millisecond later finds a ring full, and its thread
 * stopped? By what came since the last time this was asked. Then *ns_ret is how much later it is
 * soon enough. */
bool engine_records_hurry(cprof_session *s, uint64_t *ns_ret);

/* Notes what a record of a site took, of the calls around it: its values after its time, of a
 * call that is over the rest. */
void engine_records_took(const cprof_session *s, cprof_thread *t, const struct engine_site *site,
			 const struct cp_record *r);

#endif

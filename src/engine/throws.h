/* SPDX-License-Identifier: MIT
 *
 * Exceptions, thrown and caught. Private to src/engine.
 */
#ifndef CP_ENGINE_THROWS_H
#define CP_ENGINE_THROWS_H

#include "engine/calls.h"

/* Sites of it in an image, at most. */
#define ENGINE_THROWS 2

/* Does anybody want to see them? */
bool engine_throws_wanted(const cprof_session *s);
/* Before the target is taken: makes what is needed if they are wanted. */
void engine_throws_prepare(cprof_session *s);
void engine_throws_free(struct engine_calls *c);
/* Sites in `image`: how many go to *numbers. */
size_t engine_throws_plan(cprof_image *image, uint32_t *numbers);
/* The group of such a site. */
struct cp_site_group engine_throws_group(const struct engine_calls *c, uint32_t site);
/* A stop at one of them. */
void engine_on_throw(cprof_session *s, const struct engine_hit *hit);
/* There were too many. True: that was such a group. */
bool engine_throws_disarmed(cprof_session *s, const struct cp_event_disarmed *e);
/* The exception that unwinds this call; NULL: none. Valid until the next one. */
const cprof_object *engine_throws_unwinds(cprof_session *s, const struct cp_call *call);
/* The thread, or with tid 0 the process, is gone. */
void engine_throws_exit(cprof_process *p, int32_t tid);

/* plans.c */
/* A site of cprof's own at a link-time address: its number + 1, or 0. */
uint32_t engine_plan_address(struct engine_calls *c, cprof_assembly *a, uint64_t address,
			     enum engine_site_kind kind);

/* calls.c */
/* The thread of the event has unwound its stack up to `sp`: the calls below it
 * end, and cprof_current_call() says where the thread is. */
void engine_calls_reach(cprof_session *s, const struct cp_event_hit *e, uint64_t sp);
void engine_calls_raise_disarmed(cprof_session *s, const cprof_function *f, uint32_t rate,
				 uint64_t ts_ns);

#endif

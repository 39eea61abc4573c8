/* SPDX-License-Identifier: MIT
 *
 * Locks that threads wait for. Private to src/engine.
 */
#ifndef CP_ENGINE_LOCKS_H
#define CP_ENGINE_LOCKS_H

#include "engine/calls.h"

/* A function in which threads wait for the lock that is its first argument. */
struct engine_lock_function {
	uint64_t address; /* link-time */
	const char *type; /* of the lock; static */
	bool owned; /* the lock says who holds it: pthread_mutex_t */
	bool timed; /* called for locks that are free, too; may give up */
	uint32_t number; /* of all in the session */
	uint32_t first_site, site_count; /* the entry first */
};

/* Those of an ELF object. */
struct engine_lock_plan {
	CP_VEC(struct engine_lock_function) functions;
	uint64_t lock; /* pthread_mutex_lock, link-time; 0: none */
};

/* Does anybody want to see them? */
bool engine_locks_wanted(const cprof_session *s);
void engine_locks_free(struct engine_calls *c);
/* Functions in `image`; NULL: none. Lives as long as the assembly. */
const struct engine_lock_plan *engine_locks_plan(cprof_image *image);
void engine_lock_plan_free(struct engine_lock_plan *plan);
/* The group of the sites of one. */
struct cp_site_group engine_locks_group(const struct engine_calls *c,
					const struct engine_lock_function *f);
/* A stop at one of them. */
void engine_on_lock(cprof_session *s, const struct engine_hit *hit);
/* There were too many. True: that was such a group. */
bool engine_locks_disarmed(cprof_session *s, const struct cp_event_disarmed *e);
/* The thread, or with tid 0 the process, is gone. */
void engine_locks_exit(cprof_process *p, int32_t tid);
/* At the end: what could not be watched. */
void engine_locks_warn(cprof_session *s);

#endif

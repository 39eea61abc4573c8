/* SPDX-License-Identifier: MIT
 *
 * Functions that are traced for what they do, whatever anybody traces: they
 * allocate, transfer bytes, end the program. They are found by name, planned and
 * armed like others (plans.c, arm.c) and have a place among the open calls
 * (calls/calls.c), only nobody is told of their calls: what is told is what came of them.
 *
 *     name ──► family, role ──► entered, returned ──► its events
 *
 * Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_ROLES_H
#define CP_ENGINE_PROBES_ROLES_H

#include <cprof/cprof.h>

#include "engine/probes/sites.h"
#include "engine/target/family.h"

struct cp_event_pause;
struct cp_heap_probe;
struct engine_role_plan;

/* A name, and what is meant by it. */
struct engine_role_name {
	const char *name;
	uint8_t role; /* a family's */
};
/* The role of a name of `length` bytes; 0: it is not in the list. */
uint8_t engine_role_named(const struct engine_role_name *names, size_t count, const char *name,
			  size_t length);

/* Is a file of that name glibc's dynamic linker? */
bool engine_is_linker(const char *image);
/* Is any family wanted? */
bool engine_roles_wanted(const cprof_session *s);
void engine_role_plan_free(struct engine_role_plan *plan);
/* Has the image such functions? */
bool engine_roles_in(const cprof_image *image);
/* For what the function is watched, whoever else traces it. */
enum engine_family_id engine_role_of(const cprof_image *image, const struct cp_probe_function *f,
				     uint8_t *role_ret);

/* Nothing of a call is to be seen but its entry. */
bool engine_role_entry_alone(const cprof_session *s, const struct engine_traced *t);
/* Its result matters, wherever it comes from. */
bool engine_role_wants_return(const cprof_session *s, const struct engine_traced *t);
/* Called too often it pauses, with its like, instead of not being watched any more. */
bool engine_role_pauses(const cprof_session *s, const struct engine_traced *t);
/* Of what it allocates or frees only a sample matters: what the tracer has to know. */
bool engine_role_sampled(const cprof_session *s, const struct engine_traced *t,
			 struct cp_heap_probe *ret);
/* What is captured at a site of it: CP_SITE_*. */
unsigned engine_role_captures(const cprof_session *s, const struct engine_traced *t,
			      enum engine_site_kind kind);
/* True when a thread is held at this exit, to look at what is in its memory. */
bool engine_holds_exit(const cprof_session *s, const struct engine_traced *t,
		       const struct engine_site *site);

/* It is entered: puts what has to be known at its end into the call. `ended` is the
 * call that jumped there instead of returning; its subject is NULL when there is none.
 * True: there is no more to it. */
bool engine_role_entered(cprof_session *s, const struct engine_hit *hit, struct cp_call *call,
			 const struct cp_call *ended);
/* It ended: tells of it. Not when its thread did. */
void engine_role_ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how);
/* What pauses does so in a process, or is watched again. */
void engine_roles_pause(cprof_process *p, const struct cp_event_pause *e);
/* For families. An argument of the call whose entry was hit, from 0. */
uint64_t engine_role_argument(const struct engine_hit *hit, unsigned position);
/* What the call answers with. False: not known. */
bool engine_role_result(const cprof_session *s, uint64_t *ret);
/* The function of the call; NULL: not known. */
const cprof_function *engine_role_function(cprof_session *s, const struct engine_hit *hit);

#endif

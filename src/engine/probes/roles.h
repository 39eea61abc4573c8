/* SPDX-License-Identifier: MIT
 *
 * Functions that are traced for what they do, whatever profilers trace: they allocate,
 * transfer bytes, end the program. They are found by name, planned and armed like
 * others (plans.c, arm.c) and have a place among the open calls (calls/calls.c), but
 * profilers are told what came of their calls, not of the calls.
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

/* A function's name, and the role that functions of that name have. */
struct engine_role_name {
	const char *name;
	uint8_t role; /* by number, of one family */
};
/* The role of a name of `length` bytes; 0: the name is not in the list. */
uint8_t engine_role_named(const struct engine_role_name *names, size_t count, const char *name,
			  size_t length);

/* Is a file of that name glibc's dynamic linker? */
bool engine_is_linker(const char *image);
/* Is any family wanted that looks for functions with a role? */
bool engine_roles_wanted(const cprof_session *s);
void engine_role_plan_free(struct engine_role_plan *plan);
/* Looks, once, where functions with a role jump to go on: what returns from there returns for
 * them. The object's functions were read. */
void engine_roles_follow(cprof_session *s, cprof_assembly *a);
/* Has the image functions with a role? */
bool engine_roles_in(const cprof_image *image);
/* The family and role that the function is watched for, whoever else traces it;
 * ENGINE_NO_FAMILY: none. */
enum engine_family_id engine_role_of(const cprof_image *image, const struct cp_probe_function *f,
				     uint8_t *role_ret);

/* Is nothing of the function's calls to be seen but the entry? */
bool engine_role_entry_alone(const cprof_session *s, const struct engine_traced *t);
/* Is there, at a link-time address of its object, a function of the same family, which tells
 * what this one comes to when it jumps there? */
bool engine_role_goes_on(const cprof_session *s, const struct engine_traced *t, uint64_t target);
/* Does the function, whose role needs its result, end at the site in a jump to one that
 * answers with its first argument? */
bool engine_role_answers(const cprof_session *s, const struct engine_traced *t,
			 const struct cp_probe_site *site);
/* Is that code which is watched only because such functions jump there? */
bool engine_role_only_goes_on(const cprof_session *s, const struct engine_traced *t,
			      uint64_t target);
/* Where the jump leads that ends a function; 0: who knows. */
uint64_t engine_jumps_to(const struct engine_calls *c, const struct cp_probe_site *site);
/* Does the function's role need its result, in whatever way it returns? */
bool engine_role_wants_return(const cprof_session *s, const struct engine_traced *t);
/* Does the function pause with those of its family when it is called too often, instead
 * of not being traced any more? */
bool engine_role_pauses(const cprof_session *s, const struct engine_traced *t);
/* Is a sample of the function's calls enough? Then *ret is what the tracer has to know. */
bool engine_role_sampled(const cprof_session *s, const struct engine_traced *t,
			 struct cp_heap_probe *ret);
/* Of what a sample is of, one about every so many bytes; 0: of none. */
uint64_t engine_roles_every(const cprof_session *s);
/* Can detours tell all that the function's role, and nothing else, is about? Then *ret are
 * the registers of the arguments that it looks at, a bit each. */
bool engine_role_by_records(const cprof_session *s, const struct engine_traced *t, uint64_t *ret);
/* What is copied for its role at a site of the function, besides; how many. */
size_t engine_role_fetches(cprof_session *s, const struct engine_traced *t,
			   const struct engine_site *site, const struct cp_fetch **ret);
/* Entries of the function a second that are too often for its role, which then is no more for
 * any function; 0: as those of others. */
uint32_t engine_role_rate(const cprof_session *s, const struct engine_traced *t);
/* What its role wants of the stack at a site of the function. */
enum engine_walks engine_role_walks(const cprof_session *s, const struct engine_traced *t,
				    enum engine_site_kind kind);
/* What is captured for its role at a site of the function: CP_SITE_*. */
unsigned engine_role_captures(const cprof_session *s, const struct engine_traced *t,
			      enum engine_site_kind kind);
/* Is the thread held at this site, so that its memory can be read? */
bool engine_holds(const cprof_session *s, const struct engine_traced *t,
		  const struct engine_site *site);

/* A function with a role is entered: its family puts what has to be known at the end
 * into the call. `ended` is the call that jumped there instead of returning; its
 * subject is NULL when there is none. True: the call has no end to wait for. */
bool engine_role_entered(cprof_session *s, const struct engine_hit *hit, struct cp_call *call,
			 const struct cp_call *ended);
/* A call of a function with a role ended, though not because its thread did: its family
 * tells what came of it. */
void engine_role_ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how);
/* The functions that pause do so in a process, or are watched again. */
/* Is a family wanted of whose calls pieces are enough where they are too many? */
bool engine_roles_pausing(const cprof_session *s);
/* Is one wanted of whose calls none is to be lost because many came at once? */
bool engine_roles_waiting(const cprof_session *s);
/* Calls of a thread of the process found no room between these times; said also when that
 * begins, with the same time twice. */
void engine_roles_lost(cprof_process *p, uint64_t from_ns, uint64_t to_ns);
void engine_roles_pause(cprof_process *p, const struct cp_event_pause *e);
/* For families: an argument of the call whose entry was hit, from 0. */
uint64_t engine_role_argument(const struct engine_hit *hit, unsigned position);
/* Where its result is, at an exit of a function with a role. */
unsigned engine_role_result_register(const struct engine_site *site);
/* The result of the call that returns. False: not known. */
bool engine_role_result(const cprof_session *s, uint64_t *ret);
/* Is the innermost frame, where the current hit ended a call, that of who called? */
bool engine_role_ends_behind(const cprof_session *s);
/* The function of the call; NULL: not known. */
const cprof_function *engine_role_function(cprof_session *s, const struct engine_hit *hit);

/* Hits a second that are too often for what is `often` (struct engine_watch). */
static inline uint32_t engine_rate_often(const struct engine_calls *c, uint8_t often)
{
	return c->rate_globbed < UINT32_MAX / 255 ? c->rate_globbed * often : UINT32_MAX;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Functions that are traced for what they do, whatever anybody traces: they
 * allocate, transfer bytes, end the program. They are found by name, planned and
 * armed like others (plans.c, arm.c) and have a place among the open calls
 * (calls.c), only nobody is told of their calls: what is told is what came of them.
 *
 *     name ──► role ──► family: heap.c, heap_size.c, fileio.c, finalizing.c
 *                         entered, ended ──► its events
 *
 * Private to src/engine.
 */
#ifndef CP_ENGINE_ROLES_H
#define CP_ENGINE_ROLES_H

#include "engine/calls.h"

enum engine_role {
	ENGINE_ROLE_NONE,
	/* heap.c */
	ENGINE_ROLE_MALLOC, /* (size) */
	ENGINE_ROLE_CALLOC, /* (count, size) */
	ENGINE_ROLE_ALIGNED, /* (alignment, size) */
	ENGINE_ROLE_POSIX, /* (where to, alignment, size) */
	ENGINE_ROLE_REALLOC, /* (address, size) */
	ENGINE_ROLE_REALLOCARRAY, /* (address, count, size) */
	ENGINE_ROLE_RUST_REALLOC, /* (address, old size, alignment, size) */
	ENGINE_ROLE_FREE, /* (address) */
	/* heap_size.c */
	ENGINE_ROLE_BRK, /* (end) */
	ENGINE_ROLE_MMAP, /* (address, size, protection, flags) */
	ENGINE_ROLE_MUNMAP, /* (address, size) */
	ENGINE_ROLE_MREMAP, /* (address, old size, size) */
	ENGINE_ROLE_MPROTECT, /* (address, size, protection) */
	/* fileio.c */
	ENGINE_ROLE_READ, /* (fd): bytes */
	ENGINE_ROLE_WRITE,
	ENGINE_ROLE_READ_MANY, /* (fd, messages): messages */
	ENGINE_ROLE_WRITE_MANY,
	ENGINE_ROLE_SENDFILE, /* (to, from) */
	ENGINE_ROLE_TEE, /* (from, to) */
	ENGINE_ROLE_SPLICE, /* (from, offset, to) */
	/* finalizing.c */
	ENGINE_ROLE_EXIT, /* begins what is done at the end */
	ENGINE_ROLE_EXITED, /* the end of the process */
	ENGINE_ROLE_FINALIZE, /* of one library */
	/* ifuncs.c */
	ENGINE_ROLE_RESOLVER, /* of an indirect function */
	ENGINE_ROLES
};

/* A name, and what is meant by it. */
struct engine_role_name {
	const char *name;
	uint8_t role; /* enum engine_role */
};
/* The role of a name of `length` bytes; NONE: it is not in the list. */
uint8_t engine_role_named(const struct engine_role_name *names, size_t count, const char *name,
			  size_t length);

/* Is a file of that name glibc's dynamic linker? */
bool engine_is_linker(const char *image);
/* Is any family wanted? */
bool engine_roles_wanted(const cprof_session *s);
void engine_role_plan_free(struct engine_role_plan *plan);
/* Has the image such functions? */
bool engine_roles_in(const cprof_image *image);
/* What the function is for; NONE: nothing of the kind. */
uint8_t engine_role_of(const cprof_image *image, const struct cp_probe_function *f);

/* Somebody traces it, too. */
static inline bool engine_traced_by_others(const struct engine_traced *t)
{
	return (t->flags & ~ENGINE_TRACED_ROLE) != 0;
}
/* Nothing of a call is to be seen but its entry. */
bool engine_role_entry_alone(const struct engine_traced *t);
/* Its result matters, wherever it comes from. */
bool engine_role_wants_return(const struct engine_traced *t);
/* Called too often it pauses, with its like, instead of not being watched any more. */
bool engine_role_pauses(const struct engine_traced *t);
/* Of what it allocates or frees only a sample matters: what the tracer has to know. */
bool engine_role_sampled(const cprof_session *s, const struct engine_traced *t,
			 struct cp_heap_probe *ret);
/* Is that address, where it is mapped, in a function that allocates? */
bool engine_role_allocates_at(const cprof_session *s, const cprof_image *image, uint64_t address);
/* What is captured at a site of it: CP_SITE_*. */
unsigned engine_role_captures(const struct engine_traced *t, enum engine_site_kind kind);
/* Memory has to be read when it returns. */
bool engine_role_holds_exit(const struct engine_traced *t);

/* It is entered: puts what has to be known at its end into the call. `ended` is the
 * call that jumped there instead of returning; its subject is NULL when there is none.
 * True: there is no more to it. */
bool engine_role_entered(cprof_session *s, const struct engine_hit *hit, struct cp_call *call,
			 const struct cp_call *ended);
/* It ended: tells of it. Not when its thread did. */
void engine_role_ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how);
/* What pauses does so in a process, or is watched again. */
void engine_roles_pause(cprof_process *p, const struct cp_event_pause *e);
/* The process, or its program, is gone. */
void engine_roles_exit(cprof_process *p);

/* For families. An argument of the call whose entry was hit, from 0. */
uint64_t engine_role_argument(const struct engine_hit *hit, unsigned position);
/* What the call answers with. False: not known. */
bool engine_role_result(const cprof_session *s, uint64_t *ret);
/* The function of the call; NULL: not known. */
const cprof_function *engine_role_function(cprof_session *s, const struct engine_hit *hit);

#endif

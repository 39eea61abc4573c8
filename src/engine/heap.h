/* SPDX-License-Identifier: MIT
 *
 * What the program allocates. Private to src/engine.
 */
#ifndef CP_ENGINE_HEAP_H
#define CP_ENGINE_HEAP_H

#include "engine/calls.h"

/* Does anybody want to see it? */
bool engine_heap_wanted(const cprof_session *s);
void engine_heap_free(struct engine_calls *c);
void engine_heap_plan_free(struct engine_heap_plan *plan);
/* Has the image functions that allocate? */
bool engine_heap_in(const cprof_image *image);
/* What the function is for; 0: nothing of the kind. */
uint8_t engine_heap_role(const cprof_image *image, const struct cp_probe_function *f);

/* Nothing of a call is to be seen but its entry. */
bool engine_heap_entry_alone(const struct engine_traced *t);
/* Its result matters, wherever it comes from. */
bool engine_heap_wants_return(const struct engine_traced *t);
/* Somebody traces it, too. */
static inline bool engine_traced_by_others(const struct engine_traced *t)
{
	return (t->flags & ~ENGINE_TRACED_HEAP) != 0;
}
/* What is captured at a site of it: CP_SITE_*. */
unsigned engine_heap_captures(const struct engine_traced *t, enum engine_site_kind kind);
/* Memory has to be read when it returns. */
bool engine_heap_holds_exit(const struct engine_traced *t);

/* It is entered: puts what has to be known at its end into the call. True: there
 * is no more to it. */
bool engine_heap_entered(cprof_session *s, const struct engine_hit *hit, struct cp_call *call);
/* It returned: tells of it. */
void engine_heap_returned(cprof_session *s, const struct cp_call *call);
/* The process, or its program, is gone. */
void engine_heap_exit(const cprof_process *p);
/* At the end: what could not be watched. */
void engine_heap_warn(cprof_session *s);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the program allocates. Private to src/engine.
 */
#ifndef CP_ENGINE_HEAP_H
#define CP_ENGINE_HEAP_H

#include "engine/roles.h"

/* Does anybody want to see it? */
bool engine_heap_wanted(const cprof_session *s);
void engine_heap_free(struct engine_calls *c);
/* What a function is for, by its linkage name, without version, in the library or
 * program `image`: enum engine_role. */
uint8_t engine_heap_role(const char *image, const char *name, size_t length, bool local);
/* Where a function with that role has what a sample depends on. */
void engine_heap_probe(uint8_t role, struct cp_heap_probe *ret);
/* One about every so many bytes is told; 0: all are. */
uint64_t engine_heap_every(const cprof_session *s);
/* There is one. */
void engine_heap_found(cprof_session *s);

/* See roles.h; true: something was told. */
bool engine_heap_entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
			 struct cp_call *call, const struct cp_call *ended);
bool engine_heap_returned(cprof_session *s, uint8_t role, const struct cp_call *call);
/* Its allocations are not watched for a while, or are again. */
void engine_heap_pause(const cprof_process *p, const struct cp_event_pause *e);
/* The process, or its program, is gone. */
void engine_heap_exit(const cprof_process *p);
/* At the end: what could not be watched. */
void engine_heap_warn(cprof_session *s);

#endif

/* SPDX-License-Identifier: MIT
 *
 * How much memory the allocator has. Private to src/engine.
 */
#ifndef CP_ENGINE_HEAP_SIZE_H
#define CP_ENGINE_HEAP_SIZE_H

#include "engine/roles.h"

/* Somebody wants to see it, and allocations, too. */
bool engine_heap_size_wanted(const cprof_session *s);
/* enum engine_role of a function of the C library. */
uint8_t engine_heap_size_role(const char *name, size_t length);

/* See roles.h; true: something was told. */
void engine_heap_size_entered(uint8_t role, const struct engine_hit *hit, struct cp_call *call);
bool engine_heap_size_returned(cprof_session *s, uint8_t role, const struct cp_call *call);
/* A forked process begins with the heap of its parent. */
void engine_heap_size_inherit(cprof_process *p, const cprof_process *parent);
/* The process, or its program, is gone. */
void engine_heap_size_exit(cprof_process *p);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The stack of the event that is being delivered, in the recording's numbers.
 */
#ifndef CP_MODULES_LOG_STACK_H
#define CP_MODULES_LOG_STACK_H

#include "modules/log/recorder.h"

/* What is known of the event's stack, or room for that; NULL: there is nothing that tells it
 * from others. */
struct cp_recorder_stack *cp_recorder_stack_known(cprof_profiler *log);
/* A stack that cannot be walked is `ip` alone. */
uint32_t cp_recorder_stack(cprof_profiler *log, cprof_addr ip);
/* The same of a call, of the function that begins at `entry`: what is inlined there is not what
 * it is called by. */
uint32_t cp_recorder_call_stack(cprof_profiler *log, cprof_addr entry);
/* The location on the stack that is behind the event, and not the C library, or what a
 * language takes locks and memory by. If all of it is that: where the innermost
 * library was called. If `stack_ret`, the stack too. */
uint32_t cp_recorder_taker(cprof_profiler *log, uint32_t *stack_ret);
/* The same of a stack that is known by its key, without a walk. False: not all of that is. */
bool cp_recorder_taker_known(const cprof_profiler *log, uint64_t key, bool with_stack,
			     uint32_t *taker_ret, uint32_t *stack_ret);
/* Another recording begins, with numbers of its own. */
void cp_recorder_stacks_forget(cprof_profiler *log);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CP_BASE_STACK_H
#define CP_BASE_STACK_H

/* Bytes: more than anything takes but demangling, which has its own (image/demangle.c). Memory that nobody touches is only addresses. */
#define CP_STACK_SIZE (8UL << 20)

/* Calls `run(data)` and returns what it returns, with a stack of CP_STACK_SIZE: this thread's,
 * which must be the main one, where the limit (RLIMIT_STACK) lets it grow so far; else one that
 * is mapped for the call. The limit itself is a program's that is started, and stays as it is. */
int cp_stack_call(int (*run)(void *data), void *data);

#endif

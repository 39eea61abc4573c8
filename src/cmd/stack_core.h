/* SPDX-License-Identifier: MIT
 *
 * The stacks of a core file: see stack_core.c.
 */
#ifndef CP_CMD_STACK_CORE_H
#define CP_CMD_STACK_CORE_H

#include "cmd/stack.h"

struct cp_inspected;

/* Walks all threads of the core that `in` was opened of, and adds what was asked for.
 * Names and types of values are `in`'s. */
CP_ERROR cp_stacks_of_core(struct cp_inspected *in, struct cp_stacks *to);

#endif

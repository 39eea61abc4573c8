/* SPDX-License-Identifier: MIT */
#ifndef CP_CMD_STACK_SHOW_H
#define CP_CMD_STACK_SHOW_H

#include "base/buf.h"
#include "cmd/stack.h"

void cp_stacks_text(struct cp_stacks *stacks, pid_t pid, const struct cp_look *look,
		    struct cp_buf *out);
/* "args" and "locals" are null where they can't be known: no debug information. */
void cp_stacks_json(const struct cp_stacks *stacks, pid_t pid, struct cp_buf *out);

#endif

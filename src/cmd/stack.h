/* SPDX-License-Identifier: MIT
 *
 * The stacks that cprof stack has taken.
 */
#ifndef CP_CMD_STACK_H
#define CP_CMD_STACK_H

#include <cprof/cprof.h>

#include "base/vec.h"
#include "cmd/collect.h"
#include "report/look/table.h"

struct cp_stack_options {
	bool json, registers, args, locals, stop, inlines, fp, runs, group;
	uint64_t depth, string; /* of values; 0: not given */
	unsigned verbose;
	struct cp_stacks_options stacks;
};

/* Copies; their names and types are the session's. */
struct cp_stack_values {
	CP_VEC(cprof_value *) list;
};

struct cp_stack_frame {
	uint64_t ip, cfa, offset; /* offset: into the function */
	char *function, *image, *file; /* owned; NULL: unknown */
	uint32_t line, run; /* run: frames that it stands for */
	bool inlined, signal, guessed, truncated;
	bool has_values; /* as far as debug information describes them */
	struct cp_stack_values args, locals;
	cprof_context context;
};

struct cp_stack_thread {
	int tid;
	char state; /* 0: unknown */
	char *name; /* owned */
	bool captured;
	bool shown; /* with an earlier one */
	CP_VEC(struct cp_stack_frame) frames;
};

struct cp_stacks {
	const struct cp_stack_options *options;
	const struct cp_core *core; /* that it is of; borrowed; NULL: of a process */
	CP_VEC(struct cp_stack_thread) threads; /* by tid; of a core as there */
};

/* Adds a copy; without memory it is left out. */
void cp_stack_keep_value(struct cp_stack_values *values, const cprof_value *value);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Threads of what is inspected, by number and name.
 */
#ifndef CP_CMD_THREADS_H
#define CP_CMD_THREADS_H

#include "base/vec.h"
#include "cmd/inspecting.h"

struct cp_threads {
	CP_VEC(pid_t) list; /* by number */
};

/* Those that `wanted`, TID|NAME|all, means; NULL: the first one. */
CP_ERROR cp_threads_choose(const struct cp_inspected *in, const char *wanted,
			   struct cp_threads *ret);
/* "" where it is not known. */
void cp_threads_name(const struct cp_inspected *in, pid_t tid, char name[64]);

#endif

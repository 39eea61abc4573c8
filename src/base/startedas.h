/* SPDX-License-Identifier: MIT
 *
 * By what name a program was started: Debian's redis-server is a link to
 * redis-check-rdb, and python3 one to python3.11.
 */
#ifndef CP_BASE_STARTEDAS_H
#define CP_BASE_STARTEDAS_H

#include "base/buf.h"
#include "base/types.h"

#define CP_AUXV_MAX 65536

/* The value of an entry of the auxiliary vector of a 64-bit program; 0: none. */
uint64_t cp_auxv_find(const struct cp_buf *auxv, uint64_t type);

/* The path that `pid`, which executes `exe`, was started by, as the kernel noted it,
 * where that is another name of the same file; else NULL. free()d by the caller. Of a
 * script's interpreter, whose program has the script's name there, it is NULL. */
char *cp_started_as(int pid, const char *exe, const struct cp_buf *auxv,
		    const struct cp_reader *memory);
/* The same path of a process that nobody traces. */
char *cp_started_as_pid(int pid, const char *exe);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Who steers a session: finding its socket, saying a command, reading the answer.
 */
#ifndef CP_CONTROL_CLIENT_H
#define CP_CONTROL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* Connects to the session that profiles process `pid`, as its target or another process
 * of it, or that `pid` is the cprof of. CP_ERR_NOT_FOUND: there is none. */
CP_ERROR cp_control_find(pid_t pid, int *fd_ret);
/* Connects to a socket by its path. */
CP_ERROR cp_control_open(const char *path, int *fd_ret);
/* Says a command and appends the answer, which may be anything, to `out`. `argument` may
 * be NULL. *done_ret: it was done. `wait_ns`: how long nothing may come; 0: any time. */
CP_ERROR cp_control_say(int fd, const char *command, const char *argument, uint64_t wait_ns,
			bool *done_ret, struct cp_buf *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The general registers of a stopped thread.
 */
#ifndef CP_TRACER_REGS_H
#define CP_TRACER_REGS_H

#include <stdbool.h>
#include <sys/types.h>

/* NT_PRSTATUS of a stopped thread; false when it is gone, or has another set. */
bool regs_read(pid_t tid, void *to);
bool regs_write(pid_t tid, void *from);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The general registers of a stopped thread.
 */
#ifndef CP_TRACER_REGS_H
#define CP_TRACER_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* NT_PRSTATUS of a stopped thread; false when it is gone, or has another set. */
bool regs_read(pid_t tid, void *to);
bool regs_write(pid_t tid, void *from);
/* The pc alone, which is set in *regs, too: a third of the time of all of them. */
bool regs_write_pc(pid_t tid, void *regs, uint64_t pc);

#endif

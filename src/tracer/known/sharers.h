/* SPDX-License-Identifier: MIT
 *
 * Processes that have the memory of another one and are no threads of it, as
 * clone(CLONE_VM) without CLONE_THREAD makes them.
 */
#ifndef CP_TRACER_SHARERS_H
#define CP_TRACER_SHARERS_H

#include <stddef.h>
#include <sys/types.h>

/* Those that share the memory of `pid` and that `tracer` does not trace: a breakpoint
 * would be their end. Up to `room` of them into `found`; returns how many. Children of vfork()
 * whose parent waits for them are none of them. All of /proc is looked at. */
size_t sharers_find(pid_t pid, pid_t tracer, pid_t *found, size_t room);

#endif

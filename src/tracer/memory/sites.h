/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of sites that the table has: out, and in again.
 */
#ifndef CP_TRACER_SITES_H
#define CP_TRACER_SITES_H

#include <stdbool.h>
#include <stdint.h>

struct space;

/* The breakpoints in a piece of memory come out. */
void sites_disarm_range(struct space *space, uint64_t start, uint64_t size);
/* Of the breakpoints there, the one of the controller's that number. */
void sites_disarm_one(struct space *space, uint64_t address, uint32_t id);
/* The breakpoints of one group (an index) come out. */
void sites_disarm_in(struct space *space, uint32_t group);
/* The armed breakpoints of groups that pause come out, and are put back. */
void sites_pause(struct space *space);
void sites_resume(struct space *space);
/* The breakpoints where sampled groups are left come out, until they are woken: those of
 * a group (an index), and at one address. */
void sites_sleep(struct space *space);
void sites_wake(struct space *space, uint32_t group, uint64_t address);
/* A copy of a space whose breakpoints were changed while the copy was made: puts
 * and takes what the table says. */
void sites_sync(struct space *space);
/* All breakpoints come out; what the memory says counts, not the table. The jumps of calls about
 * signals last: with them our handler stays. Those of detours first, if nobody runs (`still`). */
void sites_clean_traps(struct space *space);
void sites_clean(struct space *space, bool still);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Branches whose breakpoint is out until somebody comes to the block that they lead to.
 */
#ifndef CP_TRACER_UNREACHED_H
#define CP_TRACER_UNREACHED_H

#include <stdbool.h>
#include <stdint.h>

struct site;
struct space;
struct tracer;

/* May the branch, which was hit so often in all processes, and always went the other way than
 * `passed`, do without its breakpoint for now? Then unreached_enter() puts it back. */
bool unreached_leave(const struct tracer *tr, struct space *space, const struct site *branch,
		     uint64_t hits, bool passed);
/* Somebody came to the block. */
void unreached_enter(struct space *space, const struct site *block);

#endif

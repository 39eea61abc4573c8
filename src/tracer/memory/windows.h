/* SPDX-License-Identifier: MIT
 *
 * The jumps of detours into text and out of it.
 */
#ifndef CP_TRACER_WINDOWS_H
#define CP_TRACER_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct space;

/* A thread may run into any of this meanwhile, but nobody is in the middle of it. */
struct windows {
	struct space *space;
	CP_VEC(struct window) items; /* by address */
};

/* All that could be jumps and are breakpoints (or padding) yet. False: without memory. */
bool windows_choose(struct space *space, struct windows *ret);
void windows_free(struct windows *windows);
/* Where a thread at `pc` goes on, that would be in the middle of a jump; 0: it isn't, or
 * there is no way: then that does not become one. */
uint64_t windows_move(struct windows *windows, uint64_t pc);
/* Writes them. How many. */
size_t windows_jump(struct windows *windows);

/* Jumps at addresses in [start, start + size), or of a group (an index), which become
 * breakpoints again in two steps. Who runs then is held, and led out of jumps, between
 * them. */
struct windows_which {
	uint64_t start, size;
	uint32_t group; /* SITE_NONE: any */
};
extern const struct windows_which windows_all;
bool windows_any(const struct space *space, const struct windows_which *which);
/* Nobody comes to them any more. False: there are none, and *ret is nothing. */
bool windows_unjump(struct space *space, const struct windows_which *which, struct windows *ret);
/* Is a place in the middle of a jump that stays? `all` are struct windows. */
bool windows_stay_around(const void *all, uint64_t pc);
/* With the original bytes behind the breakpoints. If somebody could not be held (not
 * `still`), what he may be in the middle of stays a jump. */
void windows_put_back(struct windows *windows, bool still);
/* Both, where nobody runs. */
void windows_clean(struct space *space);
/* A copy of a space whose jumps were changed meanwhile: what stands there is what the table
 * says. It does not run. */
void windows_sync(struct space *space);
/* The same, with all that came with detours forgotten: it has no jumps. */
void windows_forget(struct space *space);

#endif

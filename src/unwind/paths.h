/* SPDX-License-Identifier: MIT
 *
 * Walks that were made before: see paths.c.
 */
#ifndef CP_UNWIND_PATHS_H
#define CP_UNWIND_PATHS_H

#include "unwind/unwind.h"

/* Walks by the own unwinder over captures of threads that are not held, each with a value that
 * stands for its frames' pcs and for how it ended. They are good for the mappings, and for the
 * rules, that the space has. */
struct cp_unwind_paths;

/* NULL without memory. */
struct cp_unwind_paths *cp_unwind_paths_create(void);
void cp_unwind_paths_destroy(struct cp_unwind_paths *paths);
/* Forgets all of them: other code may lie there now. */
void cp_unwind_paths_clear(struct cp_unwind_paths *paths);
/* Would a walk of this capture go where one went before? *value_ret: that one's. */
bool cp_unwind_paths_find(const struct cp_unwind_paths *paths,
			  const struct cp_unwind_capture *capture, uint64_t *value_ret);
/* Remembers what cp_unwind_walk() made of this capture. False: it did not go by rules alone,
 * or there is no memory. */
bool cp_unwind_paths_add(struct cp_unwind_paths *paths, struct cp_unwind_space *space,
			 const struct cp_unwind_capture *capture, const struct cp_frame *frames,
			 size_t count, enum cp_unwind_end end, uint64_t value);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Faults in covered code. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_CUTS_H
#define CP_ENGINE_FAMILIES_CUTS_H

#include <cprof/cprof.h>

struct cp_event_fault;
struct engine_cover;

/* An instruction in covered code caused a signal: cuts the block behind it. */
void engine_on_fault(cprof_session *s, cprof_process *p, const struct cp_event_fault *e);
/* At the end: warns how many faults were not seen. */
void engine_cuts_warn(cprof_session *s);
/* Places the cuts that are still needed, in an image that has its breakpoints. */
void engine_cuts_arm(cprof_image *image);
/* The cuts of a block: *first_ret in cover->cuts, and how many. */
uint32_t engine_cuts_of(const struct engine_cover *cover, uint32_t block, uint32_t *first_ret);
/* How often the block's n-th piece was executed; piece 0 is up to its first cut. */
uint64_t engine_piece_count(const cprof_session *s, const struct engine_cover *cover,
			    uint32_t block, uint32_t n);

#endif

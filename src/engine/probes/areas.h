/* SPDX-License-Identifier: MIT
 *
 * Room for slots in a process. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_AREAS_H
#define CP_ENGINE_PROBES_AREAS_H

#include <cprof/cprof.h>

/* Makes sure of room for so many slots near the image, beside those of coverage:
 * image->area. When that is another one than before, slots are forgotten. An
 * errno, or 0. */
int engine_area_map(cprof_image *image, uint64_t slots);

/* False: the process ended, executes another program or let go of the image since
 * it was heard of; what then went wrong is nobody's fault. */
bool engine_area_image_stands(const cprof_image *image);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Room for slots in a process. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_AREAS_H
#define CP_ENGINE_PROBES_AREAS_H

#include <cprof/cprof.h>

/* Makes sure that image->area, near the image, has room for so many slots beside those
 * of coverage. When it becomes another area, the slots in the one before are forgotten.
 * An errno, or 0. */
int engine_area_map(cprof_image *image, uint64_t slots);
/* Has it that already? */
bool engine_area_has(const cprof_image *image, uint64_t slots);

/* Has areas mapped, all at once, that what is mapped now in a process that has not run
 * since its exec will want, and what its program will load: as many bytes as in the last
 * process that ran these files. Each mapping is stops of the program's. */
void engine_areas_expect(cprof_process *p);

/* What mappings leave free, where nothing will grow into; `above_heap`: the heap may grow up
 * to where something is, though. */
struct engine_gap {
	uint64_t start, end;
	uint64_t until; /* where the next mapping begins that is not code without a file, as ours */
	bool above_heap;
};

/* The gaps of a process in ascending order, until `each` answers false. False: so it did,
 * or the process is gone. */
bool engine_area_gaps(const cprof_process *p, bool (*each)(void *ctx, const struct engine_gap *gap),
		      void *ctx);

/* Is the image still mapped? False: the process ended, executed another program or
 * unmapped it since, which excuses a failure. */
bool engine_area_image_stands(const cprof_image *image);

#endif

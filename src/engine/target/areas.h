/* SPDX-License-Identifier: MIT
 *
 * Areas for slots that are mapped before they are wanted, by what the last process needed
 * that ran the same files (probes/areas.c).
 */
#ifndef CP_ENGINE_TARGET_AREAS_H
#define CP_ENGINE_TARGET_AREAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* For what a program loads behind its exec. */
#define ENGINE_LATE_AREAS 4u

/* Of an ELF object: bytes of its own area, and, of a program, of those of what it loaded,
 * in that order. 0: none was needed. */
struct engine_area_sizes {
	uint64_t own, late[ENGINE_LATE_AREAS];
};

/* Mapped, and nobody's yet. */
struct engine_ready_area {
	uint64_t address, size; /* 0: none */
};

/* Of a process, since its exec. */
struct engine_areas {
	bool asked, late; /* what is needed was asked for; what was there is placed */
	uint32_t late_count; /* areas that came later */
	struct engine_ready_area spare[ENGINE_LATE_AREAS]; /* for those */
	/* What images had that are gone (probes/given_back.c). */
	CP_VEC(struct engine_ready_area) left;
	CP_VEC(uint64_t) chunks; /* of code; sorted */
};

#endif

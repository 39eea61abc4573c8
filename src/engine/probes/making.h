/* SPDX-License-Identifier: MIT
 *
 * Code of detours in the making, for an image of a process. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_MAKING_H
#define CP_ENGINE_PROBES_MAKING_H

#include "detour/space.h"
#include "engine/probes/detours.h"

struct engine_making {
	cprof_image *image; /* set by the caller, and so are `rings` and `sites` */
	struct cp_detour_space *space; /* owned */
	struct cp_detour_rings rings;
	struct engine_detour_sites *sites;
	CP_VEC(struct cp_code_detour) detours;
	CP_VEC(uint8_t) sources; /* of these */
	CP_VEC(struct cp_code_counting) countings;
	CP_VEC(struct cp_code_piece) pieces;
	CP_VEC(uint8_t) bytes;
	size_t sent; /* chunks that were mapped already, */
	CP_VEC(uint64_t) fresh; /* and which of the others will be now */
	uint32_t traced; /* the function at work */
	bool careful; /* only where nothing is mapped for long; set by the caller */
	bool failed; /* without memory */
};

/* Finds what mappings leave free. False: without memory, or the process is gone. */
bool engine_making_begin(struct engine_making *m);
void engine_making_free(struct engine_making *m);
/* Bytes that are to be written. */
void engine_making_piece(struct engine_making *m, uint64_t at, const uint8_t *code, uint32_t size);
/* A window with its place: code, and sites of the function `traced`. */
void engine_making_window(struct engine_making *m, const struct cp_detour_window *w,
			  const struct cp_detour *d, const struct cp_detour_placed *placed);
/* Has all of it mapped and written; an errno. What is made from then on comes beside it. */
int engine_making_send(struct engine_making *m);
/* The same where there is so much of it that it should not wait for the rest. */
int engine_making_send_much(struct engine_making *m);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A batch of breakpoints on its way to the tracer (link/sites.h). Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_BATCH_H
#define CP_ENGINE_PROBES_BATCH_H

#include "base/vec.h"
#include "engine/probes/detours.h"
#include "engine/probes/sites.h"

struct engine_batch {
	cprof_image *image;
	struct engine_calls *calls;
	CP_VEC(struct cp_site) sites;
	CP_VEC(struct cp_site_group) groups;
	CP_VEC(struct cp_fetch) fetches;
	CP_VEC(struct cp_window) windows;
	CP_VEC(uint8_t) code; /* CP_SLOT_SIZE a site */
	struct engine_numbers yielded; /* functions whose detours were in the way */
	bool counts; /* its sites do: faults are told of from now on */
	bool failed;
	uint64_t serial; /* of the request that it went with */
};
void engine_batch_free(struct engine_batch *b);

/* Adds a site to the batch, and its slot's code. False: no breakpoint can stand there. */
bool engine_batch_put(struct engine_batch *b, struct cp_site *out, const uint8_t *code,
		      size_t size);
/* The number of the slot of a link-time address, for ever; the first slots are reserved
 * for coverage. */
uint32_t engine_batch_slot(cprof_image *image, uint64_t address);
/* In image->slots there is, above the number, how often the image had been unmapped when the
 * site was last placed. Was that one placed since it was mapped? */
bool engine_batch_is_here(const cprof_image *image, uint64_t slot);
/* The site with that number, at run-time `address`. */
bool engine_batch_site(struct engine_batch *b, uint32_t number, uint64_t address,
		       const uint8_t *code, size_t size);
/* The same where it was planned. */
bool engine_batch_planned(struct engine_batch *b, uint32_t number);
/* Adds a function's sites. Where an exit can't have a breakpoint, the return address
 * gets one; where the entry can't, none is added. */
bool engine_batch_function(struct engine_batch *b, uint32_t number);
/* Adds what a detour has in the image, to the group that was added last. */
void engine_batch_detour(struct engine_batch *b, const struct engine_detour_site *site);
/* Adds the group of a function, without sites. */
bool engine_batch_group(struct engine_batch *b, uint32_t number);
/* Writes the batch into the plan area and has it armed; an errno, or 0. */
int engine_batch_send(struct engine_batch *b, uint32_t *armed_ret);
/* The same in two steps: in between, the tracer may not be asked for anything else. */
int engine_batch_post(struct engine_batch *b);
int engine_batch_answer(const struct engine_batch *b, uint32_t *armed_ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Values of records that go into blocks (calls/blocks.c): of sites whose values are numbers,
 * enumerators, addresses of functions and texts. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_VALUED_H
#define CP_ENGINE_PROBES_VALUED_H

#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "inspect/form.h"

/* Where a record of a site has what its form asks for. */
struct engine_valued {
	struct cp_form *form; /* owned */
	uint16_t words[CP_FORM_VALUES]; /* of numbers, and of the pointers of texts */
	uint16_t first_text; /* the word where texts begin */
	uint8_t texts[CP_FORM_VALUES]; /* items, in the order in which their texts come */
	uint8_t text_count;
};

/* How the values of the site's records are read; NULL: not so, they take the way of hits.
 * It lasts as long as the session. */
const struct engine_valued *engine_valued_of(cprof_session *s, struct engine_site *site);
void engine_valued_free(struct engine_valued *valued);

/* Is there room for the record's values, before the block is told? */
bool engine_valued_fits(const struct engine_ring *ring, const struct engine_valued *valued,
			const struct cp_record_plain *record);
/* Reads a record's values into the ring's block, where they fit. NULL: it takes the way of
 * hits. */
const cprof_value *engine_valued_read(cprof_session *s, const cprof_process *p,
				      struct engine_ring *ring, const struct engine_valued *valued,
				      const struct cp_record_plain *record, uint64_t sp);

/* Gives back what was read last: the record goes the way of hits. */
void engine_valued_drop(struct engine_ring *ring, const struct engine_valued *valued);
/* The block was told. */
void engine_valued_clear(struct engine_ring *ring);
/* Frees the block, too. */
void engine_valued_release(struct engine_ring *ring);

#endif

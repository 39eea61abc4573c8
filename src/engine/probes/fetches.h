/* SPDX-License-Identifier: MIT
 *
 * Bytes that profilers have copied at calls, beside values with types. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_PROBES_FETCHES_H
#define CP_ENGINE_PROBES_FETCHES_H

#include "engine/probes/sites.h"

/* Finds out what is to be copied of the calls of a function that is planned. */
void engine_fetches_choose(cprof_session *s, cprof_image *image, struct engine_traced *t);
/* Of a planned function: are there such, and such as are read when it is left? */
static inline bool engine_fetches(const struct engine_traced *t)
{
	return t->fetching && t->fetching->numbers.count && engine_traced_by_others(t);
}
static inline bool engine_fetches_late(const struct engine_traced *t)
{
	return engine_fetches(t) && t->fetching->late &&
	       t->flags & CPROF_CALL_INSTRUMENTATION_LEAVE;
}
/* Has its sites capture nothing, then, behind what types ask for, what is to be copied. */
void engine_fetches_clear(struct engine_calls *c, struct engine_traced *t);
void engine_fetches_set(cprof_session *s, struct engine_traced *t);
void engine_fetches_drop(struct engine_traced *t);
/* For families: what was copied at the entry by that fetch of the role's; how many bytes, 0
 * when it could not be read. */
size_t engine_fetches_of_role(cprof_session *s, const struct engine_hit *hit, size_t number,
			      const uint8_t **ret);
/* Registers (bit n: DWARF's number n) that what is copied at the site begins with. */
uint64_t engine_fetches_registers(const struct engine_calls *c, const struct engine_traced *t,
				  const struct engine_site *site);

#define ENGINE_CHAIN_MAX (CPROF_FETCH_STEPS_MAX + 2)
/* The pointers that lead to it, as fetches, of which each begins where the one before
 * leads; how many: 0 for what is in a register. *reg_ret: where it begins. */
size_t engine_fetch_chain(const cprof_fetch *what, const struct engine_site *site,
			  struct cp_fetch ret[ENGINE_CHAIN_MAX], unsigned *reg_ret);

#endif

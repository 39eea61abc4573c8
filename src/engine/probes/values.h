/* SPDX-License-Identifier: MIT
 *
 * What detours record of a site's values, and in which order. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_VALUES_H
#define CP_ENGINE_PROBES_VALUES_H

#include "arch/detour.h"
#include "engine/probes/sites.h"

/* How what is fetched stands in a record. */
enum engine_fetch_as {
	ENGINE_FETCH_WORDS, /* words of the stack */
	ENGINE_FETCH_BYTES, /* behind a word that says how it went */
	ENGINE_FETCH_STRING, /* the same, behind all that is no string */
	ENGINE_FETCH_NOT, /* a detour can't read that */
};
enum engine_fetch_as engine_fetch_as(const struct cp_fetch *fetch);
static inline unsigned engine_fetch_words(const struct cp_fetch *fetch)
{
	return (fetch->size + 7) / 8;
}

/* The values of a site's record that `list` and `uses` say, behind what it has anyway: in
 * the order of registers, vectors, what is on the x87's stack, and fetches. How many; -1: a
 * detour can't have them, or not so many. */
int engine_values_of(const struct engine_site *site, struct cp_detour_value ret[CP_DETOUR_VALUES]);
/* Words that are no strings of a record. */
unsigned engine_values_words(const struct cp_detour_record *record);
/* Does any value of the site lead somewhere? */
bool engine_values_reach(const struct engine_site *site);

#endif

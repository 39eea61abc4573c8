/* SPDX-License-Identifier: MIT
 *
 * What runs before this one reached. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_KNOWN_H
#define CP_ENGINE_FAMILIES_KNOWN_H

#include <cprof/cprof.h>

struct engine_cover;
struct engine_coverage;

/* Counts what is known of the object before it is first placed. */
void engine_cover_know(cprof_session *s, const char *build_id, struct engine_cover *cover);
void engine_known_free(struct engine_coverage *c);

#endif

/* SPDX-License-Identifier: MIT
 *
 * How the values of a site's records are read. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_VALUED_SITE_H
#define CP_ENGINE_PROBES_VALUED_SITE_H

#include "engine/probes/valued.h"

/* How they are; NULL: not so, they take the way of hits. It lasts as long as the session. */
const struct engine_valued *engine_valued_of(cprof_process *p, struct engine_site *site);
void engine_valued_free(struct engine_valued *valued);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Indirect functions: whose symbol is that of a resolver, which is called once by
 * the dynamic linker (or by a static program's start) and answers the function
 * that is to be used on this machine:
 *
 *     strlen ──► its resolver ──► __strlen_evex ──► in the global offset table
 *                     │ returned, now                       │ read, before
 *                     └──────────────► choice ◄─────────────┘
 *
 * The name of an indirect function means what was chosen. Resolvers that have not run
 * yet are watched; earlier choices stand in the process's offset tables. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_PROBES_IFUNCS_H
#define CP_ENGINE_PROBES_IFUNCS_H

#include <cprof/cprof.h>

#include "engine/probes/sites.h"

struct cp_probe_function;

struct engine_choice {
	const struct cp_probe_function *target; /* of the plans whose `choices` this is in */
	struct cp_probe_function *ifunc;
	cprof_image *image; /* an image that `ifunc` is in */
};

/* Does anybody want a function of `image` that is indirect? Then all its resolvers
 * are watched: two may choose the same. `anew`: filters have changed. */
bool engine_ifuncs_wanted(cprof_image *image, bool anew);
/* Some traced function of `image` has no types of its own: where a resolver chose it,
 * it gets those of the indirect function's name. */
void engine_ifuncs_untyped(cprof_image *image);
void engine_ifuncs_free(struct engine_ifuncs *ifuncs);
/* Traces a resolver's calls for what they return. */
void engine_ifuncs_watch(struct engine_traced *t);

#endif

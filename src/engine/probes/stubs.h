/* SPDX-License-Identifier: MIT
 *
 * Calls of library functions, by stubs and without. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_STUBS_H
#define CP_ENGINE_PROBES_STUBS_H

#include <cprof/cprof.h>

struct cp_probe_function;
struct engine_calls;
struct engine_hit;
struct engine_site;
struct engine_traced;

/* Can calls of a PLT function be seen, by a stub or without? Looks through all code of
 * the image, once, for calls without stubs. */
bool engine_is_entered(cprof_session *s, const cprof_image *image,
		       const struct cp_probe_function *f);
/* Do filters want library calls of the image, whatever their names, while none of this
 * function can be seen? */
bool engine_is_out_of_reach(cprof_session *s, const cprof_image *image,
			    const struct cp_probe_function *f);
/* A traced function got its sites: notes those that are library calls. */
void engine_note_library_calls(const struct engine_calls *c, const struct engine_traced *t,
			       uint32_t number);
/* Is there a library call at the site? */
bool engine_calls_library(const cprof_image *image, const struct engine_site *site);
/* Which one; NULL: it is none, or that is not traced by now. */
const cprof_function *engine_library_called(cprof_session *s, const cprof_image *image,
					    const struct engine_site *site);
/* The library function that the instruction at a hit calls; NULL: none. */
const cprof_function *engine_library_function(cprof_session *s, const struct engine_hit *hit);

#endif

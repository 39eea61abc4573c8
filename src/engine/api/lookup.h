/* SPDX-License-Identifier: MIT
 *
 * What questions of profilers are about that name nothing. Private to src/engine.
 */
#ifndef CP_ENGINE_API_LOOKUP_H
#define CP_ENGINE_API_LOOKUP_H

#include <cprof/cprof.h>

/* The process of the event being delivered, or the target; NULL: none. */
cprof_process *engine_asked_process(cprof_session *s);
/* Calls `cb` for each image that is mapped in that process, until it answers false. */
void engine_asked_images(bool (*cb)(cprof_image *image, void *data), void *data);

#endif

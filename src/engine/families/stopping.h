/* SPDX-License-Identifier: MIT
 *
 * Threads that are done. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_STOPPING_H
#define CP_ENGINE_FAMILIES_STOPPING_H

#include <cprof/cprof.h>

/* Raises thread_stopping, once. */
void engine_thread_stopping(cprof_session *s, cprof_thread *t);

#endif

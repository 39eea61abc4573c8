/* SPDX-License-Identifier: MIT
 *
 * Memory of the program that may hold addresses of what it allocates. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_ROOTS_H
#define CP_ENGINE_ROOTS_H

#include "engine/internal.h"

bool engine_roots_wanted(const cprof_session *s);
/* image_loaded was raised; its end is about to be. */
void engine_roots_add_image(const cprof_image *image);
void engine_roots_remove_image(const cprof_image *image);
/* thread_started was raised, or its program is another one; it is about to stop. */
void engine_roots_add_thread(cprof_thread *t);
void engine_roots_remove_thread(const cprof_thread *t);
/* Images were loaded: their thread-local variables, and those that the threads did not
 * have before. */
void engine_roots_add_locals(cprof_process *p);
/* All that are left: the process, or its program, is gone. */
void engine_roots_drop(cprof_process *p);
void engine_roots_free(struct engine_roots *roots);

#endif

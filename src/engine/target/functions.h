/* SPDX-License-Identifier: MIT
 *
 * Functions of images. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_FUNCTIONS_H
#define CP_ENGINE_TARGET_FUNCTIONS_H

#include <cprof/cprof.h>

/* The function at a link-time address of the image, made when it was not known; NULL:
 * no function is there. */
const cprof_function *engine_function_at(cprof_session *s, const cprof_image *image,
					 uint64_t address);
/* The name of the function that begins at an address of the process; NULL: none does. */
const char *engine_name_of_start(cprof_session *s, const cprof_process *p, uint64_t address);
/* Frees all functions of the session. */
void engine_functions_free(cprof_session *s);
/* The function that a line of a perf map names. Other code may have been at the same
 * address: it is the same function where name and size are the same, too. */
const cprof_function *engine_function_of_map(cprof_session *s, const cprof_image *image,
					     const char *name, uint64_t start, uint64_t size);

#endif

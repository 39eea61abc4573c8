/* SPDX-License-Identifier: MIT
 *
 * Enter and leave hooks. Private to src/engine.
 */
#ifndef CP_ENGINE_API_ELT_H
#define CP_ENGINE_API_ELT_H

struct engine_elt;

/* A profiler's enter and leave hooks. */
void engine_elt_free(struct engine_elt *elt);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Switches of fibers by the C library. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_FIBERS_H
#define CP_ENGINE_FAMILIES_FIBERS_H

#include <cprof/cprof.h>

/* The process announces switches of fibers itself: those by the C library are told no
 * more. */
void engine_fibers_announced(cprof_process *p);

#endif

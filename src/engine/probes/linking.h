/* SPDX-License-Identifier: MIT
 *
 * A program's start, up to where its libraries are there. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_LINKING_H
#define CP_ENGINE_PROBES_LINKING_H

#include <cprof/cprof.h>

/* Is the dynamic linker at work, and will its hook say when it is done? */
bool engine_is_linking(cprof_process *p);
bool engine_is_c_library(const cprof_image *image);
/* At the start nobody but the dynamic linker runs before the C library is mapped, in which
 * it is watched what the program does with SIGTRAP. The program's breakpoints wait for that:
 * if we were killed, it would have them without, and block SIGTRAP later. */
bool engine_waits_for_c_library(cprof_process *p);

#endif

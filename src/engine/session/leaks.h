/* SPDX-License-Identifier: MIT
 *
 * Programs with LeakSanitizer. Private to src/engine.
 */
#ifndef CP_ENGINE_SESSION_LEAKS_H
#define CP_ENGINE_SESSION_LEAKS_H

#include <cprof/cprof.h>

/* Was the program told to look for no leaks, when it was executed? */
bool engine_leaks_off(const cprof_process *p);
/* The process ended: warns if LeakSanitizer ended it because it is traced. */
void engine_leaks_explain(cprof_session *s, const cprof_process *p);

#endif

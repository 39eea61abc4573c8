/* SPDX-License-Identifier: MIT
 *
 * Waiting for processes that live on. Private to src/engine.
 */
#ifndef CP_ENGINE_SESSION_LINGER_H
#define CP_ENGINE_SESSION_LINGER_H

#include <cprof/cprof.h>

/* CMD has ended, and all that the ring had then was handled: is there still a process
 * to wait for? */
bool engine_lingers(cprof_session *s);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A thread that is captured on demand. Private to src/engine.
 */
#ifndef CP_ENGINE_FRAMES_TARGET_H
#define CP_ENGINE_FRAMES_TARGET_H

#include <cprof/cprof.h>

struct cp_event_sample;

/* Has a thread captured now, whatever it does: stopped and let go, or read
 * where it sleeps. The sample is to be free()d. */
cprof_status engine_capture_thread(cprof_thread *t, struct cp_event_sample **ret);

#endif

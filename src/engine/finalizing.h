/* SPDX-License-Identifier: MIT
 *
 * What is done at the end. Private to src/engine.
 */
#ifndef CP_ENGINE_FINALIZING_H
#define CP_ENGINE_FINALIZING_H

#include "engine/roles.h"

bool engine_finalizing_wanted(const cprof_session *s);
/* enum engine_role of a function of the C library. */
uint8_t engine_finalizing_role(const char *name, size_t length);

/* See roles.h; true: something was told. */
bool engine_finalizing_entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
			       struct cp_call *call);
bool engine_finalizing_ended(cprof_session *s, const struct cp_call *call);
/* The first thread of a forked process goes on with what its parent was at. */
void engine_finalizing_inherit(cprof_thread *t, const cprof_process *parent);

#endif

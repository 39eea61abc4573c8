/* SPDX-License-Identifier: MIT
 *
 * Where control comes from. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_INVOKE_H
#define CP_ENGINE_CALLS_INVOKE_H

#include <cprof/cprof.h>

/* Does any profiler want to know how calls begin that no traced code makes? */
bool engine_tells_invokes(const cprof_session *s);
/* Does a call that returns to `caller` come from code that is not traced? */
bool engine_invoked(const cprof_session *s, uint64_t caller);

#endif

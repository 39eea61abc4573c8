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
/* The call that returns there, not 0, was made by code of a file, which is not traced: *ret is
 * its image; or traced, which sets it to NULL. False: by the kernel, or that is not known. */
bool engine_invoked_by_code(cprof_process *p, uint64_t caller, const cprof_image **from_ret);
/* Would an outermost call entered at `sp` be what the thread was started with? */
bool engine_starts_thread(const cprof_thread *t, uint64_t sp);

#endif

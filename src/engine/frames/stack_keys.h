/* SPDX-License-Identifier: MIT
 *
 * Keys of stacks that were walked before, for who asks by the thousand. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_FRAMES_STACK_KEYS_H
#define CP_ENGINE_FRAMES_STACK_KEYS_H

#include <cprof/cprof.h>

struct cp_unwind_capture;

/* Are there such of the process, whose texts are what they were? Good until profilers are told
 * of something; `now_ns`: of what is told. */
bool engine_stacks_known(cprof_session *s, cprof_process *p, uint64_t now_ns);
/* The key of a stack that a detour recorded, as cprof_current_stack_key() would tell it; false:
 * it was not walked before. After engine_stacks_known(). */
bool engine_stack_key(const cprof_process *p, const struct cp_unwind_capture *capture,
		      uint64_t *key_ret);

#endif

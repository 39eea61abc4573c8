/* SPDX-License-Identifier: MIT
 *
 * Why a process can't be profiled. Private to src/engine.
 */
#ifndef CP_ENGINE_SESSION_EXPLAIN_H
#define CP_ENGINE_SESSION_EXPLAIN_H

#include <sys/types.h>

struct cp_answer;
struct cp_error;

/* The error that says why attaching to `pid` was refused, with a hint. */
struct cp_error *engine_explain_attach(pid_t pid, const struct cp_answer *answer);
/* An error if the process runs a program of another ISA or word size. */
struct cp_error *engine_check_isa(pid_t pid);
/* An error if attaching is not even to be tried. Also finds the thread group of a
 * thread. */
struct cp_error *engine_check_target(pid_t pid, pid_t *tgid_ret);
/* An error if processes that `tracer`, which has attached to `pid`, does not trace share its
 * memory: no breakpoint may be placed. */
struct cp_error *engine_check_alone(pid_t pid, pid_t tracer);

#endif

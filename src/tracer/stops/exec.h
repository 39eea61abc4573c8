/* SPDX-License-Identifier: MIT
 *
 * A program takes the place of another one.
 */
#ifndef CP_TRACER_EXEC_H
#define CP_TRACER_EXEC_H

#include <stdbool.h>

struct thread;
struct tracer;

/* At the event of an exec, which is `t`'s. False: it is traced no more. */
bool exec_done(struct tracer *tr, struct thread *t);
/* Tells the controller. */
void exec_announce(struct tracer *tr, struct thread *leader);

enum exec_next { EXEC_GOES, EXEC_HELD, EXEC_GONE };

/* The first stop of a new program, before its first instruction: breakpoints
 * may be wanted in it. */
enum exec_next exec_begin(struct tracer *tr, struct thread *t);

#endif

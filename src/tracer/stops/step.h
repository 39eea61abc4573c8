/* SPDX-License-Identifier: MIT
 *
 * A program that steps through itself, by the trap flag.
 */
#ifndef CP_TRACER_STEP_H
#define CP_TRACER_STEP_H

#include <stdbool.h>

struct thread;

/* A thread has got this signal for a step in code of ours: it goes on, and the program does
 * not get to know. False: it is not that. */
bool step_goes_on(const struct thread *t, int signal);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Stops that belong to detours.
 */
#ifndef CP_TRACER_HITS_DETOUR_H
#define CP_TRACER_HITS_DETOUR_H

#include <stdbool.h>

#include "tracer/hits/hit.h"

struct at;
struct thread;

/* At a breakpoint of SITE_PASSIVE, right behind which the thread stands: it goes on in
 * the detour, or, without a ring, gets one and comes to the window again. */
enum hit detour_serve(struct tracer *tr, struct at *at, uint16_t *flags);
/* A thread that got SIGILL for a jump's byte that is no instruction, or SIGSEGV for a
 * pointer that was followed for a record, goes on. False: it is the program's own. */
bool detour_fault(struct thread *t, int signal);
/* A thread that came to a detour with a base of its own (code made at run time set it), or
 * with too little stack, is led out, and the controller told, which takes the detours out. False: it is not that. */
bool detour_base_fault(struct tracer *tr, struct thread *t, int signal);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Jumps of detours come and go while who runs is held.
 */
#ifndef CP_TRACER_JUMPS_H
#define CP_TRACER_JUMPS_H

#include <stdbool.h>

struct injection;
struct space;
struct tracer;
struct windows_which;

/* Breakpoints of windows become jumps, as far as that can be. */
void jumps_in(struct tracer *tr, struct space *space);
/* And breakpoints again. */
void jumps_out(struct tracer *tr, struct space *space, const struct windows_which *which);
/* At the end, when nobody is in any: the memory that they had goes, as far as nobody may
 * have it yet. */
void jumps_unmap(struct tracer *tr, struct injection *in);
/* Those that a killed cprof left, with who is held by `in`. False: somebody is in the code
 * that they led to, and needs the handler until he has come out of it. */
bool jumps_out_left(struct tracer *tr, struct injection *in);
/* Who is held, with `in`, is led out of detours; at the end, and has no ring any more. */
void jumps_lead_out(struct tracer *tr, struct injection *in);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What is to be placed in a process is worked out while the process is held: half a minute for
 * two hundred thousand functions. Meanwhile somebody wants to hear how far that is, and whoever
 * asks the program to end does not want to wait for it. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_HASTE_H
#define CP_ENGINE_PROBES_HASTE_H

#include <cprof/cprof.h>
#include <stdbool.h>
#include <stddef.h>

/* The process is being prepared from now on, ... */
void engine_haste_begin(cprof_process *p);
/* ... and is not any more. */
void engine_haste_end(cprof_process *p);
/* The symbols of an image of that process are about to be read, and how many functions it has is
 * not known before: who wants to hear is told of 0 of 0, at once where the file is large. */
void engine_haste_reads(const cprof_image *image);
/* Functions are planned, then those that were chosen have detours made. */
enum engine_haste_step { ENGINE_HASTE_PLANS, ENGINE_HASTE_DETOURS };
/* Called for each of `of` functions of an image that is being prepared, of which `done` are with
 * this step; of an image of a process that is not, it answers true. False: what was not prepared
 * until now is put off, for the session is to end, the process has ended, or SIGTERM, SIGINT,
 * SIGHUP or SIGQUIT has waited a second for it to go on. */
bool engine_haste_allows(const cprof_image *image, enum engine_haste_step step, size_t done,
			 size_t of);
/* Does it still? */
bool engine_haste_allowed(const cprof_process *p);
/* Whether preparing was left before all was placed, as of now: it may be taken up again. */
void engine_haste_cut(cprof_process *p, bool cut);
/* At the session's end: says where it was left for good. */
void engine_haste_warn(cprof_session *s);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Memory in a process that images which were unmapped had: for those that come. Private
 * to src/engine.
 */
#ifndef CP_ENGINE_PROBES_GIVEN_BACK_H
#define CP_ENGINE_PROBES_GIVEN_BACK_H

#include <cprof/cprof.h>

/* The code of an image is no longer mapped, nor anything in its place: nobody is in its slots or
 * in what its detours are made of, which the process keeps for the next one. */
void engine_room_give_back(cprof_image *image);
/* The same of code alone, which nothing leads to yet. */
void engine_room_give_code_back(cprof_image *image);

/* Threads may still be in the image's code: what is there stays as it is. */
void engine_room_leave(cprof_image *image);
/* Is that chunk of code kept? It is mapped. */
bool engine_room_has_chunk(const cprof_process *p, uint64_t address);
/* It is an image's from now on. */
void engine_room_take_chunk(cprof_image *image, uint64_t address);
/* A forked process has what its parent kept. */
void engine_room_inherit(cprof_process *p, const cprof_process *parent);

#endif

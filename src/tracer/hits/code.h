/* SPDX-License-Identifier: MIT
 *
 * What detours need in the program: their rings and their code.
 */
#ifndef CP_TRACER_CODE_H
#define CP_TRACER_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct cp_answer;
struct cp_request;
struct thread;
struct tracer;

/* *fd_ret: to be handed over and closed, or -1. */
void code_rings(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret, int *fd_ret);
/* The thread, which is stopped, has that ring mapped, too; with the last one, others behind it,
 * if that is easily had. False: it can't be. */
bool code_reach_ring(struct tracer *tr, struct thread *t, uint32_t ring);
void code_place(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What detours need in the program: their rings and their code.
 */
#ifndef CP_TRACER_CODE_H
#define CP_TRACER_CODE_H

struct cp_answer;
struct cp_request;
struct tracer;

/* *fd_ret: to be handed over and closed, or -1. */
void code_rings(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret, int *fd_ret);
void code_place(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);

#endif

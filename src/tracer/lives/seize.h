/* SPDX-License-Identifier: MIT
 *
 * Taking hold of threads.
 */
#ifndef CP_TRACER_SEIZE_H
#define CP_TRACER_SEIZE_H

struct cp_answer;
struct cp_request;
struct tracer;

void seize_launch(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
void seize_attach(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Batches of breakpoints, as requests bring them.
 */
#ifndef CP_TRACER_BATCH_H
#define CP_TRACER_BATCH_H

struct cp_answer;
struct cp_request;
struct tracer;

void batch_arm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
void batch_disarm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
void batch_disarm_group(struct tracer *tr, const struct cp_request *rq);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The switch of the program's own annotations.
 */
#ifndef CP_TRACER_ANNOTATE_H
#define CP_TRACER_ANNOTATE_H

struct cp_answer;
struct cp_request;
struct space;
struct tracer;

/* Has the program's annotations recorded. */
void annotate(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
/* In all of the space, no more. */
void annotate_end(struct space *space);

#endif

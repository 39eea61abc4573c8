/* SPDX-License-Identifier: MIT
 *
 * Samples without stops: events are opened, begun and closed.
 */
#ifndef CP_TRACER_PERF_H
#define CP_TRACER_PERF_H

#include "link/link.h"

struct tracer;

/* Prepares samples at rq->hz of all threads that are traced, and of those that they will
 * bring forth; says in `ret` why not (link/perf.h). Without a pid it only finds out. */
void perf_open(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
/* Begins, or pauses; closes all where the request asks for what can't be so. */
void perf_set(struct tracer *tr, const struct cp_request *rq);
/* Adds up how often the event was that samples are of. */
void perf_totals(struct tracer *tr);
/* No samples any more; what there are were told. */
void perf_close(struct tracer *tr);

#endif

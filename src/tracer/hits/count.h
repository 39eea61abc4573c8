/* SPDX-License-Identifier: MIT
 *
 * Hits of coverage.
 */
#ifndef CP_TRACER_COUNT_H
#define CP_TRACER_COUNT_H

#include <stdbool.h>

struct at;
struct tracer;

/* Counts at all sites here that count. True: some are not needed any more.
 * *events_ret: there are others; *hold_ret: the thread is to be held until the controller
 * has come to what it was told. */
bool count_here(struct tracer *tr, struct at *at, bool *events_ret, bool *hold_ret);

#endif

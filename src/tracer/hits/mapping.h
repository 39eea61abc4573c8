/* SPDX-License-Identifier: MIT
 *
 * Memory in the program for areas.
 */
#ifndef CP_TRACER_MAPPING_H
#define CP_TRACER_MAPPING_H

#include <stdint.h>

struct cp_answer;
struct cp_request;
struct injection;
struct tracer;

void mapping_request(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret);
/* Maps an area at *at, or, with 0, anywhere; then *at is where. errno or 0. */
int mapping_make(struct injection *in, uint64_t *at, uint64_t size);

#endif

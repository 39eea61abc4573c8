/* SPDX-License-Identifier: MIT
 *
 * Breakpoints and jumps that are not there any more, though nobody took them out.
 */
#ifndef CP_TRACER_GONE_H
#define CP_TRACER_GONE_H

#include <stdint.h>

struct process;
struct tracer;

/* Looks at some of them, of each process about once a second, and tells if one is gone. */
void gone_look(struct tracer *tr, uint64_t now);
/* The same of one that is about to end. */
void gone_look_last(struct tracer *tr, const struct process *p);

#endif

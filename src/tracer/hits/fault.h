/* SPDX-License-Identifier: MIT
 *
 * An instruction failed in a program whose coverage is measured.
 */
#ifndef CP_TRACER_FAULT_H
#define CP_TRACER_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct thread;
struct tracer;

/* At a signal that the thread is about to get: true where that is told, and the thread
 * is to be held, with its signal. */
bool fault_tell(struct tracer *tr, struct thread *t, int signal, uint64_t seen_ns);

#endif

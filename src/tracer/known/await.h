/* SPDX-License-Identifier: MIT
 *
 * Waiting for the stop of one thread.
 */
#ifndef CP_TRACER_AWAIT_H
#define CP_TRACER_AWAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The status of its stop, signal | event << 8; it is not consumed. -1: it did
 * not stop in time, or is gone. */
int await_stop(pid_t tid, uint64_t ns);
/* The same of a stop that is sure to come, or its end: where its registers are ours until
 * then, it is waited for, however long the machine lets it wait. */
int await_certain(pid_t tid);
/* Is that a stop where signals are handled, as an interrupt makes it? */
bool await_is_event(int status);
/* The stop that is there: it is not reported again, though the thread stays stopped. */
void await_consume(pid_t tid);

#endif

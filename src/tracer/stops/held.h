/* SPDX-License-Identifier: MIT
 *
 * Threads that are left stopped on purpose.
 */
#ifndef CP_TRACER_HELD_H
#define CP_TRACER_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

struct thread;
struct tracer;

#define HELD_NS (2 * CP_NS_PER_S)
/* Reading a program or a library for the first time may take a while: as long
 * as the controller works on it, or for a time without, for slow disks. */
#define HELD_READ_NS (120 * CP_NS_PER_S)
#define HELD_UNTIL_TOLD UINT64_MAX /* in the ring: until held_told() says how long */

/* Leaves a thread stopped until the controller has passed a place in the ring, for `ns`
 * at most; HELD_READ_NS: it reads what the thread is about to run. False: the thread
 * can't be left so, or the controller has. */
bool held_until(struct tracer *tr, struct thread *t, uint64_t until_tail, uint64_t ns);
/* Threads that are held until told go when the ring was read so far. */
void held_told(struct tracer *tr, uint64_t tail);
/* At the event of a birth: holds the parent until the child was seen, where that
 * matters. False: it goes on. */
bool held_for_birth(struct tracer *tr, struct thread *t);
/* A newborn has stopped, or is gone. */
void held_newborn_seen(struct tracer *tr, pid_t tid);
/* Lets held threads go whose time has come; or of those alone that wait for a child. */
void held_release(struct tracer *tr);
void held_release_parents(struct tracer *tr);

#endif

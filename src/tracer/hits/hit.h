/* SPDX-License-Identifier: MIT
 *
 * A thread ran into a breakpoint.
 */
#ifndef CP_TRACER_HIT_H
#define CP_TRACER_HIT_H

#include <stdint.h>

struct thread;
struct tracer;

enum hit {
	HIT_NONE, /* not a breakpoint of ours */
	HIT_DONE, /* captured, and the registers are set for the thread to go on */
	HIT_FULL, /* it stays as it is: there is no room in the ring */
};

/* The controller reads what the thread is about to run: it is held until then. */
#define HIT_HOLD 0x8000u

/* `seen_ns`: when the stop was seen. *flags_ret, of a hit that is done: CP_HIT_* of what
 * was captured, and HIT_HOLD. */
enum hit hit_serve(struct tracer *tr, struct thread *t, uint64_t seen_ns, uint16_t *flags_ret);

#endif

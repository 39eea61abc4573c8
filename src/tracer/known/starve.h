/* SPDX-License-Identifier: MIT
 *
 * Threads that do nothing any more but to handle signals, because of our stops.
 */
#ifndef CP_TRACER_STARVE_H
#define CP_TRACER_STARVE_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

#define STARVE_PLACES 8u

/* What tells that a thread gets nowhere. */
struct starve {
	/* The places at which it was when it got signals, by their numbers. */
	struct starve_place {
		uint64_t registers, sp; /* the first is a hash of all of them; 0: none */
		bool moved; /* since then a breakpoint was hit by what was interrupted */
	} places[STARVE_PLACES];
	int signal; /* the last one that it got */
	bool suspect; /* it was where the one before had found it */
	bool looks; /* at whether the next one waits */
	bool waits; /* the next one waited while a breakpoint of its handler was served */
	bool hit; /* some breakpoint was, since then */
	bool found; /* what is hit most often is to go */
	uint64_t hit_sp, found_sp; /* of the last hit; where the last signal found it */
	uint32_t nested; /* signals in a row that found handlers not left, each deeper */
	uint32_t most, votes; /* that group, by majority vote */
	uint32_t deliveries, still; /* since since_ns; those that found it where it was */
	uint64_t since_ns, window_ns;
};

/* A breakpoint was hit. */
void starve_hit(struct thread *t, uint64_t sp);
/* The thread enters a function of the group with this id. True: the group is to be given up. */
bool starve_enters(struct thread *t, uint32_t group);
/* A signal is about to be delivered, and the thread's registers are its own. */
void starve_signal(struct thread *t, int signal, uint64_t now_ns);
/* Another program: nothing is known of it. */
void starve_forget(struct thread *t);

#endif

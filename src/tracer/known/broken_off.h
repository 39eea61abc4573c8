/* SPDX-License-Identifier: MIT
 *
 * What is kept of a thread's system calls that were interrupted.
 */
#ifndef CP_TRACER_BROKEN_OFF_H
#define CP_TRACER_BROKEN_OFF_H

#include <stdbool.h>
#include <stdint.h>

/* A system call that was made to start again (calls/restart.c). */
struct restart {
	bool pending; /* not yet known to have started again */
	int64_t nr;
	uint64_t pc, sp;
};

/* A call with a time limit that was interrupted: the kernel goes on with what is left of the
 * time in another call, which does not say what it stands for. */
struct nap {
	int64_t nr;
	uint64_t pc, sp; /* 0: none */
};

/* Calls at whose borders it stops (calls/watch.c). */
struct watch {
	uint32_t calls; /* the next ones; 0: none */
	int signal; /* the ignored one that others took last */
	bool passes; /* the end of the call under way, from its beginning on */
	uint64_t since_ns; /* when the call under way was made; 0: that was not seen */
};

#endif

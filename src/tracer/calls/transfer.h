/* SPDX-License-Identifier: MIT
 *
 * System calls that return less than they were asked for because a stop, or a
 * signal that the program ignores, came in between.
 */
#ifndef CP_TRACER_TRANSFER_H
#define CP_TRACER_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "tracer/known/state.h"

#define TRANSFER_VECTORS 1024 /* as many as the kernel takes */
#define TRANSFER_FOREVER UINT64_MAX /* a deadline that is none */

struct transfer {
	int64_t nr;
	uint64_t args[6]; /* as the program made the call */
	uint64_t done; /* of it, so far */
	uint64_t deadline_ns; /* of a call that waits, its time limit; 0: a transfer */
	uint64_t tell; /* cp_finish_record.tell */
};

/* The call for the rest. */
struct transfer_rest {
	uint64_t args[6];
	/* To be put into memory for it: args[1] is the address of `message` if that is
	 * `given`, and otherwise, where there are vectors, of those. */
	bool given;
	struct msghdr message; /* msg_iov is to be set */
	int limit_arg; /* args[] of a time limit in memory, that is `limit`; -1: there is none */
	struct timespec limit;
	size_t vector_count;
	struct iovec vectors[TRANSFER_VECTORS];
};

enum transfer_cut {
	TRANSFER_WHOLE, /* or it is short for reasons of its own */
	TRANSFER_REST, /* the rest is to be done */
	TRANSFER_LOST, /* that can't be made with another call */
};

/* May this system call be cut short? */
bool transfer_may_be(int64_t nr);
/* Looks at a call of `t`, which is stopped and whose memory is open. `*ret` is
 * filled for TRANSFER_REST. */
enum transfer_cut transfer_look(const struct thread *t, const struct transfer *call,
				struct transfer_rest *ret);
/* The same of a call that ended with -EINTR: does it wait for something else, up to a time
 * limit or for ever? Without call->deadline_ns the limit counts from now on, and is set. */
bool transfer_limit(const struct thread *t, struct transfer *call, struct transfer_rest *ret);

#endif

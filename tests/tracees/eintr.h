/* SPDX-License-Identifier: MIT
 *
 * The parts of eintr.c: its calls are in two tables, those on descriptors and
 * the others.
 */
#ifndef EINTR_H
#define EINTR_H

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "tracee.h"

#define NAP_NS 30000000 /* the timeout of calls that have one */

struct slot {
	const struct call *call;
	pthread_t thread;
	_Atomic pid_t tid;
	atomic_bool entered, done;
	atomic_long interrupted;
	int fd[2], aux;
	pid_t child;
	int id; /* System V */
	aio_context_t aio;
	struct io_uring_params ring;
	union {
		pthread_mutex_t mutex;
		sem_t sem;
		uint32_t futex;
	} u;
	pthread_cond_t cond;
	char path[96];
	volatile sig_atomic_t handled;
};

struct call {
	const char *name;
	/* What each does: see eintr.c. */
	bool (*prepare)(struct slot *); /* false: not to be had here */
	long (*block)(struct slot *);
	void (*release)(struct slot *); /* NULL: the call times out by itself */
	long want;
};

extern const struct call descriptor_calls[], other_calls[];
extern const size_t descriptor_call_count, other_call_count;

extern atomic_bool stop;
extern __thread struct slot *self;
extern char scratch[32]; /* a directory of our own */

static inline long result(long r)
{
	return r == -1 ? -errno : r;
}

#endif

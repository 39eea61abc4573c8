/* SPDX-License-Identifier: MIT */
#ifndef CP_BASE_THREAD_H
#define CP_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

#include "base/stack.h"

/* Starts a thread with a stack of CP_STACK_SIZE, whatever the limit is, and with all signals
 * blocked: they are for others, and a closed pipe or a full file answers it with an error
 * instead. 0, or an errno as pthread_create() has it. */
static inline int cp_thread_start(pthread_t *thread, void *(*run)(void *), void *data)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int errnum = pthread_attr_init(&attr);

	if (errnum)
		return errnum;
	pthread_attr_setstacksize(&attr, CP_STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errnum = pthread_create(thread, &attr, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return errnum;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CP_BASE_THREAD_H
#define CP_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread with all signals blocked: they are for others, and a closed pipe or a full
 * file answers it with an error instead. 0, or an errno as pthread_create() has it. */
static inline int cp_thread_start(pthread_t *thread, void *(*run)(void *), void *data)
{
	sigset_t all, before;
	int errnum;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errnum = pthread_create(thread, NULL, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return errnum;
}

#endif

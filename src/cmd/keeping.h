/* SPDX-License-Identifier: MIT
 *
 * What is written to the terminal while that shows something else: by CMD, whose standard
 * output and error are ours, and by cprof itself. It goes to a file without a name, so nobody
 * ever waits for us, and nobody gets SIGPIPE should cprof be killed; afterwards it is shown.
 */
#ifndef CP_CMD_KEEPING_H
#define CP_CMD_KEEPING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct cp_keeping {
	int terminal; /* what is drawn on; -1: nothing is kept */
	int file;
	int saved[3]; /* standard descriptors that were terminals; -1: this one was none */
	int end; /* eventfd: no more is to be shown */
	uint64_t shown; /* bytes of the file */
	pthread_t follower;
	bool follows;
};

/* Standard output and error, as far as they are terminals, lead to the file from now on. False:
 * they can't, and nothing has changed. */
bool cp_keeping_begin(struct cp_keeping *k);
/* Around the making of CMD: of a terminal it reads nothing, whose keys are the view's. */
void cp_keeping_hide_input(struct cp_keeping *k);
void cp_keeping_show_input(struct cp_keeping *k);
/* Appends the end of what was written. Any thread. */
void cp_keeping_read(const struct cp_keeping *k, struct cp_buf *out);
/* The terminal is free: shows what was written, and until cp_keeping_end() what will be. Standard
 * descriptors are what they were. */
void cp_keeping_release(struct cp_keeping *k);
void cp_keeping_end(struct cp_keeping *k);
/* The first part of cp_keeping_release(), from a signal handler. */
void cp_keeping_abandon(void);

#endif

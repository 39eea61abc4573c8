/* SPDX-License-Identifier: MIT
 *
 * What a descriptor shows to: a person's terminal or a program. The rooms
 * below are told the width and whether to colour; they never look themselves.
 */
#ifndef CP_CMD_TERMINAL_H
#define CP_CMD_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"

struct cp_terminal {
	bool is_terminal;
	bool color; /* a terminal that is not dumb, and NO_COLOR is not set */
	unsigned columns; /* 0: no limit. $COLUMNS, else the terminal's width */
};

struct cp_terminal cp_terminal_of(int fd);

/* Can it be drawn on: a terminal that moves its cursor, and we are in the foreground? From the
 * background it would stop us, or go across what somebody types. */
bool cp_terminal_is_drawable(int fd);

/* Does the locale have no more than ASCII? */
bool cp_terminal_is_ascii(void);
/* Writes text for a person, as the locale can have it; false: it could not. */
bool cp_terminal_print(FILE *to, const struct cp_buf *text);

/* While a pager is open, standard output goes to it. */
struct cp_pager {
	pid_t pid; /* 0: none was started */
	int saved_fd; /* what standard output was */
};

/* Starts $CPROF_PAGER, $PAGER or less when standard output is a terminal;
 * otherwise, or when it can't be started, output goes on as it was. */
struct cp_pager cp_pager_open(void);
/* Flushes, puts standard output back, waits until the person has read. */
void cp_pager_close(struct cp_pager *pager);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Expressions that are looked at again and again, and what they were the last time.
 */
#ifndef CP_CMD_INSPECT_WATCHED_H
#define CP_CMD_INSPECT_WATCHED_H

#include <time.h>

#include "cmd/inspect_show.h"

/* What an expression is of a thread, or that there is no such frame. */
struct cp_watched_row {
	pid_t key; /* of the thread, where several are meant */
	int expression; /* number of the operand; 0: that there is no frame */
	struct cp_buf last, now; /* as it was shown, and as it is */
	struct cp_error *err; /* owned: why it can't be */
	pid_t tid;
	bool fresh; /* it was looked at in this round */
	struct timespec at;
};

struct cp_watched {
	CP_VEC(struct cp_watched_row) rows;
	bool again; /* it is not the first round */
	int status; /* of the first round */
};

/* Looks at all expressions, of the thread and frame that are chosen; a look for the same
 * thread in the same round replaces the one before. */
void cp_watched_look(struct cp_inspect *i);
/* What this round's looks at the thread (0: at any) have seen does not count: it woke up. */
void cp_watched_drop(struct cp_inspect *i, pid_t tid);
/* No thread has the frame that is wanted. */
void cp_watched_lacks(struct cp_inspect *i, const char *why);
/* The round is over: shows what changed. An error where nothing can be shown any more. */
CP_ERROR cp_watched_tell(struct cp_inspect *i);
void cp_watched_free(struct cp_watched *w);

#endif

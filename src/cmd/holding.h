/* SPDX-License-Identifier: MIT
 *
 * Threads that are looked at while they stand still: see holding.c.
 */
#ifndef CP_CMD_HOLDING_H
#define CP_CMD_HOLDING_H

#include "base/vec.h"
#include "cmd/leaves.h"

struct cp_leaves {
	CP_VEC(struct cp_leaf) list; /* by tid; what they borrow is the taker's */
};

struct cp_holding {
	struct cprof_session *session; /* attached; NULL: not yet */
	pid_t pid;
	const pid_t *tids; /* that are wanted, borrowed */
	size_t count;
	bool stop; /* also who sleeps */
	bool rehearses; /* nobody is held */
	bool may_end; /* that the process has ended is nothing to complain of */
	/* Called once while all that ran stand still, for two seconds at most. */
	void (*look)(void *ctx, const struct cp_leaves *leaves, bool held);
	void *ctx;
	struct cp_leaves leaves; /* owned, with copies of vector registers */
	bool looked;
};

/* Has everybody stand still and be looked at. False after a complaint. */
bool cp_hold(struct cp_holding *holding);
void cp_holding_end(struct cp_holding *holding);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What somebody does beside a session that run or attach make, at its turning points.
 */
#ifndef CP_CMD_WATCHING_H
#define CP_CMD_WATCHING_H

#include <cprof/session.h>
#include <stdbool.h>

struct cp_watching {
	/* Before the target is there: profilers are made here. False: it can't be, which was
	 * said. */
	bool (*prepare)(cprof_session *session, void *data);
	/* Around the making of CMD, whose descriptors are ours meanwhile; NULL: nothing. */
	void (*launching)(void *data);
	void (*launched)(void *data);
	/* The target is there; cprof_session_run() comes next, and has returned. */
	void (*begins)(cprof_session *session, void *data);
	void (*ends)(void *data);
	void *data;
};

#endif

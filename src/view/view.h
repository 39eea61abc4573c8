/* SPDX-License-Identifier: MIT
 *
 * The live view: whose it is, and what all ways of showing it have in common.
 */
#ifndef CP_VIEW_H
#define CP_VIEW_H

#include "base/buf.h"
#include "live/live.h"
#include "view/rows.h"

struct cp_view {
	struct cp_live *sums; /* borrowed */
	const char *program; /* borrowed, untrusted */
	int32_t pid;
	uint32_t hz; /* samples a second; 0: none */
	bool wall; /* they are of elapsed time */
	bool launched; /* by us */
	bool kinds[CP_LIVE_KINDS]; /* what is collected */
	struct cp_view_rows functions, threads; /* made anew each time */
};

void cp_view_deinit(struct cp_view *v);

/* Of the rows that were made last: "redis-server (123), 12 s: CPU 99.2%, 4 threads". */
void cp_view_add_program(const struct cp_view *v, struct cp_buf *out);
/* "profiling: CPU 0.9%, stopped 0.2%, 99 samples/s", in the last seconds or since the
 * start. */
void cp_view_add_cost(const struct cp_view *v, bool last, struct cp_buf *out);
/* "runnable", "sleeping", ... as the kernel says it now; "gone". */
const char *cp_view_state(const struct cp_live_thread *thread);
/* A percentage in six columns; of nothing it is none. */
void cp_view_add_share(struct cp_buf *out, uint64_t part, uint64_t whole);

#endif

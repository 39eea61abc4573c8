/* SPDX-License-Identifier: MIT */
#include "cmd/inspect_watch.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cmd/inspect_frames.h"
#include "cmd/inspect_watched.h"
#include "cmd/reports.h"

#define STAT_VSIZE 23
#define STAMP 13 /* columns of "12:34:56.789 " */

/* Has the process ended before `ns` are over? */
static bool ends_within(int pidfd, uint64_t ns)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	const struct timespec time = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	return ppoll(&end, 1, &time, NULL) > 0;
}

/* Is its memory gone? It ends: that can be known only a moment later (ends_within()), and what
 * was unreadable meanwhile says nothing of what it was. */
static bool is_empty(pid_t pid)
{
	char size[32];

	return !cp_file_stat_field(pid, STAT_VSIZE, size, sizeof(size)) || !strcmp(size, "0");
}

/* False after a complaint: no other look can do better. */
static bool look(struct cp_inspect *i)
{
	const pid_t *tid;

	if (i->o->frame || i->o->stop) {
		i->status = CP_EXIT_OK;
		cp_inspect_frames(i);
		return i->status == CP_EXIT_OK;
	}
	cp_vec_for_each(&i->threads.list, tid) {
		i->in.tid = *tid;
		cp_watched_look(i);
	}
	return true;
}

int cp_inspect_watch(struct cp_inspect *i)
{
	int pidfd = (int)syscall(SYS_pidfd_open, i->in.pid, 0);
	struct cp_watched watched = { .status = CP_EXIT_OK };
	struct cp_error *err = NULL;
	bool looked = true;

	i->look.columns = i->look.columns > STAMP + 40 ? i->look.columns - STAMP : i->look.columns;
	i->watched = &watched;
	if (pidfd < 0)
		err = cp_error_new(CP_ERR_GONE, errno, "process %d", (int)i->in.pid);
	while (!err) {
		looked = look(i);
		if (watched.again && is_empty(i->in.pid))
			break;
		err = cp_watched_tell(i);
		if (!looked || ends_within(pidfd, i->o->watch_ns))
			break;
	}
	/* What could not be looked at because the process ended is no failure. */
	if (!err && !looked && !ends_within(pidfd, 0))
		watched.status = i->status;
	i->watched = NULL;
	cp_watched_free(&watched);
	cp_close_fd(&pidfd);
	return err ? cp_reports_fail(err) : watched.status;
}

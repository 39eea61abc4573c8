/* SPDX-License-Identifier: MIT
 *
 * Who else has a process's memory. Of those that are born to a traced thread the
 * kernel tells; those that were there before are found by asking kcmp() of each
 * process that there is, which takes three microseconds each.
 *
 * Where kcmp() may not say (another user's process), what anybody may read decides: a
 * process of the same session whose memory has just the same sizes, however often
 * it is looked at.
 */
#include "tracer/known/sharers.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/vec.h"
#include "tracer/known/proc.h"

#define SESSION_FIELD 6 /* of /proc/PID/stat */
#define STATE_FIELD 3
#define SIZES_LOOKS 3
/* For a child of vfork() to be on its own, or its parent to wait for it. */
#define TRIES 20
#define NAP_NS CP_NS_PER_MS

static int compare_memory(pid_t a, pid_t b)
{
	return (int)syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
}

/* ---- without kcmp() ---- */

static bool looks_the_same(pid_t a, pid_t b)
{
	char x[160], y[160];
	int i;

	if (!cp_file_stat_field(a, SESSION_FIELD, x, sizeof(x)) ||
	    !cp_file_stat_field(b, SESSION_FIELD, y, sizeof(y)) || strcmp(x, y) != 0)
		return false;
	for (i = 0; i < SIZES_LOOKS; i++)
		if (!proc_read(a, "statm", x, sizeof(x)) || !proc_read(b, "statm", y, sizeof(y)) ||
		    strcmp(x, y) != 0)
			return false;
	return true;
}

/* ---- who shares ---- */

static bool has_memory(pid_t tid)
{
	return !proc_has_ended(tid);
}

/* A thread that has memory: a leader that has ended has none, as a kernel's thread. */
static pid_t with_memory(pid_t pid)
{
	return has_memory(pid) ? pid : proc_find_task(pid, has_memory);
}

/* Has the process more threads than one, so that its leader may be gone? */
static bool has_threads(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return !stat(path, &st) && st.st_nlink > 3; /* ".", "..", and one for each */
}

static bool shares(pid_t known, pid_t pid)
{
	pid_t tid = has_threads(pid) ? with_memory(pid) : pid;
	int order = tid ? compare_memory(known, tid) : 1;

	return !order ||
	       (order < 0 && (errno == EPERM || errno == EACCES) && looks_the_same(known, pid));
}

/* Does the thread wait until a child executes or exits? */
static bool waits_for_child(pid_t tid)
{
	char state[4], call[32];
	long nr;

	if (!cp_file_stat_field(tid, STATE_FIELD, state, sizeof(state)) || *state != 'D' ||
	    !proc_read(tid, "syscall", call, sizeof(call)))
		return false;
	nr = strtol(call, NULL, 10);
#ifdef SYS_vfork
	if (nr == SYS_vfork)
		return true;
#endif
	return nr == SYS_clone || nr == SYS_clone3;
}

/* How many threads of the process do. */
static size_t waiting_in(pid_t pid)
{
	char path[64];
	struct dirent *e;
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		count += atoi(e->d_name) > 0 && waits_for_child(atoi(e->d_name));
	if (dir)
		closedir(dir);
	return count;
}

/* ---- all of them ---- */

struct sharer {
	pid_t pid, parent;
};

struct sharers {
	CP_VEC(struct sharer) list;
};

/* All that share the memory but are not traced by `tracer`. */
static void look(pid_t pid, pid_t tracer, struct sharers *all)
{
	pid_t known = with_memory(pid), other;
	DIR *dir = known ? opendir("/proc") : NULL;
	struct proc_group group;
	struct dirent *e;

	all->list.count = 0;
	while (dir && (e = readdir(dir))) {
		other = atoi(e->d_name);
		if (other <= 0 || other == pid || !shares(known, other) ||
		    proc_tracer_of(other) == tracer || !proc_group(other, &group))
			continue;
		if (!cp_vec_push(&all->list, ((struct sharer){ other, group.parent })))
			cp_debug("no memory to remember process %d", (int)other);
	}
	if (dir)
		closedir(dir);
}

/* Takes out children that are waited for: no more than threads of `pid` wait. What has
 * memory of its own by now is none. */
static void drop_waited_for(pid_t pid, struct sharers *all)
{
	size_t i = 0, left = all->list.count ? waiting_in(pid) : 0;

	while (i < all->list.count) {
		bool waited_for = left && all->list.items[i].parent == pid;

		left -= waited_for;
		if (waited_for || !shares(with_memory(pid), all->list.items[i].pid))
			all->list.items[i] = all->list.items[--all->list.count];
		else
			i++;
	}
}

size_t sharers_find(pid_t pid, pid_t tracer, pid_t *found, size_t room)
{
	const struct timespec nap = cp_timespec(NAP_NS);
	struct sharers all = { 0 };
	size_t count, i;
	int tries = TRIES;

	if (compare_memory(pid, pid)) {
		cp_debug("who shares the memory of process %d: %m", (int)pid);
		return 0;
	}
	do {
		if (tries < TRIES)
			nanosleep(&nap, NULL);
		look(pid, tracer, &all);
		drop_waited_for(pid, &all);
	} while (all.list.count && --tries);
	count = all.list.count;
	for (i = 0; i < count && i < room; i++)
		found[i] = all.list.items[i].pid;
	cp_vec_free(&all.list);
	return count;
}

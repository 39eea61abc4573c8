/* SPDX-License-Identifier: MIT
 *
 * What /proc says of threads. These are the kernel's own words in fixed
 * formats; nothing of the program's making is interpreted here (a thread name
 * in `status` and `stat` is skipped, its newlines come escaped).
 *
 * schedstat of a running thread is as old as the last scheduler tick, exact
 * once the thread has left its CPU. `syscall` says "running", or where a
 * blocked thread waits, and reads it only while it does.
 */
#include "tracer/known/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/map.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

/* Reads a small file of a thread; keeps it open for the next time while
 * there are descriptors to spare. */
static ssize_t read_task_file(struct tracer *tr, struct thread *t, int *keep, const char *name,
			      char *buf, size_t size)
{
	char path[48];
	ssize_t n;
	int fd;

	if (*keep >= 0) {
		n = pread(*keep, buf, size - 1, 0);
	} else {
		snprintf(path, sizeof(path), "%d/%s", (int)t->tid, name);
		fd = openat(t->process->task_fd, path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -1;
		n = pread(fd, buf, size - 1, 0);
		if (n > 0 && tr->fds_left > 0) {
			*keep = fd;
			tr->fds_left--;
		} else {
			close(fd);
		}
	}
	if (n >= 0)
		buf[n] = 0;
	return n;
}

void proc_name(const struct thread *t, char *name, size_t size)
{
	char path[48];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%d/comm", (int)t->tid);
	fd = openat(t->process->task_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, size - 1);
		close(fd);
	}
	name[n > 0 ? n : 0] = 0;
	name[strcspn(name, "\n")] = 0;
}

bool proc_cpu_use(struct tracer *tr, struct thread *t, struct cpu_use *ret)
{
	struct cpu_use use;
	char buf[96], *end;

	if (read_task_file(tr, t, &t->schedstat_fd, "schedstat", buf, sizeof(buf)) <= 0)
		return false;
	use.run_ns = strtoull(buf, &end, 10);
	use.wait_ns = strtoull(end, &end, 10);
	use.slices = strtoull(end, &end, 10);
	/* A thread that is being born or reaped has been seen at 0. */
	if (use.run_ns < t->seen.run_ns)
		return false;
	*ret = use;
	return true;
}

/* Does `syscall` say that the thread runs? One that was woken a moment ago, and that its CPU
 * knows nothing of yet, looks like one that is blocked by a page fault: outside of
 * any system call. But it runs. */
static bool says_running(pid_t tid, const char *syscall)
{
	char state[4];

	return *syscall == 'r' ||
	       (*syscall == '-' && cp_file_stat_field(tid, 3, state, sizeof(state)) &&
		*state == 'R');
}

enum proc_state proc_where(struct tracer *tr, struct thread *t, uint64_t *pc_ret, uint64_t *sp_ret)
{
	char buf[256], *pc, *sp;

	if (read_task_file(tr, t, &t->syscall_fd, "syscall", buf, sizeof(buf)) <= 0)
		return PROC_GONE;
	if (says_running(t->tid, buf))
		return PROC_RUNNING;
	pc = strrchr(buf, ' '); /* "NR args... SP PC" or "-1 SP PC" */
	if (!pc)
		return PROC_GONE;
	*pc = 0;
	sp = strrchr(buf, ' ');
	if (!sp)
		return PROC_GONE;
	*pc_ret = strtoull(pc + 1, NULL, 16);
	*sp_ret = strtoull(sp, NULL, 16);
	return *pc_ret ? PROC_BLOCKED : PROC_GONE;
}

enum proc_state proc_call(struct tracer *tr, struct thread *t, int64_t *nr_ret,
			  unsigned long long args_ret[6])
{
	unsigned long long *a = args_ret;
	char buf[256];

	if (read_task_file(tr, t, &t->syscall_fd, "syscall", buf, sizeof(buf)) <= 0)
		return PROC_GONE;
	if (says_running(t->tid, buf))
		return PROC_RUNNING;
	if (sscanf(buf, "%ld %llx %llx %llx %llx %llx %llx", nr_ret, &a[0], &a[1], &a[2], &a[3],
		   &a[4], &a[5]) != 7)
		*nr_ret = -1;
	return PROC_BLOCKED;
}

bool proc_read(pid_t tid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool read_status(pid_t tid, char *buf, size_t size)
{
	return proc_read(tid, "status", buf, size);
}

/* The number behind "\nKEY:\t". */
static uint64_t status_field(const char *status, const char *key, int base)
{
	const char *at = strstr(status, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

#define STATUS_MAX 16384 /* a thousand groups come before what is looked for */

struct proc_filters proc_filters_of(pid_t tid)
{
	static const struct proc_filters unknown = { .mode = SECCOMP_MODE_FILTER };
	char buf[STATUS_MAX];

	if (!read_status(tid, buf, sizeof(buf)))
		return (struct proc_filters){ 0 };
	if (strlen(buf) == sizeof(buf) - 1 && !strstr(buf, "\nSeccomp_filters:\t"))
		return unknown;
	return (struct proc_filters){
		.mode = (int)status_field(buf, "\nSeccomp:\t", 10),
		.count = (int)status_field(buf, "\nSeccomp_filters:\t", 10),
		.ignored = status_field(buf, "\nSigIgn:\t", 16),
	};
}

/* Of its numbers in all namespaces that it is in, from outside in, the last. */
static pid_t own_number(const char *status)
{
	static const char key[] = "\nNSpid:";
	const char *at = strstr(status, key);
	char *rest;
	pid_t own = 0;

	for (at = at ? at + strlen(key) : ""; *at == '\t'; at = rest)
		own = (pid_t)strtol(at + 1, &rest, 10);
	return *at == '\n' ? own : 0;
}

bool proc_group(pid_t tid, struct proc_group *ret)
{
	char buf[4096];

	if (!read_status(tid, buf, sizeof(buf)))
		return false;
	*ret = (struct proc_group){
		.pid = (pid_t)status_field(buf, "\nTgid:\t", 10),
		.parent = (pid_t)status_field(buf, "\nPPid:\t", 10),
		.own = own_number(buf),
	};
	return ret->pid > 0;
}

bool proc_has_ended(pid_t tid)
{
	static const char key[] = "\nState:\t";
	char buf[4096], *at;

	at = read_status(tid, buf, sizeof(buf)) ? strstr(buf, key) : NULL;
	return !at || strchr("ZX", at[strlen(key)]);
}

/* Will the thread run none of its program's code any more? */
static bool is_ending(pid_t tid)
{
	static const unsigned exiting = 4; /* the kernel's PF_EXITING */
	char flags[16];

	return !cp_file_stat_field(tid, 9, flags, sizeof(flags)) ||
	       strtoul(flags, NULL, 10) & exiting || proc_is_pending(tid, SIGKILL) ||
	       proc_has_ended(tid);
}

pid_t proc_find_task(pid_t pid, bool (*is_it)(pid_t tid))
{
	char path[64];
	const struct dirent *e;
	pid_t tid, found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir))) {
		tid = (pid_t)atoi(e->d_name);
		found = tid > 0 && is_it(tid) ? tid : 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool is_living(pid_t tid)
{
	return !is_ending(tid);
}

int proc_why(pid_t pid, int errnum)
{
	return errnum && !proc_find_task(pid, is_living) ? ESRCH : errnum;
}

pid_t proc_tracer_of(pid_t tid)
{
	char buf[4096];

	if (!read_status(tid, buf, sizeof(buf)))
		return 0;
	return (pid_t)status_field(buf, "\nTracerPid:\t", 10);
}

bool proc_ignores(pid_t tid, int signal)
{
	uint64_t bit = UINT64_C(1) << (signal - 1);
	char buf[4096];

	if (!read_status(tid, buf, sizeof(buf)))
		return false;
	if (status_field(buf, "\nSigIgn:\t", 16) & bit)
		return true;
	if (status_field(buf, "\nSigCgt:\t", 16) & bit)
		return false;
	return signal == SIGCHLD || signal == SIGWINCH || signal == SIGURG || signal == SIGCONT;
}

bool proc_catches(pid_t tid, int signal)
{
	char buf[4096];

	return read_status(tid, buf, sizeof(buf)) &&
	       status_field(buf, "\nSigCgt:\t", 16) & UINT64_C(1) << (signal - 1);
}

bool proc_thread_catches(struct tracer *tr, struct thread *t, int signal)
{
	char buf[4096];

	return read_task_file(tr, t, &t->status_fd, "status", buf, sizeof(buf)) > 0 &&
	       status_field(buf, "\nSigCgt:\t", 16) & UINT64_C(1) << (signal - 1);
}

bool proc_will_get(pid_t tid, int signal)
{
	char buf[4096];
	uint64_t pending, blocked;

	if (!read_status(tid, buf, sizeof(buf)))
		return false;
	pending = status_field(buf, "\nSigPnd:\t", 16);
	blocked = status_field(buf, "\nSigBlk:\t", 16);
	return (pending & ~blocked) >> (signal - 1) & 1;
}

#define BIT(signal) (UINT64_C(1) << ((signal)-1))
#define IGNORED_BY_DEFAULT (BIT(SIGCHLD) | BIT(SIGWINCH) | BIT(SIGURG) | BIT(SIGCONT))

bool proc_will_get_any(pid_t tid)
{
	char buf[4096];
	uint64_t pending, blocked, ignored;

	if (!read_status(tid, buf, sizeof(buf)))
		return true;
	pending = status_field(buf, "\nSigPnd:\t", 16) | status_field(buf, "\nShdPnd:\t", 16);
	blocked = status_field(buf, "\nSigBlk:\t", 16);
	ignored = status_field(buf, "\nSigIgn:\t", 16) |
		  (IGNORED_BY_DEFAULT & ~status_field(buf, "\nSigCgt:\t", 16));
	return (pending & ~blocked & ~ignored) != 0;
}

bool proc_file(const struct thread *t, int fd, struct proc_file *ret)
{
	char path[64], text[256], *flags;
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)t->tid, fd);
	CP_CLOSE int info = openat(t->process->task_fd, path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	flags = strstr(text, "flags:");
	snprintf(path, sizeof(path), "%d/fd/%d", (int)t->tid, fd);
	if (!flags || fstatat(t->process->task_fd, path, &st, 0))
		return false;
	ret->flags = (unsigned)strtoul(flags + strlen("flags:"), NULL, 8);
	ret->mode = st.st_mode;
	ret->device = st.st_rdev;
	return true;
}

bool proc_same_files(pid_t a, pid_t b)
{
	return a == b || !syscall(SYS_kcmp, a, b, KCMP_FILES, 0, 0);
}

bool proc_is_pending(pid_t tid, int signal)
{
	char buf[4096];

	if (!read_status(tid, buf, sizeof(buf)))
		return false;
	return (status_field(buf, "\nSigPnd:\t", 16) | status_field(buf, "\nShdPnd:\t", 16)) >>
		       (signal - 1) &
	       1;
}

uint64_t proc_blocked(pid_t tid)
{
	char buf[4096];

	return read_status(tid, buf, sizeof(buf)) ? status_field(buf, "\nSigBlk:\t", 16) : 0;
}

uint64_t proc_caught(pid_t tid)
{
	char buf[4096];

	return read_status(tid, buf, sizeof(buf)) ? status_field(buf, "\nSigCgt:\t", 16) : 0;
}

#define CPU_FIELD 39 /* of stat */

int proc_cpu_of(pid_t tid)
{
	char cpu[16];

	return cp_file_stat_field(tid, CPU_FIELD, cpu, sizeof(cpu)) ? atoi(cpu) : -1;
}

int proc_cpu_of_thread(struct tracer *tr, struct thread *t)
{
	char buf[1024], *at;
	unsigned field;

	if (read_task_file(tr, t, &t->stat_fd, "stat", buf, sizeof(buf)) <= 0)
		return -1;
	at = strrchr(buf, ')'); /* the name may hold anything */
	for (field = 2; at && field < CPU_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at + 1) : -1;
}

/* "0.00 0.01 0.05 2/345 6789": 2 */
int proc_runnable(void)
{
	CP_CLOSE int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	int count;

	if (n <= 0)
		return INT_MAX;
	text[n] = 0;
	return sscanf(text, "%*s %*s %*s %d/", &count) == 1 ? count : INT_MAX;
}

uint64_t proc_program(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &st) ? 0 : cp_hash_u64(st.st_ino ^ cp_hash_u64(st.st_dev));
}

uint64_t proc_cpu_clock(pid_t pid)
{
	/* MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED); 0 when it is gone. */
	return cp_clock_ns((clockid_t)(~(unsigned)pid << 3 | 2));
}

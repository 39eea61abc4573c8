/* SPDX-License-Identifier: MIT
 *
 * Why a process can't be profiled, in words that a person can act on.
 */
#include "engine/session/explain.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "engine/target/state.h"
#include "tracer/known/sharers.h"

#define SHARERS_NAMED 3

static bool read_proc(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* The text behind `key`, "\nKEY:\t", in a status file, or NULL. */
static const char *field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

static int number(const char *status, const char *key)
{
	const char *at = field(status, key);

	return at ? atoi(at) : 0;
}

/* "status" of a process. In the file of a task that ends just then, there are no
 * threads; where one of its threads executed a program, that has the number now, and is
 * asked. */
static bool read_status(pid_t pid, char *buf, size_t size)
{
	for (int tries = 100; read_proc(pid, "status", buf, size); tries--)
		if (number(buf, "\nThreads:\t") || !tries)
			return true;
	return false;
}

/* comm of a process, escaped, into `buf`. */
static const char *name_of(pid_t pid, char *buf, size_t size)
{
	struct cp_buf out = { 0 };
	char comm[64];

	if (!read_proc(pid, "comm", comm, sizeof(comm)))
		snprintf(comm, sizeof(comm), "?");
	comm[strcspn(comm, "\n")] = 0;
	cp_escape(&out, CP_ESCAPE_TERMINAL, comm, strlen(comm));
	snprintf(buf, size, "%s", out.bytes ? out.bytes : "?");
	cp_buf_free(&out);
	return buf;
}

/* A process whose number in its own namespace is `pid`; 0: none. */
static pid_t namesake(pid_t pid)
{
	DIR *dir = opendir("/proc");
	pid_t found = 0, candidate;
	struct dirent *e;
	char status[4096];
	const char *ids, *last;

	while (dir && !found && (e = readdir(dir))) {
		candidate = atoi(e->d_name);
		if (candidate <= 0 || !read_proc(candidate, "status", status, sizeof(status)))
			continue;
		ids = field(status, "\nNSpid:\t");
		if (!ids)
			continue;
		last = ids;
		for (; *ids && *ids != '\n'; ids++)
			if (*ids == '\t')
				last = ids + 1;
		if (atoi(last) == pid)
			found = candidate;
	}
	if (dir)
		closedir(dir);
	return found;
}

static struct cp_error *no_such(pid_t pid)
{
	struct cp_error *err = cp_error_new(CP_ERR_NOT_FOUND, 0, "no such process: %d", (int)pid);
	pid_t other = namesake(pid);
	char name[160];

	if (!other)
		return err;
	return cp_error_hint(
		err, "process %d (%s) is number %d in a container of its own; here it is %d",
		(int)other, name_of(other, name, sizeof(name)), (int)pid, (int)other);
}

struct cp_error *engine_check_isa(pid_t pid)
{
	unsigned char ident[EI_NIDENT + 4] = { 0 };
	char path[64];
	uint16_t machine;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, ident, sizeof(ident)) != (ssize_t)sizeof(ident) ||
	    memcmp(ident, ELFMAG, SELFMAG))
		return NULL; /* unreadable: the attach itself says why */
	memcpy(&machine, ident + EI_NIDENT + 2, sizeof(machine));
	if (ident[EI_CLASS] == ELFCLASS64 && machine == cp_arch_host()->e_machine)
		return NULL;
	return cp_error_hint(cp_error_new(CP_ERR_UNSUPPORTED, 0,
					  "process %d runs a %s program (ELF machine %u)", (int)pid,
					  ident[EI_CLASS] == ELFCLASS32 ? "32-bit" : "64-bit",
					  machine),
			     "this cprof profiles 64-bit %s programs only", cp_arch_host()->name);
}

struct cp_error *engine_check_target(pid_t pid, pid_t *tgid_ret)
{
	char status[4096];
	const char *state;

	if (!read_status(pid, status, sizeof(status)))
		return no_such(pid);
	*tgid_ret = number(status, "\nTgid:\t");
	if (*tgid_ret == getpid())
		return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0, "process %d is cprof itself",
						  (int)pid),
				     "give the number of the process to look at");
	state = field(status, "\nState:\t");
	if (state && (*state == 'Z' || *state == 'X') && number(status, "\nThreads:\t") <= 1)
		return cp_error_hint(cp_error_new(CP_ERR_GONE, 0,
						  "process %d is a zombie: it has ended", (int)pid),
				     "its parent %d has not waited for it yet",
				     number(status, "\nPPid:\t"));
	if (!field(status, "\nVmSize:\t") && state && *state != 'Z' &&
	    field(status, "\nKthread:\t1"))
		return cp_error_hint(cp_error_new(CP_ERR_UNSUPPORTED, 0,
						  "process %d is a thread of the kernel", (int)pid),
				     "cprof profiles programs; perf can look into the kernel");
	return engine_check_isa(*tgid_ret);
}

static int yama_scope(void)
{
	CP_FCLOSE FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!f || fscanf(f, "%d", &scope) != 1)
		return 0;
	return scope;
}

static bool has_ptrace_capability(void)
{
	char status[4096];
	const char *at;

	if (!read_proc(getpid(), "status", status, sizeof(status)))
		return false;
	at = field(status, "\nCapEff:\t");
	return at && (strtoull(at, NULL, 16) >> 19 & 1); /* CAP_SYS_PTRACE */
}

/* Is the process in cprof's user namespace? For one in another, the capability is
 * needed there. */
static bool same_user_namespace(pid_t pid)
{
	struct stat a, b;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return stat(path, &a) || stat("/proc/self/ns/user", &b) || a.st_ino == b.st_ino;
}

static struct cp_error *hint_refused(struct cp_error *err, pid_t pid)
{
	char status[4096] = "";
	int uid, scope = yama_scope();

	read_proc(pid, "status", status, sizeof(status));
	uid = number(status, "\nUid:\t");
	if (field(status, "\nKthread:\t1"))
		return cp_error_hint(err, "it is a thread of the kernel");
	if (uid != (int)geteuid() && !has_ptrace_capability())
		return cp_error_hint(err,
				     "it belongs to user %d: run cprof as that user, as root, or "
				     "with the capability CAP_SYS_PTRACE",
				     uid);
	if (!same_user_namespace(pid))
		return cp_error_hint(err, "it is in another user namespace: CAP_SYS_PTRACE is "
					  "needed there");
	if (scope == 3)
		return cp_error_hint(err, "Yama forbids it until the next boot "
					  "(/proc/sys/kernel/yama/ptrace_scope is 3)");
	if (scope && !has_ptrace_capability())
		return cp_error_hint(err,
				     "Yama allows it only %s (/proc/sys/kernel/yama/ptrace_scope "
				     "is %d): run cprof as root, start the program with 'cprof "
				     "run', or 'sysctl kernel.yama.ptrace_scope=0'",
				     scope == 1 ? "to ancestors" : "with CAP_SYS_PTRACE", scope);
	return cp_error_hint(err, "it may have made itself undumpable (PR_SET_DUMPABLE, setuid), "
				  "or a security module or seccomp forbids ptrace; root or "
				  "CAP_SYS_PTRACE helps with the first");
}

struct cp_error *engine_explain_attach(pid_t pid, const struct cp_answer *answer)
{
	struct cp_error *err;
	char name[160], other[160];

	if (answer->errnum == ESRCH)
		return no_such(pid);
	name_of(pid, name, sizeof(name));
	if (answer->errnum == EMFILE)
		return cp_error_hint(cp_error_new(CP_ERR_IO, 0,
						  "cannot trace process %d (%s): there are too few "
						  "file descriptors for cprof",
						  (int)pid, name),
				     "raise the limit to 256 at least, for many processes to 4096: "
				     "ulimit -n");
	err = cp_error_new(answer->errnum == EPERM || answer->errnum == EACCES ? CP_ERR_PERMISSION
									       : CP_ERR_IO,
			   answer->errnum, "cannot trace process %d (%s)", (int)pid, name);
	if (answer->tracer)
		return cp_error_hint(err,
				     "process %d (%s) traces it already: only one debugger or "
				     "profiler can",
				     answer->tracer, name_of(answer->tracer, other, sizeof(other)));
	if (err->code == CP_ERR_PERMISSION)
		return hint_refused(err, pid);
	return err;
}

/* "124 (name), 125 (name) and 3 more" */
static void list(struct cp_buf *out, const pid_t *pids, size_t named, size_t count)
{
	char name[160];
	size_t i;

	for (i = 0; i < named; i++)
		cp_buf_printf(out, "%s%d (%s)",
			      !i	      ? ""
			      : i + 1 < count ? ", "
					      : " and ",
			      (int)pids[i], name_of(pids[i], name, sizeof(name)));
	if (count > named)
		cp_buf_printf(out, " and %zu more", count - named);
}

struct cp_error *engine_check_alone(pid_t pid, pid_t tracer)
{
	pid_t sharers[SHARERS_NAMED];
	size_t count = sharers_find(pid, tracer, sharers, SHARERS_NAMED);
	struct cp_buf others = { 0 };
	struct cp_error *err;
	char name[160];

	if (!count)
		return NULL;
	list(&others, sharers, count < SHARERS_NAMED ? count : SHARERS_NAMED, count);
	err = cp_error_hint(
		cp_error_new(CP_ERR_UNSUPPORTED, 0,
			     "process %d (%s) shares its memory with %s, which would run into "
			     "the breakpoints of calls or coverage and die",
			     (int)pid, name_of(pid, name, sizeof(name)),
			     others.bytes ? others.bytes : "others"),
		"start the program with 'cprof run', which sees such processes born, or attach "
		"for samples alone");
	cp_buf_free(&others);
	return err;
}

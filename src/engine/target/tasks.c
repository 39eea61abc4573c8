/* SPDX-License-Identifier: MIT
 *
 * What the kernel says of a process and its threads, in /proc.
 */
#include "engine/target/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/startedas.h"
#include "engine/target/state.h"

bool engine_read_task(int32_t pid, int32_t tid, const char *name, char *buf, size_t size)
{
	char path[80];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = 0;
	return n > 0;
}

int32_t engine_living_task(const cprof_process *p)
{
	char path[64];

	if (p->live_tid == p->pid)
		return p->pid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", p->pid, p->live_tid);
	return access(path, F_OK) ? p->pid : p->live_tid;
}

void engine_read_auxv(const cprof_process *p, struct cp_buf *out)
{
	char path[64];

	cp_buf_clear(out);
	snprintf(path, sizeof(path), "/proc/%d/auxv", engine_living_task(p));
	cp_error_free(cp_file_read(AT_FDCWD, path, CP_AUXV_MAX, out));
}

bool engine_is_replaced(const cprof_process *p)
{
	struct cp_buf now CP_CLEANUP(cp_buf_free) = { 0 };

	engine_read_auxv(p, &now);
	return p->auxv.size && now.size &&
	       (now.size != p->auxv.size || memcmp(now.bytes, p->auxv.bytes, now.size) != 0);
}

uint64_t engine_thread_sleeps_at(const cprof_thread *t)
{
	char line[256], *at;

	if (!engine_read_task(t->process->pid, t->tid, "syscall", line, sizeof(line)))
		return 0;
	line[strcspn(line, "\n")] = 0;
	/* NR ARG... SP PC, or "running" */
	at = strrchr(line, ' ');
	if (!at)
		return 0;
	*at = 0;
	at = strrchr(line, ' ');
	return at ? strtoull(at, NULL, 16) : 0;
}

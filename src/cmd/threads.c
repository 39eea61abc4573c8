/* SPDX-License-Identifier: MIT */
#include "cmd/threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cp_threads_name(const struct cp_inspected *in, pid_t tid, char name[64])
{
	char path[64];
	FILE *file;

	*name = '\0';
	if (in->core)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)in->pid, (int)tid);
	file = fopen(path, "re");
	if (!file || !fgets(name, 64, file))
		*name = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_wanted(const struct cp_inspected *in, pid_t tid, const char *wanted)
{
	char number[16], name[64];

	snprintf(number, sizeof(number), "%d", (int)tid);
	if (!strcmp(wanted, "all") || !strcmp(wanted, number))
		return true;
	cp_threads_name(in, tid, name);
	return *name && !strcmp(wanted, name);
}

static CP_ERROR choose_of_core(const struct cp_inspected *in, const char *wanted,
			       struct cp_threads *ret)
{
	const struct cp_core_thread *t;

	cp_vec_for_each(&in->core->threads, t)
		if (is_wanted(in, t->tid, wanted) && !cp_vec_push(&ret->list, t->tid))
			return cp_error_nomem();
	return ret->list.count
		       ? NULL
		       : cp_error_new(CP_ERR_NOT_FOUND, 0, "the core has no thread %s", wanted);
}

CP_ERROR cp_threads_choose(const struct cp_inspected *in, const char *wanted,
			   struct cp_threads *ret)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;
	pid_t tid;

	if (!wanted)
		return cp_vec_push(&ret->list, in->tid) ? NULL : cp_error_nomem();
	if (in->core)
		return choose_of_core(in, wanted, ret);
	if (!in->pid)
		return cp_error_new(CP_ERR_USAGE, 0, "a file has no threads");
	snprintf(path, sizeof(path), "/proc/%d/task", (int)in->pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		tid = (pid_t)atoi(entry->d_name);
		if (tid > 0 && is_wanted(in, tid, wanted) && !cp_vec_push(&ret->list, tid))
			break;
	}
	if (tasks)
		closedir(tasks);
	cp_vec_sort(&ret->list, by_number);
	return ret->list.count ? NULL
			       : cp_error_new(CP_ERR_NOT_FOUND, 0, "process %d has no thread %s",
					      (int)in->pid, wanted);
}

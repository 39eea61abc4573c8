/* SPDX-License-Identifier: MIT
 *
 *     FILE ──rename──► FILE.3     all is written and named, by a thread; then FILE.1 goes
 *     FILE             the next events, at once
 *
 * A file that is there keeps its name: numbers go on behind it. Nothing is removed but
 * what this session has made.
 */
#include "modules/log/rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/thread.h"
#include "modules/log/output.h"
#include "modules/log/writing.h"
#include "modules/log/stack.h"

#define NAMES_TRIED 100000u

bool cp_recorder_rotate_take(cprof_profiler *log, const char *value)
{
	const char *colon = strchrnul(value, ':');
	CP_FREE char *time = strndup(value, (size_t)(colon - value));

	if (!time || !cp_parse_duration(time, &log->rotation.every_ns))
		return false;
	return !*colon ||
	       (cp_parse_u64(colon + 1, UINT32_MAX, &log->rotation.keep) && log->rotation.keep);
}

static void refuse(cprof_profiler *log, const char *command, const char *why)
{
	if (command)
		cprof_command_refuse(log->handle, "%s: %s", command, why);
	else
		cprof_profiler_fail(log->handle, "rotate: %s", why);
}

bool cp_recorder_may_rotate(cprof_profiler *log, const char *command)
{
	struct cp_recorder_part *part;
	struct stat st;

	CP_FOR_EACH_PART(log, part, whole)
	{
		refuse(log, command, "coverage is one sum from the beginning to the end");
		return false;
	}
	if (log->followed) {
		refuse(log, command, "its calls are shown as they come");
		return false;
	}
	if (!log->path || !strcmp(log->path, "-") || lstat(log->path, &st) ||
	    !S_ISREG(st.st_mode)) {
		refuse(log, command, "the recording is no file");
		return false;
	}
	return true;
}

/* ---- the old one ---- */

static void *complete(void *data)
{
	struct cp_recorder_rotation *r = data;

	cp_record_writer_destroy(r->old, &r->error);
	r->old = NULL;
	atomic_store(&r->done, true);
	return NULL;
}

static void remove_oldest(struct cp_recorder_rotation *r)
{
	size_t i, n = r->keep && r->names.count > r->keep ? r->names.count - r->keep : 0;

	for (i = 0; i < n; i++) {
		unlink(r->names.items[i]);
		free(r->names.items[i]);
	}
	r->names.count -= n;
	if (n)
		memmove(r->names.items, r->names.items + n,
			r->names.count * sizeof(*r->names.items));
}

/* The thread is over, or is waited for. */
static void join(cprof_profiler *log)
{
	struct cp_recorder_rotation *r = &log->rotation;

	if (!r->runs)
		return;
	pthread_join(r->thread, NULL);
	r->runs = false;
	if (r->error) {
		free(r->failure);
		r->failure = strdup(r->error->what);
		cprof_profiler_fail(log->handle, "the recording '%s' is cut short: %s",
				    r->names.items[r->names.count - 1], r->error->what);
		cp_error_free(cp_steal(r->error));
	}
	remove_oldest(r);
}

bool cp_recorder_rotate_runs(cprof_profiler *log)
{
	if (log->rotation.runs && atomic_load(&log->rotation.done))
		join(log);
	return log->rotation.runs;
}

void cp_recorder_rotate_wait(cprof_profiler *log)
{
	char **name;

	join(log);
	cp_vec_for_each(&log->rotation.names, name)
		free(*name);
	cp_vec_free(&log->rotation.names);
}

/* ---- the new one ---- */

/* FILE.N, which nothing else is called. */
static CP_ERROR rename_file(cprof_profiler *log, char **ret)
{
	struct cp_recorder_rotation *r = &log->rotation;
	CP_FREE char *name = NULL;
	unsigned i;

	for (i = 0; i < NAMES_TRIED; i++) {
		free(cp_steal(name));
		if (asprintf(&name, "%s.%llu", log->path, (unsigned long long)++r->number) < 0) {
			name = NULL;
			return cp_error_nomem();
		}
		if (!renameat2(AT_FDCWD, log->path, AT_FDCWD, name, RENAME_NOREPLACE)) {
			*ret = cp_steal(name);
			return NULL;
		}
		if (errno != EEXIST)
			break;
	}
	return cp_error_new(CP_ERR_IO, errno, "renaming '%s' to '%s'", log->path, name);
}

/* Numbers of the old recording mean nothing in the new one. */
static void forget_numbers(cprof_profiler *log)
{
	struct cp_recorder_part *part;

	cp_map_clear(&log->processes);
	cp_map_clear(&log->threads);
	cp_map_clear(&log->functions);
	cp_map_clear(&log->runtimes);
	cp_recorder_stacks_forget(log);
	CP_FOR_EACH_PART(log, part, rotate)
	part->family->rotate(log);
}

static CP_ERROR begin_next(cprof_profiler *log)
{
	CP_FREE char *path = strdup(log->path);

	if (!path)
		return cp_error_nomem();
	CP_TRY(cp_recorder_open_file(log, path));
	return cp_recorder_open_writer(log, cp_now());
}

bool cp_recorder_rotate(cprof_profiler *log, const char **name_ret, struct cp_error **err_ret)
{
	struct cp_recorder_rotation *r = &log->rotation;
	struct cp_error *err;
	char *name = NULL;

	if (!cp_vec_reserve(&r->names, r->names.count + 1)) {
		*err_ret = cp_error_nomem();
		return false;
	}
	*err_ret = rename_file(log, &name);
	if (*err_ret)
		return false;
	cprof_refresh_overhead();
	cp_recorder_finish(log);
	r->before = cp_recorder_totals(log);
	r->old = cp_steal(log->writer);
	r->names.items[r->names.count++] = name;
	*name_ret = name;
	r->count++;
	free(cp_steal(r->failure));
	err = begin_next(log);
	forget_numbers(log);
	atomic_store(&r->done, false);
	r->runs = !cp_thread_start(&r->thread, complete, r);
	if (!r->runs)
		complete(r);
	if (err) {
		log->failed = true;
		cprof_profiler_fail(log->handle, "the recording can't go on: %s", err->what);
		cprof_session_stop(cprof_session_current());
	}
	*err_ret = err;
	return !err;
}

void cp_recorder_rotate_beat(cprof_profiler *log)
{
	struct cp_recorder_rotation *r = &log->rotation;
	uint64_t now = cp_now();
	struct cp_error *err;
	const char *name;

	if (cp_recorder_rotate_runs(log) || !r->every_ns || log->failed)
		return;
	if (!r->next_ns)
		r->next_ns = log->begin_ns + r->every_ns;
	if (now < r->next_ns)
		return;
	r->next_ns += (1 + (now - r->next_ns) / r->every_ns) * r->every_ns;
	if (!cp_recorder_rotate(log, &name, &err) && !log->failed)
		cprof_profiler_fail(log->handle, "rotate: %s", err->what);
	cp_error_free(err);
}

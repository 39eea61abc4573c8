/* SPDX-License-Identifier: MIT
 *
 * The recorder's processes and threads, from their beginning to their end.
 *
 * Who ends within a beat is told once; who lasts, at the next beat and again at
 * its end. So a recording that ends early has those that lived then, too.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "modules/log/families.h"
#include "record/lives.h"

/* One that has not ended; threads and processes by the address of their object. */
struct life {
	uint32_t number;
	bool told; /* as it began */
	enum cp_record_life_begin begin;
	uint64_t start_ns;
};

struct lives {
	uint32_t count; /* that began */
	struct cp_map processes, threads; /* object -> struct life */
	struct cp_map lived; /* processes that began before */
};

static struct lives *lives(const cprof_profiler *log)
{
	return cp_recorder_state(log, &cp_recorder_lives);
}

static uint64_t end_or_now(uint64_t end_ns)
{
	return end_ns ? end_ns : cp_now();
}

static void tell_process(cprof_profiler *log, const cprof_process *p, const struct life *life,
			 enum cp_record_life_end end)
{
	const struct cp_record_life r = {
		.number = life->number,
		.begin = life->begin,
		.end = end,
		.pid = cprof_process_pid(p),
		.parent = cprof_process_parent(p),
		.start_ns = life->start_ns,
		.end_ns = end == CP_LIFE_LASTS	    ? 0
			  : end == CP_LIFE_REPLACED ? cprof_process_exec_time(p)
						    : end_or_now(cprof_process_end(p)),
		.wait_status = end == CP_LIFE_ENDED ? cprof_process_wait_status(p) : 0,
		.name = cprof_process_name(p),
		.exe = cprof_process_exe(p),
	};

	if (log->writer)
		cp_record_life(log->writer, &r);
}

static void tell_thread(cprof_profiler *log, const cprof_thread *t, const struct life *life,
			enum cp_record_life_end end)
{
	const struct cp_record_life r = {
		.number = life->number,
		.thread = true,
		.begin = life->begin,
		.end = end,
		.pid = cprof_process_pid(cprof_thread_process(t)),
		.tid = cprof_thread_tid(t),
		.start_ns = life->start_ns,
		.end_ns = end == CP_LIFE_LASTS ? 0 : end_or_now(cprof_thread_end(t)),
		.cpu_ns = end == CP_LIFE_LASTS ? 0 : cprof_thread_cpu_time(t),
		.name = cprof_thread_name(t),
		.exe = "",
	};

	if (log->writer)
		cp_record_life(log->writer, &r);
}

static struct life *begin(cprof_profiler *log, struct cp_map *map, const void *object,
			  enum cp_record_life_begin how, uint64_t start_ns)
{
	struct life *life = calloc(1, sizeof(*life));

	if (!life)
		return NULL;
	*life = (struct life){ .number = lives(log)->count++, .begin = how, .start_ns = start_ns };
	if (cp_map_put(map, (uintptr_t)object, (uintptr_t)life))
		return life;
	free(life);
	return NULL;
}

static struct life *life_of(struct cp_map *lives, const void *object)
{
	uint64_t *known = cp_map_get(lives, (uintptr_t)object);

	return known ? (struct life *)(uintptr_t)*known : NULL;
}

static void over(struct cp_map *lives, const void *object)
{
	free(life_of(lives, object));
	cp_map_remove(lives, (uintptr_t)object);
}

static void on_process_loaded(cprof_profiler *log, cprof_process *p)
{
	uint64_t exec_ns = cprof_process_exec_time(p), start_ns = cprof_process_start(p);
	enum cp_record_life_begin how = CP_LIFE_FORKED;

	if (cp_map_get(&lives(log)->lived, (uintptr_t)p))
		how = CP_LIFE_EXECUTED;
	else if (!cprof_process_parent(p))
		how = cprof_session_is_attached(cprof_session_current()) ? CP_LIFE_ATTACHED
									 : CP_LIFE_STARTED;
	cp_map_put(&lives(log)->lived, (uintptr_t)p, 1);
	begin(log, &lives(log)->processes, p, how, how == CP_LIFE_EXECUTED ? exec_ns : start_ns);
}

static void on_domain_unloaded(cprof_profiler *log, cprof_process *p)
{
	const struct life *life = life_of(&lives(log)->processes, p);

	if (!life)
		return;
	tell_process(log, p, life,
		     !cprof_process_end(p)		  ? CP_LIFE_REPLACED
		     : cprof_process_wait_status(p) == -1 ? CP_LIFE_LET_GO
							  : CP_LIFE_ENDED);
	over(&lives(log)->processes, p);
}

static void on_thread_started(cprof_profiler *log, uintptr_t tid)
{
	const cprof_thread *t = cprof_thread_from_tid((int32_t)tid);

	if (t && !life_of(&lives(log)->threads, t))
		begin(log, &lives(log)->threads, t, CP_LIFE_BEGAN, cprof_thread_start(t));
}

static void on_thread_exited(cprof_profiler *log, cprof_thread *t)
{
	const struct life *life = life_of(&lives(log)->threads, t);

	if (!life)
		return;
	tell_thread(log, t, life,
		    cprof_thread_end(t) && cprof_thread_wait_status(t) == -1 ? CP_LIFE_LET_GO
									     : CP_LIFE_ENDED);
	over(&lives(log)->threads, t);
}

/* Tells of all that live; `end`: LASTS, of those that were not told of yet, or LET_GO. */
static void tell_all(cprof_profiler *log, enum cp_record_life_end end)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&lives(log)->processes, &cursor, &key, &value)) {
		struct life *life = (struct life *)(uintptr_t)value;

		if (!life->told || end == CP_LIFE_LET_GO)
			tell_process(log, (const cprof_process *)(uintptr_t)key, life, end);
		life->told = true;
	}
	for (cursor = 0; cp_map_next(&lives(log)->threads, &cursor, &key, &value);) {
		struct life *life = (struct life *)(uintptr_t)value;

		if (!life->told || end == CP_LIFE_LET_GO)
			tell_thread(log, (const cprof_thread *)(uintptr_t)key, life, end);
		life->told = true;
	}
}

static void beat(cprof_profiler *log)
{
	tell_all(log, CP_LIFE_LASTS);
}

/* Processes and threads that are left were let go. */
static void end(cprof_profiler *log)
{
	tell_all(log, CP_LIFE_LET_GO);
}

/* Whoever lives is told of again, as from now on. */
static void begin_anew(struct cp_map *map, bool processes)
{
	uint64_t key, value, now = cp_now();
	size_t cursor = 0;

	while (cp_map_next(map, &cursor, &key, &value)) {
		struct life *life = (struct life *)(uintptr_t)value;

		life->told = false;
		life->start_ns = now;
		life->begin = processes ? CP_LIFE_ATTACHED : life->begin;
	}
}

static void on_rotate(cprof_profiler *log)
{
	begin_anew(&lives(log)->processes, true);
	begin_anew(&lives(log)->threads, false);
}

static void free_lives(struct cp_map *map)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(map, &cursor, &key, &value))
		free((void *)(uintptr_t)value);
	cp_map_free(map);
}

static void release(void *state)
{
	struct lives *l = state;

	free_lives(&l->processes);
	free_lives(&l->threads);
	cp_map_free(&l->lived);
}

static void start(cprof_profiler *log)
{
	cprof_profiler_set_domain_unloaded_callback(log->handle, on_domain_unloaded);
	cprof_profiler_set_thread_started_callback(log->handle, on_thread_started);
}

const struct cp_recorder_family cp_recorder_lives = {
	.state_size = sizeof(struct lives),
	.always = true,
	.start = start,
	.process_loaded = on_process_loaded,
	.thread_exited = on_thread_exited,
	.rotate = on_rotate,
	.beat = beat,
	.end = end,
	.release = release,
};

/* SPDX-License-Identifier: MIT
 *
 * Processes and threads as the controller knows them. Objects that profilers
 * may hold pointers to live as long as the session.
 */
#include "engine/target/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/startedas.h"
#include "base/text.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/kept.h"
#include "engine/target/lives.h"
#include "engine/target/memory.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "engine/target/tasks.h"
#include "probe/shadow.h"

#define NAME_AGE_NS (int64_t)(CP_NS_PER_S / 2)

void engine_life_free(struct engine_process_life *life)
{
	size_t i;

	for (i = 0; i < life->namespaces.count; i++)
		free(life->namespaces.items[i]);
	cp_vec_free(&life->namespaces);
	cp_map_free(&life->returns);
}

void engine_thread_life_free(struct engine_thread_life *life)
{
	size_t i;

	for (i = 0; i < life->opens.count; i++)
		free(life->opens.items[i].name);
	cp_vec_free(&life->opens);
}

cprof_process *engine_process(cprof_session *s, int32_t pid)
{
	uint64_t *p = cp_map_get(&s->by_pid, (uint64_t)pid);

	return p ? (cprof_process *)(uintptr_t)*p : NULL;
}

static bool read_comm(int32_t pid, int32_t tid, char *name, size_t size)
{
	char buf[64];

	if (!engine_read_task(pid, tid, "comm", buf, sizeof(buf)))
		return false;
	buf[strcspn(buf, "\n")] = 0;
	buf[size - 1] = 0;
	memcpy(name, buf, strlen(buf) + 1);
	return true;
}

/* The task's number in its own pid namespace; `tid` where that can't be read. */
static int32_t own_number(int32_t pid, int32_t tid)
{
	char status[4096], *line, *last;

	if (!engine_read_task(pid, tid, "status", status, sizeof(status)))
		return tid;
	line = strstr(status, "\nNSpid:\t");
	if (!line)
		return tid;
	line += strlen("\nNSpid:\t");
	line[strcspn(line, "\n")] = 0;
	last = strrchr(line, '\t');
	return atoi(last ? last + 1 : line);
}

#define TASK_COMM_MAX 15 /* without the NUL */

static void read_identity(cprof_process *p)
{
	int32_t tid = engine_living_task(p);
	char path[64], exe[4096];
	ssize_t n;

	engine_read_auxv(p, &p->auxv);
	read_comm(p->pid, tid, p->name, sizeof(p->name));
	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return;
	exe[n] = 0;
	free(p->exe);
	p->exe = strdup(exe);
	free(p->started_as);
	p->started_as = NULL;
	p->started_known = false;
}

/* The kernel names a process after what it executes: nothing needs to be read then,
 * as of most. */
static bool is_named_after_file(const cprof_process *p)
{
	const char *file = p->exe ? cp_basename(p->exe) : "";

	return !strncmp(p->name, file, TASK_COMM_MAX) &&
	       strlen(p->name) == strnlen(file, TASK_COMM_MAX);
}

/* A forked process has the name and program of its parent: by the time that /proc is
 * read, it may run another program, or be gone. */
static void inherit_identity(cprof_process *p, const cprof_process *parent)
{
	memcpy(p->name, parent->name, sizeof(p->name));
	p->exe = parent->exe ? strdup(parent->exe) : NULL;
	p->started_as = parent->started_as ? strdup(parent->started_as) : NULL;
	p->started_known = parent->started_known;
	cp_buf_add(&p->auxv, parent->auxv.bytes, parent->auxv.size);
}

cprof_process *engine_process_add(cprof_session *s, const struct cp_event_process *event)
{
	const cprof_process *parent =
		event->birth == CP_BIRTH_FORKED ? engine_process(s, event->parent) : NULL;
	cprof_process *p = calloc(1, sizeof(*p));

	if (!p || !cp_vec_push(&s->processes, p) ||
	    !cp_map_put(&s->by_pid, (uint64_t)event->e.pid, (uintptr_t)p)) {
		if (p && s->processes.count && s->processes.items[s->processes.count - 1] == p)
			s->processes.count--;
		free(p);
		return NULL;
	}
	p->session = s;
	p->pid = p->live_tid = event->e.pid;
	p->parent = event->parent;
	p->wait_status = -1;
	p->start_ns = event->e.ts_ns > s->begin_ns ? event->e.ts_ns : s->begin_ns;
	engine_memory_begin(p);
	p->ns_pid = event->own ? event->own : own_number(p->pid, p->pid);
	p->forked = parent != NULL;
	if (parent)
		inherit_identity(p, parent);
	else
		read_identity(p);
	return p;
}

/* The program's memory is gone, and with it where breakpoints are. Images stay, those of
 * thousands of processes that there were. */
static void forget_sites(cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count; i++)
		engine_image_forget_sites(p->images.items[i]);
	cp_vec_free(&p->areas.left);
	cp_vec_free(&p->areas.chunks);
}

void engine_process_exec(cprof_process *p)
{
	size_t i;

	engine_forget_maps(p);
	forget_sites(p);
	for (i = 0; i < p->images.count; i++) {
		cprof_image *image = p->images.items[i];

		image->armed = image->mapped = image->noted = false;
		image->area = image->area_size = 0;
		image->ready = (struct engine_ready_area){ 0 };
	}
	p->areas = (struct engine_areas){ 0 };
	p->live_tid = p->pid;
	p->memory_failed = p->forked = false;
	read_identity(p);
	p->started_known = is_named_after_file(p);
}

void engine_process_gone(cprof_session *s, cprof_process *p)
{
	engine_forget_maps(p);
	forget_sites(p);
	cp_map_remove(&s->by_pid, (uint64_t)p->pid);
}

cprof_thread *engine_thread_add(cprof_session *s, cprof_process *p, int32_t tid, uint64_t ts_ns)
{
	cprof_thread *t = calloc(1, sizeof(*t));

	if (!t || !cp_map_put(&s->by_tid, (uint64_t)tid, (uintptr_t)t)) {
		free(t);
		return NULL;
	}
	t->process = p;
	t->tid = tid;
	t->ns_tid = p->ns_pid == p->pid ? tid : own_number(p->pid, tid);
	t->start_ns = ts_ns;
	t->wait_status = -1;
	t->slot = CP_NO_SLOT;
	if (!read_comm(p->pid, tid, t->name, sizeof(t->name)))
		snprintf(t->name, sizeof(t->name), "%s", p->name);
	if (tid == p->pid && !*p->name) /* its parent had ended before its name was read */
		memcpy(p->name, t->name, sizeof(p->name));
	t->named_ns = cp_now();
	p->live_tid = tid;
	return t;
}

void engine_thread_gone(cprof_session *s, cprof_thread *t)
{
	cp_map_remove(&s->by_tid, (uint64_t)t->tid);
	cp_vec_free(&t->kept);
	engine_thread_life_free(&t->life);
	if (t->process->live_tid == t->tid)
		t->process->live_tid = t->process->pid;
	/* Profilers may still hold the thread; without memory for the list it is
	 * leaked. */
	if (!cp_vec_push(&s->gone_threads, t))
		t->slot = CP_NO_SLOT;
}

void engine_thread_named(cprof_session *s, cprof_thread *t, const char *name)
{
	cprof_process *p = t->process;

	if (!strcmp(name, t->name))
		return;
	snprintf(t->name, sizeof(t->name), "%s", name);
	engine_raise(s, thread_name, (uintptr_t)t->tid, t->name);
	if (t->tid != p->pid || !strcmp(name, p->name))
		return;
	snprintf(p->name, sizeof(p->name), "%s", name);
	engine_raise(s, domain_name, p, p->name);
}

void engine_thread_named_now(cprof_session *s, cprof_thread *t, const char *name)
{
	t->process->live_tid = t->tid;
	t->named_ns = cp_now();
	engine_thread_named(s, t, name);
}

void engine_thread_refresh_name(cprof_session *s, cprof_thread *t, uint64_t ts_ns)
{
	cprof_process *p = t->process;
	char name[32];

	p->live_tid = t->tid;
	if (ts_ns && (int64_t)(ts_ns - t->named_ns) < NAME_AGE_NS)
		return;
	t->named_ns = ts_ns ? ts_ns : cp_now();
	if (read_comm(p->pid, t->tid, name, sizeof(name)))
		engine_thread_named(s, t, name);
}

static void process_free(cprof_process *p)
{
	size_t i;

	engine_forget_maps(p);
	for (i = 0; i < p->images.count; i++)
		engine_image_free(p->images.items[i]);
	cp_shadow_destroy(p->shadow);
	engine_life_free(&p->life);
	engine_each_family(p->session, f, free_process)
		f->free_process(p);
	cp_vec_free(&p->images);
	cp_buf_free(&p->auxv);
	free(p->exe);
	free(p->shapes);
	free(p->started_as);
	free(p);
}

void engine_tables_free(cprof_session *s)
{
	uint64_t key, value;
	size_t cursor = 0, i;

	while (cp_map_next(&s->by_tid, &cursor, &key, &value)) {
		cprof_thread *t = (cprof_thread *)(uintptr_t)value;

		cp_vec_free(&t->kept);
		engine_thread_life_free(&t->life);
		free(t);
	}
	for (i = 0; i < s->gone_threads.count; i++)
		free(s->gone_threads.items[i]);
	for (i = 0; i < s->processes.count; i++)
		process_free(s->processes.items[i]);
	cp_map_free(&s->by_tid);
	cp_map_free(&s->by_pid);
	cp_vec_free(&s->gone_threads);
	cp_vec_free(&s->processes);
	engine_kept_free(s);
}

/* ---- queries ---- */

cprof_process *cprof_current_process(void)
{
	cprof_session *s = cprof_session_current();

	return s ? s->current.process : NULL;
}

int32_t cprof_process_pid(const cprof_process *p)
{
	return p ? p->pid : 0;
}

int32_t cprof_process_ns_pid(const cprof_process *p)
{
	return p ? p->ns_pid : 0;
}

int32_t cprof_process_parent(const cprof_process *p)
{
	return p ? p->parent : 0;
}

const char *cprof_process_name(const cprof_process *p)
{
	return p ? p->name : "";
}

const char *cprof_process_exe(const cprof_process *p)
{
	return p && p->exe ? p->exe : "";
}

const char *cprof_process_started_as(const cprof_process *p)
{
	const char *path = p ? engine_started_as(p) : NULL;

	return path ? path : "";
}

uint64_t cprof_process_start(const cprof_process *p)
{
	return p ? p->start_ns : 0;
}

uint64_t cprof_process_exec_time(const cprof_process *p)
{
	return p ? p->exec_ns : 0;
}

uint64_t cprof_process_end(const cprof_process *p)
{
	return p ? p->end_ns : 0;
}

int cprof_process_wait_status(const cprof_process *p)
{
	return p ? p->wait_status : -1;
}

cprof_thread *cprof_current_thread(void)
{
	cprof_session *s = cprof_session_current();

	return s ? s->current.thread : NULL;
}

cprof_thread *cprof_thread_from_tid(int32_t tid)
{
	cprof_session *s = cprof_session_current();
	uint64_t *p = s ? cp_map_get(&s->by_tid, (uint64_t)tid) : NULL;

	return p ? (cprof_thread *)(uintptr_t)*p : NULL;
}

int32_t cprof_thread_tid(const cprof_thread *t)
{
	return t ? t->tid : 0;
}

int32_t cprof_thread_ns_tid(const cprof_thread *t)
{
	return t ? t->ns_tid : 0;
}

const char *cprof_thread_name(const cprof_thread *t)
{
	return t ? t->name : "";
}

cprof_process *cprof_thread_process(const cprof_thread *t)
{
	return t ? t->process : NULL;
}

uint64_t cprof_thread_start(const cprof_thread *t)
{
	return t ? t->start_ns : 0;
}

uint64_t cprof_thread_end(const cprof_thread *t)
{
	return t ? t->end_ns : 0;
}

int cprof_thread_wait_status(const cprof_thread *t)
{
	return t ? t->wait_status : -1;
}

uint64_t cprof_thread_cpu_time(const cprof_thread *t)
{
	return t ? t->cpu_ns : 0;
}

/* ---- its arguments ---- */

#define FEW_EMPTY 3 /* arguments at the end that may be meant */

char **engine_read_command(int32_t pid)
{
	struct cp_buf text = { 0 };
	CP_VEC(char *) words = { 0 };
	char path[64], *at;
	size_t last;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	cp_error_free(cp_file_read(AT_FDCWD, path, 1u << 20, &text));
	if (text.bytes)
		cp_buf_u8(&text, 0); /* the program may have written anything there */
	for (at = text.bytes; at && at + 1 < text.bytes + text.size; at += strlen(at) + 1)
		if (!cp_vec_push(&words, strdup(at)))
			break;
	/* A title that a server wrote there leaves the rest empty. */
	last = words.count;
	while (last && !*words.items[last - 1])
		last--;
	if (words.count - last > FEW_EMPTY)
		while (words.count > last)
			free(words.items[--words.count]);
	if (!cp_vec_push(&words, NULL))
		cp_vec_free(&words);
	cp_buf_free(&text);
	return words.items;
}

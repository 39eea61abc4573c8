/* SPDX-License-Identifier: MIT
 *
 * Births, deaths and what lies between: events of the runtime, of processes
 * and threads, of signals.
 *
 *   process   loading ─► loaded ─► (exec: unloading, unloaded, loading, loaded)
 *                        ─► unloading ─► unloaded
 *   thread    started ─► stopping ─► stopped ─► exited
 *
 * Each event is raised whatever the program does: one that the kernel or a breakpoint
 * has not told in time, because a thread was killed or nobody asked before the start,
 * comes right before the next one of its row.
 */
#include "engine/session/lifecycle.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/calls/calls.h"
#include "engine/calls/inherit.h"
#include "engine/calls/stacks.h"
#include "engine/families/loaded.h"
#include "engine/families/stopping.h"
#include "engine/calls/records.h"
#include "engine/probes/arm.h"
#include "engine/probes/inherit.h"
#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/session/explain.h"
#include "engine/session/leaks.h"
#include "engine/target/family.h"
#include "engine/target/images.h"
#include "engine/target/lives.h"
#include "engine/target/process.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

/* ---- what is wanted ---- */

void engine_watch_decide(cprof_session *s)
{
	unsigned id;

	engine_each_family(s, f, prepare)
		f->prepare(s);
	for (id = 1; id < ENGINE_FAMILIES; id++)
		if (s->families[id]->asked && s->families[id]->asked(s))
			s->asked |= 1u << id;
	/* Families' breakpoints are kept with those of calls; without memory for that
	 * they have none. */
	if (engine_families_break(s) && !engine_calls_get(s))
		for (id = 1; id < ENGINE_FAMILIES; id++)
			if (s->families[id]->breakpoints)
				s->asked &= ~(1u << id);
}

/* ---- threads ---- */

static void thread_started(cprof_session *s, cprof_thread *t)
{
	t->process->life.alive++;
	s->current.thread = t;
	engine_raise(s, thread_started, (uintptr_t)t->tid);
	/* The thread may have named itself before its start was told. */
	if (strcmp(t->name, t->process->name) != 0)
		engine_raise(s, thread_name, (uintptr_t)t->tid, t->name);
}

static void domain_unloading(cprof_session *s, cprof_process *p)
{
	if (p->life.unloading || !p->loaded)
		return;
	p->life.unloading = true;
	engine_raise(s, domain_unloading, p);
}

static void thread_stopped(cprof_session *s, cprof_thread *t)
{
	cprof_process *p = t->process;

	if (t->life.stopped)
		return;
	engine_thread_stopping(s, t);
	engine_each_family(s, f, thread_stops)
		f->thread_stops(t);
	t->life.stopped = true;
	engine_raise(s, thread_stopped, (uintptr_t)t->tid);
	if (p->life.alive)
		p->life.alive--;
}

void engine_on_thread(cprof_session *s, cprof_process *p, const struct cp_event_thread *e)
{
	cprof_thread *t = engine_thread_add(s, p, e->e.tid, e->e.ts_ns);
	const cprof_process *parent = NULL;

	if (!t)
		return;
	t->slot = e->slot;
	if (p->parent && t->tid == p->pid)
		parent = engine_process(s, p->parent);
	engine_calls_born(t, e->sp, parent);
	engine_each_family(s, f, began)
		f->began(t, parent);
	if (!p->loaded) /* the child is cprof still, not yet CMD */
		return;
	thread_started(s, t);
	engine_each_family(s, f, thread_started)
		f->thread_started(t);
	if (parent)
		engine_calls_inherit(s, t, parent);
}

void engine_on_exiting(cprof_session *s, cprof_thread *t, uint64_t ts_ns)
{
	engine_each_family(s, f, ends)
		f->ends(t->process, ENGINE_END_EXIT, t->tid == t->process->pid);
	engine_calls_exit(t->process, t->tid, ts_ns);
	engine_thread_refresh_name(s, t, 0);
	if (!t->process->loaded)
		return;
	thread_stopped(s, t);
	if (!t->process->life.alive)
		domain_unloading(s, t->process);
}

/* Who names itself first thing, and is over soon, has the name when it ends alone. */
static void last_name(cprof_session *s, cprof_thread *t, const struct cp_event_exit *e)
{
	if (*e->name && t->process->loaded)
		engine_thread_named(s, t, e->name);
}

void engine_on_let_go(cprof_session *s, cprof_thread *t, const struct cp_event_exit *e)
{
	t->cpu_ns = e->cpu_ns;
	last_name(s, t, e);
}

void engine_on_thread_exit(cprof_session *s, cprof_thread *t, const struct cp_event_exit *e)
{
	last_name(s, t, e);
	engine_each_family(s, f, thread_ended)
		f->thread_ended(t);
	engine_calls_exit(t->process, t->tid, e->e.ts_ns);
	t->end_ns = e->e.ts_ns;
	t->cpu_ns = e->cpu_ns;
	t->wait_status = e->status;
	if (t->process->loaded) {
		thread_stopped(s, t);
		engine_raise(s, thread_exited, (uintptr_t)t->tid);
	}
	engine_thread_gone(s, t);
}

/* After an exec: a thread that was not the leader goes on as the leader, which
 * ended for it. */
static void keep_leader(cprof_session *s, cprof_process *p, bool first)
{
	cprof_thread *t = cprof_thread_from_tid(p->pid);

	p->life.alive = 0;
	if (!t)
		return;
	s->current.thread = t;
	engine_thread_life_free(&t->life);
	t->life.finalizing = ENGINE_FINALIZING_NONE;
	if (!first && t->life.stopped)
		engine_raise(s, thread_exited, (uintptr_t)t->tid);
	if (first) /* until now it had cprof's name */
		memcpy(t->name, p->name, sizeof(t->name));
	if (first || t->life.stopped)
		thread_started(s, t);
	else
		p->life.alive = 1;
	t->life.stopping = t->life.stopped = false;
	engine_thread_named_now(s, t, p->name); /* it was read a moment ago */
}

/* ---- processes ---- */

static void domain_loaded(cprof_session *s, cprof_process *p)
{
	p->loaded = true;
	p->life.unloading = false;
	engine_raise(s, domain_loading, p);
	engine_raise(s, domain_loaded, p);
	engine_raise(s, domain_name, p, p->name);
}

void engine_on_process(cprof_session *s, const struct cp_event_process *e)
{
	cprof_process *p = engine_process_add(s, e), *parent = NULL;

	if (!p)
		return;
	s->current.process = p;
	if (e->birth == CP_BIRTH_LAUNCHED)
		return;
	if (e->birth == CP_BIRTH_FORKED)
		parent = engine_process(s, e->parent);
	p->life.fork_sp = e->sp;
	p->life.leaks_off = parent ? parent->life.leaks_off : engine_leaks_off(p);
	if (parent && engine_probes_wanted(s))
		engine_arm_inherit(p, parent);
	if (parent)
		engine_each_family(s, f, forked)
			f->forked(p, parent);
	domain_loaded(s, p);
	if (parent)
		engine_inherit_images(p, parent);
}

static void domain_gone(cprof_session *s, cprof_process *p)
{
	if (!p->loaded)
		return;
	domain_unloading(s, p);
	engine_drop_images(p);
	engine_each_family(s, f, dropped)
		f->dropped(p);
	engine_raise(s, domain_unloaded, p);
}

/* Will the dynamic linker call its hook once more, where a breakpoint is? */
static bool waits_for_linker(const cprof_process *p)
{
	size_t i;

	for (i = 0; i < p->images.count; i++) {
		const cprof_image *image = p->images.items[i];
		const struct engine_plans *plans = image->assembly->plans;

		if (image->armed && plans && plans->hook_address && !engine_is_program(image))
			return true;
	}
	return false;
}

void engine_on_exec(cprof_session *s, cprof_process *p, uint64_t ts_ns)
{
	bool first = !p->loaded && p->pid == s->target;
	struct cp_error *err;
	cprof_thread *leader;

	engine_each_family(s, f, end)
		f->end(p, ENGINE_END_EXEC);
	engine_calls_exit(p, 0, ts_ns);
	engine_records_end(p, 0);
	engine_rings_forget(p);
	p->exec_ns = ts_ns;
	p->stacks_within = false;
	domain_gone(s, p);
	engine_process_exec(p);
	p->life.leaks_off = engine_leaks_off(p);
	cp_map_clear(&p->life.returns);
	domain_loaded(s, p);
	keep_leader(s, p, first);
	err = first ? engine_check_isa(p->pid) : NULL;
	if (err) {
		engine_fail(s, err);
		s->stop_asked = true;
	}
	if (engine_probes_wanted(s)) {
		p->life.beginning = true;
		engine_maps_look(p);
		p->life.beginning = false;
		engine_calls_stack(cprof_thread_from_tid(p->pid));
	}
	leader = cprof_thread_from_tid(p->pid);
	if (leader)
		engine_each_family(s, f, thread_started)
			f->thread_started(leader);
	if (p->pid == s->target &&
	    !(engine_family_wanted(s, ENGINE_FAMILY_LOADER) && waits_for_linker(p)))
		engine_initialized(s);
}

void engine_on_process_exit(cprof_session *s, cprof_process *p, const struct cp_event_exit *e)
{
	if (e->status < 0) /* the process is let go, and goes on */
		engine_each_family(s, f, ends)
			f->ends(p, ENGINE_END_EXIT, false);
	engine_each_family(s, f, end)
		f->end(p, ENGINE_END_EXIT);
	engine_calls_exit(p, 0, e->e.ts_ns);
	engine_records_end(p, 0);
	engine_rings_forget(p);
	p->end_ns = e->e.ts_ns;
	p->wait_status = e->status;
	engine_leaks_explain(s, p);
	if (p->pid == s->target && p->loaded)
		engine_initialized(s);
	domain_gone(s, p);
	engine_process_gone(s, p);
}

/* ---- signals ---- */

void engine_on_signal(cprof_session *s, const struct cp_event_signal *e)
{
	if (s->current.process->loaded)
		engine_raise(s, signal_delivered, (uintptr_t)e->e.tid, e->signal, e->address);
}

/* ---- now and then ---- */

/* Reads names of threads again; those of threads that are sampled are read then. */
static void look_at_names(cprof_session *s)
{
	uint64_t now = cp_now(), key, value;
	CP_VEC(cprof_thread *) threads = { 0 };
	size_t cursor = 0, i;

	while (cp_map_next(&s->by_tid, &cursor, &key, &value))
		if (!cp_vec_push(&threads, (cprof_thread *)(uintptr_t)value))
			break;
	for (i = 0; i < threads.count; i++)
		if (threads.items[i]->process->loaded)
			engine_thread_refresh_name(s, threads.items[i], now);
	cp_vec_free(&threads);
}

/* Has families that want to look at a process that runs. */
static void look_at(cprof_process *p)
{
	const cprof_session *s = p->session;
	unsigned id;

	for (id = 1; id < ENGINE_FAMILIES; id++)
		if (s->families[id]->look && engine_family_wanted(s, id))
			s->families[id]->look(p);
}

void engine_look_around(cprof_session *s)
{
	size_t i;

	if ((s->asked || engine_families_break(s) || !s->sampling) &&
	    (engine_has(s, thread_name) || engine_has(s, domain_name)))
		look_at_names(s);
	for (i = 0; i < s->processes.count; i++) {
		cprof_process *p = s->processes.items[i];

		if (p->loaded && engine_process(s, p->pid) == p)
			look_at(p);
	}
}

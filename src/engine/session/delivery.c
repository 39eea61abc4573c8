/* SPDX-License-Identifier: MIT */
#include "engine/session/delivery.h"

#include "engine/calls/calls.h"
#include "engine/calls/disarmed.h"
#include "engine/calls/reading.h"
#include "engine/calls/records.h"
#include "engine/frames/snapshot.h"
#include "engine/probes/arm.h"
#include "engine/probes/refilter.h"
#include "engine/probes/rings.h"
#include "engine/probes/roles.h"
#include "engine/session/lifecycle.h"
#include "engine/target/family.h"
#include "engine/target/process.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

/* Does it stand for time on a CPU? */
static bool is_of_cpu(const struct cp_event_sample *e)
{
	return e->e.type == CP_EVENT_SAMPLE &&
	       !(e->e.flags & (CP_SAMPLE_BLOCKED | CP_SAMPLE_WAITED));
}

/* A sample, or the repetition of one. Before its exec, the child is cprof, and not
 * sampled. */
static void on_sample(cprof_session *s, const struct cp_event_sample *e, cprof_thread *t)
{
	cprof_context context;

	if (e->e.flags & CP_SAMPLE_SNAPSHOT && !e->count)
		return; /* the callback that asked for it has it (frames/target.c) */
	if (s->mode == CPROF_SAMPLE_MODE_NONE) { /* it was taken before sampling ended */
		if (!s->capturing.event && is_of_cpu(e))
			s->capturing.late_ns += e->weight_ns;
		return;
	}
	s->current.sample = e;
	s->current.repeat = e->e.type == CP_EVENT_REPEAT;
	if (!t->process->loaded || (s->current.repeat && !t->kept.count))
		return;
	t->slot = e->slot;
	engine_thread_refresh_name(s, t, e->e.ts_ns);
	s->current.walkable = true;
	if (!s->current.repeat)
		engine_use_sample(&s->current, e);
	engine_fill_context(&s->current.capture.regs, &context);
	engine_fill_leaf(&s->current.capture, true, &context);
	engine_raise(s, sample_hit, e->pc, &context);
}

static void on_thread_event(cprof_session *s, const struct cp_event *e)
{
	cprof_thread *t = cprof_thread_from_tid(e->tid);

	if (!t || t->process != s->current.process)
		return;
	s->current.thread = t;
	if (e->type == CP_EVENT_SAMPLE || e->type == CP_EVENT_REPEAT) {
		on_sample(s, (const struct cp_event_sample *)e, t);
	} else if (e->type == CP_EVENT_HIT) {
		engine_on_hit(s, (const struct cp_event_hit *)e);
	} else if (e->type == CP_EVENT_RING) {
		engine_records_ring(s, (const struct cp_event_hit *)e);
		engine_calls_place(s, (const struct cp_event_hit *)e);
		engine_ring_stack(t);
		engine_reading_begin(t, (const struct cp_event_hit *)e);
	} else if (e->type == CP_EVENT_FULL) {
		engine_calls_held(t, (const struct cp_event_hit *)e, true);
	} else if (e->type == CP_EVENT_THREAD_EXIT) {
		engine_records_end(t->process, t->tid);
		engine_on_thread_exit(s, t, (const struct cp_event_exit *)e);
	} else if (e->type == CP_EVENT_LET_GO) {
		engine_on_let_go(s, t, (const struct cp_event_exit *)e);
	} else if (e->type == CP_EVENT_EXITING) {
		engine_on_exiting(s, t, e->ts_ns);
	} else if (e->type == CP_EVENT_SIGNAL) {
		engine_on_signal(s, (const struct cp_event_signal *)e);
	}
}

void engine_dispatch(cprof_session *s, const struct cp_event *e)
{
	cprof_process *p = engine_process(s, e->pid);

	s->current = (struct engine_current){ .process = p };
	if (e->type == CP_EVENT_LEFT)
		s->tracer_left = true;
	else if (e->type == CP_EVENT_PROCESS)
		engine_on_process(s, (const struct cp_event_process *)e);
	else if (!p)
		return;
	else if (e->type == CP_EVENT_THREAD)
		engine_on_thread(s, p, (const struct cp_event_thread *)e);
	else if (e->type == CP_EVENT_EXEC)
		engine_on_exec(s, p, e->ts_ns);
	else if (e->type == CP_EVENT_DISARMED)
		engine_on_disarmed(s, (const struct cp_event_disarmed *)e);
	else if (e->type == CP_EVENT_FAULT)
		engine_each_family(s, f, fault)
			f->fault(s, p, (const struct cp_event_fault *)e);
	else if (e->type == CP_EVENT_GONE)
		engine_arm_gone(p, (const struct cp_event_gone *)e);
	else if (e->type == CP_EVENT_BASE)
		engine_arm_without_detours(p);
	else if (e->type == CP_EVENT_OPENED)
		engine_each_family(s, f, opened)
			f->opened(s, p, (const struct cp_event_opened *)e);
	else if (e->type == CP_EVENT_PAUSE)
		engine_roles_pause(p, (const struct cp_event_pause *)e);
	else if (e->type == CP_EVENT_PROCESS_EXIT)
		engine_on_process_exit(s, p, (const struct cp_event_exit *)e);
	else
		on_thread_event(s, e);
	s->current = (struct engine_current){ 0 };
	if (p)
		engine_each_family(s, f, delivered)
			f->delivered(p);
	engine_refilter(s); /* before the thread that is held goes on */
}

/* Of a thread whose ring is full, which waits until we have passed this. */
static void on_full(cprof_session *s, const struct cp_event *event)
{
	const struct cp_event_hit e = *(const struct cp_event_hit *)event;

	engine_records_make_room(s, &e);
	cp_ring_release(&s->link, event);
	engine_records_before(s, &e.e);
	engine_dispatch(s, &e.e);
}

void engine_deliver(cprof_session *s, const struct cp_event *e)
{
	if (e->type == CP_EVENT_FULL) {
		on_full(s, e);
		return;
	}
	engine_records_before(s, e);
	engine_dispatch(s, e);
	cp_ring_release(&s->link, e);
}

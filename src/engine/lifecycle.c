/* SPDX-License-Identifier: MIT
 *
 * Births, deaths and what lies between: events of the runtime, of processes
 * and threads, of signals.
 *
 *   process   loading ─► loaded ─► (exec: unloading, unloaded, loading, loaded)
 *                        ─► unloading ─► unloaded
 *   thread    started ─► stopping ─► stopped ─► exited
 *
 * Each of them is raised whatever the program does: what the kernel or a
 * breakpoint has not told in time, because somebody was killed or nobody asked
 * before the start, comes right before the event behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/annotations.h"
#include "engine/calls.h"
#include "engine/finalizing.h"
#include "engine/heap_size.h"
#include "engine/inherit.h"
#include "engine/jit.h"
#include "engine/leaks.h"
#include "engine/roots.h"
#include "engine/stacks.h"

/* ---- what is wanted ---- */

void engine_watch_decide(cprof_session *s)
{
	unsigned watch = 0;

	if (engine_has(s, context_loaded) || engine_has(s, context_unloaded) ||
	    engine_has(s, image_loading) || engine_has(s, image_loaded) ||
	    engine_has(s, image_unloading) || engine_has(s, image_unloaded) ||
	    engine_has(s, assembly_loading) || engine_has(s, assembly_loaded) ||
	    engine_has(s, assembly_unloading) || engine_has(s, assembly_unloaded) ||
	    engine_has(s, method_free))
		watch |= ENGINE_WATCH_LOADER;
	if (engine_has(s, image_unloading) || engine_has(s, assembly_unloading))
		watch |= ENGINE_WATCH_UNLOADS;
	if (engine_has(s, thread_stopping))
		watch |= ENGINE_WATCH_STOPPING | ENGINE_WATCH_EXITS;
	if (engine_has(s, image_failed))
		watch |= ENGINE_WATCH_OPENS;
	if (engine_has(s, thread_stopped) || engine_has(s, domain_unloading))
		watch |= ENGINE_WATCH_EXITS;
	if (engine_has(s, signal_delivered))
		watch |= ENGINE_WATCH_SIGNALS;
	if (engine_has(s, gc_finalizing) || engine_has(s, gc_finalized))
		watch |= ENGINE_WATCH_FINALIZING;
	if (engine_has(s, gc_root_register) || engine_has(s, gc_root_unregister))
		watch |= ENGINE_WATCH_ROOTS | ENGINE_WATCH_LOADER;
	if (engine_has(s, gc_resize))
		watch |= ENGINE_WATCH_HEAP_SIZE;
	if (s->annotations)
		watch |= ENGINE_WATCH_FIBERS | ENGINE_WATCH_EXECS;
	if (engine_jit_wanted(s))
		watch |= ENGINE_WATCH_JIT;
	s->life.watch = watch;
	/* Breakpoints are kept with those of calls. */
	if (watch & ENGINE_WATCH_BREAKPOINTS && !engine_calls_get(s))
		s->life.watch &= ~ENGINE_WATCH_BREAKPOINTS;
}

/* ---- threads ---- */

static void thread_started(cprof_session *s, cprof_thread *t)
{
	t->process->life.alive++;
	s->current.thread = t;
	engine_raise(s, thread_started, (uintptr_t)t->tid);
	/* It may have named itself before its start came to us. */
	if (strcmp(t->name, t->process->name) != 0)
		engine_raise(s, thread_name, (uintptr_t)t->tid, t->name);
}

static void thread_stopping(cprof_session *s, cprof_thread *t)
{
	if (t->life.stopping)
		return;
	t->life.stopping = true;
	engine_raise(s, thread_stopping, (uintptr_t)t->tid);
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
	thread_stopping(s, t);
	engine_roots_remove_thread(t);
	t->life.stopped = true;
	engine_raise(s, thread_stopped, (uintptr_t)t->tid);
	if (p->life.alive)
		p->life.alive--;
}

void engine_on_thread(cprof_session *s, cprof_process *p, const struct cp_event_thread *e)
{
	cprof_thread *t = engine_thread_add(s, p, e->e.tid, e->e.ts_ns);

	if (!t)
		return;
	t->slot = e->slot;
	if (p->parent && t->tid == p->pid && engine_process(s, p->parent))
		engine_finalizing_inherit(t, engine_process(s, p->parent));
	if (!p->loaded) /* it is us, before CMD */
		return;
	thread_started(s, t);
	engine_roots_add_thread(t);
	if (p->parent && t->tid == p->pid && engine_process(s, p->parent))
		engine_calls_inherit(s, t, engine_process(s, p->parent));
}

void engine_on_exiting(cprof_session *s, cprof_thread *t, uint64_t ts_ns)
{
	engine_annotations_settle(t->process, ENGINE_END_EXIT, t->tid == t->process->pid);
	engine_calls_exit(t->process, t->tid, ts_ns);
	engine_thread_refresh_name(s, t, 0);
	if (!t->process->loaded)
		return;
	thread_stopped(s, t);
	if (!t->process->life.alive)
		domain_unloading(s, t->process);
}

void engine_on_thread_exit(cprof_session *s, cprof_thread *t, const struct cp_event_exit *e)
{
	engine_annotations_read(t->process, false);
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
	if (first) /* until now it had our name */
		memcpy(t->name, p->name, sizeof(t->name));
	if (first || t->life.stopped)
		thread_started(s, t);
	else
		p->life.alive = 1;
	t->life.stopping = t->life.stopped = false;
	engine_thread_refresh_name(s, t, 0);
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
	if (parent) {
		engine_annotations_inherit(p, parent);
		engine_heap_size_inherit(p, parent);
	}
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
	engine_roots_drop(p);
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

void engine_initialized(cprof_session *s)
{
	if (s->life.initialized)
		return;
	s->life.initialized = true;
	engine_raise0(s, runtime_initialized);
}

void engine_on_exec(cprof_session *s, cprof_process *p, uint64_t ts_ns)
{
	bool first = !p->loaded && p->pid == s->target;
	struct cp_error *err;

	engine_annotations_gone(p, ENGINE_END_EXEC);
	engine_calls_exit(p, 0, ts_ns);
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
		engine_calls_look(p);
		engine_calls_stack(cprof_thread_from_tid(p->pid));
	}
	if (cprof_thread_from_tid(p->pid))
		engine_roots_add_thread(cprof_thread_from_tid(p->pid));
	if (p->pid == s->target && !(s->life.watch & ENGINE_WATCH_LOADER && waits_for_linker(p)))
		engine_initialized(s);
}

void engine_on_process_exit(cprof_session *s, cprof_process *p, const struct cp_event_exit *e)
{
	if (e->status < 0) /* it is let go, and goes on */
		engine_annotations_settle(p, ENGINE_END_EXIT, false);
	engine_annotations_gone(p, ENGINE_END_EXIT);
	engine_calls_exit(p, 0, e->e.ts_ns);
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

/* ---- breakpoints of cprof's own ---- */

static void look_again(cprof_session *s, cprof_process *p)
{
	engine_annotations_settle(p, ENGINE_END_UNLOAD, false);
	engine_calls_look(p);
	engine_tell_images(p); /* the mappings may have been read in the middle */
	if (!s->life.initialized && p->pid == s->target && engine_linker_done(p))
		engine_initialized(s);
}

static char *read_name(cprof_process *p, uint64_t address)
{
	char name[4096] = "";
	size_t n = 0;

	if (address && engine_open_memory(p))
		n = p->memory.read(p->memory.ctx, address, name, sizeof(name) - 1);
	name[n] = 0;
	return strdup(name);
}

#define RTLD_NOLOAD_FLAG 4u /* of <dlfcn.h>: asks whether it is loaded */

/* dlopen(file, mode), dlmopen(namespace, file, mode): what it answers is seen
 * where it returns to. */
static void on_open(cprof_process *p, cprof_thread *t, const struct cp_event_hit *e,
		    uint32_t number)
{
	const struct cp_arch *arch = cp_arch_host();
	unsigned at = p->session->calls->sites.items[number].kind == ENGINE_SITE_DLMOPEN;
	struct engine_open open = { .sp = e->sp };
	uint64_t regs[CP_REG_MAX];

	if (e->regs_size != arch->nregs * sizeof(*regs) || e->e.size < sizeof(*e) + e->regs_size)
		return;
	memcpy(regs, e + 1, e->regs_size);
	if (!e->caller || !regs[arch->args[at]] || regs[arch->args[at + 1]] & RTLD_NOLOAD_FLAG)
		return;
	open.name = read_name(p, regs[arch->args[at]]);
	if (!open.name || !cp_vec_push(&t->life.opens, open)) {
		free(open.name);
		return;
	}
	/* The site behind this one is the one for return addresses (plans.c). */
	if (!cp_map_get(&p->life.returns, e->caller) && cp_map_put(&p->life.returns, e->caller, 1))
		engine_arm_return(p, number + 1, e->caller);
}

/* What could not be loaded is an image of nothing but a name. */
static void tell_failed(cprof_session *s, cprof_process *p, const char *name)
{
	cprof_assembly *a = engine_assembly_create(s, name);
	cprof_image *image = calloc(1, sizeof(*image));

	if (!a || !image || !cp_vec_reserve(&s->jits, s->jits.count + 1) ||
	    !cp_vec_push(&p->images, image)) {
		engine_assembly_free(a);
		free(image);
		return;
	}
	cp_vec_push(&s->jits, a);
	image->process = p;
	image->assembly = a;
	engine_raise(s, image_loading, image);
	engine_raise(s, image_failed, image);
}

static void on_opened(cprof_session *s, cprof_process *p, cprof_thread *t,
		      const struct cp_event_hit *e)
{
	uint64_t sp = e->sp - cp_arch_host()->ret_size, result;

	while (t->life.opens.count) {
		struct engine_open open = t->life.opens.items[t->life.opens.count - 1];

		if (open.sp > sp)
			return;
		t->life.opens.count--;
		if (open.sp == sp && e->regs_size >= sizeof(result) &&
		    e->e.size >= sizeof(*e) + e->regs_size) {
			memcpy(&result, e + 1, sizeof(result)); /* the first register */
			if (!result)
				tell_failed(s, p, open.name);
		}
		free(open.name);
	}
}

void engine_on_watch(cprof_session *s, const struct cp_event_hit *e, uint32_t number)
{
	cprof_thread *t = s->current.thread;
	cprof_process *p = s->current.process;

	s->calls->hooks++;
	switch ((enum engine_site_kind)s->calls->sites.items[number].kind) {
	case ENGINE_SITE_HOOK:
		look_again(s, p);
		break;
	case ENGINE_SITE_THREAD_END:
		engine_thread_refresh_name(s, t, e->e.ts_ns);
		thread_stopping(s, t);
		break;
	case ENGINE_SITE_DLOPEN:
	case ENGINE_SITE_DLMOPEN:
		on_open(p, t, e, number);
		break;
	case ENGINE_SITE_DLOPENED:
		on_opened(s, p, t, e);
		break;
	case ENGINE_SITE_JIT:
		engine_on_jit(p, e->pc);
		break;
	case ENGINE_SITE_UNMAP:
		engine_on_unmap(p, e);
		break;
	case ENGINE_SITE_EXEC:
		engine_annotations_settle(p, ENGINE_END_EXEC, false);
		break;
	case ENGINE_SITE_ENTRY:
	case ENGINE_SITE_EXIT:
	case ENGINE_SITE_TAIL:
	case ENGINE_SITE_RETURN:
	case ENGINE_SITE_SIGACTION:
	case ENGINE_SITE_THROW:
	case ENGINE_SITE_LANDING:
	case ENGINE_SITE_LOCK:
	case ENGINE_SITE_LOCKED:
	case ENGINE_SITE_SIGCALL:
	case ENGINE_SITE_SETCONTEXT:
	case ENGINE_SITE_SWAPCONTEXT:
		break;
	}
}

/* ---- now and then ---- */

/* Samples show the names of those who run. */
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

void engine_look_around(cprof_session *s)
{
	uint64_t now = cp_now();
	size_t i;

	if ((s->life.watch || !s->sampling) &&
	    (engine_has(s, thread_name) || engine_has(s, domain_name)))
		look_at_names(s);
	for (i = 0;
	     s->life.watch & (ENGINE_WATCH_LOADER | ENGINE_WATCH_JIT) && i < s->processes.count;
	     i++) {
		cprof_process *p = s->processes.items[i];

		if (!p->loaded || engine_process(s, p->pid) != p)
			continue;
		engine_refresh_maps(p, now, false);
		engine_tell_images(p);
		engine_jit_look(p);
	}
}

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

/* SPDX-License-Identifier: MIT
 *
 * Births and deaths: of processes, threads, images, namespaces; the events
 * about them, and who has to be watched for them. Private to src/engine.
 */
#ifndef CP_ENGINE_LIFECYCLE_H
#define CP_ENGINE_LIFECYCLE_H

#include <cprof/cprof.h>

#include "base/map.h"
#include "base/vec.h"
#include "link/sites.h"

enum engine_finalizing {
	ENGINE_FINALIZING_NONE,
	ENGINE_FINALIZING_LIBRARY, /* one that is unloaded */
	ENGINE_FINALIZING_ALL,
};

/* What was said of an image. */
struct engine_image_life {
	bool shown; /* image_loaded was raised, and not yet image_unloaded */
	bool unloading, assembly_unloading; /* these were, too */
	bool unmapped; /* before that */
	uint32_t look; /* at which it was last found */
	bool stubs_wait; /* until the libraries are there that they lead to */
	uint64_t link_rank; /* where in the search for symbols; UINT64_MAX: unknown */
	uint64_t rank; /* place in the dynamic linker's list; those of a process differ */
	cprof_namespace *in; /* NULL: that of the program */
	uint64_t link_map; /* address of the dynamic linker's; 0: it has none */
};

struct engine_open { /* a call of dlopen */
	uint64_t sp; /* of its return address */
	char *name; /* owned */
};

struct engine_thread_life {
	bool stopping, stopped; /* the event was raised */
	enum engine_finalizing finalizing; /* what it runs handlers for */
	CP_VEC(struct engine_open) opens; /* innermost last */
};

struct cprof_namespace {
	cprof_process *process;
	uint32_t id; /* from 1 */
	uint64_t debug; /* address of its struct r_debug; 0: of a program that was replaced */
	bool shown, full;
};

struct engine_process_life {
	uint32_t alive; /* threads that are not known to end */
	uint32_t look;
	bool unloading, telling;
	bool leaks_off; /* it looks for none (leaks.c) */
	uint64_t fork_sp; /* where it was forked (cp_event_process.sp) */
	CP_VEC(cprof_namespace *) namespaces; /* owned; as long as the session */
	struct cp_map returns; /* addresses behind calls of dlopen that have a breakpoint */
};

/* Processes that live on when CMD has ended (linger.c). */
struct engine_linger {
	uint64_t ns; /* how long they are waited for; 0: not at all */
	uint64_t until_ns; /* 0: it has not begun */
	cprof_wait_fn begins;
	void *data;
};

struct engine_session_life {
	struct engine_linger linger;
	bool initialized; /* runtime_initialized was raised */
	bool jit_asked; /* for events of code made at run time, without a callback */
	uint64_t jit_refused; /* symbol files of code made at run time that make no sense */
};

#define engine_has(session, event) \
	__extension__({ \
		const struct cprof_profiler_desc *eh_p = (session)->profilers; \
		while (eh_p && !eh_p->event) \
			eh_p = eh_p->next; \
		eh_p != NULL; \
	})

/* process.c: the tables */
cprof_process *engine_process(cprof_session *s, int32_t pid);
cprof_process *engine_process_add(cprof_session *s, const struct cp_event_process *event);
void engine_process_exec(cprof_process *p);
void engine_process_gone(cprof_session *s, cprof_process *p);
/* Does the process run another program already than the one whose events are being
 * delivered? Then what is read of it now is not about that one. */
bool engine_is_replaced(const cprof_process *p);
/* The path that its program was started by, where that is another name of the file;
 * or NULL. Of an image: if it is that program. */
const char *engine_started_as(const cprof_process *process);
const char *engine_image_started_as(const cprof_image *image);
cprof_thread *engine_thread_add(cprof_session *s, cprof_process *p, int32_t tid, uint64_t ts_ns);
void engine_thread_gone(cprof_session *s, cprof_thread *t);
/* Reads the thread's name again when that was not done lately (at ts_ns 0: in
 * any case). */
void engine_thread_refresh_name(cprof_session *s, cprof_thread *t, uint64_t ts_ns);
void engine_tables_free(cprof_session *s);

/* lifecycle.c: what happens, as the tracer tells it */
/* What is wanted; before launch or attach. */
void engine_watch_decide(cprof_session *s);
/* Where s->current is the process, and the thread, if there is one. */
void engine_on_process(cprof_session *s, const struct cp_event_process *e);
void engine_on_exec(cprof_session *s, cprof_process *p, uint64_t ts_ns);
void engine_on_process_exit(cprof_session *s, cprof_process *p, const struct cp_event_exit *e);
void engine_on_thread(cprof_session *s, cprof_process *p, const struct cp_event_thread *e);
void engine_on_thread_exit(cprof_session *s, cprof_thread *t, const struct cp_event_exit *e);
void engine_on_exiting(cprof_session *s, cprof_thread *t, uint64_t ts_ns);
void engine_on_signal(cprof_session *s, const struct cp_event_signal *e);
/* Raised once, at last at the end of what was profiled. */
void engine_initialized(cprof_session *s);
/* What nobody told: now and then. */
void engine_look_around(cprof_session *s);
void engine_life_free(struct engine_process_life *life);
void engine_thread_life_free(struct engine_thread_life *life);

/* loaded.c: images and namespaces */
/* After mappings were read: raises the events of what came and went, unless
 * the dynamic linker is at work in the process. */
void engine_tell_images(cprof_process *p);
/* The dynamic linker is at work in the process. */
/* Is it not? False also without one. */
bool engine_linker_done(cprof_process *p);
/* Notes the places of images in the dynamic linker's list (link_rank). */
void engine_rank_images(cprof_process *p);
/* A forked process begins with what its parent has loaded. */
void engine_inherit_images(cprof_process *p, const cprof_process *parent);
/* Raises method_free for what is known of an image. */
void engine_free_methods(cprof_session *s, const cprof_image *image);
/* All of it goes with the process, or with an exec. */
void engine_drop_images(cprof_process *p);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Births and deaths: of processes, threads, images, namespaces; the events
 * about them, and who has to be watched for them. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_LIVES_H
#define CP_ENGINE_TARGET_LIVES_H

#include <cprof/cprof.h>

#include "base/map.h"
#include "base/vec.h"
#include "link/sites.h"

enum engine_finalizing {
	ENGINE_FINALIZING_NONE,
	ENGINE_FINALIZING_LIBRARY, /* one that is unloaded */
	ENGINE_FINALIZING_ALL,
};

/* How coverage is placed in an image. */
struct engine_image_cover {
	/* Slots before all others, and about how many of those it will take. */
	uint32_t reserved, spare;
	bool ahead; /* only what is reached next is placed (families/frontier.c) */
	uint32_t opened; /* how often the rest of a function was */
};

/* What profilers were told of an image. */
struct engine_image_life {
	bool shown; /* image_loaded was raised, and not yet image_unloaded */
	bool unloading, assembly_unloading; /* image_unloading and assembly_unloading were, too */
	bool unmapped; /* it was unmapped before image_unloading */
	uint32_t look; /* engine_process_life.look when it was last found */
	bool stubs_wait; /* stubs are armed when the libraries that they lead to are there */
	uint64_t link_rank; /* place in the search for symbols; UINT64_MAX: unknown */
	uint64_t rank; /* place in the dynamic linker's list; those of a process differ */
	cprof_namespace *in; /* NULL: that of the program */
	uint64_t link_map; /* address of its struct link_map; 0: it has none */
};

struct engine_open { /* a call of dlopen */
	uint64_t sp; /* of its return address */
	char *name; /* owned */
};

struct engine_thread_life {
	bool stopping, stopped; /* the event was raised */
	enum engine_finalizing finalizing; /* what the thread runs handlers for */
	CP_VEC(struct engine_open) opens; /* innermost last */
};

struct cprof_namespace {
	cprof_process *process;
	uint32_t id; /* from 1 */
	uint64_t debug; /* address of its struct r_debug; 0: its program was replaced */
	bool shown, full;
};

struct engine_process_life {
	bool beginning; /* it is held before what is newly mapped runs */
	bool linking; /* the dynamic linker was at work at the look with that number: */
	uint32_t linking_look;
	uint32_t alive; /* threads that are not known to end */
	uint32_t look; /* how often images were looked through */
	bool cut; /* not all that was to be placed is (probes/haste.h) */
	bool unloading, telling;
	bool leaks_off; /* its LeakSanitizer is switched off (session/leaks.c) */
	uint64_t fork_sp; /* where it was forked (cp_event_process.sp) */
	CP_VEC(cprof_namespace *) namespaces; /* owned; as long as the session */
	struct cp_map returns; /* addresses behind calls of dlopen that have a breakpoint */
};

/* Processes that live on when CMD has ended (session/linger.c). */
struct engine_linger {
	uint64_t ns; /* how long they are waited for; 0: not at all */
	uint64_t until_ns; /* 0: the waiting has not begun */
	cprof_wait_fn begins;
	void *data;
};

/* Told of what takes long: of the image at `path`, whose `done` of `of` functions are prepared for
 * tracing; with NULL, when that is over. Called about ten times a second, on the session's thread,
 * from a second on; the process is held meanwhile. */
typedef void (*engine_progress_fn)(const char *path, size_t done, size_t of, void *data);

/* The process that is being prepared (probes/haste.h). */
struct engine_haste {
	const cprof_process *of; /* NULL: none */
	uint64_t begun_ns, looked_ns;
	uint64_t asked_ns; /* since when a signal that asks it to end waits; 0: none does */
	bool gives_way; /* it is to go on now */
	bool told;
	uint64_t cuts; /* processes that are cut, or were when they ended; */
	const char *cut_at; /* where, the last time: file (borrowed, the session's), functions */
	size_t done, functions;
	engine_progress_fn tell; /* NULL: nobody wants to know */
	void *data;
};

struct engine_session_life {
	struct engine_linger linger;
	struct engine_haste haste;
	bool initialized; /* runtime_initialized was raised */
	bool jit_asked; /* for events of code made at run time, without a callback */
	uint64_t jit_refused; /* symbol files of code made at run time that make no sense */
};

#endif

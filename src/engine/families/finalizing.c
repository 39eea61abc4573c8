/* SPDX-License-Identifier: MIT
 *
 * What is done at the end: handlers of atexit() and on_exit(), destructors of
 * static objects, of the program and of its libraries.
 *
 *     exit, quick_exit ──► gc_finalizing ... handlers ... gc_finalized ◄── _exit
 *     dlclose ──► __cxa_finalize ──► gc_finalizing ... gc_finalized
 *
 * At exit, the C library calls _exit() when all is done. A handler that calls it
 * itself, or crashes, ends the process in the middle: then nothing is finalized.
 */
#include "base/text.h"
#include "base/types.h"
#include "engine/calls/calls.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/lives.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"

enum {
	EXIT = 1, /* begins what is done at the end */
	EXITED, /* the end of the process */
	FINALIZE, /* of one library */
	ROLES
};

static bool is_asked(const cprof_session *s)
{
	return engine_has(s, gc_finalizing) || engine_has(s, gc_finalized);
}

static uint8_t role_of(const char *image, const char *name, size_t length, bool local)
{
	static const struct engine_role_name functions[] = {
		{ "exit", EXIT },    { "quick_exit", EXIT },	     { "_exit", EXITED },
		{ "_Exit", EXITED }, { "__cxa_finalize", FINALIZE },
	};

	(void)image;
	(void)local;
	return engine_role_named(functions, CP_ARRAY_SIZE(functions), name, length);
}

/* Does the C library call its own function? */
static bool called_by_library(cprof_session *s, const struct engine_hit *hit)
{
	static const char *const callers[] = { "__run_exit_handlers", "exit", "quick_exit", NULL };
	uint64_t at = hit->event->caller - 1;
	const struct engine_text *text = engine_find_text(s->current.process, at);
	const cprof_function *f;

	if (!text || text->image != hit->image)
		return false;
	if (!engine_is_program(hit->image))
		return true;
	f = engine_function_at(s, text->image, at - text->image->bias);
	return f && f->linkage_name && cp_is_any(f->linkage_name, callers);
}

static bool entered(cprof_session *s, uint8_t role, const struct engine_hit *hit,
		    struct cp_call *call, const struct cp_call *outer)
{
	struct engine_thread_life *life = &s->current.thread->life;
	enum engine_finalizing before = life->finalizing;

	(void)outer;
	if (role == EXITED) {
		if (before != ENGINE_FINALIZING_ALL || !called_by_library(s, hit))
			return false;
		life->finalizing = ENGINE_FINALIZING_NONE;
	} else if (role == EXIT) {
		life->finalizing = ENGINE_FINALIZING_ALL;
	} else if (!before) {
		life->finalizing = ENGINE_FINALIZING_LIBRARY;
		call->words[0] = true; /* the call is the outermost one */
	}
	if (role != EXITED && before)
		return false;
	engine_calls_reach(s, hit->event, hit->event->sp);
	if (role == EXITED)
		engine_raise0(s, gc_finalized);
	else
		engine_raise0(s, gc_finalizing);
	return true;
}

static bool ended(cprof_session *s, const struct cp_call *call, enum cp_call_end how)
{
	struct engine_thread_life *life = &s->current.thread->life;

	(void)how;
	/* A handler of the library may have called exit(). */
	if (!call->words[0] || life->finalizing != ENGINE_FINALIZING_LIBRARY)
		return false;
	life->finalizing = ENGINE_FINALIZING_NONE;
	engine_raise0(s, gc_finalized);
	return true;
}

static void begin(cprof_thread *t, const cprof_process *parent)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (parent && cp_map_next(&parent->session->by_tid, &cursor, &key, &value)) {
		const cprof_thread *other = (const cprof_thread *)(uintptr_t)value;

		/* Other threads of the parent are about to end: the one that runs
		 * handlers is taken for the one that forked. */
		if (other->process == parent && other->life.finalizing == ENGINE_FINALIZING_ALL)
			t->life.finalizing = ENGINE_FINALIZING_ALL;
	}
}

static const struct engine_role roles[ROLES] = {
	[EXIT] = { ENGINE_WITH_STACK, 0, false },
	[EXITED] = { ENGINE_WITH_STACK, 0, false },
	[FINALIZE] = { ENGINE_WITH_STACK, ENGINE_WITH_STACK, false },
};

const struct engine_family engine_finalizing_family = {
	.name = "finalizing",
	.breakpoints = true,
	.asked = is_asked,
	.roles = roles,
	.in_c_library = true,
	.role_of = role_of,
	.entered = entered,
	.ended = ended,
	.began = begin,
};

/* SPDX-License-Identifier: MIT
 *
 * Where control comes from when it comes from code that is not traced: the C
 * library calls main, a start routine, what qsort() compares with; the kernel
 * calls handlers.
 */
#include "engine/invoke.h"

#include <string.h>

#include "arch/arch.h"
#include "engine/calls.h"

#define SIGRETURN_BYTES 16
/* How far from where a thread began its routine is entered, at most: what the C
 * library keeps there, and a wrapper of a language's own. */
#define START_BYTES 1024

bool engine_tells_invokes(const cprof_session *s)
{
	return engine_has(s, method_begin_invoke) || engine_has(s, method_end_invoke);
}

/* A function that another one ended in (tail call) has that one's caller. */
bool engine_invoked(const cprof_session *s, uint64_t caller)
{
	const struct engine_text *text =
		caller ? engine_find_text(s->current.process, caller - 1) : NULL;

	return !text || !engine_traced_at(s, text->image, caller - 1 - text->image->bias);
}

/* The kernel makes a handler return to the code that ends it. */
static bool by_kernel(cprof_process *p, uint64_t caller)
{
	uint8_t code[SIGRETURN_BYTES];
	size_t n = 0;

	if (caller && engine_open_memory(p))
		n = p->memory.read(p->memory.ctx, caller, code, sizeof(code));
	return cp_arch_host()->is_sigreturn(code, n);
}

static bool starts_thread(const cprof_thread *t, const struct cp_call *call)
{
	return t->tid != t->process->pid && !call->depth && t->born_sp >= call->sp &&
	       t->born_sp - call->sp < START_BYTES;
}

static cprof_invoker invoker(const cprof_session *s, const struct cp_call *call)
{
	const cprof_thread *t = s->current.thread;
	const cprof_function *f = call->subject;

	if (!engine_invoked(s, call->caller))
		return CPROF_INVOKER_TRACED;
	if (by_kernel(s->current.process, call->caller))
		return CPROF_INVOKER_SIGNAL;
	if (t && t->tid == t->process->pid &&
	    (!strcmp(f->linkage_name, "main") || !strcmp(f->linkage_name, "_start")))
		return CPROF_INVOKER_START;
	return t && starts_thread(t, call) ? CPROF_INVOKER_THREAD : CPROF_INVOKER_CODE;
}

bool cprof_current_invocation(cprof_invocation *ret)
{
	cprof_session *s = cprof_session_current();
	const struct cp_call *call = s && s->calls ? s->calls->entering : NULL;
	const struct engine_text *text;

	if (!call || !call->subject || !s->current.hit || !ret)
		return false;
	*ret = (cprof_invocation){ .by = invoker(s, call), .caller = call->caller };
	if (ret->by == CPROF_INVOKER_SIGNAL)
		ret->signal = (int)s->current.hit->event->target;
	text = call->caller ? engine_find_text(s->current.process, call->caller - 1) : NULL;
	if (!text)
		return true;
	ret->image = text->image;
	ret->function = engine_function_at(s, text->image, call->caller - 1 - text->image->bias);
	if (ret->function && ret->function->unnamed)
		ret->function = NULL;
	return true;
}

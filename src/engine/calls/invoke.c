/* SPDX-License-Identifier: MIT
 *
 * Where control comes from when it comes from code that is not traced: the C
 * library calls main, a start routine, what qsort() compares with; the kernel
 * calls handlers.
 */
#include "engine/calls/invoke.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/map.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/lives.h"
#include "engine/target/memory.h"
#include "engine/target/state.h"

#define SIGRETURN_BYTES 16
/* A thread's routine is entered at most so far from where the thread began: in between
 * is what the C library keeps there, and a language's wrapper. */
#define START_BYTES 1024

/* What is known of a return address, as far as it does not change: the same few call
 * over and over again. */
struct caller {
	const cprof_process *process;
	uint64_t address;
	const cprof_image *image;
	const cprof_function *function;
	bool by_kernel; /* the kernel calls from there: it ends a signal handler */
};

struct engine_known_callers {
	struct caller known[64]; /* by hash of the address */
};

bool engine_tells_invokes(const cprof_session *s)
{
	return engine_has(s, method_begin_invoke) || engine_has(s, method_end_invoke);
}

/* The image at an address. A forked process has its parent's images, even where it runs
 * another program by the time that its mappings are read. */
static const cprof_image *image_at(const cprof_process *p, uint64_t address)
{
	const struct engine_text *text = engine_find_text(p, address);
	size_t i;

	for (i = 0; !text && p->parent && i < p->images.count; i++) {
		const cprof_image *image = p->images.items[i];

		if (image->armed && address >= image->start && address < image->end)
			return image;
	}
	return text ? text->image : NULL;
}

/* `caller` of a function that was entered by a tail call is that of the function that
 * ended so. */
bool engine_invoked(const cprof_session *s, uint64_t caller)
{
	const cprof_image *image = caller ? image_at(s->current.process, caller - 1) : NULL;

	return !image || !engine_traced_at(s, image, caller - 1 - image->bias);
}

/* Did the kernel make the call? Then it returns to the code that ends signal handlers. */
static bool by_kernel(cprof_process *p, uint64_t caller)
{
	uint8_t code[SIGRETURN_BYTES];
	size_t n = 0;

	engine_open_memory(p); /* without it: as it is in the file */
	if (caller)
		n = p->code.read(p->code.ctx, caller, code, sizeof(code));
	return cp_arch_host()->is_sigreturn(code, n);
}

/* The same where memory is gone: of each place in a file it is asked once, whatever processes
 * called from there. */
static bool by_kernel_in_file(cprof_process *p, const cprof_image *image, uint64_t caller)
{
	struct cp_map *plain = &image->assembly->plain;
	uint64_t address = caller - image->bias;
	bool kernel;

	if (p->memory_over && cp_map_get(plain, address))
		return false;
	kernel = by_kernel(p, caller);
	if (p->memory_over && !kernel)
		cp_map_put(plain, address, 1);
	return kernel;
}

bool engine_starts_thread(const cprof_thread *t, uint64_t sp)
{
	return t->tid != t->process->pid && t->born_sp >= sp && t->born_sp - sp < START_BYTES;
}

bool engine_invoked_by_code(cprof_process *p, uint64_t caller, const cprof_image **from_ret)
{
	const cprof_image *image = image_at(p, caller - 1);

	if (!image || !image->assembly->image)
		return false;
	if (engine_traced_at(p->session, image, caller - 1 - image->bias)) {
		*from_ret = NULL;
		return true;
	}
	*from_ret = image;
	return !by_kernel_in_file(p, image, caller);
}

static struct caller look_at(cprof_session *s, uint64_t address, const cprof_image *image)
{
	cprof_process *p = s->current.process;
	struct caller caller = { p, address, image, NULL, by_kernel(p, address) };

	if (image)
		caller.function = engine_function_at(s, image, address - 1 - image->bias);
	if (caller.function && caller.function->unnamed)
		caller.function = NULL;
	return caller;
}

static struct caller caller_of(cprof_session *s, uint64_t address)
{
	const cprof_process *p = s->current.process;
	const cprof_image *image = address ? image_at(p, address - 1) : NULL;
	struct engine_calls *c = s->calls;
	struct caller *known;

	if (!c->callers)
		c->callers = calloc(1, sizeof(*c->callers));
	if (!c->callers)
		return look_at(s, address, image);
	known = &c->callers->known[cp_hash_u64(address) % CP_ARRAY_SIZE(c->callers->known)];
	if (known->process != p || known->address != address || known->image != image)
		*known = look_at(s, address, image);
	return *known;
}

static cprof_invoker invoker(const cprof_session *s, const struct cp_call *call,
			     const struct caller *caller)
{
	const cprof_thread *t = s->current.thread;
	const cprof_function *f = call->subject;

	if (caller->by_kernel)
		return CPROF_INVOKER_SIGNAL;
	if (t && t->tid == t->process->pid &&
	    (!strcmp(f->linkage_name, "main") || !strcmp(f->linkage_name, "_start")))
		return CPROF_INVOKER_START;
	return t && !call->depth && engine_starts_thread(t, call->sp) ? CPROF_INVOKER_THREAD
								      : CPROF_INVOKER_CODE;
}

bool cprof_current_invocation(cprof_invocation *ret)
{
	cprof_session *s = cprof_session_current();
	const struct cp_call *call = s && s->calls ? s->calls->entering : NULL;
	struct caller caller;

	if (!call || !call->subject || !s->current.hit || !ret)
		return false;
	*ret = (cprof_invocation){ .caller = call->caller };
	if (!engine_invoked(s, call->caller))
		return true;
	caller = caller_of(s, call->caller);
	ret->by = invoker(s, call, &caller);
	ret->image = caller.image;
	ret->function = caller.function;
	if (ret->by == CPROF_INVOKER_SIGNAL)
		ret->signal = (int)s->current.hit->event->target;
	return true;
}

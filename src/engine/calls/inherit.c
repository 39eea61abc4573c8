/* SPDX-License-Identifier: MIT
 *
 * A forked child has its parent's stack, and with it the calls that were open
 * around the fork:
 *
 *     parent   main ─► serve ─► fork ──┬──► returns from all of them
 *                                      └──► child: so does this one
 *
 * So the child has them in its shadow stack, at their depth; method_inherited tells of
 * each, the enters are not repeated. A child with a stack of its own (clone,
 * posix_spawn) has none of them. A child of vfork has them until it executes a program
 * or ends: it runs on its parent's stack.
 *
 * Times of such a call count from the fork on: what was before is the parent's.
 */
#include "engine/calls/inherit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/calls/calls.h"
#include "engine/calls/context.h"
#include "engine/calls/stacks.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/roles.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/profilers.h"
#include "engine/target/state.h"
#include "probe/shadow_fork.h"

/* The child's image in the place of one of its parent's: functions belong to images,
 * and images to processes. */
static const cprof_image *same_image(const cprof_process *p, const cprof_image *from)
{
	size_t i;

	for (i = 0; i < p->images.count; i++)
		if (p->images.items[i]->assembly == from->assembly &&
		    p->images.items[i]->bias == from->bias)
			return p->images.items[i];
	return NULL;
}

static struct engine_entry *copy_entry(const struct engine_entry *from)
{
	size_t size = from ? sizeof(*from) + from->fetched_size : 0;
	struct engine_entry *entry = from ? malloc(size) : NULL;

	if (entry)
		memcpy(entry, from, size);
	return entry;
}

/* Makes a copied call the child's (cp_call_inherit_fn). False: its function has a role
 * alone, which the child takes no part in. */
static bool inherit(void *ctx, struct cp_call *call)
{
	const cprof_process *p = ctx;
	cprof_session *s = p->session;
	const cprof_function *f = call->subject;
	const cprof_image *image = f ? same_image(p, cprof_function_image(f)) : NULL;

	if (!engine_traced_by_others(s->calls->traced.items[call->function]))
		return false;
	call->subject = image ? engine_traced_function(s, image, call->function) : NULL;
	call->data = copy_entry(call->data);
	call->enter_ns = s->calls->now_ns;
	call->account =
		(struct cp_account){ .run_ns = call->account.run_ns != 0 }; /* 0: not asked */
	return true;
}

static void tell(void *ctx, const struct cp_call *call)
{
	cprof_session *s = ctx;

	if (call->flags & CP_CALL_HIDDEN || !call->subject)
		return;
	engine_calls_set_current(s->calls, call);
	s->calls->current.enter_ns = call->entered_ns;
	engine_raise(s, method_inherited, call->subject);
}

void engine_calls_inherit(cprof_session *s, cprof_thread *t, const cprof_process *parent)
{
	uint64_t sp = t->process->life.fork_sp;
	const cprof_thread *by = sp ? engine_calls_at_home(parent, sp) : NULL;
	struct engine_calls *c = s->calls;

	if (!c || !sp || !parent->shadow || !engine_calls_shadow(t->process))
		return;
	c->now_ns = t->start_ns;
	s->current.thread = t;
	cp_shadow_inherit(t->process->shadow, t->tid, parent->shadow, by ? by->tid : 0, sp,
			  inherit);
	cp_shadow_each(t->process->shadow, tell, s);
	c->has_current = false;
}

/* SPDX-License-Identifier: MIT
 *
 * A function that was left by longjmp() or an exception is noticed to be gone when its thread
 * enters another one above it. One that is called from the same frame and takes arguments on
 * the stack begins below it:
 *
 *     calls jump()      │ … │ ret │                 jump() left
 *     calls many(…, 8)  │ … │  8  │  7  │ ret │     above it are its arguments
 *
 * So what begins among the arguments is gone: they are of who calls, and no callee of its has
 * its return address there. Where their number is odd there is padding behind them, which may
 * be the frame of a call that goes on, too, if that has none but these arguments: it has the
 * return address of the new one in itself.
 */
#include "engine/probes/pushed.h"

#include "engine/probes/rings.h"
#include "engine/target/functions.h"
#include "engine/target/images.h"
#include "engine/target/state.h"
#include "inspect/inspect.h"
#include "probe/shadow.h"

#define WORD 8u

static uint32_t read_pushed(const struct engine_traced *t)
{
	const struct cp_probe_function *f = t->function;
	struct cp_signature *signature = NULL;
	uint32_t pushed = 0;

	if (f->kind == CP_PROBE_PLT || !t->assembly->image)
		return 0;
	if (t->signature)
		return cp_signature_pushed(t->signature);
	cp_error_free(cp_signature_read(t->assembly->image, (struct cp_vaddr){ f->address },
					f->linkage_name, f->flags & CP_PROBE_LOCAL,
					f->flags & CP_PROBE_CLONE, CP_SIGNATURE_ARGUMENTS,
					&cp_value_limits_default, &signature));
	if (signature) {
		pushed = cp_signature_pushed(signature);
		cp_signature_destroy(signature);
	}
	return pushed;
}

uint32_t engine_traced_pushed(struct engine_traced *t)
{
	if (!t->pushed)
		t->pushed = 1 + read_pushed(t);
	return t->pushed - 1;
}

static const cprof_function *function_of(cprof_process *p, uint64_t address)
{
	const struct engine_text *text = engine_find_text(p, address);

	return text ? engine_function_at(p->session, text->image, address - text->image->bias - 1)
		    : NULL;
}

/* Was the call that begins right behind them made by who makes this one? */
static bool is_of_caller(cprof_process *p, uint64_t at, uint64_t caller)
{
	const struct cp_call *open = cp_shadow_find(p->shadow, at);
	const cprof_function *by = open ? function_of(p, caller) : NULL;

	return by && by != open->subject && by == function_of(p, open->caller);
}

uint64_t engine_pushed_at(cprof_process *p, struct engine_traced *t, const struct cp_shadow_at *at,
			  uint64_t caller)
{
	const struct cp_call *top = at->chain ? NULL : cp_shadow_top(p->shadow, at->tid);
	uint32_t pushed;

	if (!top || top->sp > at->sp + ENGINE_PUSHED_MOST)
		return 0;
	pushed = engine_traced_pushed(t);
	if (!pushed || pushed / WORD % 2) /* with the return address: the arguments are even */
		return pushed;
	return is_of_caller(p, at->sp + pushed, caller) ? pushed + WORD : pushed;
}

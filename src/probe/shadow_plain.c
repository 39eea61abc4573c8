/* SPDX-License-Identifier: MIT
 *
 * Calls that millions a second are told of: entered below all others of their thread's own
 * stack, left as the innermost one. They end nothing but themselves, so neither is anything
 * looked for, nor are they put into the index by stack pointer: the next event that needs
 * it does that (shadow.c), and most calls are over by then.
 */
#include "probe/shadow_plain.h"

bool cp_shadow_own(struct cp_shadow *s, int32_t tid, struct cp_shadow_own *own)
{
	if (own->shadow == s && own->tid == tid && own->gone == s->gone)
		return true;
	*own = (struct cp_shadow_own){ s, cp_shadow_thread_of(s, tid), tid, s->gone };
	if (!own->thread)
		own->shadow = NULL;
	return own->thread;
}

bool cp_shadow_is_anothers(const struct cp_shadow_own *own, uint64_t sp)
{
	const uint64_t *at = cp_map_get(&own->shadow->by_sp, sp);

	if (!at)
		at = cp_map_get(&own->shadow->by_sp, sp | CP_SHADOW_STUB);
	return at && (const struct cp_shadow_stack *)(uintptr_t)*at != &own->thread->own;
}

bool cp_shadow_make_room(const struct cp_shadow_own *own)
{
	struct cp_shadow_thread *t = own->thread;

	if (!cp_vec_reserve(&t->own.calls, t->own.calls.count + 1) ||
	    (!t->behind && !cp_vec_push(&own->shadow->behind, t)))
		return false;
	t->behind = true;
	return true;
}

void cp_shadow_recent(struct cp_shadow *shadow, int32_t tid, uint64_t since_ns,
		      void (*each)(void *ctx, struct cp_call *call), void *ctx)
{
	struct cp_shadow_thread *t =
		cp_shadow_open(shadow) ? cp_shadow_thread_of(shadow, tid) : NULL;
	size_t i;

	for (i = t ? t->own.calls.count : 0; i--;) {
		if (t->own.calls.items[i].enter_ns <= since_ns)
			break;
		each(ctx, &t->own.calls.items[i]);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * Allocations as a profile: what was allocated, or is left of it, counts for the
 * stack that asked for it. So flame graphs and all else that is made of stacks show
 * it.
 */
#include "report/profile/heapstacks.h"

#include "base/cleanup.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"

static struct cp_cost cost_of(const struct cp_profile *p, const struct cp_hit_heap *h)
{
	if (p->of == CP_OF_LIVE)
		return (struct cp_cost){ h->live_bytes, h->live_blocks };
	return (struct cp_cost){ p->of == CP_OF_BYTES ? h->bytes : h->blocks, h->blocks };
}

CP_ERROR cp_profile_add_heap(struct cp_profile *p)
{
	struct cp_heap h CP_CLEANUP(cp_heap_deinit) = { 0 };
	const struct cp_heap_site *s;

	h.by_thread = true;
	CP_TRY(cp_heap_build(p, &h));
	p->live_unknown = h.sampled;
	cp_heap_add_sampling(&h, &p->sampling);
	if (p->sampling.failed)
		return cp_error_nomem();
	p->heap_cut = h.cut;
	cp_vec_for_each(&h.stacks, s) {
		struct cp_hit_heap all = { s->allocated.blocks, s->allocated.bytes, s->left.blocks,
					   s->left.bytes };
		struct cp_hit hit = { s->thread, s->stack, cost_of(p, &all), false,
				      s->function + 1 };

		if (!cp_vec_push(&p->heap, all) || !cp_vec_push(&p->hits, hit))
			return cp_error_nomem();
		cp_cost_add(&p->total, &hit.cost);
	}
	return NULL;
}

void cp_profile_caveat(const struct cp_profile *p, struct cp_buf *out)
{
	if (!cp_profile_of_heap(p))
		return;
	if (p->live_unknown)
		cp_heap_add_watched(p->record, out);
	else if (p->heap_cut)
		cp_buf_str(out, "some are not told (--max-rate)");
	if (p->sampling.size)
		cp_buf_printf(out, "%s%s", out->size ? "; " : "", p->sampling.bytes);
}

/* SPDX-License-Identifier: MIT
 *
 * Allocations as a profile: what was allocated, or is left of it, counts for the
 * stack that asked for it. So flame graphs and all else that is made of stacks show
 * it.
 */
#include "report/profile/heapstacks.h"

#include <stdlib.h>
#include <string.h>

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
	struct cp_heap *h = calloc(1, sizeof(*h));
	CP_FREE struct cp_heap_site *sorted = NULL;
	const struct cp_heap_site *s;

	if (!h)
		return cp_error_nomem();
	p->allocations = h;
	h->by_thread = true;
	CP_TRY(cp_heap_build_sums(p, h));
	p->live_unknown = h->sampled;
	cp_heap_add_sampling(h, &p->sampling);
	sorted = calloc(h->stacks.count + 1, sizeof(*sorted));
	if (p->sampling.failed || !sorted)
		return cp_error_nomem();
	p->heap_cut = h->cut;
	if (h->stacks.count)
		memcpy(sorted, h->stacks.items, h->stacks.count * sizeof(*sorted));
	cp_heap_sort(h, sorted, h->stacks.count);
	for (s = sorted; s < sorted + h->stacks.count; s++) {
		struct cp_hit_heap all = { s->allocated.blocks, s->allocated.bytes, s->left.blocks,
					   s->left.bytes };
		struct cp_hit hit = { .thread = s->thread,
				      .stack = s->stack,
				      .cost = cost_of(p, &all),
				      .asked = s->function + 1 };

		if (!cp_vec_push(&p->heap, all) || !cp_vec_push(&p->hits, hit))
			return cp_error_nomem();
		cp_cost_add(&p->total, &hit.cost);
	}
	return NULL;
}

void cp_profile_forget_heap(struct cp_profile *p)
{
	if (p->allocations)
		cp_heap_deinit(p->allocations);
	free(p->allocations);
	p->allocations = NULL;
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

/* SPDX-License-Identifier: MIT */
#include "report/profile/alike.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

static bool add_frame(struct cp_alike *a, const struct cp_profile *p, const struct cp_frame *f)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const char *name = p->functions.items[f->function].name;
	uint32_t number;

	cp_buf_add(&text, name, strlen(name) + 1);
	if (f->file)
		cp_buf_printf(&text, "%u %s", f->line, f->file);
	return !text.failed && cp_intern(&a->frames, text.bytes, text.size, &number, NULL) &&
	       cp_vec_push(&a->at_hand, number);
}

static bool find(struct cp_alike *a, const struct cp_profile *p, uint32_t stack, uint32_t *ret)
{
	const uint32_t *frames;
	uint32_t number;
	size_t count, i;
	bool fresh;

	a->at_hand.count = 0;
	frames = cp_profile_walk(p, stack, &count);
	for (i = 0; i < count; i++)
		if (!add_frame(a, p, &p->frames.items[frames[i]]))
			return false;
	/* What is cut reads like nothing that is whole. */
	if (!cp_vec_push(&a->at_hand, cp_profile_truncated(p, stack)) ||
	    !cp_intern(&a->stacks, a->at_hand.items, a->at_hand.count * sizeof(uint32_t), &number,
		       &fresh) ||
	    (fresh && !cp_vec_push(&a->first, stack)))
		return false;
	*ret = a->first.items[number];
	return true;
}

bool cp_alike_stack(struct cp_alike *a, const struct cp_profile *p, uint32_t stack, uint32_t *ret)
{
	const uint64_t *known;

	*ret = stack;
	if (stack == CP_RECORD_NONE)
		return true;
	known = cp_map_get(&a->known, stack);
	if (known) {
		*ret = (uint32_t)*known;
		return true;
	}
	return find(a, p, stack, ret) && cp_map_put(&a->known, stack, *ret);
}

void cp_alike_deinit(struct cp_alike *a)
{
	cp_interner_free(&a->frames);
	cp_interner_free(&a->stacks);
	cp_vec_free(&a->first);
	cp_map_free(&a->known);
	cp_vec_free(&a->at_hand);
}

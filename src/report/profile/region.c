/* SPDX-License-Identifier: MIT */
#include "report/profile/region.h"

#include <stdlib.h>

#include "base/vec.h"

static int by_line(const void *va, const void *vb)
{
	const struct cp_listing_line *const *a = va, *const *b = vb;

	return ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

bool cp_region_of(const struct cp_listing *l, uint32_t function, struct cp_region *ret)
{
	const struct cp_listing_function *f = &l->functions.items[function];
	const struct cp_listing_line *line;

	*ret = (struct cp_region){ .lines = calloc(l->lines.count + 1, sizeof(*ret->lines)) };
	cp_vec_for_each(&l->lines, line) {
		if (!ret->lines || line->function != function || !line->line)
			continue;
		ret->lines[ret->count++] = line;
		ret->hot |= line->total.weight != 0;
	}
	if (!ret->count)
		return false;
	cp_sort(ret->lines, ret->count, sizeof(*ret->lines), by_line);
	ret->first = ret->lines[0]->line;
	ret->last = ret->lines[ret->count - 1]->line;
	if (f->decl_line && f->decl_line < ret->first && ret->first - f->decl_line < 100)
		ret->first = f->decl_line;
	return true;
}

bool cp_region_is_near(const struct cp_region *r, uint32_t line, uint32_t context)
{
	size_t i;

	if (context == UINT32_MAX)
		return true;
	for (i = 0; i < r->count; i++)
		if (r->lines[i]->total.weight &&
		    (r->lines[i]->line > line ? r->lines[i]->line - line
					      : line - r->lines[i]->line) <= context)
			return true;
	return false;
}

bool cp_listing_insn_is_near(const struct cp_listing *l, size_t number, uint32_t context)
{
	size_t from = number > context ? number - context : 0, i;

	if (context == UINT32_MAX)
		return true;
	for (i = from; i < l->insns.count && i <= number + context; i++)
		if (l->insns.items[i].total.weight)
			return true;
	return false;
}

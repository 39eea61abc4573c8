/* SPDX-License-Identifier: MIT
 *
 * Allocations by the types that base/heaptype.c has for them.
 */
#include "report/profile/heaptypes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/heaptype.h"
#include "base/runtime.h"
#include "base/text.h"
#include "report/profile/profile.h"

/* Of a stack's frames; NULL: none tells. */
static const char *type_of(const struct cp_profile *p, uint32_t stack, size_t *size_ret)
{
	const char *type = NULL;
	const uint32_t *frames;
	size_t count;

	if (stack == CP_RECORD_NONE)
		return NULL;
	for (frames = cp_profile_walk(p, stack, &count); count-- && !type;) {
		const struct cp_function *f = cp_profile_function(p, frames[count]);

		type = cp_heap_type_in(f->name, size_ret);
		if (!type && !f->runtime &&
		    !cp_file_is_runtime(cp_basename(p->images.items[f->image].path)))
			break;
	}
	return type;
}

static void add(struct cp_heap_amount *to, const struct cp_heap_amount *more)
{
	to->blocks += more->blocks;
	to->bytes += more->bytes;
}

static int by_left(const void *a, const void *b)
{
	const struct cp_heap_type *x = a, *y = b;

	if (x->left.bytes != y->left.bytes)
		return x->left.bytes > y->left.bytes ? -1 : 1;
	if (x->allocated.bytes != y->allocated.bytes)
		return x->allocated.bytes > y->allocated.bytes ? -1 : 1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

CP_ERROR cp_heap_types_build(const struct cp_heap *h, struct cp_heap_types *ret)
{
	const struct cp_heap_site *site;
	const char *type;
	uint32_t number;
	size_t size, i;
	bool fresh;

	cp_vec_for_each(&h->stacks, site) {
		size = 0;
		type = type_of(h->p, site->stack, &size);
		if (!cp_intern(&ret->names, type ? type : "", size, &number, &fresh) ||
		    (fresh && !cp_vec_push(ret, (struct cp_heap_type){ 0 })))
			return cp_error_nomem();
		add(&ret->items[number].allocated, &site->allocated);
		add(&ret->items[number].left, &site->left);
	}
	for (i = 0; i < ret->count; i++)
		if (ret->names.items[i].size)
			ret->items[i].name = ret->names.items[i].bytes;
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_left);
	return NULL;
}

void cp_heap_types_deinit(struct cp_heap_types *types)
{
	cp_interner_free(&types->names);
	cp_vec_free(types);
}

bool cp_heap_types_are_told(const struct cp_heap_types *types)
{
	return types->count > 1 || (types->count && types->items[0].name);
}

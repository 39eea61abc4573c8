/* SPDX-License-Identifier: MIT
 *
 * What runs before this one reached, and a profiler has told: it counts from the start,
 * so nothing of it gets a breakpoint. It is taken for what it says of a block or branch of
 * the same file (its build-id) that lies where it says, and not otherwise.
 */
#include "engine/families/known.h"

#include <stdlib.h>
#include <string.h>

#include "engine/families/coverage.h"
#include "engine/target/state.h"

/* Of one file; the items are by address. */
struct engine_known {
	char *build_id; /* owned */
	CP_VEC(cprof_coverage_known) items;
};

static int by_address(const void *a, const void *b)
{
	const cprof_coverage_known *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

bool cprof_profiler_set_coverage_known(cprof_profiler_handle handle, const char *build_id,
				       const cprof_coverage_known *known, size_t count)
{
	cprof_session *s = cprof_session_current();
	struct engine_coverage *c = engine_may_ask(s) ? engine_coverage_get(s) : NULL;
	struct engine_known *made;

	if (!handle || !c || !build_id || !*build_id)
		return false;
	made = calloc(1, sizeof(*made));
	if (!made)
		return false;
	made->build_id = strdup(build_id);
	if (!made->build_id || !cp_vec_reserve(&made->items, count + 1) ||
	    !cp_vec_push(&c->known, made)) {
		cp_vec_free(&made->items);
		free(made->build_id);
		free(made);
		return false;
	}
	if (count)
		memcpy(made->items.items, known, count * sizeof(*known));
	made->items.count = count;
	qsort(made->items.items, count, sizeof(*known), by_address);
	return true;
}

void engine_known_free(struct engine_coverage *c)
{
	size_t i;

	for (i = 0; i < c->known.count; i++) {
		cp_vec_free(&c->known.items[i]->items);
		free(c->known.items[i]->build_id);
		free(c->known.items[i]);
	}
	cp_vec_free(&c->known);
}

static const cprof_coverage_known *find(const struct engine_known *k, uint64_t address,
					uint32_t size)
{
	size_t n = cp_vec_partition(&k->items, item,
				    item->address < address ||
					    (item->address == address && item->size < size));
	const cprof_coverage_known *found = n < k->items.count ? &k->items.items[n] : NULL;

	return found && found->address == address && found->size == size ? found : NULL;
}

static void set(const cprof_session *s, uint32_t counter, uint64_t count)
{
	if (count)
		s->link.counters[counter] = count;
}

/* A branch that was given up before is looked at for a quarter of its budget again. */
static void know_branch(const cprof_session *s, const struct engine_cover *cover, uint32_t number,
			const cprof_coverage_known *k)
{
	uint32_t own = engine_cover_own(cover, number), budget = engine_cover_budget(s, cover);
	bool gave_up = k->flags & CPROF_COVERAGE_KNOWN_GAVE_UP && budget;
	uint64_t count = gave_up ? budget - budget / 4 : 1;

	set(s, own, k->flags & CPROF_COVERAGE_KNOWN_TAKEN ? count : 0);
	set(s, own + 1, k->flags & CPROF_COVERAGE_KNOWN_PASSED ? count : 0);
}

static void know(const cprof_session *s, const struct engine_cover *cover,
		 const struct engine_known *k)
{
	const cprof_coverage_known *found;
	uint32_t i;

	for (i = 0; i < cover->blocks.count; i++) {
		const struct cp_probe_block *b = &cover->blocks.items[i];

		found = b->size ? find(k, b->address, b->size) : NULL;
		if (found)
			set(s, cover->first_counter + i, 1);
	}
	for (i = 0; i < cover->branches.count; i++) {
		if (cover->watched.items[i] == CP_NO_BLOCK)
			continue;
		found = find(k, cover->branches.items[i].address, 0);
		if (found)
			know_branch(s, cover, i, found);
	}
}

void engine_cover_know(cprof_session *s, const char *build_id, struct engine_cover *cover)
{
	size_t i;

	if (s->coverage->mode != CPROF_COVERAGE_ONESHOT)
		return;
	for (i = 0; *build_id && i < s->coverage->known.count; i++)
		if (!strcmp(s->coverage->known.items[i]->build_id, build_id)) {
			know(s, cover, s->coverage->known.items[i]);
			cover->known = true;
		}
}

/* SPDX-License-Identifier: MIT
 *
 * What detours record of a site's values. A fetch is told by the register or the word of
 * the stack that its chain of pointers begins with:
 *
 *     fetch 0: *rdi, 24 bytes           rdi ─► 24 bytes
 *     fetch 1: string at (block 0) + 8  rdi ─► word at 8 ─► string
 */
#include "engine/probes/values.h"

#include <string.h>

#define WORDS_MAX 4 /* of the stack, that are a value each */
#define CHAIN_MAX (CP_DETOUR_THROUGH + 2)
/* Bytes of a record's values, of which there may be those of two sites. */
#define BYTES_MAX ((CP_DETOUR_RECORD_MAX - CP_DETOUR_STACK_MAX) / 2 - 256)

static bool is_of_stack(const struct cp_fetch *f)
{
	return f->from == cp_arch_host()->sp;
}

enum engine_fetch_as engine_fetch_as(const struct cp_fetch *f)
{
	if (f->flags & CP_FETCH_KEPT || f->size > CP_DETOUR_REACH_MAX)
		return ENGINE_FETCH_NOT;
	if (f->flags & CP_FETCH_STRING)
		return ENGINE_FETCH_STRING;
	return !f->level && is_of_stack(f) && engine_fetch_words(f) <= WORDS_MAX &&
			       f->offset >= 0 && f->offset <= INT16_MAX - 8 * WORDS_MAX
		       ? ENGINE_FETCH_WORDS
		       : ENGINE_FETCH_BYTES;
}

static int32_t place(int64_t offset, bool *far)
{
	*far |= offset < INT32_MIN || offset > INT32_MAX;
	return (int32_t)offset;
}

/* The value that leads to what the fetch with that number reads; false: it is too far. */
static bool follow(const struct engine_site *site, size_t number, struct cp_detour_value *ret)
{
	const struct cp_fetch *chain[CHAIN_MAX], *f = &site->list.fetches[number];
	size_t count = 0, i = 0, from = 0;
	bool far = false;

	for (chain[count++] = f; f->from >= CP_FETCH_BLOCK; chain[count++] = f) {
		if (f->flags & CP_FETCH_KEPT || count == CHAIN_MAX ||
		    f->from - CP_FETCH_BLOCK >= site->list.fetch_count)
			return false;
		f = &site->list.fetches[f->from - CP_FETCH_BLOCK];
	}
	/* chain[count - 1] is where it begins, and what `first` has its pointer from. */
	if (is_of_stack(f) && count > 1 && f->offset >= 0 &&
	    f->offset + chain[count - 2]->at <= INT16_MAX) {
		ret->kind = CP_DETOUR_STACK;
		ret->offset = (int16_t)(f->offset + chain[count - 2]->at);
		from = 1;
	} else if (is_of_stack(f) || site->uses.general >> f->from & 1) {
		ret->kind = CP_DETOUR_GENERAL;
		ret->reg = (uint8_t)f->from;
	} else {
		return false;
	}
	if (count - from > CP_DETOUR_THROUGH + 1)
		return false;
	for (i = 0; i + from < count; i++) {
		const struct cp_fetch *at = chain[count - 1 - from - i], *first;
		const struct cp_fetch *next =
			i + from + 1 < count ? chain[count - 2 - from - i] : NULL;
		int64_t behind = next && !(next->flags & CP_FETCH_BESIDE) ? next->at : 0;

		ret->at[i] = place(at->offset + behind, &far);
		if (!(at->flags & CP_FETCH_BESIDE))
			continue;
		first = chain[count - 1 - from];
		if (ret->beside || first != &site->list.fetches[at->at] || is_of_stack(first))
			return false;
		ret->beside = (uint8_t)i & 15;
		ret->at[i] = place((int64_t)ret->at[i] + first->offset, &far);
	}
	ret->through = (uint8_t)(count - from - 1);
	return !far;
}

static bool add(struct cp_detour_value *ret, int *count, struct cp_detour_value value)
{
	if (*count == CP_DETOUR_VALUES)
		return false;
	ret[(*count)++] = value;
	return true;
}

static bool add_registers(const struct engine_site *site, struct cp_detour_value *ret, int *count)
{
	uint8_t i;
	bool ok = true;

	for (i = 0; i < CP_REG_MAX; i++)
		if (site->uses.general >> i & 1)
			ok &= add(ret, count,
				  (struct cp_detour_value){ .kind = CP_DETOUR_GENERAL, .reg = i });
	for (i = 0; i < CP_ARCH_VECTORS; i++)
		if (site->uses.vectors >> i & 1)
			ok &= add(ret, count,
				  (struct cp_detour_value){ .kind = CP_DETOUR_VECTOR16, .reg = i });
	if (site->uses.x87)
		ok &= add(ret, count, (struct cp_detour_value){ .kind = CP_DETOUR_X87 });
	return ok;
}

static uint8_t how_sure(const struct cp_fetch *f)
{
	return f->flags & CP_FETCH_SURE_IF_LIKE ? CP_DETOUR_SURE_IF_LIKE
	       : f->flags & CP_FETCH_SURE_IF	? CP_DETOUR_SURE_IF
	       : f->flags & CP_FETCH_SURE	? CP_DETOUR_SURE
						: CP_DETOUR_ASKED;
}

static bool add_fetch(const struct engine_site *site, size_t number, struct cp_detour_value *ret,
		      int *count, size_t *bytes)
{
	const struct cp_fetch *f = &site->list.fetches[number];
	enum engine_fetch_as as = engine_fetch_as(f);
	struct cp_detour_value value = { .size = (uint16_t)f->size };
	unsigned word;

	*bytes += engine_fetch_words(f) * 8 + sizeof(struct cp_detour_reached);
	if (as == ENGINE_FETCH_NOT)
		return false;
	for (word = 0; as == ENGINE_FETCH_WORDS && word < engine_fetch_words(f); word++)
		if (!add(ret, count,
			 (struct cp_detour_value){ .kind = CP_DETOUR_STACK,
						   .offset =
							   (int16_t)(f->offset + (int)word * 8) }))
			return false;
	if (as == ENGINE_FETCH_WORDS)
		return true;
	value.reach = as == ENGINE_FETCH_STRING ? CP_DETOUR_STRING : CP_DETOUR_BYTES;
	value.sure = how_sure(f);
	value.guard = f->guard;
	return follow(site, number, &value) && add(ret, count, value);
}

int engine_values_of(const struct engine_site *site, struct cp_detour_value ret[CP_DETOUR_VALUES])
{
	size_t i, bytes = 0;
	int count = 0;

	if (!site->valued)
		return 0;
	if (site->uses.others || !add_registers(site, ret, &count))
		return -1;
	for (i = 0; i < site->list.fetch_count; i++)
		if (!add_fetch(site, i, ret, &count, &bytes))
			return -1;
	return bytes <= BYTES_MAX ? count : -1;
}

unsigned engine_values_words(const struct cp_detour_record *record)
{
	unsigned words = 0, i;

	for (i = 0; i < record->value_count; i++) {
		const struct cp_detour_value *v = &record->values[i];

		if (v->reach == CP_DETOUR_BYTES)
			words += 1 + (v->size + 7u) / 8;
		else if (v->kind == CP_DETOUR_VECTOR16 || v->kind == CP_DETOUR_X87)
			words += 2;
		else if (!v->reach)
			words++;
	}
	return words;
}

bool engine_values_reach(const struct engine_site *site)
{
	size_t i;

	for (i = 0; site->valued && i < site->list.fetch_count; i++)
		if (engine_fetch_as(&site->list.fetches[i]) != ENGINE_FETCH_WORDS &&
		    !(site->list.fetches[i].flags & CP_FETCH_UNASKED))
			return true;
	return false;
}

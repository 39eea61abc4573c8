/* SPDX-License-Identifier: MIT */
#include "record/call_gather.h"

#include <string.h>

#include "record/call_form.h"

#define LARGE 384 /* entries that make a block by themselves */
#define TOLD_MAX ((size_t)64 << 10) /* events: 3 MB here */
#define BYTES_MAX ((size_t)4 << 20) /* of values */

static struct cp_call_waiting *waiting(struct cp_call_gather *g, uint32_t thread)
{
	while (g->threads.count <= thread)
		if (!cp_vec_push(&g->threads, (struct cp_call_waiting){ 0 }))
			return NULL;
	return &g->threads.items[thread];
}

bool cp_call_gather_wants(struct cp_call_gather *g, uint32_t thread, size_t count)
{
	struct cp_call_waiting *w = waiting(g, thread);
	bool begun = w && w->begun;

	g->told += count;
	if (w && count)
		w->begun = true;
	return begun && count < LARGE;
}

static const char *copy(struct cp_call_gather *g, const char *bytes, size_t size, bool *good)
{
	const char *got = cp_record_copy(&g->values, bytes, size);

	g->value_bytes += size + 1;
	*good &= got != NULL;
	return got;
}

/* With all parts; NULL without memory. */
static const cprof_value *copy_values(struct cp_call_gather *g, const cprof_value *values,
				      size_t count)
{
	size_t size = count * sizeof(*values), i;
	cprof_value *ret = cp_record_alloc(&g->values, size);
	bool good = ret;

	if (!good)
		return NULL;
	memcpy(ret, values, size);
	g->value_bytes += size;
	for (i = 0; i < count; i++) {
		cprof_value *v = &ret[i];

		if (v->symbol)
			v->symbol = copy(g, v->symbol, strlen(v->symbol), &good);
		if (v->kind == CPROF_VALUE_STRING)
			v->u.text.bytes = copy(g, v->u.text.bytes, v->u.text.length, &good);
		if (!v->count)
			continue;
		v->items = copy_values(g, v->items, v->count);
		good &= v->items != NULL;
	}
	return good ? ret : NULL;
}

/* The texts and symbols that numbers lead to. */
static bool copy_texts(struct cp_call_gather *g, const cprof_value *form, uint32_t count,
		       uint64_t *numbers)
{
	bool good = true;
	uint32_t i;

	for (i = 0; i < count; numbers += cprof_value_words(&form[i]), i++) {
		const char *text = (const char *)(uintptr_t)numbers[1];

		if (form[i].kind == CPROF_VALUE_STRING && numbers[0])
			numbers[1] = (uintptr_t)copy(g, text, (uint32_t)numbers[2], &good);
		else if (form[i].kind != CPROF_VALUE_STRING && form[i].symbol && text)
			numbers[1] = (uintptr_t)copy(g, text, strlen(text), &good);
	}
	return good;
}

/* NULL without memory. */
static const uint64_t *copy_numbers(struct cp_call_gather *g, const struct cp_call_entry *e)
{
	size_t words = cp_call_words(e->form, e->value_count);
	size_t all = words + (e->result_form ? cprof_value_words(e->result_form) : 0);
	uint64_t *ret = cp_record_alloc(&g->values, all * sizeof(*ret));

	if (!ret)
		return NULL;
	memcpy(ret, e->numbers, all * sizeof(*ret));
	g->value_bytes += all * sizeof(*ret);
	return copy_texts(g, e->form, e->value_count, ret) &&
			       copy_texts(g, e->result_form, e->result_form != NULL, ret + words)
		       ? ret
		       : NULL;
}

/* Its values, for the entry's own are of the moment; forms stay, once they are known. */
static bool keep_values(struct cp_call_gather *g, struct cp_call_coder *coder,
			struct cp_call_entry *e)
{
	const struct cp_call_values values = cp_call_values_of(e);
	const struct cp_call_values result = { .form = e->result_form, .count = 1 };

	cp_call_form_of(coder, &values);
	cp_call_form_of(coder, &result);
	if (e->numbers) {
		e->numbers = copy_numbers(g, e);
		return e->numbers != NULL;
	}
	e->values = copy_values(g, e->values, e->value_count);
	return e->values != NULL;
}

static bool add_run(struct cp_call_gather *g, uint32_t thread, const struct cp_call_run *run)
{
	struct cp_call_waiting *w = &g->threads.items[thread];

	if ((!w->first && !cp_vec_push(&g->waiting, thread)) || !cp_vec_push(&g->runs, *run))
		return false;
	if (w->first)
		g->runs.items[w->last - 1].next = g->runs.count;
	else
		w->first = g->runs.count;
	w->last = g->runs.count;
	return true;
}

bool cp_call_gather_add(struct cp_call_gather *g, struct cp_call_coder *coder, uint32_t thread,
			const struct cp_call_costs *costs, const struct cp_call_entry *entries,
			size_t count)
{
	const struct cp_call_run run = { .from = g->entries.count,
					 .count = count,
					 .costs = *costs };
	size_t i;

	if (!count)
		return true;
	if (!cp_vec_reserve(&g->entries, run.from + count))
		return false;
	memcpy(g->entries.items + run.from, entries, count * sizeof(*entries));
	g->entries.count += count;
	for (i = run.from; i < g->entries.count; i++)
		if ((g->entries.items[i].value_count || g->entries.items[i].result_form) &&
		    !keep_values(g, coder, &g->entries.items[i]))
			return false;
	return add_run(g, thread, &run);
}

bool cp_call_gather_is_full(const struct cp_call_gather *g)
{
	return g->told >= TOLD_MAX || g->value_bytes >= BYTES_MAX;
}

bool cp_call_gather_next(struct cp_call_gather *g, uint32_t thread, struct cp_call_gathered *ret,
			 bool *failed)
{
	struct cp_call_waiting *w = thread < g->threads.count ? &g->threads.items[thread] : NULL;
	const struct cp_call_run *run = w && w->first ? &g->runs.items[w->first - 1] : NULL;
	const struct cp_call_costs costs = run ? run->costs : (struct cp_call_costs){ 0 };

	if (!run)
		return false;
	g->joined.count = 0;
	while (run && !memcmp(&run->costs, &costs, sizeof(costs))) {
		if (!cp_vec_reserve(&g->joined, g->joined.count + run->count)) {
			*failed = true;
			return false;
		}
		memcpy(g->joined.items + g->joined.count, g->entries.items + run->from,
		       run->count * sizeof(*g->joined.items));
		g->joined.count += run->count;
		w->first = run->next;
		run = run->next ? &g->runs.items[run->next - 1] : NULL;
	}
	*ret = (struct cp_call_gathered){ g->joined.items, g->joined.count, costs };
	return true;
}

void cp_call_gather_clear(struct cp_call_gather *g)
{
	const uint32_t *thread;

	cp_vec_for_each(&g->waiting, thread)
		g->threads.items[*thread].first = 0;
	g->entries.count = g->runs.count = g->waiting.count = 0;
	g->told = g->value_bytes = 0;
	cp_record_arena_free(&g->values);
}

void cp_call_gather_free(struct cp_call_gather *g)
{
	cp_vec_free(&g->entries);
	cp_vec_free(&g->joined);
	cp_vec_free(&g->runs);
	cp_vec_free(&g->threads);
	cp_vec_free(&g->waiting);
	cp_record_arena_free(&g->values);
}

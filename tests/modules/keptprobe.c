/* SPDX-License-Identifier: MIT
 *
 * keptprobe: writes to kept.out what tests/modules/kept.c allocates, by stack and function,
 * as that says it itself. */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

static cprof_stacks *stacks;
static cprof_tally *sizes, *functions;
static char found[64]; /* the innermost function called kept_... of a stack */

static void allocated(cprof_profiler *p, const cprof_object *object)
{
	uint32_t stack = cprof_stacks_current(stacks, 0);

	(void)p;
	cprof_tally_add(sizes, &stack, 1, object->size);
}

static void look(const cprof_symbol *symbol, void *data)
{
	(void)data;
	if (!*found && !strncmp(symbol->name, "kept_", 5))
		snprintf(found, sizeof(found), "%s", symbol->name);
}

/* Stacks that lead to a function; the same stack has the same number. */
static void look_at_all(FILE *out)
{
	const uint32_t *places;
	size_t i, k, n;

	for (i = 0; i < cprof_tally_count(sizes); i++) {
		const cprof_tally_row *row = cprof_tally_row_at(sizes, i);

		*found = 0;
		n = cprof_stacks_places(stacks, *(const uint32_t *)row->key, &places);
		for (k = 0; k < n; k++)
			cprof_place_symbolize(cprof_stacks_place(stacks, places[k]), look, NULL);
		if (!*found)
			continue;
		cprof_tally_add(functions, found, row->count, row->sum);
		fprintf(out, "%s: %d of %d bytes, %d to %d, middle about %d\n", found,
			(int)row->count, (int)row->sum, (int)row->least, (int)row->most,
			(int)cprof_tally_quantile(sizes, row, 0.5) / 100 * 100);
	}
}

static void ended(cprof_profiler *p)
{
	FILE *out = fopen("kept.out", "w");
	const cprof_tally_row *row;
	size_t i;

	(void)p;
	if (!out)
		return;
	look_at_all(out);
	cprof_tally_sort(functions, CPROF_TALLY_BY_SUM);
	for (i = 0; (row = cprof_tally_row_at(functions, i)); i++)
		fprintf(out, "%s: %d in all\n", (const char *)row->key, (int)row->sum);
	row = cprof_tally_find(functions, "kept_two");
	fprintf(out, "%d %d %d\n", row && row->count == 3, !cprof_tally_find(functions, "kept"),
		!cprof_stacks_place(stacks, (uint32_t)cprof_stacks_place_count(stacks)));
	fclose(out);
	cprof_stacks_free(stacks);
	cprof_tally_free(sizes);
	cprof_tally_free(functions);
}

CPROF_PROFILER_INIT(keptprobe)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);

	(void)desc;
	stacks = cprof_stacks_create();
	sizes = cprof_tally_create(sizeof(uint32_t), CPROF_TALLY_SPREAD);
	functions = cprof_tally_create(0, 0);
	cprof_profiler_enable_allocations();
	cprof_profiler_set_gc_allocation_callback(handle, allocated);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
}

/* iostacks: bytes read and written, by stack; for flamegraph.pl, speedscope and the like.
 *   cprof run -q --profile=iostacks -- ./program >folded */
#include <cprof/cprof.h>
#include <stdio.h>

static cprof_stacks *stacks;
static cprof_tally *bytes; /* by key */
struct key { uint64_t kind, stack; };
static void transferred(cprof_profiler *p, uint64_t kind, uint64_t size)
{
	struct key key = { kind, cprof_stacks_current(stacks, 0) };
	cprof_tally_add(bytes, &key, 1, size);
}
static void name(const cprof_symbol *symbol, void *data)
{
	if (!symbol->inlined)
		printf("%s;", symbol->name);
}
static void ended(cprof_profiler *p)
{
	const cprof_tally_row *row;
	for (size_t i = 0; (row = cprof_tally_row_at(bytes, i)); i++) {
		const struct key *key = row->key;
		const uint32_t *places;
		for (size_t n = cprof_stacks_places(stacks, key->stack, &places); n; n--)
			cprof_place_symbolize(cprof_stacks_place(stacks, places[n - 1]), name, NULL);
		printf("[%s] %llu\n", key->kind == CPROF_FILEIO_READ ? "read" : "written", (unsigned long long)row->sum);
	}
}
CPROF_PROFILER_INIT(iostacks)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);
	stacks = cprof_stacks_create();
	bytes = cprof_tally_create(sizeof(struct key), 0);
	cprof_profiler_enable_fileio();
	cprof_profiler_set_fileio_callback(handle, transferred);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
}

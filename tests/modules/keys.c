/* SPDX-License-Identifier: MIT
 *
 * Walks the stack at each enter of the program's functions, and holds it against what its key
 * stood for before. Into the file that its arguments name, at the end:
 *
 *     events N, without a key N, keys N, stacks N, differ N
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEYS 65536

struct cprof_profiler {
	FILE *out;
	uint64_t events, keyless, keys, differ;
	cprof_stacks *stacks;
};
static cprof_profiler prof;

/* A stack as a number, by the library's own keeping of stacks; open addressing. */
static struct {
	uint64_t key;
	uint32_t stack;
} known[KEYS];

static void hold(cprof_profiler *p, uint64_t key, uint32_t stack)
{
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) % KEYS;

	while (known[at].key && known[at].key != key)
		at = (at + 1) % KEYS;
	p->keys += !known[at].key;
	p->differ += known[at].key && known[at].stack != stack;
	known[at].key = key;
	known[at].stack = stack;
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	uint64_t key = cprof_current_stack_key();

	(void)f;
	(void)context;
	p->events++;
	p->keyless += !key;
	if (key && p->keys < KEYS / 2)
		hold(p, key, cprof_stacks_current(p->stacks, 0));
}

static void end(cprof_profiler *p)
{
	fprintf(p->out,
		"events %" PRIu64 ", without a key %" PRIu64 ", keys %" PRIu64
		", stacks %zu, differ %" PRIu64 "\n",
		p->events, p->keyless, p->keys, cprof_stacks_count(p->stacks), p->differ);
	fclose(p->out);
}

CPROF_PROFILER_INIT(keys)
{
	cprof_profiler_handle handle = cprof_profiler_create(&prof);
	cprof_callspec *spec = cprof_callspec_parse("program,lib:*plugin*", NULL);

	prof.out = fopen(cprof_profiler_desc_args(desc), "w");
	prof.stacks = cprof_stacks_create();
	if (!handle || !prof.out || !spec || !prof.stacks)
		return;
	cprof_profiler_trace(handle, spec,
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_STACK);
	cprof_callspec_free(spec);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, end);
}

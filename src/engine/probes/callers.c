/* SPDX-License-Identifier: MIT
 *
 * Who is known to call functions with detours, and from which stack.
 *
 * A record says nothing of the calls around it, but where it is on the stack; a coroutine's
 * stack may be an array in a frame of the thread's own. So whoever is called from where
 * nobody is known to call from stops, and its stack is looked at: is it the thread's own,
 * that place is known from then on, on that place of the stack, and after some, on any. If
 * it is not, all calls of the process are told by stops.
 *
 * The next process of the same file does not stop for what was so in several before it, as
 * long as none of the run has such stacks.
 */
#include "engine/probes/callers.h"

#include "engine/probes/rings.h"
#include "engine/probes/windows.h"
#include "engine/target/images.h"
#include "engine/target/state.h"

static void add_place(const struct engine_rings *rings, uint64_t from, uint64_t sp)
{
	uint8_t *callers = rings->memory + cp_detour_callers_offset(rings->code.log);
	uint8_t *at = &callers[cp_detour_caller(from, sp, rings->code.log)];
	uint8_t mark = cp_detour_caller_mark(from, sp);

	__atomic_store_n(at, !*at || *at == mark ? mark : CP_DETOUR_ANY, __ATOMIC_RELAXED);
}

#define BLIND 64u /* looks at stacks of a process that told nothing */
#define PLACES 32u /* on stacks, of one that calls: then it is known everywhere */
#define OTHERS 32768u /* places on other stacks than threads' own */
#define PROCESSES 8u /* that call from there: then it is known in those that follow */

/* From there, on its thread's own stack. */
static void count_process(const cprof_process *p, uint64_t from)
{
	const struct engine_text *text = engine_find_text(p, from);
	const uint64_t *count;
	struct cp_map *callers;
	uint64_t address;

	if (!text)
		return;
	callers = &text->image->assembly->callers;
	address = from - text->image->bias;
	count = cp_map_get(callers, address);
	cp_map_put(callers, address, count ? *count + 1 : 1);
}

static void add_counted(const cprof_image *image)
{
	const struct engine_rings *rings = image->process->detours->rings;
	uint64_t address, count;
	size_t cursor = 0;

	while (cp_map_next(&image->assembly->callers, &cursor, &address, &count))
		if (count >= PROCESSES)
			add_place(rings, address + image->bias, 0);
}

void engine_callers_looked_at(const cprof_process *p, uint64_t from, uint64_t sp, bool own)
{
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;
	uint64_t *count, places;

	if (!rings || (!own && rings->blind++ < BLIND))
		return;
	count = cp_map_get(&rings->callers, from);
	places = count ? *count + 1 : 1;
	if (own && !count)
		count_process(p, from);
	cp_map_put(&rings->callers, from, places);
	add_place(rings, from, places < PLACES ? sp : 0);
}

static bool is_known(const struct engine_rings *rings, uint64_t from, uint64_t sp)
{
	const uint8_t *callers = rings->memory + cp_detour_callers_offset(rings->code.log);
	uint8_t mark = callers[cp_detour_caller(from, sp, rings->code.log)];

	return mark == CP_DETOUR_ANY || mark == cp_detour_caller_mark(from, sp);
}

void engine_callers_on_other(const cprof_process *p, uint64_t from, uint64_t sp)
{
	struct engine_rings *rings = p->detours ? p->detours->rings : NULL;

	if (!rings || rings->others >= OTHERS || is_known(rings, from, 0) ||
	    is_known(rings, from, sp))
		return;
	rings->others++;
	add_place(rings, from, sp);
}

static void add_caller(void *image, uint64_t address)
{
	const cprof_image *of = image;

	add_place(of->process->detours->rings, address + of->bias, 0);
}

/* Calls by functions that are seen themselves are on the stack that those are on. By those
 * that a condition refused they are not. */
void engine_callers_add(cprof_image *image, const struct engine_numbers *numbers)
{
	const struct engine_calls *c = image->process->session->calls;
	size_t i;

	for (i = 0; !c->condition && i < numbers->count; i++)
		engine_windows_returns(c->traced.items[numbers->items[i]], add_caller, image);
	for (i = 0; !c->stacks_within && i < image->process->images.count; i++)
		if (image->process->images.items[i]->mapped)
			add_counted(image->process->images.items[i]);
}

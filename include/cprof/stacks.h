/* SPDX-License-Identifier: MIT
 *
 * cprof/stacks.h - stacks that are kept: the same stack has the same number.
 *
 *     uint32_t stack = cprof_stacks_current(stacks, 0);               in any event with a stack
 *     cprof_tally_add(tally, &stack, 1, size);                        (cprof/tally.h)
 *     ...
 *     count = cprof_stacks_places(stacks, stack, &places);            whenever it is wanted
 *     cprof_place_symbolize(cprof_stacks_place(stacks, places[i]), name, data);
 *
 * Keeping one costs no names: they are looked up when they are wanted, once for each place.
 * Such an object is used by one thread at a time, whichever that is.
 */
#ifndef CPROF_STACKS_H
#define CPROF_STACKS_H

#include <cprof/process.h>
#include <cprof/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cprof_stacks cprof_stacks;

/* A place in code. Two that are alike have the same number in a cprof_stacks. */
typedef struct cprof_place {
	cprof_assembly *assembly; /* NULL: none is known */
	const char *image; /* the file's name, of a program the one it was started by; NULL */
	/* Link-time, as cprof_frame_info_address(); without an assembly run-time. */
	uint64_t address;
	uint64_t flags; /* CPROF_PLACE_* */
} cprof_place;
#define CPROF_PLACE_SIGNAL 1u /* a signal handler returns there */

CPROF_API cprof_stacks *cprof_stacks_create(void); /* NULL: no memory */
CPROF_API void cprof_stacks_free(cprof_stacks *stacks); /* NULL is fine */

#define CPROF_NO_STACK UINT32_MAX
/* The number, from 0, of the stack of the event being delivered, its thread's as
 * cprof_do_stack_snapshot() walks it. Where nothing can be walked it has one place, `ip`.
 * CPROF_NO_STACK: no memory. [cb] */
CPROF_API uint32_t cprof_stacks_current(cprof_stacks *stacks, cprof_addr ip);
/* How many there are: numbers 0, ... */
CPROF_API size_t cprof_stacks_count(const cprof_stacks *stacks);
/* The numbers of a stack's places, innermost first, good as long as `stacks`; how many. */
CPROF_API size_t cprof_stacks_places(const cprof_stacks *stacks, uint32_t stack,
				     const uint32_t **places_ret);
/* Does the stack lack its outermost frames? */
CPROF_API bool cprof_stacks_is_truncated(const cprof_stacks *stacks, uint32_t stack);

/* A place by its number, good as long as `stacks`; NULL: there is none. */
CPROF_API const cprof_place *cprof_stacks_place(const cprof_stacks *stacks, uint32_t place);
CPROF_API size_t cprof_stacks_place_count(const cprof_stacks *stacks);

/* Names a place as cprof_assembly_symbolize() does; of one without a name tells one symbol,
 * called as reports call it ("libc.so.6+0x2a0f0", "[libc.so.6]", "[vdso]", "[unknown]",
 * "<signal handler called>"). At least one call. Any thread. */
CPROF_API void cprof_place_symbolize(const cprof_place *place, cprof_symbolize_fn cb, void *data);

#ifdef __cplusplus
}
#endif
#endif

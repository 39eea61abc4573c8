/* SPDX-License-Identifier: MIT
 *
 * Calls and allocations by the thousand, of those that were seen without a stop: what
 * method_block and allocation_block bring.
 * May be included by itself.
 */
#ifndef CPROF_BLOCKS_H
#define CPROF_BLOCKS_H

#include <cprof/process.h>
#include <cprof/types.h>
#include <cprof/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call's enter, leave or tail call, or all of it, in a method_block: some thousands of one
 * thread, in their order, of which method_enter, method_leave and method_tail_call are not raised.
 * There are blocks only if every profiler that wants one of these takes them, and nobody
 * wants an invoke; and of calls only of which there is no more to tell than is here. All
 * others are raised one by one, behind the block of what their thread did before. What other
 * threads did, and what is no call, may come out of the order of time. */
typedef enum cprof_call_event_kind {
	CPROF_CALL_ENTER = 0,
	CPROF_CALL_LEAVE = 1,
	CPROF_CALL_TAIL_CALL = 2,
	/* Both ends of a call in which no traced function was called: an ENTER with its LEAVE, at
	 * `enter_ns` and `timestamp_ns`. About half of all calls. With values only as `numbers`. */
	CPROF_CALL_LEAF = 3
} cprof_call_event_kind;
typedef struct cprof_call_event {
	uint64_t timestamp_ns; /* monotonic; rises from event to event; LEAF: of its end */
	const cprof_function *function;
	uint64_t enter_ns; /* of the call that is left; ENTER: the same */
	cprof_addr caller; /* ENTER, LEAF: return address; 0: unknown */
	const cprof_image *from; /* likewise: where that is, if it is not traced; else NULL */
	const cprof_function *target; /* TAIL_CALL; NULL: not known */
	uint32_t depth; /* 0: outermost */
	uint8_t kind; /* cprof_call_event_kind */
	uint32_t value_count;
	/* ENTER: arguments; LEAVE: the result; where a profiler asked for contexts, and their
	 * types alone say what values there are. NULL: none. [cb] */
	const cprof_value *values;
	/* What such values have alike whatever call it is: all but number, text, symbol and
	 * address. The same pointer says that it is the same: a key for what a profiler works
	 * out of it once. A text's kind is STRING, also of one that is a NULL POINTER in
	 * `values`; where that or another pointer is NULL, the parts are missing there. An
	 * array with `repeats` has as many items as fit there, those of `values` may be fewer,
	 * equal ones once. `address`: 0 none, 1 each value has its own, else 2 + the distance
	 * from where the innermost pointer around it leads, or from the argument. */
	const cprof_value *form;
	/* In place of `values`, for who reads them (cprof_profiler_set_block_numbers()), where
	 * none can have parts: cprof_value_words() of each, one behind the other; of a LEAF with a
	 * result behind those of its arguments. NULL: none. [cb] */
	const uint64_t *numbers;
	const cprof_value *result_form; /* LEAF: of its result; NULL: it has none */
} cprof_call_event;

/* The method_block callbacks of this profiler read `numbers`. Values come so only where all that
 * take blocks do. [init] */
CPROF_API void cprof_profiler_set_block_numbers(cprof_profiler_handle handle, bool numbers);

/* How many numbers a value of a form has: of a text its address (0: the pointer is NULL), the
 * address here of its bytes, and their number, with bit 32 set if it is cut; of others u.u,
 * then the address here of the symbol (0: none), if the form has one, and the address, if the
 * form says that it is its own. */
static inline size_t cprof_value_words(const cprof_value *form)
{
	return form->kind == CPROF_VALUE_STRING
		       ? 3
		       : (size_t)1 + (form->symbol != NULL) + (form->address == 1);
}

/* Makes a value of its form and its numbers. */
static inline void cprof_value_unpack(const cprof_value *form, const uint64_t *numbers,
				      cprof_value *ret)
{
	*ret = *form;
	ret->u.wide[1] = 0;
	if (form->kind == CPROF_VALUE_STRING) {
		ret->address = numbers[0];
		ret->cut = numbers[2] >> 32 & 1;
		ret->u.text.bytes = (const char *)(uintptr_t)numbers[1];
		ret->u.text.length = (uint32_t)numbers[2];
		if (!numbers[0]) {
			ret->kind = CPROF_VALUE_POINTER;
			ret->u.u = 0;
		}
		return;
	}
	ret->u.u = numbers[0];
	if (form->symbol)
		ret->symbol = (const char *)(uintptr_t)numbers[1];
	if (form->address == 1)
		ret->address = numbers[1 + (form->symbol != NULL)];
}

/* What gc_allocation, gc_moves, heap_resized and heap_free would tell, in an allocation_block:
 * some thousands, of one thread, in their order, of which none of these is raised. There are
 * blocks only if the one profiler that wants one of these takes them, without types and samples;
 * and only of calls that were seen without a stop, of which there is no more to tell, and on
 * whose stacks stack_known answered. All others are raised one by one, in the same order. */
typedef enum cprof_allocation_event_kind {
	CPROF_ALLOCATION_ALLOCATED = 0,
	CPROF_ALLOCATION_MOVED = 1, /* with `previous` */
	CPROF_ALLOCATION_RESIZED = 2,
	CPROF_ALLOCATION_FREED = 3
} cprof_allocation_event_kind;
typedef struct cprof_allocation_event {
	uint64_t timestamp_ns; /* monotonic; rises from event to event */
	uint64_t begin_ns; /* when the function was called */
	const cprof_function *function; /* the one that the program called */
	cprof_addr address, previous;
	uint64_t size;
	uint64_t stack; /* what stack_known answered */
	uint32_t depth; /* as of cprof_current_call() */
	uint8_t kind; /* cprof_allocation_event_kind */
} cprof_allocation_event;

/* Asks whether the profiler knows the stack of an event of that kind by its key
 * (cprof_current_stack_key()); then *answer stands for it in the block. False: the event is
 * raised by itself, and its stack can be walked. No other function may be called meanwhile. */
typedef bool (*cprof_stack_known_fn)(cprof_profiler *prof, uint64_t key,
				     cprof_allocation_event_kind kind, uint64_t *answer);
/* The profiler takes allocation_block, and answers so. NULL: it does not. [init] */
CPROF_API void cprof_profiler_set_stack_known(cprof_profiler_handle handle,
					      cprof_stack_known_fn fn);

#ifdef __cplusplus
}
#endif
#endif

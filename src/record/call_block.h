/* SPDX-License-Identifier: MIT
 *
 * Calls of one thread in blocks of some thousands, for who tells millions a second: two
 * bytes an event or less. What all that can be expected to be is not written (cp_call_block
 * says what that is), so a block takes nothing that is not enter, leave or the like, no
 * stack and no value that has parts; those go beside it, as events of their own (calls.h),
 * and readers put all in the order of time.
 *
 * An event begins with a byte: what it is in the low three bits, above them the time since
 * the last one in units of 8 ns, where 31 says that more comes (LEB128, behind the byte):
 *
 *     0        leave of the call that is expected
 *     1 to 4   enter of the first, ... fourth of the callees that the function around it
 *              called last
 *     5        enter of another one: its number
 *     6        anything: a byte that says what, then as CP_CALL_ODD_* say
 *     7        tail call of the call that is expected, to: number + 1, or 0
 *
 * Behind it stand its values, where it has any (call_form.h): an odd event says which form
 * those of its function's enters, or leaves, have from now on.
 *
 * A block knows nothing of those before it: each begins without known calls, callees and
 * forms. So a lost chunk spoils no other, and blocks can be decoded in any order.
 */
#ifndef CP_RECORD_CALL_BLOCK_H
#define CP_RECORD_CALL_BLOCK_H

#include "base/doubt.h"
#include "base/vec.h"
#include "record/calls.h"

/* What tracing adds, by which overheads are expected, in picoseconds: to a call by its own
 * enter and leave, and by those of each call inside it; and how much more that may be. */
struct cp_call_costs {
	uint32_t own_ps, inner_ps;
	uint32_t own_doubt_ps, inner_doubt_ps;
};

/* Both events of a call in which no other one is told. */
#define CP_CALL_LEAF 0x80u

/* An event, with the fields of cp_record_call; times of a thread don't go back. */
struct cp_call_entry {
	uint64_t ts_ns; /* LEAF: of its enter */
	/* Of the end of a call whose enter was not told, since that; LEAF: up to its end. */
	uint64_t duration_ns;
	uint32_t function, depth;
	uint32_t target; /* of a call by a signal its number */
	uint8_t kind; /* ENTER, LEAVE, TAIL_CALL, UNWIND, or CP_CALL_LEAF */
	uint8_t flags;
	uint16_t value_count; /* CP_CALL_VALUES_MAX at most */
	/* ENTER: arguments; LEAVE: the result. Borrowed. NULL: `numbers` has them. */
	const cprof_value *values;
	/* What they are but for number, text, symbol and address; the same pointer says that
	 * it is the same. As cprof_call_event has these (cprof/blocks.h). */
	const cprof_value *form;
	const uint64_t *numbers; /* LEAF: the result's behind those of the arguments */
	const cprof_value *result_form; /* LEAF; NULL: no result */
};
#define CP_CALL_VALUES_MAX 192u /* with their parts */

/* Tells the next events of a thread. Overheads are what `costs` come to. */
void cp_record_call_block(struct cp_record_writer *w, uint32_t thread,
			  const struct cp_call_costs *costs, const struct cp_call_entry *entries,
			  size_t count);

/* ---- private to src/record ---- */

#define CP_CALL_BLOCK_EVENTS ((size_t)32768) /* the most in a block */
#define CP_CALL_BLOCK_DEPTH 4096u /* deeper calls are not expected to end */
#define CP_CALL_UNIT_SHIFT 3 /* a unit of time is 8 ns */
#define CP_CALL_CODE_BITS 3
#define CP_CALL_TIME_MORE 31u

enum {
	CP_CALL_LEAVE,
	CP_CALL_ENTER,
	CP_CALL_RANKS = 4,
	CP_CALL_ENTER_OTHER,
	CP_CALL_ODD,
	CP_CALL_TAIL
};

/* The byte of what is odd: the kind, and which of these numbers follow, in this order. */
#define CP_CALL_ODD_KIND 3u
#define CP_CALL_ODD_DEPTH 4u /* zigzag, less the expected one */
#define CP_CALL_ODD_FUNCTION 8u /* else that of the call which ends */
#define CP_CALL_ODD_FLAGS 16u
#define CP_CALL_ODD_TARGET 32u /* + 1; of a call by a signal its number */
#define CP_CALL_ODD_DURATION 64u /* ns, then calls inside; else by the enter */
#define CP_CALL_ODD_FORM 128u /* of the values from now on (call_form.h) */

/* A call that is open at its depth. */
struct cp_call_open {
	uint64_t ts_ns;
	uint64_t inner; /* calls inside it that are over */
	uint64_t block; /* in which it was entered */
	uint32_t function; /* + 1; 0: none is known */
	uint32_t callees; /* the reader's: their place + 1; 0: not looked up */
};

/* The callees that a function called last. */
struct cp_call_callees {
	uint64_t block; /* in which; else none */
	uint32_t last[CP_CALL_RANKS]; /* function + 1 */
	uint32_t forms[2]; /* + 1, of the function's own enters and leaves; 0: no values */
	const cprof_value *keys[2]; /* the writer's: what those were made of */
	size_t sizes[2]; /* likewise: their values take no more; SIZE_MAX: of texts more */
	size_t words; /* likewise: of an enter's values that are numbers */
};

/* A block that is encoded. */
struct cp_call_block {
	uint32_t thread;
	uint32_t count; /* events */
	uint32_t depth; /* at which an enter is expected */
	uint64_t start_ns;
	struct cp_call_costs costs;
	const uint8_t *bytes;
	size_t size;
	const uint32_t *functions; /* that it refers to; of a block that was read NULL */
	size_t function_count;
	bool valued; /* events have values */
	size_t taken; /* of the entries that it was made of last */
};

/* Events that they are at most. */
static inline size_t cp_call_events_most(size_t entries)
{
	return 2 * entries;
}

/* Of values that have numbers, those of all. */
static inline size_t cp_call_words(const cprof_value *form, uint32_t count)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		n += cprof_value_words(&form[i]);
	return n;
}

/* The two events of a LEAF. */
static inline void cp_call_open_leaf(const struct cp_call_entry *leaf, struct cp_call_entry ret[2])
{
	ret[0] = ret[1] = *leaf;
	ret[0].kind = CP_RECORD_ENTER;
	ret[0].duration_ns = 0;
	ret[0].result_form = NULL;
	ret[1].kind = CP_RECORD_LEAVE;
	ret[1].ts_ns += leaf->duration_ns;
	ret[1].flags = 0;
	ret[1].target = CP_RECORD_NONE;
	ret[1].value_count = leaf->result_form != NULL;
	ret[1].form = leaf->result_form;
	ret[1].result_form = NULL;
	if (leaf->value_count)
		ret[1].numbers = leaf->numbers + cp_call_words(leaf->form, leaf->value_count);
}

/* Moves `function` + 1 to the front of the callees; its rank was `rank`, CP_CALL_RANKS: it
 * was none of them. */
static inline void cp_call_callee(struct cp_call_callees *c, unsigned rank, uint32_t function)
{
	unsigned i;

	for (i = rank < CP_CALL_RANKS ? rank : CP_CALL_RANKS - 1; i; i--)
		c->last[i] = c->last[i - 1];
	c->last[0] = function;
}

/* Of calls by detours that took so long in a trial. */
static inline struct cp_call_costs cp_call_costs_by(uint64_t within_ns, uint64_t whole_ns)
{
	uint32_t least = (uint32_t)(CP_TAKEN_LEAST * 1000 * (double)whole_ns);

	return (struct cp_call_costs){ .inner_ps = least,
				       .own_doubt_ps = (uint32_t)within_ns * 1000 * CP_TAKEN_MOST,
				       .inner_doubt_ps =
					       (uint32_t)whole_ns * 1000 * CP_TAKEN_MOST - least };
}

/* Sets what `costs` come to, of a call with so many inside: what is certain, and how much
 * more it may have been; or, if the rest is known to a tenth, what is likely. */
void cp_call_settle(const struct cp_call_costs *costs, uint64_t inner, uint64_t duration_ns,
		    uint64_t *overhead_ret, uint64_t *uncertain_ret);

/* What makes blocks of entries. Begins as zeros. */
struct cp_call_coder {
	CP_VEC(struct cp_call_opens *) threads; /* by number; what is open */
	CP_VEC(struct cp_call_callees) callees; /* by function + 1; 0: of nobody */
	CP_VEC(uint64_t) used; /* by function: the block that last referred to it */
	CP_VEC(uint32_t) functions; /* of the block under way */
	uint64_t block; /* the number of that */
	uint64_t units; /* of its last event, since its start */
	uint8_t *bytes; /* owned; room for a block */
	struct cp_call_forms *forms; /* owned; NULL: no values yet */
};

/* The next block of a thread; at most CP_CALL_BLOCK_EVENTS. `functions`: how many there
 * are. `ret` is good until the next; what it has taken is less where values left no room.
 * False without memory. */
bool cp_call_encode(struct cp_call_coder *coder, uint32_t thread, size_t functions,
		    const struct cp_call_costs *costs, const struct cp_call_entry *entries,
		    size_t count, struct cp_call_block *ret);
/* Is there room for so many more events of the same in the block, which the coder made last? */
bool cp_call_goes_on(const struct cp_call_block *block, uint32_t thread,
		     const struct cp_call_costs *costs, size_t count);
/* Likewise, at its end. Of events that it had, nothing is copied again. */
bool cp_call_encode_more(struct cp_call_coder *coder, size_t functions,
			 const struct cp_call_entry *entries, size_t count,
			 struct cp_call_block *block);
void cp_call_coder_free(struct cp_call_coder *coder);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Calls in a recording: enter, leave, tail call, unwound leave, in the order
 * in which they were served. A function is a location: its image and the
 * link-time address of its entry; its name is that of the location's last
 * frame (the real function, not one inlined at its first instruction).
 */
#ifndef CP_RECORD_CALLS_H
#define CP_RECORD_CALLS_H

#include <cprof/blocks.h>
#include <cprof/calls.h>
#include <cprof/value.h>

#include "record/record.h"

enum cp_record_call_kind {
	CP_RECORD_ENTER,
	CP_RECORD_LEAVE,
	CP_RECORD_TAIL_CALL,
	CP_RECORD_UNWIND,
	CP_RECORD_DISARMED, /* `function` is no longer traced: called `count` times in a second; 0: by
				signals that left a thread no time for anything else */
	/* Exceptions; of these, `function` is where: the place that throws, which has a line;
	 * the entry of the function that catches. `depth` is that of a call made there. The
	 * only value is a pointer to the exception, with its type ("": not known). */
	CP_RECORD_THROW,
	CP_RECORD_CATCH,
	/* A wait for a lock, told when it is over; `function` is who takes the lock, `depth`
	 * that of a call made there, `duration_ns` how long it was. Values: a pointer to the
	 * lock, with its type and, as symbol, the static variable that it is; the tid of who
	 * held it when the wait began, 0 not known. */
	CP_RECORD_WAIT,
	/* Memory of the heap; `function` is who asked for it, or frees it, `depth` that of a
	 * call made there. Values: ALLOCATED: the bytes asked for, a pointer to them; MOVED,
	 * by realloc(): the same, and a pointer to where it was, which is the same where it
	 * has stayed, `duration_ns` since realloc() was called; FREED: a pointer; HEAP_SIZE:
	 * the bytes that the allocator has from the kernel now. */
	CP_RECORD_ALLOCATED,
	CP_RECORD_MOVED,
	CP_RECORD_FREED,
	CP_RECORD_HEAP_SIZE,
	/* A forked process begins with this call open, which `entered_by` entered
	 * `duration_ns` before; its enter is not repeated. */
	CP_RECORD_INHERITED,
	/* The program's mappings; `function` is who asked for it, `depth` that of a call made
	 * there. Values by their names, of which those that are not known are missing: size,
	 * address, kind ("anonymous", "file", "break", "unknown"), by (the function that was
	 * called), protection, flags, fd, offset, path; MAPPED: previous, of what it was made;
	 * UNMAPPED: lived, ns. */
	CP_RECORD_MAPPED,
	CP_RECORD_UNMAPPED,
	CP_RECORD_CALL_KINDS
};

/* The families of events. */
enum cp_record_call_family {
	CP_RECORD_OF_CALLS,
	CP_RECORD_OF_EXCEPTIONS,
	CP_RECORD_OF_LOCKS,
	CP_RECORD_OF_HEAP,
	CP_RECORD_OF_MAPS,
	CP_RECORD_CALL_FAMILIES
};

#define CP_RECORD_CALL_ENDED 1u /* UNWIND: because its thread or process ended */
#define CP_RECORD_CALL_UNSURE 4u /* UNWIND: or it is at rest while a coroutine runs */
#define CP_RECORD_CALL_LOST 8u /* UNWIND: or not, or it returned: events are missing here */
/* ENTER: enum cprof_invoker << 2, of calls that code makes which is not traced. */
#define CP_RECORD_CALL_INVOKER(flags) ((flags) >> 2 & 7u)
#define CP_RECORD_WAIT_TIMED_OUT 1u /* WAIT: it gave up */
#define CP_RECORD_WAIT_OPEN 2u /* WAIT: it was not over when its thread ended, or the recording */
#define CP_RECORD_RETHROWN 1u /* THROW: a handler throws what it has caught */
#define CP_RECORD_CALL_LOCALS 2u /* `values` are locals after the first `result_count` */

struct cp_record_call {
	uint64_t ts_ns;
	uint8_t kind; /* enum cp_record_call_kind */
	uint8_t flags; /* CP_RECORD_CALL_* */
	uint32_t thread;
	uint32_t function; /* location */
	uint32_t depth;
	uint32_t target; /* TAIL_CALL, ENTER by code that is not traced: location of the
			    target, of the caller; or CP_RECORD_NONE */
	uint32_t
		stack; /* ENTER, THROW, WAIT, ALLOCATED, MOVED, FREED, MAPPED, UNMAPPED: CP_RECORD_NONE unless
			   asked for */
	uint32_t
		count; /* DISARMED; ENTER by a signal: its number; CATCH: number of the clause, from 0; CP_RECORD_NONE:
			   not known */
	uint32_t entered_by; /* INHERITED: thread; or CP_RECORD_NONE; in others nothing */
	uint32_t
		on_stack; /* ENTER, INHERITED: number of the stack, if it is not the thread's own; 0 */
	uint64_t duration_ns; /* LEAVE, TAIL_CALL, UNWIND: since the enter, or, if inherited, the
				 fork; INHERITED: since the enter; WAIT, MOVED: since it began */
	uint64_t overhead_ns; /* of it, what tracing added: stops */
	uint64_t uncertain_ns; /* LEAVE, TAIL_CALL, UNWIND: what more that may be; 0: it is known */
	uint64_t cpu_ns; /* of it, CPU time of the thread; 0: not asked for */
	/* ENTER: arguments; LEAVE: the result, if there is one, then locals,
	 * then arguments behind which something changed. */
	const cprof_value *values;
	uint32_t value_count;
	uint32_t result_count; /* LEAVE: 1 when the first value is the result */
	uint32_t changed_count; /* LEAVE: of the last values */
	/* What is read of a block: what such values have alike (call_block.h); else NULL. */
	const cprof_value *form;
};

/* ALLOCATED, MOVED or FREED, with what its values are. */
struct cp_record_heap {
	uint64_t ts_ns;
	uint64_t address, size, previous; /* FREED: the first */
	uint64_t duration_ns;
	uint32_t thread, function, depth, stack; /* as in cp_record_call */
	uint8_t kind;
	uint32_t behind; /* the writer's own: so many calls of a batch */
};
void cp_record_heap(struct cp_record_writer *w, const struct cp_record_heap *h);
#define CP_RECORD_HEAP_VALUES 3
/* The same as a call, whose values are the caller's. */
struct cp_record_call cp_record_heap_call(const struct cp_record_heap *h,
					  cprof_value values[CP_RECORD_HEAP_VALUES]);
/* Strings and values are copied. */
void cp_record_call(struct cp_record_writer *w, const struct cp_record_call *call);

/* Number of call events in the recording, without those of exceptions, locks and the
 * heap; of these. */
uint64_t cp_record_call_count(const struct cp_record *r);
uint64_t cp_record_exception_count(const struct cp_record *r);
uint64_t cp_record_wait_count(const struct cp_record *r);
uint64_t cp_record_heap_count(const struct cp_record *r);
uint64_t cp_record_map_count(const struct cp_record *r);
/* Of a kind that is none: calls. */
enum cp_record_call_family cp_record_kind_family(unsigned kind);
static inline bool cp_record_kind_is_heap(unsigned kind)
{
	return cp_record_kind_family(kind) == CP_RECORD_OF_HEAP;
}
/* Has an event of the kind a stack of its own? */
bool cp_record_kind_has_stack(unsigned kind);
/* Calls `each` for every call event in the order recorded, decoding piece by
 * piece; `call` and its values are valid until it returns; false ends the
 * walk. Numbers refer to the tables of `r`. */
typedef bool (*cp_record_call_fn)(void *ctx, const struct cp_record_call *call);
CP_ERROR cp_record_each_call(const struct cp_record *r, cp_record_call_fn each, void *ctx);
/* The same without those in blocks (call_block.h), which are enter, leave and the like. */
CP_ERROR cp_record_each_single_call(const struct cp_record *r, cp_record_call_fn each, void *ctx);
/* All of them; values may be missing, which takes less time. */
CP_ERROR cp_record_each_bare_call(const struct cp_record *r, cp_record_call_fn each, void *ctx);

/* Of a call that returned before any other event came: its end. */
struct cp_record_leaf {
	uint64_t end_ns, duration_ns, overhead_ns, uncertain_ns; /* as a LEAVE has them */
};
/* `call` is its enter; false ends the walk. */
typedef bool (*cp_record_leaf_fn)(void *ctx, const struct cp_record_call *call,
				  const struct cp_record_leaf *leaf);
/* The same in as many steps less, for who adds up: where nothing came between enter and leave
 * of a call, `leaf` is told of both, where it can be. */
CP_ERROR cp_record_each_bare_leaf(const struct cp_record *r, cp_record_call_fn each,
				  cp_record_leaf_fn leaf, void *ctx);
/* The LEAVE that ends it; `call` is its enter. */
static inline void cp_record_leaf_leave(const struct cp_record_leaf *leaf,
					struct cp_record_call *call)
{
	call->kind = CP_RECORD_LEAVE;
	call->ts_ns = leaf->end_ns;
	call->duration_ns = leaf->duration_ns;
	call->overhead_ns = leaf->overhead_ns;
	call->uncertain_ns = leaf->uncertain_ns;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * The shadow stack: which calls are open. Calls are matched by stack pointer,
 * not by counting, so that longjmp, exceptions, thread cancellation and
 * coroutines lose their own frames at most. Pure.
 *
 *     sp at the entry = sp at the ret: both point to the return address
 *
 * On the thread's own stack, whatever lies below the sp of an event has been
 * left: frames there that did not return were unwound. Other stacks
 * (coroutines, signal stacks) come and go, and move between threads; an event
 * there brings the chain of its callers' sp, as the unwinder found it, and
 * only a frame of the same stack that is missing in it was unwound; or the root
 * of its stack, where such chains were found to end: then that is as a thread's
 * own. They may lie within a frame of a thread's own stack, and are gone with that.
 */
#ifndef CP_PROBE_SHADOW_H
#define CP_PROBE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/doubt.h"

/* Flags of a call that matter here; the others are the caller's. */
#define CP_CALL_HIDDEN 1u /* doesn't count in the depth of the calls it makes */
#define CP_CALL_BY_RETURN 2u /* its jumps are not seen: an enter at its sp is its tail call */
#define CP_CALL_MARKS 4u /* calls inside of it are */
#define CP_CALL_MARKED 8u /* an open call around it marks; filled in */
#define CP_CALL_INHERITED \
	16u /* entered in another process, before this one was forked; filled in */

/* A stub has the frame of what it leads to, but a call of its own around that
 * one's. So its sp is this much more, which no other's is. */
#define CP_SHADOW_STUB 1u

struct cp_call {
	uint32_t function; /* the caller's number for it */
	uint32_t depth; /* 0: no open call around it */
	uint64_t sp; /* at the entry (see CP_SHADOW_STUB) */
	uint64_t caller; /* return address; the caller's, as the next one */
	const void *subject;
	uint64_t enter_ns;
	struct cp_account account; /* of the thread at the entry */
	uint32_t flags;
	int32_t tid; /* that entered it */
	uint32_t
		stack; /* number of the stack that it was entered on; 0: the thread's own; filled in */
	int32_t entered_tid; /* INHERITED: in the parent */
	uint64_t entered_ns; /* INHERITED: when; enter_ns is the fork's */
	bool tail; /* entered by a tail call of the frame that it replaced */
	bool unsure; /* it may be on another stack, as it is or as its caller is */
	uint64_t words[3]; /* the caller's */
	void *data; /* the caller's; given back by every event that ends the call */
};

enum cp_call_end {
	CP_CALL_RETURNED,
	CP_CALL_TAIL_CALLED,
	CP_CALL_UNWOUND,
	CP_CALL_UNSURE, /* unwound, or at rest: the thread may be on another stack */
	CP_CALL_ENDED,
	CP_CALL_LOST, /* events are missing: whether it is over is not known */
};

struct cp_shadow; /* of one process */

/* Called for each call that ends, innermost first; `call` is the callee's
 * until it returns. It may not call this room. */
typedef void (*cp_call_end_fn)(void *ctx, const struct cp_call *call, enum cp_call_end how);

/* Stacks that are no thread's own get numbers from `first` + 1 on, 65,536 of them. NULL: no
 * memory. */
struct cp_shadow *cp_shadow_create(cp_call_end_fn end, void *ctx, uint32_t first);
/* No more `end` calls are made. */
void cp_shadow_destroy(struct cp_shadow *shadow);

/* The place of an event: thread, stack, caller. */
struct cp_shadow_at {
	int32_t tid;
	uint64_t sp; /* of the return address */
	const uint64_t *chain; /* on a foreign stack: sp of the callers' return addresses,
				  innermost first; NULL: on the thread's own stack, or on
				  that with `root` */
	size_t chain_count; /* 0 with a chain: the callers could not be found */
	uint64_t root; /* of a foreign stack: where all chains of callers on it end; 0: not known */
	bool interrupts; /* with a root: the thread goes on elsewhere when that is left, */
	bool cut; /* where the chain does not show who called */
	bool within; /* with a chain: that stack lies within a frame of the thread's own */
	bool unsure; /* it may be the thread's own stack, or within a frame of that; callers
			may be missing in the chain */
	bool placed; /* a walk of its stack has shown that it is the thread's own */
	/* From `sp` to the end of the arguments on the stack, in bytes; 0: there are none. They
	 * are of who calls: what begins among them is gone. */
	uint64_t pushed;
};

/* A function was entered. Ends what that shows to be gone, then pushes *call
 * (sp, depth, stack, tail, tid and whether it is marked are filled in). The result is valid until the next
 * call of this room; NULL without memory. */
struct cp_call *cp_shadow_enter(struct cp_shadow *shadow, const struct cp_shadow_at *at,
				const struct cp_call *call);
#define CP_SHADOW_ANY UINT32_MAX
/* `function` (ANY: whichever it is) returns, or jumps away. Ends the calls
 * below it as unwound, then its own. False: it was entered before we looked; or on
 * another stack, from which a switch of stacks returns: unless `placed`, nothing ends.
 * With `how` TAIL_CALLED the next enter of the thread at the same sp is its
 * tail call. */
bool cp_shadow_leave(struct cp_shadow *shadow, const struct cp_shadow_at *at, uint32_t function,
		     enum cp_call_end how);
/* The thread goes on in the frame whose return address is at `sp`, above the event: what is
 * below ends as unwound. */
void cp_shadow_reach(struct cp_shadow *shadow, const struct cp_shadow_at *at, uint64_t sp);
/* The thread is where `function` begins: does its call that is open there, and returns to
 * `caller`, go on? Where none is open there, what is gone is left to cp_shadow_enter(). */
bool cp_shadow_goes_on(struct cp_shadow *shadow, const struct cp_shadow_at *at, uint32_t function,
		       uint64_t caller);
/* Does the chain lead to an open call that is surely on the thread's own stack? */
bool cp_shadow_is_called_by_own(struct cp_shadow *shadow, const struct cp_shadow_at *at);
/* The innermost open call of the thread, as far as known; or NULL. */
struct cp_call *cp_shadow_top(struct cp_shadow *shadow, int32_t tid);
/* The open call at `sp`, whatever has happened since; or NULL. */
const struct cp_call *cp_shadow_find(struct cp_shadow *shadow, uint64_t sp);
/* The thread ended: the calls on its own stack end as `how`. tid 0: all calls
 * of the process, wherever they are. */
void cp_shadow_thread_exit(struct cp_shadow *shadow, int32_t tid, enum cp_call_end how);
/* Forgets the open calls of a function that is no longer traced: `end` gets
 * CP_CALL_ENDED. */
void cp_shadow_forget(struct cp_shadow *shadow, uint32_t function);
size_t cp_shadow_open(const struct cp_shadow *shadow);

/* ---- private to src/probe ---- */

struct cp_shadow_stack;
struct cp_shadow_thread;

/* NULL without memory. */
struct cp_shadow_thread *cp_shadow_thread_of(struct cp_shadow *s, int32_t tid);
/* NULL: none of its calls was told. */
struct cp_shadow_thread *cp_shadow_thread_find(const struct cp_shadow *s, int32_t tid);
/* The innermost open call, or NULL. */
struct cp_call *cp_shadow_top_of(const struct cp_shadow_stack *stack);
/* Another stack than a thread's own, to be dropped when it is empty again. NULL without
 * memory. */
struct cp_shadow_stack *cp_shadow_stack_new(struct cp_shadow *s);
/* It lies within a frame of that thread's own; 0: of none. */
void cp_shadow_set_host(const struct cp_shadow *s, struct cp_shadow_stack *stack, int32_t tid);
/* Chains of callers on it end there, and on no other one; 0: that is not known. */
void cp_shadow_set_root(struct cp_shadow *s, struct cp_shadow_stack *stack, uint64_t root);
/* `stack` may be NULL. */
void cp_shadow_drop_if_empty(struct cp_shadow *s, struct cp_shadow_stack *stack);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The shadow stack against programs that are made up: what they do is the
 * expectation.
 */
#include "probe/shadow_fork.h"
#include "probe/shadow_plain.h"

#include "test.h"

#define STACK_TOP UINT64_C(0x7ffff0000000)
#define CORO_TOP UINT64_C(0x555500000000)

/* What ended, as text: function, then r(eturned) t(ailed) u(nwound) e(nded), ? (not
 * known). */
static char ends[4096];
static size_t end_count[CP_CALL_LOST + 1];

static void on_end(void *ctx, const struct cp_call *call, enum cp_call_end how)
{
	size_t n = strlen(ends);

	(void)ctx;
	end_count[how]++;
	if (n + 16 < sizeof(ends))
		snprintf(ends + n, sizeof(ends) - n, "%u%c ", call->function, "rtu?el"[how]);
}

static struct cp_shadow *fresh(void)
{
	ends[0] = 0;
	memset(end_count, 0, sizeof(end_count));
	return cp_shadow_create(on_end, NULL, 0);
}

static struct cp_call *enter_flags(struct cp_shadow *s, int32_t tid, uint64_t sp, uint32_t function,
				   uint32_t flags)
{
	const struct cp_shadow_at at = { .tid = tid, .sp = sp };

	return cp_shadow_enter(s, &at, &(struct cp_call){ .function = function, .flags = flags });
}

static struct cp_call *enter(struct cp_shadow *s, int32_t tid, uint64_t sp, uint32_t function)
{
	return enter_flags(s, tid, sp, function, 0);
}

static bool leave(struct cp_shadow *s, int32_t tid, uint64_t sp, uint32_t function)
{
	const struct cp_shadow_at at = { .tid = tid, .sp = sp };

	return cp_shadow_leave(s, &at, function, CP_CALL_RETURNED);
}

static bool jump(struct cp_shadow *s, int32_t tid, uint64_t sp, uint32_t function)
{
	const struct cp_shadow_at at = { .tid = tid, .sp = sp };

	return cp_shadow_leave(s, &at, function, CP_CALL_TAIL_CALLED);
}

static struct cp_call *enter_on(struct cp_shadow *s, int32_t tid, uint64_t sp,
				const uint64_t *chain, size_t count, uint32_t function)
{
	const struct cp_shadow_at at = { tid, sp, chain, count };

	return cp_shadow_enter(s, &at, &(struct cp_call){ .function = function });
}

static bool leave_on(struct cp_shadow *s, int32_t tid, uint64_t sp, const uint64_t *chain,
		     size_t count, uint32_t function)
{
	const struct cp_shadow_at at = { tid, sp, chain, count };

	return cp_shadow_leave(s, &at, function, CP_CALL_RETURNED);
}

static void test_recursion(void)
{
	struct cp_shadow *s = fresh();
	unsigned i, deep = 20000;

	for (i = 0; i < deep; i++) {
		struct cp_call *c = enter(s, 1, STACK_TOP - 48 * i, 7);

		CHECK(c && c->depth == i && !c->tail && c->tid == 1);
	}
	CHECK_U64(cp_shadow_open(s), deep);
	CHECK_U64(cp_shadow_top(s, 1)->depth, deep - 1);
	while (i--)
		CHECK(leave(s, 1, STACK_TOP - 48 * i, 7));
	CHECK_U64(end_count[CP_CALL_RETURNED], deep);
	CHECK_U64(cp_shadow_open(s), 0);
	CHECK(!cp_shadow_top(s, 1) && !cp_shadow_top(s, 2));
	CHECK(!leave(s, 1, STACK_TOP, 7));
	cp_shadow_destroy(s);
}

static void test_tail_calls(void)
{
	struct cp_shadow *s = fresh();
	struct cp_call *c;

	enter(s, 1, STACK_TOP, 1);
	enter(s, 1, STACK_TOP - 64, 2);
	CHECK(jump(s, 1, STACK_TOP - 64, 2));
	c = enter(s, 1, STACK_TOP - 64, 3);
	CHECK(c && c->tail && c->depth == 1);
	CHECK(jump(s, 1, STACK_TOP - 64, 3));
	/* A signal handler in between is not the target, nor does it hide it. */
	c = enter(s, 1, STACK_TOP - 900, 9);
	CHECK(c && !c->tail && c->depth == 1);
	CHECK(leave(s, 1, STACK_TOP - 900, 9));
	c = enter(s, 1, STACK_TOP - 64, 4);
	CHECK(c && c->depth == 1);
	CHECK(leave(s, 1, STACK_TOP - 64, 4));
	/* The target is not traced: what follows is another call. */
	CHECK(jump(s, 1, STACK_TOP, 1));
	c = enter(s, 1, STACK_TOP + 32, 5);
	CHECK(c && !c->tail && !c->depth);
	c = enter(s, 1, STACK_TOP, 6);
	CHECK(c && !c->tail && c->depth == 1);
	CHECK_STR(ends, "2t 3t 9r 4r 1t ");
	cp_shadow_destroy(s);
}

/* A long chain of jumps: one call open at any time. */
static void test_tail_chain(void)
{
	struct cp_shadow *s = fresh();
	unsigned i;

	enter(s, 1, STACK_TOP, 0);
	for (i = 1; i < 10000; i++) {
		CHECK(jump(s, 1, STACK_TOP, i - 1));
		CHECK(enter(s, 1, STACK_TOP, i)->tail);
		CHECK_U64(cp_shadow_open(s), 1);
	}
	CHECK(leave(s, 1, STACK_TOP, i - 1));
	CHECK_U64(end_count[CP_CALL_TAIL_CALLED], 9999);
	cp_shadow_destroy(s);
}

static void test_unwinding(void)
{
	struct cp_shadow *s = fresh();
	unsigned i;

	/* longjmp from 4 to 1, which goes on and returns. */
	for (i = 1; i <= 4; i++)
		enter(s, 1, STACK_TOP - 64 * i, i);
	CHECK(leave(s, 1, STACK_TOP - 64, 1));
	CHECK_STR(ends, "4u 3u 2u 1r ");
	/* An exception: the one that catches calls something at once. */
	ends[0] = 0;
	for (i = 1; i <= 4; i++)
		enter(s, 1, STACK_TOP - 64 * i, i);
	CHECK_U64(enter(s, 1, STACK_TOP - 140, 8)->depth, 2);
	CHECK_STR(ends, "4u 3u ");
	/* The same function at the same place again, after a longjmp. */
	ends[0] = 0;
	CHECK(!enter(s, 1, STACK_TOP - 140, 8)->tail);
	CHECK_STR(ends, "8u ");
	CHECK(leave(s, 1, STACK_TOP - 140, 8));
	/* An exit that it shares with another function. */
	ends[0] = 0;
	CHECK(!leave(s, 1, STACK_TOP - 128, 5));
	CHECK_STR(ends, "");
	CHECK(leave(s, 1, STACK_TOP - 128, 2));
	CHECK_STR(ends, "2r ");
	/* The thread is cancelled. */
	ends[0] = 0;
	cp_shadow_thread_exit(s, 1, CP_CALL_ENDED);
	CHECK_STR(ends, "1e ");
	cp_shadow_thread_exit(s, 1, CP_CALL_ENDED);
	cp_shadow_destroy(s);
}

static void test_before_attach(void)
{
	struct cp_shadow *s = fresh();

	CHECK(!leave(s, 1, STACK_TOP - 100, 3));
	CHECK(!cp_shadow_leave(s, &(struct cp_shadow_at){ .tid = 1, .sp = STACK_TOP - 80 }, 3,
			       CP_CALL_TAIL_CALLED));
	/* Its target begins for us. */
	CHECK(!enter(s, 1, STACK_TOP - 80, 4)->tail);
	CHECK(leave(s, 1, STACK_TOP - 80, 4));
	CHECK(!leave(s, 1, STACK_TOP, 2));
	CHECK_STR(ends, "4r ");
	cp_shadow_destroy(s);
}

static void test_by_return(void)
{
	struct cp_shadow *s = fresh();

	/* 1's jump to 2 is not seen; both return to one place. */
	enter_flags(s, 1, STACK_TOP, 1, CP_CALL_BY_RETURN);
	CHECK(enter_flags(s, 1, STACK_TOP, 2, CP_CALL_BY_RETURN)->tail);
	CHECK_U64(cp_shadow_find(s, STACK_TOP)->function, 2);
	CHECK(leave(s, 1, STACK_TOP, CP_SHADOW_ANY));
	CHECK(!cp_shadow_find(s, STACK_TOP));
	CHECK(!leave(s, 1, STACK_TOP, CP_SHADOW_ANY));
	CHECK_STR(ends, "1t 2r ");
	cp_shadow_destroy(s);
}

static struct cp_call *enter_stub(struct cp_shadow *s, uint64_t sp, uint64_t caller,
				  uint32_t function)
{
	const struct cp_shadow_at at = { .tid = 1, .sp = sp | CP_SHADOW_STUB };

	return cp_shadow_enter(s, &at,
			       &(struct cp_call){ .function = function,
						  .caller = caller,
						  .flags = CP_CALL_BY_RETURN });
}

static struct cp_call *enter_from(struct cp_shadow *s, uint64_t sp, uint64_t caller,
				  uint32_t function)
{
	const struct cp_shadow_at at = { .tid = 1, .sp = sp };

	return cp_shadow_enter(s, &at, &(struct cp_call){ .function = function, .caller = caller });
}

/* A stub (11) and what it leads to (12) have one frame. */
static void test_stubs(void)
{
	const uint64_t sp = STACK_TOP - 64;
	struct cp_shadow *s = fresh();

	enter(s, 1, STACK_TOP, 1);
	CHECK_U64(enter_stub(s, sp, 100, 11)->depth, 1);
	CHECK_U64(enter_from(s, sp, 100, 12)->depth, 2);
	enter(s, 1, sp - 64, 13);
	CHECK(leave(s, 1, sp - 64, 13) && leave(s, 1, sp, 12));
	CHECK(leave(s, 1, sp | CP_SHADOW_STUB, 11));
	CHECK_STR(ends, "13r 12r 11r ");
	ends[0] = 0;
	/* The frame jumps to the stub; and one library's stub to another's. */
	CHECK(jump(s, 1, STACK_TOP, 1));
	CHECK(enter_stub(s, STACK_TOP, 100, 11)->tail);
	CHECK(enter_stub(s, STACK_TOP, 100, 14)->tail);
	CHECK_STR(ends, "1t 11t ");
	ends[0] = 0;
	/* It was left by an exception: called again, something else is called, ... */
	CHECK(!enter_stub(s, STACK_TOP, 100, 14)->tail);
	CHECK_U64(enter_from(s, STACK_TOP, 200, 15)->depth, 0);
	CHECK_STR(ends, "14u 14u ");
	CHECK(!enter_stub(s, STACK_TOP, 300, 11)->tail);
	CHECK(!enter_stub(s, STACK_TOP, 400, 14)->tail);
	CHECK(leave(s, 1, STACK_TOP | CP_SHADOW_STUB, CP_SHADOW_ANY));
	CHECK_STR(ends, "14u 14u 15u 11u 14r ");
	CHECK_U64(cp_shadow_open(s), 0);
	cp_shadow_destroy(s);
}

/* The same on a coroutine's stack, where callers are known by their chain. */
static void test_stubs_of_coroutines(void)
{
	const uint64_t chain[] = { CORO_TOP - 128, CORO_TOP - 16 }, root[] = { CORO_TOP - 16 };
	struct cp_shadow *s = fresh();
	const struct cp_shadow_at at = { 1, (CORO_TOP - 128) | CP_SHADOW_STUB, root, 1 };
	const struct cp_call stub = { .function = 11, .flags = CP_CALL_BY_RETURN };

	CHECK_U64(cp_shadow_enter(s, &at, &stub)->depth, 0);
	CHECK_U64(enter_on(s, 1, CORO_TOP - 128, root, 1, 12)->depth, 1);
	CHECK_U64(enter_on(s, 1, CORO_TOP - 256, chain, 2, 13)->depth, 2);
	CHECK(leave_on(s, 1, CORO_TOP - 256, chain, 2, 13));
	CHECK(leave_on(s, 1, CORO_TOP - 128, root, 1, 12));
	/* The target itself is not traced, what it calls is. */
	CHECK_U64(enter_on(s, 1, CORO_TOP - 256, chain, 2, 13)->depth, 1);
	CHECK(leave_on(s, 1, CORO_TOP - 256, chain, 2, 13));
	CHECK(cp_shadow_leave(s, &at, CP_SHADOW_ANY, CP_CALL_RETURNED));
	CHECK_STR(ends, "13r 12r 13r 11r ");
	cp_shadow_destroy(s);
}

static void test_hidden(void)
{
	struct cp_shadow *s = fresh();

	CHECK_U64(enter(s, 1, STACK_TOP, 1)->depth, 0);
	CHECK_U64(enter_flags(s, 1, STACK_TOP - 8, 2, CP_CALL_HIDDEN)->depth, 1);
	CHECK_U64(enter_flags(s, 1, STACK_TOP - 16, 3, CP_CALL_HIDDEN)->depth, 1);
	CHECK_U64(enter(s, 1, STACK_TOP - 24, 4)->depth, 1);
	CHECK_U64(enter(s, 1, STACK_TOP - 32, 5)->depth, 2);
	cp_shadow_destroy(s);
}

/* A generator: each call of it runs a piece on a stack of its own. */
static void test_coroutine(void)
{
	const uint64_t body[] = { CORO_TOP - 64, CORO_TOP - 16 }; /* of what the body calls */
	const uint64_t root[] = { CORO_TOP - 16 };
	struct cp_shadow *s = fresh();
	int round;

	enter(s, 1, STACK_TOP, 1);
	CHECK_U64(enter_on(s, 1, CORO_TOP - 64, root, 1, 10)->depth, 0);
	for (round = 0; round < 100; round++) {
		int32_t tid = 1 + round % 3; /* it moves between threads */

		/* Resumed: 11 is called, and yields from inside. */
		CHECK_U64(enter_on(s, tid, CORO_TOP - 128, body, 2, 11)->depth, 1);
		CHECK_U64(cp_shadow_top(s, tid)->function, 11);
		/* Meanwhile on the thread's own stack, above and below. */
		if (tid == 1) {
			CHECK_U64(enter(s, 1, STACK_TOP - 8, 2)->depth, 1);
			CHECK(leave(s, 1, STACK_TOP - 8, 2));
			CHECK_U64(cp_shadow_top(s, 1)->function, 1);
		}
		/* On goes 11 in another thread, and returns there. */
		CHECK(leave_on(s, tid + 1, CORO_TOP - 128, body, 2, 11));
	}
	CHECK_U64(end_count[CP_CALL_UNWOUND], 0);
	CHECK_U64(end_count[CP_CALL_RETURNED], 134);
	CHECK_U64(cp_shadow_open(s), 2);
	/* The one that it started in ends, and it still goes on. */
	cp_shadow_thread_exit(s, 1, CP_CALL_ENDED);
	CHECK(leave_on(s, 2, CORO_TOP - 64, root, 1, 10));
	CHECK_U64(cp_shadow_open(s), 0);
	cp_shadow_destroy(s);
}

static void test_coroutine_unwinding(void)
{
	const uint64_t c4[] = { CORO_TOP - 192, CORO_TOP - 128, CORO_TOP - 64, CORO_TOP - 16 };
	const uint64_t other[] = { CORO_TOP - 100, CORO_TOP - 24 };
	struct cp_shadow *s = fresh();

	enter_on(s, 1, CORO_TOP - 64, c4 + 3, 1, 1);
	enter_on(s, 1, CORO_TOP - 128, c4 + 2, 2, 2);
	enter_on(s, 1, CORO_TOP - 192, c4 + 1, 3, 3);
	/* An exception in it, caught in 1, which calls 4 with less on the stack. */
	CHECK_U64(enter_on(s, 1, CORO_TOP - 96, c4 + 2, 2, 4)->depth, 1);
	CHECK_STR(ends, "3u 2u ");
	/* 4 calls 5 by way of code that leaves no trace: nothing is known of
	 * its callers, so nothing can be said to be gone. */
	enter_on(s, 1, CORO_TOP - 300, c4, 0, 5);
	CHECK_STR(ends, "3u 2u ");
	CHECK(leave_on(s, 1, CORO_TOP - 300, c4, 0, 5));
	/* The coroutine is abandoned; another one has its memory and, sooner
	 * or later, a frame where an open call was. */
	ends[0] = 0;
	enter_on(s, 1, CORO_TOP - 96, other, 1, 6);
	CHECK_STR(ends, "4u ");
	CHECK_U64(cp_shadow_open(s), 2); /* 1 is not disproved yet */
	enter_on(s, 1, CORO_TOP - 140, other, 2, 7);
	cp_shadow_thread_exit(s, 0, CP_CALL_ENDED);
	CHECK_U64(cp_shadow_open(s), 0);
	cp_shadow_destroy(s);
}

/* A handler on an alternate stack: its callers lead to the thread's own. */
static void test_signal_stack(void)
{
	const uint64_t chain[] = { CORO_TOP - 8, STACK_TOP - 200, STACK_TOP - 64 };
	struct cp_shadow *s = fresh();

	enter(s, 1, STACK_TOP - 64, 1);
	enter(s, 1, STACK_TOP - 200, 2);
	CHECK_U64(enter_on(s, 1, CORO_TOP - 100, chain, 3, 9)->depth, 2);
	CHECK(leave_on(s, 1, CORO_TOP - 100, chain, 3, 9));
	/* It leaves by siglongjmp and comes again. */
	enter_on(s, 1, CORO_TOP - 100, chain, 3, 9);
	CHECK(leave(s, 1, STACK_TOP - 64, 1));
	enter(s, 1, STACK_TOP - 64, 1);
	enter_on(s, 1, CORO_TOP - 100, chain, 3, 9);
	CHECK_STR(ends, "9r 2u 1r 9u ");
	cp_shadow_destroy(s);
}

/* Stacks that are known by where they end are as a thread's own. */
static void test_rooted(void)
{
	const uint64_t chain[] = { CORO_TOP }, larger[] = { CORO_TOP - 0x80, CORO_TOP + 0x1000 };
	struct cp_shadow_at at = {
		.tid = 1, .sp = CORO_TOP - 0x100, .chain = chain, .chain_count = 1, .root = CORO_TOP
	};
	struct cp_shadow *s = fresh();
	struct cp_call *call;

	enter(s, 1, STACK_TOP - 0x100, 1);
	/* By a walk first, then by its place; another thread goes on there. */
	CHECK(cp_shadow_enter(s, &at, &(struct cp_call){ .function = 2 }));
	at.chain = NULL;
	at.chain_count = 0;
	at.sp = CORO_TOP - 0x200;
	call = cp_shadow_enter(s, &at, &(struct cp_call){ .function = 3 });
	CHECK(call && call->depth == 1);
	enter(s, 1, STACK_TOP - 0x200, 4);
	at.tid = 2;
	at.sp = CORO_TOP - 0x300;
	call = cp_shadow_enter(s, &at, &(struct cp_call){ .function = 5 });
	CHECK(call && call->depth == 2);
	/* What lies below is gone; a leave that nobody entered ends nothing. */
	at.sp = CORO_TOP - 0x180;
	CHECK(!cp_shadow_leave(s, &at, 9, CP_CALL_RETURNED));
	CHECK(!strcmp(ends, ""));
	at.sp = CORO_TOP - 0x100;
	CHECK(cp_shadow_leave(s, &at, 2, CP_CALL_RETURNED));
	CHECK(!strcmp(ends, "5u 3u 2r "));
	CHECK_U64(cp_shadow_open(s), 2);
	/* Nothing open is left there: it begins anew, and who is interrupted calls. */
	at.tid = 1;
	at.interrupts = true;
	call = cp_shadow_enter(s, &at, &(struct cp_call){ .function = 6 });
	CHECK(call && call->depth == 2);
	CHECK(cp_shadow_leave(s, &at, 6, CP_CALL_RETURNED));
	CHECK(cp_shadow_top(s, 1)->function == 4);
	call = cp_shadow_enter(s, &at, &(struct cp_call){ .function = 7 });
	CHECK(call && call->depth == 2);
	/* Its memory is another stack's, whose chain comes to the same root: what was open there
	 * and is not in the chain is gone. */
	at.interrupts = false;
	at.chain = chain;
	at.chain_count = 1;
	at.sp = CORO_TOP - 0x80;
	CHECK(cp_shadow_enter(s, &at, &(struct cp_call){ .function = 8 }));
	CHECK(!strcmp(ends, "5u 3u 2r 6r 7u "));
	/* Part of it becomes that of a larger stack, which has a frame where a call was. */
	at.chain = larger;
	at.chain_count = 2;
	at.sp = CORO_TOP - 0x90;
	at.root = larger[1];
	call = cp_shadow_enter(s, &at, &(struct cp_call){ .function = 9 });
	CHECK(call && call->depth == 0 && call->stack);
	cp_shadow_destroy(s);
}

static void test_memory_reused(void)
{
	const uint64_t chain[] = { STACK_TOP - 100, STACK_TOP - 16 };
	struct cp_shadow *s = fresh();

	/* A coroutine that is never ended; then its memory is a thread's stack. */
	enter_on(s, 1, STACK_TOP - 100, chain + 1, 1, 1);
	enter_on(s, 1, STACK_TOP - 200, chain, 2, 2);
	enter(s, 2, STACK_TOP - 100, 3);
	CHECK_STR(ends, "2u 1u ");
	CHECK_U64(cp_shadow_open(s), 1);
	cp_shadow_destroy(s);
}

static void test_forget(void)
{
	struct cp_shadow *s = fresh();
	unsigned i;

	for (i = 0; i < 6; i++)
		enter(s, 1, STACK_TOP - 32 * i, i % 2);
	enter(s, 2, STACK_TOP - 10000, 1);
	enter_on(s, 3, CORO_TOP, &(uint64_t){ CORO_TOP + 8 }, 1, 1);
	cp_shadow_forget(s, 1);
	CHECK_STR(ends, "1e 1e 1e 1e 1e ");
	CHECK_U64(cp_shadow_open(s), 3);
	CHECK(!leave(s, 1, STACK_TOP - 32 * 5, 1));
	CHECK(leave(s, 1, STACK_TOP - 32 * 4, 0));
	CHECK(leave(s, 1, STACK_TOP - 32 * 2, 0));
	CHECK(leave(s, 1, STACK_TOP, 0));
	CHECK_U64(end_count[CP_CALL_UNWOUND], 0);
	cp_shadow_destroy(s);
}

static struct cp_shadow_at at_within(uint64_t sp, const uint64_t *chain, size_t count)
{
	return (struct cp_shadow_at){
		.tid = 1, .sp = sp, .chain = chain, .chain_count = count, .within = true
	};
}

/* A coroutine's stack, at 500 to 900 below the top, lies in the frame of 1. */
static void test_within(void)
{
	const uint64_t body[] = { STACK_TOP - 508 }, deep[] = { STACK_TOP - 600, STACK_TOP - 508 };
	struct cp_shadow_at first = at_within(STACK_TOP - 600, body, 1),
			    second = at_within(STACK_TOP - 700, deep, 2);
	struct cp_shadow *s = fresh();
	int known;

	enter(s, 1, STACK_TOP, 1);
	for (known = 0; known < 2; known++) {
		/* 10 there; 1 calls 2 while it rests; there goes on, and calls 11. */
		if (known)
			CHECK_U64(cp_shadow_enter(s, &first, &(struct cp_call){ .function = 10 })
					  ->depth,
				  0);
		else /* by which nobody sees that it is another stack */
			CHECK_U64(enter(s, 1, STACK_TOP - 600, 10)->depth, 1);
		enter(s, 1, STACK_TOP - 1000, 2);
		CHECK(cp_shadow_enter(s, &second, &(struct cp_call){ .function = 11 }));
		CHECK(cp_shadow_leave(s, &second, 11, CP_CALL_RETURNED));
		CHECK(leave(s, 1, STACK_TOP - 1000, 2));
		CHECK(cp_shadow_leave(s, &first, 10, CP_CALL_RETURNED));
	}
	CHECK_STR(ends, "11r 2r 10r 11r 2r 10r ");
	/* It is given up: gone with the frame that it is in, and not before. */
	cp_shadow_enter(s, &first, &(struct cp_call){ .function = 12 });
	enter(s, 1, STACK_TOP - 1000, 3);
	CHECK_U64(cp_shadow_open(s), 3);
	CHECK(leave(s, 1, STACK_TOP, 1));
	CHECK_STR(ends, "11r 2r 10r 11r 2r 10r 3u 12u 1r ");
	/* What can't be told is not said. */
	enter(s, 1, STACK_TOP - 1000, 4);
	first = (struct cp_shadow_at){ .tid = 1, .sp = STACK_TOP - 600, .unsure = true };
	cp_shadow_enter(s, &first, &(struct cp_call){ .function = 13 });
	CHECK_U64(end_count[CP_CALL_UNSURE], 1);
	cp_shadow_destroy(s);
}

static void test_many_coroutines(void)
{
	struct cp_shadow *s = fresh();
	uint64_t i, count = 70000;

	for (i = 0; i < count; i++) {
		const uint64_t root = CORO_TOP + i * 16384 + 8192;

		enter_on(s, 1, root - 100, &root, 1, 1);
	}
	CHECK_U64(cp_shadow_open(s), 65536);
	CHECK_U64(end_count[CP_CALL_ENDED], count - 65536);
	cp_shadow_destroy(s);
}

/* Random calls, returns, jumps out and tail calls of 3 threads, against a
 * model that counts. */
static void test_random(void)
{
	struct {
		uint64_t sp[64];
		uint32_t function[64];
		unsigned count;
	} model[3] = { 0 };
	size_t want[4] = { 0 }, open = 0, n;
	struct cp_shadow *s = fresh();
	unsigned i;

	srandom(4);
	for (i = 0; i < 200000; i++) {
		unsigned t = (unsigned)random() % 3, what = (unsigned)random() % 16;
		uint64_t base = STACK_TOP + t * 0x1000000;
		struct cp_call *c;

		n = model[t].count;
		if (n < 60 && (what < 8 || !n)) {
			uint64_t sp = (n ? model[t].sp[n - 1] : base) - 16 * (1 + what);

			model[t].sp[n] = sp;
			model[t].function[n] = what;
			model[t].count++;
			open++;
			c = enter(s, (int32_t)t + 1, sp, what);
			CHECK(c && c->depth == n && !c->tail);
		} else if (what == 15) { /* longjmp to any frame, which then returns */
			unsigned to = (unsigned)random() % (unsigned)n;

			want[CP_CALL_UNWOUND] += n - to - 1;
			want[CP_CALL_RETURNED]++;
			open -= n - to;
			model[t].count = to;
			CHECK(leave(s, (int32_t)t + 1, model[t].sp[to], model[t].function[to]));
		} else if (what == 14) {
			want[CP_CALL_TAIL_CALLED]++;
			CHECK(jump(s, (int32_t)t + 1, model[t].sp[n - 1],
				   model[t].function[n - 1]));
			model[t].function[n - 1] = 99;
			c = enter(s, (int32_t)t + 1, model[t].sp[n - 1], 99);
			CHECK(c && c->tail && c->depth == n - 1);
		} else {
			want[CP_CALL_RETURNED]++;
			open--;
			model[t].count--;
			CHECK(leave(s, (int32_t)t + 1, model[t].sp[n - 1],
				    model[t].function[n - 1]));
		}
	}
	CHECK_U64(cp_shadow_open(s), open);
	for (n = 0; n < 4; n++)
		CHECK_U64(end_count[n], want[n]);
	cp_shadow_destroy(s);
}

static bool inherit(void *ctx, struct cp_call *call)
{
	(void)ctx;
	call->enter_ns = 100;
	return call->function != 9; /* a function that is left out */
}

static void count_inherited(void *ctx, const struct cp_call *call)
{
	size_t *n = ctx;

	*n += call->flags & CP_CALL_INHERITED && call->entered_tid == 1 && call->entered_ns == 0 &&
	      call->tid == 50;
}

/* Thread 1 forks, with a coroutine at rest, beside thread 2 and a coroutine that
 * thread 2 is on. */
static void test_fork(void)
{
	const uint64_t root[] = { CORO_TOP - 16 }, others[] = { CORO_TOP / 2 - 16 };
	struct cp_shadow *s = fresh(), *child = cp_shadow_create(on_end, NULL, 0);
	size_t n = 0;

	enter_on(s, 1, CORO_TOP - 64, root, 1, 10);
	enter(s, 1, STACK_TOP, 1);
	enter(s, 1, STACK_TOP - 100, 9);
	enter(s, 1, STACK_TOP - 200, 2);
	enter(s, 1, STACK_TOP - 900, 3); /* left by a longjmp since */
	enter(s, 2, STACK_TOP / 2, 4);
	enter_on(s, 2, CORO_TOP / 2 - 64, others, 1, 11);
	CHECK(!cp_shadow_inherit(child, 50, s, 7, STACK_TOP - 400, inherit));
	CHECK(cp_shadow_inherit(child, 50, s, 1, STACK_TOP - 400, inherit));
	CHECK_U64(cp_shadow_open(child), 3);
	CHECK_U64(cp_shadow_open(s), 7);
	CHECK_U64(cp_shadow_top(child, 50)->function, 2);
	cp_shadow_each(child, count_inherited, &n);
	CHECK_U64(n, 3);
	/* At their depth, each as often as there are processes. */
	CHECK_U64(enter(child, 50, STACK_TOP - 300, 5)->depth, 3);
	CHECK(leave(child, 50, STACK_TOP - 300, 5) && leave(child, 50, STACK_TOP - 200, 2));
	CHECK(leave_on(child, 50, CORO_TOP - 64, root, 1, 10));
	CHECK(leave(child, 50, STACK_TOP, 1));
	CHECK_STR(ends, "5r 2r 10r 1r ");
	CHECK_U64(cp_shadow_open(child), 0);
	CHECK(leave(s, 1, STACK_TOP - 200, 2)); /* 3 is gone */
	/* On the coroutine's stack: who is on it is known by its calls. */
	CHECK(cp_shadow_who(s, CORO_TOP / 2 - 80) == 2 && cp_shadow_who(s, CORO_TOP - 80) == 1);
	CHECK_U64(cp_shadow_who(s, STACK_TOP + 80), 0);
	cp_shadow_destroy(child);
	child = cp_shadow_create(on_end, NULL, 0);
	CHECK(cp_shadow_inherit(child, 50, s, 0, CORO_TOP / 2 - 80, inherit));
	CHECK_U64(cp_shadow_open(child), 3); /* 10, 4, 11 */
	CHECK_U64(cp_shadow_top(child, 50)->function, 11);
	/* And again: who entered it first is what is remembered. */
	cp_shadow_destroy(s);
	s = cp_shadow_create(on_end, NULL, 0);
	CHECK(cp_shadow_inherit(s, 51, child, 50, STACK_TOP / 2 - 80, inherit));
	CHECK_U64(cp_shadow_top(s, 51)->entered_tid, 2);
	cp_shadow_destroy(child);
	cp_shadow_destroy(s);
}

/* ---- calls told by the million ---- */

#define PLAIN_EVENTS 20000
#define PLAIN_ROOM 60000u /* in `text` */

/* The same program, told to one shadow stack event by event, and to another one as plainly
 * as it takes it. */
struct twice {
	struct cp_shadow *shadow;
	struct cp_shadow_own own[3]; /* by thread */
	char *text; /* what ended */
	size_t plain;
};

static void twice_ended(void *ctx, const struct cp_call *call, enum cp_call_end how)
{
	struct twice *t = ctx;
	size_t n = strlen(t->text);

	if (n + 32 < PLAIN_ROOM)
		snprintf(t->text + n, 32, "%u%c%u%s ", call->function, "rtu?e"[how], call -> depth,
			 call -> tail ? "t" : "");
}

static void twice_enter(struct twice *t, bool plainly, const struct cp_shadow_at *at,
			uint32_t function)
{
	struct cp_shadow_own *own = &t->own[at->tid - 1];
	struct cp_call *call = NULL;

	if (plainly && !at->chain && cp_shadow_own(t->shadow, at->tid, own))
		call = cp_shadow_enter_plain(own, at->sp, 0);
	t->plain += call != NULL;
	if (call)
		call->function = function;
	else
		cp_shadow_enter(t->shadow, at, &(struct cp_call){ .function = function });
}

static void twice_leave(struct twice *t, bool plainly, const struct cp_shadow_at *at,
			enum cp_call_end how)
{
	struct cp_shadow_own *own = &t->own[at->tid - 1];
	const struct cp_call *call = NULL;

	if (plainly && !at->chain && cp_shadow_own(t->shadow, at->tid, own))
		call = cp_shadow_leaves_plainly(own, at->sp);
	t->plain += call != NULL;
	if (call) {
		twice_ended(t, call, how);
		cp_shadow_leave_plain(own, how == CP_CALL_TAIL_CALLED);
	} else {
		cp_shadow_leave(t->shadow, at, CP_SHADOW_ANY, how);
	}
}

/* A thread calls, returns, jumps, unwinds, calls on another stack, and ends. */
static void twice_step(struct twice *t, bool plainly, const uint32_t *dice, uint64_t sp[3])
{
	int32_t tid = 1 + (int32_t)(dice[0] % 3);
	uint64_t base = STACK_TOP - (uint64_t)tid * 0x1000000, *at_sp = &sp[tid - 1];
	uint64_t callers[] = { CORO_TOP + 0x100 };
	struct cp_shadow_at at = { .tid = tid };
	uint32_t what = dice[1] % 100;

	*at_sp = *at_sp ? *at_sp : base;
	at.sp = *at_sp;
	if (what < 45) {
		at.sp = *at_sp -= 16 + dice[2] % 4 * 16;
		twice_enter(t, plainly, &at, dice[3] % 50);
	} else if (what < 85) {
		twice_leave(t, plainly, &at, what < 80 ? CP_CALL_RETURNED : CP_CALL_TAIL_CALLED);
		if (what < 80 && *at_sp < base)
			*at_sp += 16 + dice[2] % 4 * 16; /* where a call may be, or not */
	} else if (what < 92) {
		*at_sp = *at_sp + 200 < base ? *at_sp + 200 : base;
	} else if (what < 98) {
		at.chain = callers;
		at.chain_count = 1;
		at.sp = CORO_TOP - dice[2] % 8 * 16;
		if (what < 95)
			twice_enter(t, plainly, &at, 100);
		else
			twice_leave(t, plainly, &at, CP_CALL_RETURNED);
	} else if (what == 98) {
		cp_shadow_forget(t->shadow, dice[3] % 50);
	} else if (dice[2] % 8 == 0) {
		cp_shadow_thread_exit(t->shadow, tid, CP_CALL_UNWOUND);
		*at_sp = 0;
	}
}

static void test_plain(void)
{
	struct twice all = { .text = calloc(1, PLAIN_ROOM) },
		     plain = { .text = calloc(1, PLAIN_ROOM) };
	uint64_t sp[2][3] = { 0 };
	uint32_t dice[4], i, k;

	all.shadow = cp_shadow_create(twice_ended, &all, 0);
	plain.shadow = cp_shadow_create(twice_ended, &plain, 0);
	srandom(7);
	for (i = 0; i < PLAIN_EVENTS; i++) {
		for (k = 0; k < 4; k++)
			dice[k] = (uint32_t)random();
		twice_step(&all, false, dice, sp[0]);
		twice_step(&plain, dice[0] % 7 != 0, dice, sp[1]);
		if (strcmp(all.text, plain.text) != 0 ||
		    cp_shadow_open(all.shadow) != cp_shadow_open(plain.shadow))
			break;
		all.text[0] = plain.text[0] = 0;
	}
	CHECK(i == PLAIN_EVENTS);
	CHECK(!all.plain && plain.plain > PLAIN_EVENTS / 3);
	cp_shadow_thread_exit(all.shadow, 0, CP_CALL_ENDED);
	cp_shadow_thread_exit(plain.shadow, 0, CP_CALL_ENDED);
	CHECK(!strcmp(all.text, plain.text));
	cp_shadow_destroy(all.shadow);
	cp_shadow_destroy(plain.shadow);
	free(all.text);
	free(plain.text);
}

int main(void)
{
	test_recursion();
	test_tail_calls();
	test_tail_chain();
	test_unwinding();
	test_before_attach();
	test_by_return();
	test_stubs();
	test_stubs_of_coroutines();
	test_hidden();
	test_coroutine();
	test_coroutine_unwinding();
	test_signal_stack();
	test_rooted();
	test_memory_reused();
	test_forget();
	test_within();
	test_many_coroutines();
	test_fork();
	test_random();
	test_plain();
	TEST_MAIN_END;
}

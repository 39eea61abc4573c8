/* SPDX-License-Identifier: MIT */
#include "base/stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

struct call {
	int (*run)(void *data);
	void *data;
	int result;
};

_Static_assert(sizeof(void *) <= 2 * sizeof(unsigned), "a pointer is passed as two numbers");

static void enter(unsigned high, unsigned low)
{
	struct call *call = (struct call *)((uintptr_t)high << 32 | low);

	call->result = call->run(call->data);
}

static bool may_grow(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= CP_STACK_SIZE;
}

int cp_stack_call(int (*run)(void *data), void *data)
{
	struct call call = { .run = run, .data = data };
	ucontext_t here, there;
	void *stack;

	if (may_grow())
		return run(data);
	stack = mmap(NULL, CP_STACK_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || getcontext(&there))
		return run(data); /* memory is limited, too: as far as it gets */
	there.uc_link = &here;
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = CP_STACK_SIZE;
	makecontext(&there, (void (*)(void))enter, 2, (unsigned)((uintptr_t)&call >> 32),
		    (unsigned)(uintptr_t)&call);
	swapcontext(&here, &there);
	munmap(stack, CP_STACK_SIZE);
	return call.result;
}

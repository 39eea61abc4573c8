/* SPDX-License-Identifier: MIT
 *
 * What becomes of a thread that does a system call for us when we are killed:
 *
 *     syscall; ret ──► signal return code ──► the kernel: registers and signal
 *         ▲      │      of the C library       mask as they were
 *         │      └ sp: a signal frame, below the red zone of its stack
 *     its registers as we set them
 *
 * So from the moment its registers are changed it finds back by itself; if all
 * goes well, nobody gets there. The frame takes room below the stack, as any
 * signal would; but a signal would go to the stack that the program has for
 * it, so this is done on a thread's own stack only, never on a coroutine's.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "tracer/space.h"

#define XSTATE_MAX 16384u
#define FRAME_MAX (XSTATE_MAX + 1024u)
#define STACK_LEFT 65536u /* as much must be left of the stack */
#define CODE_MAX (UINT64_C(4) << 20) /* of a mapping, looked through */
#define BLOCK 65536u
#define OVERLAP 16u

/* Where `code` is within a block; 0 nowhere. */
static uint64_t find(const uint8_t *block, size_t n, uint64_t at, const uint8_t *code, size_t size)
{
	const uint8_t *hit = code ? memmem(block, n, code, size) : NULL;

	return hit ? at + (uint64_t)(hit - block) : 0;
}

void guard_look(struct space *space, uint64_t start, uint64_t end)
{
	static uint8_t block[BLOCK + OVERLAP]; /* the tracer has one thread */
	uint64_t at;

	for (at = start; at < end && at - start < CODE_MAX; at += BLOCK) {
		size_t n = end - at < sizeof(block) ? end - at : sizeof(block), size;
		const uint8_t *code = cp_arch_syscall_return_code(&size);
		unsigned i;

		if (space->guard_syscall && space->guard_restorer)
			return;
		if (!space_read(space, at, block, n))
			continue;
		if (!space->guard_syscall)
			space->guard_syscall = find(block, n, at, code, size);
		for (i = 0; i < 2 && !space->guard_restorer; i++) {
			code = cp_arch_sigreturn_code(i, &size);
			space->guard_restorer = find(block, n, at, code, size);
		}
	}
}

/* The stack that the thread was born with: the main thread's has a name, in
 * another's the C library keeps the thread's own data, at its end. */
static bool on_own_stack(const struct space *space, uint64_t sp, uint64_t thread_pointer)
{
	unsigned long start, end;
	char path[64], line[512];
	bool found = false, own = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)space->pid);
	CP_FCLOSE FILE *maps = fopen(path, "re");
	while (!found && maps && fgets(line, sizeof(line), maps)) {
		found = sscanf(line, "%lx-%lx", &start, &end) == 2 && sp >= start && sp < end;
		own = found && sp - start >= FRAME_MAX &&
		      (strstr(line, "[stack]") ||
		       (thread_pointer > sp && thread_pointer < end && sp - start >= STACK_LEFT));
	}
	return own;
}

void guard_place(struct injection *in)
{
	uint8_t xstate[XSTATE_MAX], frame[FRAME_MAX];
	const struct space *space = in->space;
	struct iovec v = { xstate, sizeof(xstate) };
	struct cp_syscall_state state;
	uint64_t sp = 0;
	size_t size;

	in->guard = 0;
	cp_arch_syscall_state(in->regs, &state);
	if (!space->guard_syscall || !space->guard_restorer ||
	    !on_own_stack(space, state.sp, cp_arch_thread_pointer(in->regs)) ||
	    ptrace(PTRACE_GETREGSET, in->thread->tid, (long)cp_arch_vector_note(), &v))
		return;
	size = cp_arch_signal_frame(in->regs, xstate, v.iov_len, in->mask, space->guard_restorer,
				    state.sp - cp_arch_host()->red_zone, frame, sizeof(frame), &sp);
	if (size && space_write(space, sp, frame, size))
		in->guard = sp;
}

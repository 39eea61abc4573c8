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
#include "tracer/calls/guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "tracer/calls/inject.h"

#define XSTATE_MAX 16384u
#define FRAME_MAX (XSTATE_MAX + 1024u)
#define STACK_LEFT 65536u /* as much must be left of the stack */
#define CODE_MAX (UINT64_C(4) << 20) /* of a mapping, looked through */
#define BLOCK 16384u
#define OVERLAP 16u

/* The address of `code` in a block; 0: it is not there. */
static uint64_t find(const uint8_t *block, size_t n, uint64_t at, const uint8_t *code, size_t size)
{
	const uint8_t *hit = code ? memmem(block, n, code, size) : NULL;

	return hit ? at + (uint64_t)(hit - block) : 0;
}

/* Looks in a block for the code that was not found yet. */
static void look_at(struct space *space, const uint8_t *block, size_t n, uint64_t at)
{
	const uint8_t *code;
	size_t size;
	unsigned i;

	code = cp_arch_syscall_code(&size);
	if (!space->syscall_insn)
		space->syscall_insn = find(block, n, at, code, size);
	code = cp_arch_syscall_return_code(&size);
	if (!space->guard_syscall)
		space->guard_syscall = find(block, n, at, code, size);
	for (i = 0; !space->guard_restorer && (code = cp_arch_sigreturn_code(i, &size)); i++)
		space->guard_restorer = find(block, n, at, code, size);
}

static bool found_all(const struct space *space)
{
	return space->syscall_insn && space->guard_syscall && space->guard_restorer;
}

static void look(struct space *space, uint64_t start, uint64_t end)
{
	uint8_t block[BLOCK + OVERLAP];
	uint64_t at;

	for (at = start; at < end && at - start < CODE_MAX && !found_all(space); at += BLOCK) {
		size_t n = end - at < sizeof(block) ? end - at : sizeof(block);

		if (space_read(space, at, block, n))
			look_at(space, block, n, at);
	}
}

/* The longest code that is looked for has as many bytes. */
#define CODE_SIZE 16

void guard_avoid(struct space *space, uint64_t site)
{
	if (site - space->guard_syscall < CODE_SIZE || site - space->guard_restorer < CODE_SIZE ||
	    site - space->syscall_insn < CODE_SIZE)
		space->syscall_insn = space->guard_syscall = space->guard_restorer = 0;
}

void guard_find_code(struct space *space)
{
	unsigned long start, end;
	char path[64], line[512], perms[5];
	uint64_t first;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)space->pid);
	CP_FCLOSE FILE *maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3 || strcmp(perms, "r-xp"))
			continue;
		first = space->syscall_insn;
		if (strstr(line, "[vdso]"))
			space->syscall_insn = 0; /* that of the vdso, if it has one */
		look(space, start, end);
		space->syscall_insn = space->syscall_insn ?: first;
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

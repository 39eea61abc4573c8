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

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "tracer/calls/inject.h"
#include "tracer/calls/nap.h"
#include "tracer/known/state.h"

#define XSTATE_MAX 16384u
#define FRAME_MAX (XSTATE_MAX + 1024u)
#define STACK_LEFT 32768u /* as much must be left of the stack */
#define CODE_MAX (UINT64_C(4) << 20) /* of a mapping, looked through */
#define BLOCK 16384u
#define MAPS_MAX (UINT32_C(64) << 20)
#define OVERLAP 16u

/* Of one kind the code that is looked for; NULL: there is no such one. */
enum kind { SYSCALL, SYSCALL_RETURN, SIGRETURN };

static const uint8_t *code_of(enum kind kind, unsigned variant, size_t *size)
{
	if (kind == SIGRETURN)
		return cp_arch_sigreturn_code(variant, size);
	if (variant)
		return NULL;
	return kind == SYSCALL ? cp_arch_syscall_code(size) : cp_arch_syscall_return_code(size);
}

static uint64_t find_in(const uint8_t *block, size_t n, uint64_t at, enum kind kind)
{
	const uint8_t *code, *hit = NULL;
	unsigned i;
	size_t size;

	for (i = 0; !hit && (code = code_of(kind, i, &size)); i++)
		hit = memmem(block, n, code, size);
	return hit ? at + (uint64_t)(hit - block) : 0;
}

/* Looks for these kinds of code in a mapping. */
static void look(const struct space *space, uint64_t start, uint64_t end, unsigned kinds,
		 uint64_t found[GUARD_KINDS])
{
	uint8_t block[BLOCK + OVERLAP];
	uint64_t at;
	unsigned i;

	memset(found, 0, GUARD_KINDS * sizeof(*found));
	for (at = start; kinds && at < end && at - start < CODE_MAX; at += BLOCK) {
		size_t n = end - at < sizeof(block) ? end - at : sizeof(block);

		if (!space_read(space, at, block, n))
			continue;
		for (i = 0; i < GUARD_KINDS; i++) {
			if (!(kinds >> i & 1))
				continue;
			found[i] = find_in(block, n, at, (enum kind)i);
			if (found[i])
				kinds &= ~(1u << i);
		}
	}
}

/* ---- files that were looked through ---- */

static bool stands(const struct space *space, uint64_t address, enum kind kind)
{
	uint8_t now[OVERLAP];
	const uint8_t *code;
	unsigned i;
	size_t size;

	for (i = 0; (code = code_of(kind, i, &size)); i++)
		if (size <= sizeof(now) && space_read(space, address, now, size) &&
		    !memcmp(now, code, size))
			return true;
	return false;
}

/* What was found in the same file, looked through for no less; each address is believed for what
 * stands there. */
static bool recall(const struct tracer *tr, const struct space *space, const struct guard_file *of,
		   uint64_t start, uint64_t found[GUARD_KINDS])
{
	const struct guard_file *known = NULL;
	unsigned i;

	for (i = 0; i < GUARD_FILES && !known; i++)
		if (!memcmp(&tr->guard_files[i].key, &of->key, sizeof(of->key)) &&
		    !(of->kinds & ~tr->guard_files[i].kinds))
			known = &tr->guard_files[i];
	for (i = 0; known && i < GUARD_KINDS; i++) {
		found[i] = known->at[i] ? start + known->at[i] - 1 : 0;
		if (found[i] && !stands(space, found[i], (enum kind)i))
			return false;
	}
	return known != NULL;
}

static void remember(struct tracer *tr, struct guard_file *file, uint64_t start,
		     const uint64_t found[GUARD_KINDS])
{
	unsigned i;

	for (i = 0; i < GUARD_KINDS; i++)
		file->at[i] = found[i] ? found[i] - start + 1 : 0;
	tr->guard_files[tr->guard_next++ % GUARD_FILES] = *file;
}

/* The longest code that is looked for has as many bytes. */
#define CODE_SIZE 16

void guard_avoid(struct space *space, uint64_t site)
{
	if (site - space->guard_syscall < CODE_SIZE || site - space->guard_restorer < CODE_SIZE ||
	    site - space->syscall_insn < CODE_SIZE)
		space->syscall_insn = space->guard_syscall = space->guard_restorer = 0;
}

/* A line of the maps: code? */
static bool parse(const char *line, uint64_t *start, uint64_t *end, struct guard_file *file)
{
	unsigned long from, to, offset, inode;
	unsigned major, minor;
	char perms[5];

	memset(file, 0, sizeof(*file));
	if (!strstr(line, " r-xp ")) /* few are worth to be read */
		return false;
	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &from, &to, perms, &offset, &major, &minor,
		   &inode) != 7 ||
	    strcmp(perms, "r-xp") != 0)
		return false;
	*start = from;
	*end = to;
	file->key[0] = inode;
	file->key[1] = (uint64_t)major << 32 | minor;
	file->key[2] = offset;
	file->key[3] = to - from;
	return true;
}

/* In the place of the number of a file: one kernel has few of them. */
#define VDSO UINT64_MAX

/* What the space lacks; the vdso's system call is better than another one. */
static unsigned lacking(const struct space *space, bool vdso)
{
	return (!space->syscall_insn || vdso ? 1u << SYSCALL : 0) |
	       (!space->guard_syscall ? 1u << SYSCALL_RETURN : 0) |
	       (!space->guard_restorer ? 1u << SIGRETURN : 0);
}

static void find_in_mapping(struct tracer *tr, struct space *space, const char *line)
{
	uint64_t start, end, found[GUARD_KINDS];
	bool vdso = strstr(line, "[vdso]");
	struct guard_file file;

	if (!lacking(space, vdso) || !parse(line, &start, &end, &file))
		return;
	file.kinds = lacking(space, vdso);
	if (vdso)
		file.key[0] = VDSO;
	if (!file.key[0] || !recall(tr, space, &file, start, found)) {
		look(space, start, end, file.kinds, found);
		if (file.key[0])
			remember(tr, &file, start, found);
	}
	if (found[SYSCALL] && (!space->syscall_insn || vdso))
		space->syscall_insn = found[SYSCALL];
	if (found[SYSCALL_RETURN] && !space->guard_syscall)
		space->guard_syscall = found[SYSCALL_RETURN];
	if (found[SIGRETURN] && !space->guard_restorer)
		space->guard_restorer = found[SIGRETURN];
}

/* C libraries have all of it, other files rarely: to find that takes the longest. */
static bool is_likely(const char *line)
{
	return strstr(line, "libc") || strstr(line, "musl") || strstr(line, "[vdso]");
}

void guard_find_code(struct tracer *tr, struct space *space)
{
	struct cp_buf maps CP_CLEANUP(cp_buf_free) = { 0 };
	const char *line, *end;
	char path[64];
	int likely;
	size_t i;

	/* Once for both rounds: what is read twice is made by the kernel twice. */
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)space->pid);
	cp_error_free(cp_file_read(AT_FDCWD, path, MAPS_MAX, &maps));
	for (i = 0; i < maps.size; i++)
		if (maps.bytes[i] == '\n')
			maps.bytes[i] = 0;
	end = maps.bytes + maps.size;
	for (likely = 1; likely >= 0 && lacking(space, false); likely--)
		for (line = maps.bytes; line < end; line += strlen(line) + 1)
			if (is_likely(line) == likely)
				find_in_mapping(tr, space, line);
}

/* While a program begins it is asked for calls several times in a millisecond. Its first
 * stack only grows, and nobody gives it back and maps another one there so soon. */
#define STACK_KNOWN_NS (10 * CP_NS_PER_MS)

static bool on_known_stack(const struct space *space, uint64_t sp)
{
	return space->stack_ns && cp_now() - space->stack_ns < STACK_KNOWN_NS &&
	       sp - space->stack_start < space->stack_end - space->stack_start &&
	       sp - space->stack_start >= FRAME_MAX;
}

static void know_stack(struct space *space, uint64_t start, uint64_t end)
{
	space->stack_start = start;
	space->stack_end = end;
	space->stack_ns = cp_now();
}

/* The stack that the thread was born with: the main thread's has a name, in
 * another's the C library keeps the thread's own data, at its end. */
static bool on_own_stack(struct space *space, uint64_t sp, uint64_t thread_pointer)
{
	char path[64], line[512], *rest;
	bool found = false, own = false, first;
	uint64_t start, end;

	if (space->fresh) /* there is no other one, and no room is no guard */
		return true;
	if (on_known_stack(space, sp))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)space->pid);
	CP_FCLOSE FILE *maps = fopen(path, "re");
	while (!found && maps && fgets(line, sizeof(line), maps)) {
		start = strtoull(line, &rest, 16);
		end = *rest == '-' ? strtoull(rest + 1, NULL, 16) : 0;
		found = sp >= start && sp < end;
		first = found && strstr(line, "[stack]");
		if (first)
			know_stack(space, start, end);
		own = found && sp - start >= FRAME_MAX &&
		      (first ||
		       (thread_pointer > sp && thread_pointer < end && sp - start >= STACK_LEFT));
	}
	return own;
}

/* Where it was written, with its top below `below`; 0: nowhere. Only `at`, if that is not 0. */
static uint64_t write_frame(const struct injection *in, uint64_t below, uint64_t at)
{
	uint8_t xstate[XSTATE_MAX], frame[FRAME_MAX];
	uint64_t regs[PRSTATUS_MAX / 8];
	struct iovec v = { xstate, sizeof(xstate) };
	uint64_t sp = 0;
	size_t size;

	if (ptrace(PTRACE_GETREGSET, in->thread->tid, (long)cp_arch_vector_note(), &v))
		return 0;
	memcpy(regs, in->regs, sizeof(regs));
	nap_anew(in->thread, regs);
	size = cp_arch_signal_frame(regs, xstate, v.iov_len, in->mask, in->space->guard_restorer,
				    below, frame, sizeof(frame), &sp);
	return size && (!at || sp == at) && space_write(in->space, sp, frame, size) ? sp : 0;
}

void guard_place(struct injection *in)
{
	struct space *space = in->space;
	struct cp_syscall_state state;

	in->guard = 0;
	cp_arch_syscall_state(in->regs, &state);
	in->guard_below = state.sp - cp_arch_host()->red_zone;
	if (space->guard_syscall && space->guard_restorer &&
	    on_own_stack(space, state.sp, cp_arch_thread_pointer(in->regs)))
		in->guard = write_frame(in, in->guard_below, 0);
}

void guard_clear(const struct injection *in)
{
	static const uint8_t nothing[FRAME_MAX];

	if (in->guard && in->guard_below - in->guard <= sizeof(nothing))
		space_write(in->space, in->guard, nothing, in->guard_below - in->guard);
}

void guard_renew(const struct injection *in)
{
	if (in->guard && !write_frame(in, in->guard_below, in->guard))
		cp_debug("thread %d would not find back", (int)in->thread->tid);
}

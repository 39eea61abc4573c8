/* SPDX-License-Identifier: MIT
 *
 * System calls about signals, made by way of us: where a C library blocks SIGTRAP
 * the kernel is told to block its stand-in (insn.h says why), and where it asks
 * what is blocked it is told what it believes.
 *
 *     site:  mov $14,%eax   becomes   jmp slot
 *            syscall                    │
 *     next:  ...  ◄──────────────┐      ▼
 *                                └── slot: [lea ...,%reg]       as it stood there
 *                                          lea -256(%rsp),%rsp  past the red zone
 *                                          call one of the two below
 *                                          lea 256(%rsp),%rsp
 *                                          jmp next
 *
 * The instruction at the site has the five bytes of a jump. What lies between it
 * and its `syscall` is nothing or one lea, which may be done twice. So a thread in
 * here is either before its call, and can begin again at the site, or behind it,
 * and what is left to do is written down below for whoever has to do it instead:
 * nobody but us sees addresses in here (tracer/memory/unslot.c).
 *
 * The stand-in's bit of a mask means SIGTRAP and nothing else: who blocks that
 * signal, which the kernel never sends and nobody uses, finds it blocked if SIGPWR
 * and SIGSYS are, which is by those who block everything.
 */
#include "arch/x86_64/sigcall.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "arch/x86_64/insn.h"

enum { RAX = 0, RDX = 1, RSI = 4, RSP = 7 };

#define MOVED 256 /* bytes, by the slot */
#define FRAME 56 /* bytes, in the code below */
#define NEAR_JUMP 5
#define SYSCALL_SIZE 2

_Static_assert(CP_SIGTRAP_STAND_IN == UINT64_C(1) << 15, "in the code below");
_Static_assert(offsetof(struct cp_area_header, handler) == 48, "area");
_Static_assert(offsetof(struct cp_area_header, old_handler) == 56, "area");
_Static_assert(offsetof(struct cp_area_header, installed) == 96, "area");

extern const uint8_t cp_x86_sigcall[], cp_x86_sigcall_area[], cp_x86_sigcall_end[];
extern const uint8_t cp_x86_sigmask[], cp_x86_sigmask_framed[], cp_x86_sigmask_saved[],
	cp_x86_sigmask_done[], cp_x86_sigmask_seen[], cp_x86_sigmask_return[];
extern const uint8_t cp_x86_sigaction[], cp_x86_sigaction_framed[], cp_x86_sigaction_saved[],
	cp_x86_sigaction_done[], cp_x86_sigaction_seen[], cp_x86_sigaction_return[];

/* rcx is a mask as the kernel has it; as the program has it. */
#define VIEW \
	"	btrq $15, %rcx\n" \
	"	jnc 7f\n" \
	"	btsq $4, %rcx\n" \
	"7:	movl %ecx, %r11d\n" \
	"	andl $0x60000000, %r11d\n" /* SIGPWR and SIGSYS */ \
	"	cmpl $0x60000000, %r11d\n" \
	"	jne 8f\n" \
	"	btsq $15, %rcx\n" \
	"8:\n"

/* rdi, rsi, rdx as for the system call; rax, rcx and r11 are the kernel's to
 * change. */
__asm__(".pushsection .rodata.cp_x86_sigcall, \"a\", @progbits\n"
	"	.p2align 4\n"
	"	.globl cp_x86_sigcall, cp_x86_sigcall_area, cp_x86_sigcall_end\n"
	"	.globl cp_x86_sigmask, cp_x86_sigmask_framed, cp_x86_sigmask_saved\n"
	"	.globl cp_x86_sigmask_done, cp_x86_sigmask_seen, cp_x86_sigmask_return\n"
	"	.globl cp_x86_sigaction, cp_x86_sigaction_framed, cp_x86_sigaction_saved\n"
	"	.globl cp_x86_sigaction_done, cp_x86_sigaction_seen, cp_x86_sigaction_return\n"
	"	.hidden cp_x86_sigcall, cp_x86_sigcall_area, cp_x86_sigcall_end\n"
	"	.hidden cp_x86_sigmask, cp_x86_sigmask_framed, cp_x86_sigmask_saved\n"
	"	.hidden cp_x86_sigmask_done, cp_x86_sigmask_seen, cp_x86_sigmask_return\n"
	"	.hidden cp_x86_sigaction, cp_x86_sigaction_framed, cp_x86_sigaction_saved\n"
	"	.hidden cp_x86_sigaction_done, cp_x86_sigaction_seen, cp_x86_sigaction_return\n"
	"cp_x86_sigcall:\n"
	"cp_x86_sigcall_area:\n"
	".Lfirst_area:\n"
	"	.quad 0\n" /* address of the first area, where the handler is */

	/* rt_sigprocmask(how, set, old, 8) */
	"cp_x86_sigmask:\n"
	"	leaq -56(%rsp), %rsp\n"
	"cp_x86_sigmask_framed:\n"
	"	movq %rsi, (%rsp)\n"
	"cp_x86_sigmask_saved:\n"
	"	testq %rsi, %rsi\n"
	"	jz 1f\n"
	"	movq (%rsi), %rax\n"
	"	btrq $15, %rax\n"
	"	btrq $4, %rax\n"
	"	jnc 2f\n"
	"	btsq $15, %rax\n"
	"	cmpl $1, %edi\n" /* SIG_UNBLOCK: where it is blocked itself, that too */
	"	jne 2f\n"
	"	btsq $4, %rax\n"
	"2:	movq %rax, 8(%rsp)\n"
	"	leaq 8(%rsp), %rsi\n"
	"1:	movl $14, %eax\n"
	"	syscall\n"
	"cp_x86_sigmask_done:\n"
	"	movq (%rsp), %rsi\n"
	"	testq %rax, %rax\n"
	"	jnz 3f\n"
	"	testq %rdx, %rdx\n"
	"	jz 3f\n"
	"	movq (%rdx), %rcx\n" VIEW "	movq %rcx, (%rdx)\n"
	"cp_x86_sigmask_seen:\n"
	"3:	leaq 56(%rsp), %rsp\n"
	"cp_x86_sigmask_return:\n"
	"	ret\n"

	/* rt_sigaction(signal, new, old, 8): handler, flags, restorer, mask */
	"cp_x86_sigaction:\n"
	"	leaq -56(%rsp), %rsp\n"
	"cp_x86_sigaction_framed:\n"
	"	movq %rsi, (%rsp)\n"
	"cp_x86_sigaction_saved:\n"
	"	cmpl $5, %edi\n"
	"	je .Ltrap\n"
	".Lmake:\n"
	"	testq %rsi, %rsi\n"
	"	jz 1f\n"
	"	movq (%rsi), %rax\n"
	"	movq %rax, 16(%rsp)\n"
	"	movq 8(%rsi), %rax\n"
	"	movq %rax, 24(%rsp)\n"
	"	movq 16(%rsi), %rax\n"
	"	movq %rax, 32(%rsp)\n"
	"	movq 24(%rsi), %rax\n"
	"	btrq $15, %rax\n"
	"	btrq $4, %rax\n"
	"	jnc 2f\n"
	"	btsq $15, %rax\n"
	"2:	movq %rax, 40(%rsp)\n"
	"	leaq 16(%rsp), %rsi\n"
	"1:	movl $13, %eax\n"
	"	syscall\n"
	"cp_x86_sigaction_done:\n"
	"	movq (%rsp), %rsi\n"
	"	testq %rax, %rax\n"
	"	jnz 3f\n"
	"	testq %rdx, %rdx\n"
	"	jz 3f\n"
	"	movq 24(%rdx), %rcx\n" VIEW "	movq %rcx, 24(%rdx)\n"
	"cp_x86_sigaction_seen:\n"
	"3:	leaq 56(%rsp), %rsp\n"
	"cp_x86_sigaction_return:\n"
	"	ret\n"
	/* As long as our handler is needed, nothing takes it away: not a child that
	 * shares this memory and has no handlers of its own (posix_spawn), not the
	 * program after we were killed. What the program itself sets while it is
	 * traced is kept by the tracer, which leaves nothing here to do. */
	".Ltrap:\n"
	"	movq .Lfirst_area(%rip), %r11\n"
	"	testq %r11, %r11\n"
	"	jz .Lmake\n"
	"	cmpq $1, 96(%r11)\n"
	"	jne .Lmake\n"
	"	testq %rdx, %rdx\n"
	"	jz 4f\n"
	"	movq 56(%r11), %rax\n"
	"	movq %rax, (%rdx)\n"
	"	movq 64(%r11), %rax\n"
	"	movq %rax, 8(%rdx)\n"
	"	movq 72(%r11), %rax\n"
	"	movq %rax, 16(%rdx)\n"
	"	movq 80(%r11), %rax\n"
	"	movq %rax, 24(%rdx)\n"
	"4:	leaq 56(%rsp), %rsp\n"
	"	movl $0, %eax\n"
	"	ret\n"
	"	.p2align 4, 0xcc\n"
	"cp_x86_sigcall_end:\n"
	".popsection\n");

static size_t offset(const uint8_t *symbol)
{
	return (size_t)((uintptr_t)symbol - (uintptr_t)cp_x86_sigcall);
}

const uint8_t *cp_sigcall_code(const struct cp_arch *arch, size_t *size_ret, size_t *area_ret)
{
	if (arch->e_machine != EM_X86_64)
		return NULL;
	*size_ret = offset(cp_x86_sigcall_end);
	*area_ret = offset(cp_x86_sigcall_area);
	return cp_x86_sigcall;
}

/* ---- sites ---- */

/* A lea, by its opcode; its size, 0: it is none, or not one to be copied. */
static size_t lea_size(const uint8_t *code, size_t size)
{
	struct cp_insn insn;

	if (size < 2 || (code[0] & 0xf8) != 0x48 || code[1] != 0x8d ||
	    !cp_x86_decode(code, size, 0, &insn) || insn.size > CP_SIGCALL_BETWEEN)
		return 0;
	return insn.size;
}

bool cp_sigcall_at(const uint8_t *code, size_t size, struct cp_sigcall *ret)
{
	size_t between;

	if (size < NEAR_JUMP + SYSCALL_SIZE || code[0] != 0xb8 ||
	    (code[1] != 13 && code[1] != 14) || code[2] || code[3] || code[4])
		return false;
	between = lea_size(code + NEAR_JUMP, size - NEAR_JUMP);
	if (size < NEAR_JUMP + between + SYSCALL_SIZE ||
	    memcmp(code + NEAR_JUMP + between, "\x0f\x05", SYSCALL_SIZE) != 0)
		return false;
	*ret = (struct cp_sigcall){ .sets_action = code[1] == 13,
				    .between = (uint8_t)between,
				    .size = (uint8_t)(NEAR_JUMP + between + SYSCALL_SIZE) };
	return true;
}

size_t cp_sigcall_find(const uint8_t *code, size_t size)
{
	const uint8_t *at = memchr(code, 0xb8, size);

	return at ? (size_t)(at - code) : size;
}

struct writer {
	uint64_t at; /* address of what comes next */
	uint8_t *to;
	bool far;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
	memcpy(w->to, bytes, size);
	w->to += size;
	w->at += size;
}

static void put_relative(struct writer *w, uint64_t target)
{
	int64_t distance = (int64_t)(target - (w->at + 4));
	int32_t rel = (int32_t)distance;

	w->far |= rel != distance;
	put(w, &rel, sizeof(rel));
}

static void put_lea(struct writer *w, const uint8_t *code, size_t size, uint64_t pc)
{
	bool relative = size == 7 && (code[2] & 0xc7) == 5;
	int32_t disp;

	if (!relative) {
		put(w, code, size);
		return;
	}
	memcpy(&disp, code + 3, sizeof(disp));
	put(w, code, 3);
	put_relative(w, pc + size + (uint64_t)(int64_t)disp);
}

#define TO_CALL 8 /* offsets in the slot, behind what is copied */
#define TO_BACK 13
#define TO_JUMP 21

bool cp_sigcall_prepare(const struct cp_sigcall *call, const uint8_t *code, uint64_t pc,
			uint64_t slot, uint64_t area, uint8_t *slot_code, struct cp_step *ret)
{
	struct writer w = { .at = slot, .to = slot_code };
	const uint8_t *entry = call->sets_action ? cp_x86_sigaction : cp_x86_sigmask;

	*ret = (struct cp_step){ .how = CP_STEP_SLOT,
				 .flow = CP_FLOW_SYSCALL,
				 .size = NEAR_JUMP,
				 .done = (uint8_t)(call->between + TO_BACK),
				 .base = 0xff,
				 .index = 0xff,
				 .trap_size = 1,
				 .sigcall = (uint8_t)(call->between + 1),
				 .resume = pc + call->size };
	put_lea(&w, code + NEAR_JUMP, call->between, pc + NEAR_JUMP);
	put(&w, "\x48\x8d\xa4\x24\x00\xff\xff\xff\xe8", 9);
	put_relative(&w, area + CP_AREA_SIGCALL + offset(entry));
	put(&w, "\x48\x8d\xa4\x24\x00\x01\x00\x00\xe9", 9);
	put_relative(&w, ret->resume);
	ret->slot_size = (uint8_t)(w.to - slot_code);
	return !w.far;
}

bool cp_sigcall_jump(uint64_t site, uint64_t slot, uint8_t jump[CP_SIGCALL_JUMP])
{
	struct writer w = { .at = site, .to = jump };

	put(&w, "\xe9", 1);
	put_relative(&w, slot);
	return !w.far;
}

/* ---- where a thread really is ---- */

uint64_t cp_sigcall_unslot(const struct cp_step *step, uint64_t site, uint64_t at,
			   struct cp_regs *regs)
{
	unsigned between = step->sigcall - 1u;

	if (at >= between + TO_CALL && at < between + TO_JUMP)
		regs->r[RSP] += MOVED;
	return step->done && at >= step->done ? step->resume : site;
}

uint64_t cp_sigmask_seen(uint64_t mask)
{
	const uint64_t all = UINT64_C(3) << 29, trap = UINT64_C(1) << 4;
	uint64_t seen = mask & ~CP_SIGTRAP_STAND_IN;

	if (mask & CP_SIGTRAP_STAND_IN)
		seen |= trap;
	return (seen & all) == all ? seen | CP_SIGTRAP_STAND_IN : seen;
}

static void finish(const struct cp_regs *regs, uint64_t mask_at, const struct cp_reader *memory,
		   bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size))
{
	uint64_t at = regs->r[RDX] + mask_at, mask;

	if (regs->r[RAX] || !regs->r[RDX] ||
	    memory->read(memory->ctx, at, &mask, sizeof(mask)) != sizeof(mask))
		return;
	mask = cp_sigmask_seen(mask);
	write(memory->ctx, at, &mask, sizeof(mask));
}

uint64_t cp_sigcall_return(uint64_t at, struct cp_regs *regs, const struct cp_reader *memory,
			   bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size),
			   bool *done_ret)
{
	bool action = at >= offset(cp_x86_sigaction), framed, saved;
	const uint8_t *first = action ? cp_x86_sigaction_framed : cp_x86_sigmask_framed;
	const uint8_t *kept = action ? cp_x86_sigaction_saved : cp_x86_sigmask_saved;
	const uint8_t *done = action ? cp_x86_sigaction_done : cp_x86_sigmask_done;
	const uint8_t *last = action ? cp_x86_sigaction_return : cp_x86_sigmask_return;
	const uint8_t *seen = action ? cp_x86_sigaction_seen : cp_x86_sigmask_seen;
	uint64_t back = 0, sp;

	if (at >= offset(cp_x86_sigcall_end))
		return 0;
	/* A call that is not made: its last two instructions are behind the frame. */
	if (at > offset(last)) {
		framed = cp_x86_sigcall[at] != 0xb8 && cp_x86_sigcall[at] != 0xc3;
		saved = false; /* rsi is what it was */
		*done_ret = false;
	} else {
		framed = at >= offset(first) && at < offset(last);
		saved = framed && at >= offset(kept);
		*done_ret = at >= offset(done);
	}
	sp = regs->r[RSP] + (framed ? FRAME : 0);
	if (memory->read(memory->ctx, sp, &back, sizeof(back)) != sizeof(back))
		return 0;
	if (*done_ret && at < offset(seen))
		finish(regs, action ? 24 : 0, memory, write);
	if (saved)
		memory->read(memory->ctx, regs->r[RSP], &regs->r[RSI], 8);
	regs->r[RSP] = sp + 8 + MOVED;
	return back;
}

/* SPDX-License-Identifier: MIT
 *
 * The handler of SIGTRAP that stays in the program, for when we no longer
 * answer: cprof was killed, or a child is not followed. Until then the tracer
 * sees every breakpoint first and no signal is delivered for it.
 *
 *     int3 of ours        pc = its slot, return
 *     any trap in a slot  return
 *     a trap behind what  return: its breakpoint was served, and the thread moved to where
 *       is none           it goes on, when its tracer was killed
 *     sent by somebody,   return: to the program it is blocked (insn.h), and there
 *       stand-in blocked    is no place for it to wait; blocked itself, the next
 *                           breakpoint would be the end
 *     others              to the program's own handler, by a jump: it finds
 *                         registers and stack as if the kernel had called it; the
 *                         signal frame is moved for that, if ours is on the
 *                         alternate stack and the program's is not to be
 *       ignored           return, as the kernel does for a signal that was sent;
 *                         a trap can't be ignored
 *       default           dies by it: the signal waits, blocked, until the
 *                         return puts the interrupted context back
 *
 * A signal may interrupt this handler, and its handler meet a breakpoint:
 * hence SA_NODEFER, since a trap kills where SIGTRAP is blocked.
 *
 * Nothing needs saving, since the kernel puts all registers back, and only
 * the area's tables are read. Sigreturn is spelled as glibc's, by which
 * debuggers and unwinders know it.
 */
#include "arch/insn.h"

#include <elf.h>
#include <stddef.h>

/* Offsets that the code below has in it. */
_Static_assert(offsetof(struct cp_area_header, size) == 8, "area");
_Static_assert(offsetof(struct cp_area_header, next) == 16, "area");
_Static_assert(offsetof(struct cp_area_header, count) == 24, "area");
_Static_assert(offsetof(struct cp_area_header, table) == 32, "area");
_Static_assert(offsetof(struct cp_area_header, slots) == 40, "area");
_Static_assert(offsetof(struct cp_area_header, old_handler) == 56, "area");
_Static_assert(offsetof(struct cp_area_header, old_flags) == 64, "area");
_Static_assert(offsetof(struct cp_area_entry, slot) == 8, "entry");
_Static_assert(sizeof(struct cp_area_entry) == 16, "entry");
_Static_assert(CP_SLOT_SIZE == 48, "slot");
_Static_assert(CP_AREA_SLOT == 0x0fffffff, "entry");

extern const uint8_t cp_x86_handler[], cp_x86_handler_entry[], cp_x86_handler_restorer[],
	cp_x86_handler_area[], cp_x86_handler_end[];

_Static_assert(CP_SIGTRAP_STAND_IN == UINT64_C(1) << 15, "in the code below");

/* edi signal, rsi siginfo (si_code at 8), rdx ucontext (rsp at 160, rip at 168, the
 * address of what fxsave or xsave saved at 224, the mask that was interrupted at
 * 296); rsp: begin of the frame that has both. */
__asm__(".pushsection .rodata.cp_x86_handler, \"a\", @progbits\n"
	"	.p2align 4\n"
	"	.globl cp_x86_handler, cp_x86_handler_entry, cp_x86_handler_restorer\n"
	"	.globl cp_x86_handler_area, cp_x86_handler_end\n"
	"	.hidden cp_x86_handler, cp_x86_handler_entry, cp_x86_handler_restorer\n"
	"	.hidden cp_x86_handler_area, cp_x86_handler_end\n"
	"cp_x86_handler:\n"
	"cp_x86_handler_area:\n"
	".Larea:\n"
	"	.quad 0\n" /* address of the first area */
	".Ldefault_action:\n"
	"	.quad 0, 0, 0, 0\n" /* handler, flags, restorer, mask */
	".Ltrap_mask:\n"
	"	.quad 0x10\n" /* SIGTRAP */

	"cp_x86_handler_entry:\n"
	"	endbr64\n"
	"	movl 8(%rsi), %eax\n"
	"	testl %eax, %eax\n"
	"	jle .Lsent\n" /* by somebody */
	"	movq 168(%rdx), %r8\n" /* pc */
	"	movq .Larea(%rip), %r9\n"
	"	cmpl $0x80, %eax\n" /* SI_KERNEL: int3 */
	"	je .Lsite\n"
	"	cmpl $1, %eax\n" /* TRAP_BRKPT: int1, in the jumps of detours */
	"	jne .Lareas\n"
	".Lsite:\n"

	/* the site is before pc: r9 area, rcx to r11 what is left of its table */
	"	decq %r8\n"
	".Lnext_table:\n"
	"	testq %r9, %r9\n"
	"	jz .Lnot_found\n"
	"	xorl %ecx, %ecx\n"
	"	movq 24(%r9), %r11\n"
	".Lsearch:\n"
	"	cmpq %r11, %rcx\n"
	"	jae .Ltable_end\n"
	"	leaq (%rcx,%r11), %rax\n"
	"	shrq %rax\n"
	"	movq %rax, %r10\n"
	"	shlq $4, %r10\n"
	"	addq 32(%r9), %r10\n"
	"	cmpq %r8, (%r10)\n"
	"	je .Lfound\n"
	"	ja .Labove\n"
	"	leaq 1(%rax), %rcx\n"
	"	jmp .Lsearch\n"
	".Labove:\n"
	"	movq %rax, %r11\n"
	"	jmp .Lsearch\n"
	".Ltable_end:\n"
	"	movq 16(%r9), %r9\n"
	"	jmp .Lnext_table\n"
	".Lfound:\n"
	"	movl 8(%r10), %eax\n"
	"	andl $0x0fffffff, %eax\n" /* CP_AREA_SLOT */
	"	imulq $48, %rax\n"
	"	addq 40(%r9), %rax\n"
	"	movq %rax, 168(%rdx)\n"
	"	ret\n"

	".Lnot_found:\n"
	"	incq %r8\n"
	"	movq .Larea(%rip), %r9\n"
	".Lareas:\n" /* is pc in one? */
	"	testq %r9, %r9\n"
	"	jz .Lnowhere\n"
	"	movq %r8, %rax\n"
	"	subq %r9, %rax\n"
	"	cmpq 8(%r9), %rax\n"
	"	jb .Ldone\n"
	"	movq 16(%r9), %r9\n"
	"	jmp .Lareas\n"

	/* r8 pc. The page before may not be readable. */
	".Lnowhere:\n"
	"	movl 8(%rsi), %eax\n"
	"	cmpl $0x80, %eax\n"
	"	je .Lbefore\n"
	"	cmpl $1, %eax\n"
	"	jne .Lchain\n"
	".Lbefore:\n"
	"	testl $0xfff, %r8d\n"
	"	jz .Lchain\n"
	"	movzbl -1(%r8), %eax\n"
	"	cmpl $0xcc, %eax\n" /* int3 */
	"	je .Lchain\n"
	"	cmpl $0xf1, %eax\n" /* int1 */
	"	je .Lchain\n"
	"	cmpl $3, %eax\n" /* int $3 */
	"	jne .Ldone\n"
	"	jmp .Lchain\n"

	".Lsent:\n"
	"	btq $15, 296(%rdx)\n"
	"	jc .Ldone\n"
	".Lchain:\n"
	"	movq .Larea(%rip), %r9\n"
	"	testq %r9, %r9\n"
	"	jz .Ldie\n"
	"	movq 56(%r9), %rax\n" /* SIG_DFL 0, SIG_IGN 1 */
	"	cmpq $1, %rax\n"
	"	jb .Ldie\n"
	"	je .Lignored\n"
	"	btq $27, 64(%r9)\n" /* SA_ONSTACK */
	"	jc .Lcall\n"
	/* The place where the kernel would have put the frame. r8 and r11: what ends
	 * the frame, and its size; r10: how far away that is. */
	"	movq 224(%rdx), %r8\n"
	"	testq %r8, %r8\n"
	"	jz .Lcall\n"
	"	movl $512, %r11d\n"
	"	cmpl $0x46505853, 464(%r8)\n" /* FP_XSTATE_MAGIC1 */
	"	jne .Lsize\n"
	"	movl 468(%r8), %r11d\n" /* _fpx_sw_bytes.extended_size */
	".Lsize:\n"
	"	movq 160(%rdx), %r10\n"
	"	subq $128, %r10\n" /* the red zone */
	"	subq %r11, %r10\n"
	"	andq $-64, %r10\n"
	"	subq %r8, %r10\n"
	"	jz .Lcall\n"
	"	leaq (%r8,%r11), %rcx\n"
	"	subq %rsp, %rcx\n"
	"	leaq (%rsi,%r10), %r9\n"
	"	movq %rsp, %rsi\n"
	"	leaq (%rsp,%r10), %rdi\n"
	"	rep movsb\n"
	"	addq %r10, %rdx\n"
	"	addq %r10, 224(%rdx)\n"
	"	addq %r10, %rsp\n"
	"	movq %r9, %rsi\n"
	"	movl $5, %edi\n"
	".Lcall:\n"
	"	jmpq *%rax\n"
	".Lignored:\n"
	"	cmpl $0, 8(%rsi)\n"
	"	jg .Ldie\n"
	".Ldone:\n"
	"	ret\n"

	".Ldie:\n"
	"	movl $13, %eax\n" /* rt_sigaction(SIGTRAP, default, NULL, 8) */
	"	movl $5, %edi\n"
	"	leaq .Ldefault_action(%rip), %rsi\n"
	"	xorl %edx, %edx\n"
	"	movl $8, %r10d\n"
	"	syscall\n"
	"	movl $14, %eax\n" /* rt_sigprocmask(SIG_BLOCK, SIGTRAP, NULL, 8) */
	"	xorl %edi, %edi\n"
	"	leaq .Ltrap_mask(%rip), %rsi\n"
	"	syscall\n"
	"	movl $39, %eax\n" /* tgkill(getpid(), gettid(), SIGTRAP) */
	"	syscall\n"
	"	movl %eax, %edi\n"
	"	movl $186, %eax\n"
	"	syscall\n"
	"	movl %eax, %esi\n"
	"	movl $5, %edx\n"
	"	movl $234, %eax\n"
	"	syscall\n"
	"	ret\n"

	"	.p2align 4, 0x90\n"
	"	nop\n" /* for unwinders that look before a return address */
	"cp_x86_handler_restorer:\n"
	"	movq $15, %rax\n" /* rt_sigreturn */
	"	syscall\n"
	"	.p2align 4, 0xcc\n"
	"cp_x86_handler_end:\n"
	".popsection\n");

static size_t offset(const uint8_t *symbol)
{
	return (size_t)((uintptr_t)symbol - (uintptr_t)cp_x86_handler);
}

const uint8_t *cp_trap_handler(const struct cp_arch *arch, size_t *size_ret,
			       size_t *entry_offset_ret, size_t *restorer_offset_ret,
			       size_t *area_offset_ret)
{
	if (arch->e_machine != EM_X86_64)
		return NULL;
	*size_ret = offset(cp_x86_handler_end);
	*entry_offset_ret = offset(cp_x86_handler_entry);
	*restorer_offset_ret = offset(cp_x86_handler_restorer);
	*area_offset_ret = offset(cp_x86_handler_area);
	return cp_x86_handler;
}

/* SPDX-License-Identifier: MIT
 *
 * Windows with every form of instruction that a detour moves, each in a function that
 * detour_run() calls with all registers and flags given. The red zone is in use
 * around each of them: what it holds becomes part of r8 and r9.
 */

/* name, what stands in the table: offsets of window, its end, where the record is */
#define FORM(name) \
	.p2align 4; .type name, @function; \
name: .cfi_startproc; endbr64; \
	movq %rdi, -8(%rsp); movq %rsi, -128(%rsp)
#define WINDOW(name) name##_window:
#define RECORD(name) name##_record:
#define OVER(name) name##_over:
#define LEAVE movq -8(%rsp), %r8; leaq (%r8,%r8), %r8; movq -128(%rsp), %r9; ret
#define END(name) .cfi_endproc; .size name, . - name

	.text

FORM(plain)
WINDOW(plain) RECORD(plain)
	adcq	%rsi, %rdi
	cmovo	%rdx, %rax
	movl	$7, %r10d
OVER(plain)
	LEAVE
END(plain)

/* The flags go through, and so does the record in the middle. */
FORM(flags)
WINDOW(flags)
	movq	%rax, %r10
	cmpq	%rsi, %rdi
RECORD(flags)
	setg	%r10b
	seto	%r11b
OVER(flags)
	adcq	$0, %r10
	LEAVE
END(flags)

FORM(near_rip)
WINDOW(near_rip) RECORD(near_rip)
	leaq	numbers(%rip), %rax
	addq	numbers+8(%rip), %rdx
	cmpl	$5, numbers(%rip)
OVER(near_rip)
	LEAVE
END(near_rip)

FORM(sse)
WINDOW(sse) RECORD(sse)
	movups	numbers(%rip), %xmm3
	paddq	%xmm1, %xmm3
OVER(sse)
	LEAVE
END(sse)

/* Uses and changes what the record's code needs most. */
FORM(scratch)
WINDOW(scratch)
	xchgq	%rax, %rcx
RECORD(scratch)
	xchgq	%rdx, %rcx
	leaq	1(%rax,%rdx), %rax
OVER(scratch)
	LEAVE
END(scratch)

FORM(stacked)
WINDOW(stacked) RECORD(stacked)
	pushq	%rax
	pushq	%rcx
	pushq	%r12
	popq	%r10
OVER(stacked)
	popq	%r11
	popq	%rax
	movq	%rdi, -8(%rsp)
	movq	%rsi, -128(%rsp)
	LEAVE
END(stacked)

/* Conditional jumps, short, inside of the window. */
FORM(branch)
WINDOW(branch) RECORD(branch)
	testq	%rdi, %rsi
	js	1f
	movl	$1, %eax
OVER(branch)
	incq	%rdx
1:	LEAVE
END(branch)

FORM(branch_back)
	movl	$3, %ecx
WINDOW(branch_back) RECORD(branch_back)
	addq	%rcx, %rdx
	decl	%ecx
	jnz	branch_back_window
OVER(branch_back)
	LEAVE
END(branch_back)

FORM(counted)
	andl	$7, %ecx
WINDOW(counted) RECORD(counted)
	incq	%rax
	loop	1f
	addq	$100, %rdx
OVER(counted)
	addq	$1000, %rdx
1:	LEAVE
END(counted)

FORM(counted_not)
WINDOW(counted_not) RECORD(counted_not)
	addr32 loopne 1f
	leaq	7(%rax), %rax
OVER(counted_not)
	addq	$1000, %rdx
1:	LEAVE
END(counted_not)

FORM(counted_zero)
	andl	$1, %ecx
WINDOW(counted_zero) RECORD(counted_zero)
	jrcxz	1f
	leaq	7(%rax), %rax
OVER(counted_zero)
	leaq	9(%rdx), %rdx
1:	LEAVE
END(counted_zero)

/* The record is of the jump that is taken. */
FORM(taken_short)
WINDOW(taken_short)
	cmpq	%rdi, %rsi
RECORD(taken_short)
	jl	1f
	leaq	7(%rax), %rax
OVER(taken_short)
	leaq	9(%rdx), %rdx
1:	LEAVE
END(taken_short)

FORM(taken_last)
WINDOW(taken_last)
	cmpq	%rdi, %rsi
RECORD(taken_last)
	jne	.Ltail
OVER(taken_last)
	leaq	9(%rdx), %rdx
	LEAVE
END(taken_last)

/* Ways out. */
FORM(returns)
	movq	-8(%rsp), %r8
WINDOW(returns)
	movq	-128(%rsp), %r9
RECORD(returns)
	ret
OVER(returns)
END(returns)

FORM(repeated_ret)
	movq	-8(%rsp), %r8
WINDOW(repeated_ret)
	movq	%r8, %r9
RECORD(repeated_ret)
	rep ret
OVER(repeated_ret)
END(repeated_ret)

FORM(pops_and_returns)
	movq	-128(%rsp), %r9
	pushq	%rbx
	pushq	%rbp
	movl	$3, %ebx
	movl	$4, %ebp
WINDOW(pops_and_returns)
	leaq	(%rbx,%rbp), %rax
	popq	%rbp
	popq	%rbx
RECORD(pops_and_returns)
	ret
OVER(pops_and_returns)
END(pops_and_returns)

FORM(drops)
	popq	%r10
	pushq	%rax
	pushq	%r10
WINDOW(drops)
	movq	%r10, %r11
	movl	$1, %r10d
RECORD(drops)
	ret	$8
OVER(drops)
END(drops)

FORM(tail)
WINDOW(tail)
	addq	$3, %rax
RECORD(tail)
	jmp	.Ltail
OVER(tail)
END(tail)

FORM(tail_register)
	leaq	.Ltail(%rip), %r11
WINDOW(tail_register)
	addq	$3, %rax
RECORD(tail_register)
	notrack jmp *%r11
OVER(tail_register)
END(tail_register)

FORM(tail_memory)
WINDOW(tail_memory) RECORD(tail_memory)
	jmp	*to_tail(%rip)
OVER(tail_memory)
END(tail_memory)

FORM(calls)
	subq	$136, %rsp
WINDOW(calls) RECORD(calls)
	leaq	8(%rax), %rax
	call	callee
OVER(calls)
	addq	$136, %rsp
	LEAVE
END(calls)

FORM(calls_register)
	subq	$136, %rsp
	leaq	callee(%rip), %rdx
WINDOW(calls_register)
	leaq	8(%rax), %rax
RECORD(calls_register)
	call	*%rdx
OVER(calls_register)
	addq	$136, %rsp
	LEAVE
END(calls_register)

FORM(calls_stack)
	subq	$136, %rsp
	leaq	callee(%rip), %rdx
	movq	%rdx, 16(%rsp)
WINDOW(calls_stack) RECORD(calls_stack)
	leaq	8(%rax), %rax
	call	*16(%rsp)
OVER(calls_stack)
	addq	$136, %rsp
	LEAVE
END(calls_stack)

FORM(direction)
	std
WINDOW(direction) RECORD(direction)
	movq	%rsi, %r10
	sbbq	%rdi, %r10
OVER(direction)
	LEAVE
END(direction)

	.p2align 4
	.type	callee, @function
callee:
	endbr64
	movq	(%rsp), %r10
	addq	%r10, %rdx
	ret
	.size	callee, . - callee

	.p2align 4
.Ltail:
	endbr64
	leaq	5(%rax), %rax
	LEAVE

/* ---- for many calls: an entry and an exit ---- */

	.globl	detour_called, detour_called_exit, detour_called_end
	.p2align 6
	.type	detour_called, @function
detour_called:
	.cfi_startproc
	leaq	1(%rdi), %rax
	addq	%rsi, %rax
	imulq	%rdi, %rax
detour_called_exit:
	xorq	$0x55, %rax
	leaq	(%rax,%rax), %rax
	ret
detour_called_end:
	.cfi_endproc
	.size	detour_called, . - detour_called
	.globl	detour_plain
	.p2align 6
	.type	detour_plain, @function
detour_plain:
	leaq	1(%rdi), %rax
	addq	%rsi, %rax
	imulq	%rdi, %rax
	xorq	$0x55, %rax
	leaq	(%rax,%rax), %rax
	ret
	.size	detour_plain, . - detour_plain

/* ---- void detour_run(struct state *state, void (*form)(void)) ----
 * state: sixteen general registers by x86's numbers (rsp's is not used), flags,
 * sixteen vector registers. */
	.globl	detour_run
	.type	detour_run, @function
detour_run:
	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %rax
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	136+16*\n(%rax), %xmm\n
	.endr
	pushq	128(%rax)
	popfq
	movq	8(%rax), %rcx
	movq	16(%rax), %rdx
	movq	24(%rax), %rbx
	movq	40(%rax), %rbp
	movq	48(%rax), %rsi
	movq	56(%rax), %rdi
	movq	64(%rax), %r8
	movq	72(%rax), %r9
	movq	80(%rax), %r10
	movq	88(%rax), %r11
	movq	96(%rax), %r12
	movq	104(%rax), %r13
	movq	112(%rax), %r14
	movq	120(%rax), %r15
	movq	(%rax), %rax
	call	*(%rsp)
	xchgq	%rax, 8(%rsp)
	movq	%rcx, 8(%rax)
	movq	%rdx, 16(%rax)
	movq	%rbx, 24(%rax)
	movq	%rbp, 40(%rax)
	movq	%rsi, 48(%rax)
	movq	%rdi, 56(%rax)
	movq	%r8, 64(%rax)
	movq	%r9, 72(%rax)
	movq	%r10, 80(%rax)
	movq	%r11, 88(%rax)
	movq	%r12, 96(%rax)
	movq	%r13, 104(%rax)
	movq	%r14, 112(%rax)
	movq	%r15, 120(%rax)
	pushfq
	popq	128(%rax)
	pushfq			/* no more steps */
	andl	$~0x100, (%rsp)
	popfq
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	%xmm\n, 136+16*\n(%rax)
	.endr
	movq	8(%rsp), %rcx
	movq	%rcx, (%rax)
	cld
	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	popq	%r15
	.cfi_adjust_cfa_offset -8
	popq	%r14
	.cfi_adjust_cfa_offset -8
	popq	%r13
	.cfi_adjust_cfa_offset -8
	popq	%r12
	.cfi_adjust_cfa_offset -8
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	detour_run, . - detour_run

	.data
	.p2align 4
numbers:
	.quad	5, 0x7fffffffffffffff
	.section .data.rel.ro, "aw", @progbits
	.p2align 4
to_tail:
	.quad	.Ltail

#define ROW(name, taken) \
	.quad	name, name##_window, name##_over, name##_record, taken; \
	.section .rodata; 9: .asciz #name; .section .data.rel.ro, "aw", @progbits; .quad 9b
	.globl	detour_forms, detour_forms_end
detour_forms:
	ROW(plain, 0)
	ROW(flags, 0)
	ROW(near_rip, 0)
	ROW(sse, 0)
	ROW(scratch, 0)
	ROW(stacked, 0)
	ROW(branch, 0)
	ROW(branch_back, 0)
	ROW(counted, 0)
	ROW(counted_not, 0)
	ROW(counted_zero, 0)
	ROW(taken_short, 1)
	ROW(taken_last, 1)
	ROW(returns, 0)
	ROW(repeated_ret, 0)
	ROW(pops_and_returns, 0)
	ROW(drops, 0)
	ROW(tail, 0)
	ROW(tail_register, 0)
	ROW(tail_memory, 0)
	ROW(calls, 0)
	ROW(calls_register, 0)
	ROW(calls_stack, 0)
	ROW(direction, 0)
detour_forms_end:
	.section .note.GNU-stack, "", @progbits

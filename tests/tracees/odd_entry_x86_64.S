/* SPDX-License-Identifier: MIT
 *
 * Functions that begin with what compilers rarely put first. Each returns its
 * number (odd_NN returns NN), or what odd_entry.c says. Half of them have no
 * call frame information.
 */
	.text

	.macro	begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.endm

	.macro	end name
	.size	\name, . - \name
	.endm

	/* A jump as the first instruction, forwards and far. */
begin odd_01
	jmp	1f
	.skip	200, 0xcc
1:	movl	$1, %eax
	ret
end odd_01

	/* A call of the next instruction. */
begin odd_02
	call	1f
1:	popq	%rax
	leaq	1b(%rip), %rcx
	subq	%rcx, %rax
	addl	$2, %eax
	ret
end odd_02

	/* A string instruction that repeats: fires once an iteration. */
begin odd_03
	rep stosb
	movl	$3, %eax
	ret
end odd_03

	/* A locked instruction; rdi is a counter. */
begin odd_04
	lock incl (%rdi)
	movl	$4, %eax
	ret
end odd_04

	/* Relative to rip: a load, a compare with an immediate. */
begin odd_05
	movl	five(%rip), %eax
	ret
end odd_05

begin odd_06
	cmpl	$5, five(%rip)
	je	1f
	ud2
1:	movl	$6, %eax
	ret
end odd_06

	/* Loops to its own first byte. */
begin odd_07
	decl	%edi
	jnz	odd_07
	movl	$7, %eax
	ret
end odd_07

begin odd_08
	movl	$8, %eax
	jrcxz	1f
	ret
1:	ret
end odd_08

	/* A ten-byte nop, and flags pushed. */
begin odd_09
	nopw	%cs:0x200(%rax,%rax,1)
	movl	$9, %eax
	ret
end odd_09

	.cfi_startproc
begin odd_10
	pushfq
	.cfi_adjust_cfa_offset 8
	movl	$10, %eax
	popfq
	.cfi_adjust_cfa_offset -8
	ret
end odd_10
	.cfi_endproc

	/* A system call first: rax was set by the caller (getpid). */
begin odd_11
	syscall
	ret
end odd_11

	/* Nothing but ret. */
begin odd_12
	ret
end odd_12

	/* endbr64, then nothing; a ret with an immediate. */
begin odd_13
	endbr64
	movl	$13, %eax
	ret
end odd_13

	/* Another stack at once; rdi is its top. */
begin odd_14
	xchgq	%rdi, %rsp
	pushq	$14
	popq	%rax
	xchgq	%rdi, %rsp
	ret
end odd_14

	/* A jump through memory, and one to another function's middle. */
begin odd_15
	jmp	*odd_15_target(%rip)
end odd_15

begin odd_16
	movl	$1, %eax
odd_16_middle:
	addl	$15, %eax
	ret
end odd_16

begin odd_17
	movl	$2, %eax
	jmp	odd_16_middle
end odd_17

	.cfi_startproc
begin odd_18
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-64, %rsp
	subq	$128, %rsp
	movl	$18, %eax
	leave
	.cfi_def_cfa %rsp, 8
	ret
end odd_18
	.cfi_endproc

	/* Runs on into the next function, as __memcpy_chk does. */
begin odd_19
	movl	$19, %ecx
end odd_19
	.globl	odd_20
	.type	odd_20, @function
odd_20:
	movl	$20, %eax
	ret
end odd_20

	.section .rodata
	.p2align 3
five:	.long	5
	.data
	.p2align 3
odd_15_target: .quad odd_15_tail
	.text
odd_15_tail:
	movl	$15, %eax
	ret

	.section .note.GNU-stack, "", @progbits

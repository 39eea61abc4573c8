/* SPDX-License-Identifier: MIT
 *
 * Functions whose windows are hard to find. Nothing here is executed.
 */
	.text
	.macro	fun name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.p2align 4
	fun	plain			/* two windows of five bytes */
	pushq	%rbx
	movq	%rdi, %rbx
	subq	$16, %rsp
	movl	$1, %eax
	addq	$16, %rsp
	popq	%rbx
	ret
	end	plain

	.p2align 4
	fun	protected		/* endbr64 stays */
	endbr64
	movl	$1, %eax
	nopl	(%rax)
	addl	$2, %eax
	ret
	end	protected

	.p2align 4
	fun	tiny			/* one window for both */
	xorl	%eax, %eax
	ret
	end	tiny

	.p2align 4
	fun	just_ret
	ret
	end	just_ret
	.p2align 4

	fun	just_jump		/* the entry is also the exit */
	.byte	0xe9
	.long	plain - . - 4
	end	just_jump

	.p2align 4
	fun	conditional_inside	/* a short conditional tail, in the entry's window */
	testl	%edi, %edi
	.byte	0x74, just_jump - . - 1	/* je */
	movl	$1, %eax
	ret
	end	conditional_inside

	.p2align 4
	fun	tails			/* displacements are changed */
	testl	%edi, %edi
	movl	$0, %eax
	.byte	0x0f, 0x85		/* jne */
	.long	plain - . - 4
	movl	$1, %eax
	.byte	0xe9			/* jmp */
	.long	protected - . - 4
	end	tails

	.p2align 4
	fun	leads_in		/* a loop begins in the second instruction */
	xorl	%eax, %eax
1:	addl	%edi, %eax
	decl	%edi
	jnz	1b
	addl	$1, %eax
	ret
	end	leads_in

	.p2align 4
	fun	ret_is_target		/* padding behind it */
	testl	%edi, %edi
	movl	$1, %eax
	je	1f
	imull	%edi, %eax
	addl	$1000, %eax
1:	ret
	end	ret_is_target

	.p2align 4
	fun	ret_is_target_full	/* none: what follows is made a displacement */
	testl	%edi, %edi
	movl	$1, %eax
	je	1f
	imull	%edi, %eax
	addl	$3, %eax
1:	ret
2:	leal	1(%rdi,%rax), %eax
	jmp	1b
	.quad	0
	end	ret_is_target_full

	.p2align 4
	fun	hosted			/* two bytes, no padding: what is before moves */
	pushq	%rbp
	movq	%rsp, %rbp
	testl	%edi, %edi
	movl	$1, %eax
	je	1f
	movl	$2, %ecx
	imull	%edi, %eax
	movl	$3, %edx
	addl	%ecx, %eax
	subl	%edx, %eax
	incl	%eax
	notl	%eax
	negl	%eax
	.rept	12
	imull	%edi, %eax
	.endr
1:	leave
	ret
2:	leal	1(%rdi,%rax), %eax
	jmp	1b
	.quad	0
	end	hosted

	.p2align 4
	fun	hosted_by_more		/* two places to hop to: one is in what moves for it */
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$16, %rsp
	movl	$1, %ecx
	movl	$2, %edx
	movl	$3, %esi
	.rept	6
	addl	$1000, %ecx
	.endr
	call	plain
	leave
	ret
1:	leal	1(%rdi,%rax), %eax
	jmp	1b
	.quad	0
	end	hosted_by_more

	.p2align 4
	fun	switches
	cmpl	$2, %edi
	ja	2f
	movl	%edi, %edi
	leaq	3f(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
4:	movl	$1, %eax
5:	movl	$2, %ecx
6:	movl	$3, %edx
	addl	%ecx, %eax
	.rept	4
	call	plain
	.endr
2:	movl	$0, %edx
	ret
	end	switches
	fun	hosted_beside		/* all that is near by are cases of another's switch */
	testl	%edi, %edi
	movl	$1, %eax
	je	1f
	call	plain
1:	leave
	ret
2:	leal	1(%rdi,%rax), %eax
	jmp	1b
	.quad	0
	end	hosted_beside
	.section .rodata
	.p2align 2
3:	.long	4b - 3b, 5b - 3b, 6b - 3b
	.text

	.p2align 4
	fun	any_case		/* no comparison says how many: all that the table has */
	movl	%edi, %eax
	leaq	3f(%rip), %rcx
	movslq	(%rcx,%rax,4), %rax
	addq	%rcx, %rax
	jmp	*%rax
4:	movl	$1, %eax
5:	ret
	.fill	8, 1, 0x90
6:	movl	$2, %eax
	ret
	end	any_case
	.section .rodata
	.p2align 2
3:	.long	4b - 3b, 5b - 3b, 6b - 3b, 0
	.text

	.p2align 4
	fun	calls_early		/* a call ends the window */
	subq	$8, %rsp
	call	plain
	movl	$1, %eax
	addq	$8, %rsp
	ret
	end	calls_early

	.p2align 4
	fun	calls_system		/* a system call can't be moved: two bytes are before it */
	movl	%edi, %eax
	syscall
	nop
	ret
	end	calls_system
	.p2align 4
	.rept	8
	nop
	.endr

	.p2align 4
	fun	begins_with_one
	syscall
	ret
	end	begins_with_one

	.p2align 4
	fun	computed		/* a computed jump that leads to who knows where */
	movl	$1, %eax
	leaq	1f(%rip), %rdx
	addq	%rdi, %rdx
	jmp	*%rdx
1:	addl	$1, %eax
	addl	$2, %eax
	ret
	end	computed

	.p2align 4
	fun	addressed		/* an address in data leads into it */
	movl	$1, %eax
	addl	$1, %eax
.Linto:	ret
	end	addressed
	.byte	0x0f, 0x0b

	.p2align 4
	fun	around_prefix		/* a jump to the middle of an instruction */
	testq	%rdi, %rdi
	je	1f
	.byte	0xf0			/* lock */
1:	incq	-8(%rsp)
	movq	%rsi, %rax
	ret
	end	around_prefix
	.byte	0x0f, 0x0b

	.p2align 4
	fun	jumps_through		/* by a slot: to another function for certain */
	movl	$1, %eax
	jmp	*slot(%rip)
	end	jumps_through

	.p2align 4
	fun	two_rets		/* the second one's */
	testl	%edi, %edi
	movl	$1, %eax
	je	2f
	imull	%edi, %eax
	js	1f
	addl	$3, %eax
1:	ret
2:	ret
	end	two_rets

	.p2align 4
	fun	lends			/* the next one's jump is its displacement */
	testl	%edi, %edi
	movl	$1, %eax
	je	1f
	imull	%edi, %eax
	addl	$3, %eax
1:	ret
	end	lends
	fun	borrows
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$16, %rsp
	movl	%edi, -4(%rbp)
	movl	-4(%rbp), %eax
	leave
	ret
	end	borrows

	.data
	.p2align 3
slot:	.quad	plain
	.quad	.Linto
	.section .note.GNU-stack, "", @progbits

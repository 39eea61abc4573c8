/* SPDX-License-Identifier: MIT
 *
 * Every form of instruction that a slot has to take apart, and what may go
 * wrong with copies. Called as void insn_forms(long *counters): registers that
 * calls preserve are kept.
 */
	.text
	.globl	insn_forms
	.type	insn_forms, @function
	.p2align 4
insn_forms:
	.cfi_startproc
	endbr64
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$40, %rsp
	movq	%rdi, %rbx

	/* All conditions, both ways, after comparisons of all kinds. */
	.irp	pair, 0 0, 1 2, 2 1, -1 1, 1 -1, 0x7fffffff -1, 0x80000000 1
	movl	$-1, %eax
	call	conditions
	.endr
	xorl	%ecx, %ecx
1:	movl	%ecx, %eax
	imull	$0x61c88647, %eax
	movl	%ecx, %edx
	imull	$0x3c6ef372, %edx
	cmpl	%eax, %edx
	call	conditions
	incl	%ecx
	cmpl	$24, %ecx
	jb	1b

	/* Jumps, short and long. */
	jmp	2f
	ud2
2:	.byte	0xe9
	.long	3f - . - 4
	ud2
3:	stc
	.byte	0x0f, 0x82	/* jc rel32 */
	.long	4f - . - 4
	ud2
4:	.byte	0x2e		/* a hint */
	jc	5f
	ud2
5:	/* Counted ones. The flags are not theirs. */
	movl	$3, %ecx
	stc
6:	loop	6b
	jnc	9f
	movl	$5, %ecx
7:	cmpl	$2, %ecx
	loopne	7b
	movl	$5, %ecx
8:	cmpl	%ecx, %ecx
	loope	8b
	jrcxz	10f
9:	ud2
10:	movabsq	$0x100000000, %rcx
	jrcxz	9b
	jecxz	11f
	ud2
11:	movabsq	$0x500000002, %rcx
12:	addr32 loop 12b

	/* Indirect jumps. */
	leaq	13f(%rip), %rax
	jmp	*%rax
	ud2
13:	leaq	14f(%rip), %r11
	notrack jmp *%r11
	ud2
14:	leaq	15f(%rip), %rax
	movq	%rax, place(%rip)
	jmp	*place(%rip)
	ud2
15:	leaq	16f(%rip), %rax
	movq	%rax, place + 16(%rip)
	leaq	place(%rip), %r13
	movl	$2, %r9d
	.byte	0xf2		/* bnd */
	jmp	*(%r13,%r9,8)
	ud2
16:	leaq	17f(%rip), %rax
	pushq	%rax
	jmp	*(%rsp)
	ud2
17:	popq	%rax

	/* Calls, with all kinds of operands. */
	call	callee
	leaq	callee(%rip), %rax
	call	*%rax
	movq	%rax, %r12
	notrack call *%r12
	movq	%rax, place(%rip)
	call	*place(%rip)
	movq	%rax, (%rsp)
	call	*(%rsp)
	movq	%rax, 16(%rsp)
	call	*16(%rsp)
	movl	$1, %r8d
	call	*8(%rsp,%r8,8)
	.byte	0xff, 0x94, 0x24	/* call *16(%rsp) with a long displacement */
	.long	16
	leaq	place(%rip), %r12
	call	*(%r12)
	leaq	place - 8(%rip), %r13
	call	*8(%r13)
	leaq	place - 0x1000(%rip), %rdx
	call	*0x1000(%rdx)
	movq	%rax, -56(%rbp)
	call	*-56(%rbp)
	.byte	0x66, 0x66, 0x48	/* as in calls of __tls_get_addr */
	call	callee
	.byte	0xf2
	call	callee
	pushq	$1
	pushq	$2
	call	pops_arguments
	call	returns_otherwise
	call	uses_red_zone

	/* Relative to rip, with and without immediates, prefixes, vectors. */
	movl	$0x12345678, place(%rip)
	cmpl	$0x12345678, place(%rip)
	jne	9b
	cmpb	$0x78, place(%rip)
	jne	9b
	cmpw	$0x5678, place(%rip)
	testl	$0x10000, place(%rip)
	leaq	place(%rip), %rsi
	movq	$-3, place(%rip)
	imulq	$7, place(%rip), %rdx
	shlq	$3, place(%rip)
	btsl	$4, place(%rip)
	lock incl place(%rip)
	lock xaddq %rdx, place(%rip)
	xchgq	%rdx, place(%rip)
	movzbl	place(%rip), %eax
	movsbq	place(%rip), %r14
	cmovneq	place(%rip), %r15
	setc	place + 1(%rip)
	pushq	place(%rip)
	popq	place + 8(%rip)
	notl	place(%rip)
	movups	place(%rip), %xmm0
	pshufd	$0x1b, place(%rip), %xmm1
	paddd	place(%rip), %xmm1
	movups	%xmm1, place + 16(%rip)
	cvtsi2sdl place(%rip), %xmm2
	fildl	place(%rip)
	faddl	place + 8(%rip)
	fstpl	place + 24(%rip)
	crc32b	place(%rip), %eax
	movbe	place(%rip), %ecx

	/* Strings, stack, flags, system calls. */
	cld
	leaq	place(%rip), %rsi
	leaq	place + 64(%rip), %rdi
	movl	$9, %ecx
	rep movsb
	movl	$3, %ecx
	xorl	%eax, %eax
	rep stosq
	leaq	place(%rip), %rdi
	movl	$20, %ecx
	repne scasb
	pushfq
	popq	%rax
	andl	$0xcd5, %eax
	addq	%rax, (%rbx)
	stc
	pushfq
	popfq
	enter	$32, $0
	leave
	pushw	$7
	popw	%ax
	movl	$110, %eax	/* getppid */
	syscall
	addq	%rax, 8(%rbx)
	addq	%rcx, 8(%rbx)
	movl	$110, %eax
	call	calls_kernel
	nopw	%cs:0x200(%rax,%rax,1)
	movq	%fs:0, %rax
	xorq	%rax, %rax
	cpuid

	addq	$40, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.cfi_endproc
	.size	insn_forms, . - insn_forms

	/* By the flags at the call; they are the same afterwards. */
conditions:
	pushfq
	.irp	condition, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	movq	(%rsp), %rax
	pushq	%rax
	popfq
	j\condition 1f
	addq	$1, (%rbx)
1:	addq	$2, (%rbx)
	.endr
	popfq
	.byte	0xf3		/* rep ret */
	ret

callee:	endbr64
	addq	$3, (%rbx)
	.byte	0xf2
	ret

pops_arguments:
	movq	8(%rsp), %rdx
	addq	%rdx, (%rbx)
	ret	$16

	/* Reads its own return address, as what finds its caller does. */
returns_otherwise:
	popq	%rdx
	addq	%rdx, 16(%rbx)
	jmp	*%rdx

uses_red_zone:
	movq	%rbx, -8(%rsp)
	movq	%rbx, -128(%rsp)
	cmpq	%rbx, -8(%rsp)
	jne	1f
	subq	-128(%rsp), %rdx
	addq	place(%rip), %rdx
	addq	%rdx, -64(%rsp)
1:	ret

calls_kernel:
	syscall
	ret

	.globl	insn_forms_end
insn_forms_end:

	.data
	.p2align 6
place:	.zero	256
	.section .note.GNU-stack, "", @progbits

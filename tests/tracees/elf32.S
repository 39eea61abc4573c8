/* SPDX-License-Identifier: MIT
 *
 * A 32-bit program without a C library: waits on standard input's end, leaves
 * with 32. What cprof can't profile it must refuse by name.
 */
	.text
	.globl	_start
	.type	_start, @function
_start:
	movl	$3, %eax		/* read(0, buffer, 1) */
	xorl	%ebx, %ebx
	movl	$buffer, %ecx
	movl	$1, %edx
	int	$0x80
	testl	%eax, %eax
	jg	_start
	movl	$1, %eax		/* exit(32) */
	movl	$32, %ebx
	int	$0x80
	.size	_start, . - _start

	.bss
buffer:	.skip	4
	.section .note.GNU-stack, "", @progbits

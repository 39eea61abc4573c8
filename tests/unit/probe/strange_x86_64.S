/* SPDX-License-Identifier: MIT
 *
 * Functions that are hard to plan; test_plan.c says what is expected of each.
 * Offsets stand before the instructions where they matter.
 */
	.text

	.macro begin name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.balign 16, 0xcc
	.endm

	begin just_ret
	ret
	end just_ret

	begin just_jump
	.byte 0xeb, just_ret - (. + 1)	/* jmp just_ret, short with every assembler */
	end just_jump

	begin just_indirect
	jmp *%rax
	end just_indirect

	begin loops_to_entry
1:	dec %edi			/* 0 */
	jne 1b				/* 2 */
	ret				/* 4 */
	end loops_to_entry

	begin recurses_in_place
1:	jmp 1b
	end recurses_in_place

	begin conditional
	test %edi, %edi			/* 0 */
	.byte 0x0f, 0x84		/* 2: je just_ret */
	.long just_ret - . - 4
	ret				/* 8 */
	end conditional

	begin data_inside
	jmp 1f				/* 0 */
	.byte 0x06, 0xc3, 0x06, 0xc3	/* 2: no instructions */
1:	ret				/* 6 */
	end data_inside

	begin data_that_decodes
	lea 1f(%rip), %rax		/* 0 */
	ret				/* 7 */
	.balign 8
1:	.quad 0x0000c30000000000, 0	/* 8 */
	end data_that_decodes

	begin falls_through
	inc %edi
	.size falls_through, . - falls_through
	begin fallen_into
	ret
	end fallen_into

	begin into_the_middle
	jmp fallen_late
	end into_the_middle
	begin fallen
	inc %edi
fallen_late:
	inc %edi
	ret
	end fallen

	begin never
	ud2
	end never

	begin calls_at_the_end
	push %rax
	call never
	end calls_at_the_end

	begin overlapping
	je 1f + 1			/* 0 */
1:	.byte 0xf3, 0xc3		/* 2: rep ret; 3: ret */
	end overlapping

	begin skips_a_prefix
	je 1f				/* 0 */
	lock				/* 2 */
1:	incl (%rdi)			/* 3 */
	ret				/* 5 */
	end skips_a_prefix

	begin with_cold
	test %edi, %edi			/* 0 */
	.byte 0x0f, 0x84		/* 2: je with_cold.cold */
	.long with_cold.cold - . - 4
1:	ret				/* 8 */
	end with_cold
	.section .text.unlikely, "ax", @progbits
	.type with_cold.cold, @function
with_cold.cold:
	call never
	jmp 1b
	.size with_cold.cold, . - with_cold.cold
	.text

	begin with_handler
	call just_ret			/* 0 */
	ret				/* 5 */
	call just_ret			/* 6: nothing leads here */
	ret				/* 11 */
	end with_handler

	begin computed
	jmp *%rax			/* 0 */
	call just_ret			/* 2: nothing leads here */
	ret				/* 7 */
	end computed

	begin computed_and_data
	jmp *%rax
	.byte 0x06, 0x06
	ret
	end computed_and_data

	begin interpreter
	.rept 9
	inc %eax
	jmp *%rax
	.endr
	end interpreter

	begin no_instruction
	.byte 0x06
	ret
	end no_instruction

	begin cut_off
	inc %edi
	.byte 0x0f
	end cut_off

	begin restores
	mov $15, %rax
	syscall
	end restores

	begin copied.isra.0
	ret
	end copied.isra.0
	begin copied.constprop.0.part.1
	ret
	end copied.constprop.0.part.1

	.globl other_name
	.type other_name, @function
	begin one_name
other_name:
	xor %eax, %eax
	ret
	.size other_name, . - other_name
	end one_name

	.globl chosen
	.type chosen, @gnu_indirect_function
chosen:
	lea just_ret(%rip), %rax	/* 0 */
	ret				/* 7 */
	.size chosen, . - chosen
	.balign 16, 0xcc

	begin enclosing
	inc %edi			/* 0 */
	.type enclosed, @function
enclosed:
	inc %edi			/* 2 */
	ret				/* 4 */
	.size enclosed, . - enclosed
	end enclosing

	.globl without_size
without_size:
	inc %edi
	ret
	.globl without_size_either
without_size_either:
	ret
	.section .note.GNU-stack, "", @progbits

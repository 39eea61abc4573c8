# SPDX-License-Identifier: MIT
#
# Debug information that no compiler writes: references in circles, inlining
# without end, siblings that lead back, lists without an end, a line program
# that divides by zero, tables that claim to hold 2^62 entries of no bytes.
# test_image_strange.c asks about each function.

	.text
	.globl _start
	.macro function name
	.globl \name
	.type \name, @function
\name:	.skip 16, 0x90
	.size \name, . - \name
	.endm
	function _start
text_start:
	function self_origin
	function circle
	function deep
	function backward
	function endless_ranges
	function indirect
	function good
text_end:
	function divides		# of the second unit
	.globl divides_end
divides_end:
	function huge_tables		# of the third unit
huge_tables_end:

	.section .debug_abbrev, "", @progbits
abbrevs:
	.macro abbrev code, tag, children
	.uleb128 \code, \tag
	.byte \children
	.endm
	.macro attr name, form
	.uleb128 \name, \form
	.endm
	abbrev 1, 0x11, 1		# compile_unit
	attr 0x11, 0x01			# low_pc addr
	attr 0x12, 0x07			# high_pc data8
	attr 0x10, 0x17			# stmt_list sec_offset
	attr 0x03, 0x08			# name string
	attr 0, 0
	abbrev 2, 0x2e, 0		# subprogram
	attr 0x11, 0x01
	attr 0x12, 0x07
	attr 0x31, 0x13			# abstract_origin ref4
	attr 0, 0
	abbrev 3, 0x2e, 1
	attr 0x11, 0x01
	attr 0x12, 0x07
	attr 0x31, 0x13
	attr 0, 0
	abbrev 4, 0x1d, 1		# inlined_subroutine
	attr 0x11, 0x01
	attr 0x12, 0x07
	attr 0x31, 0x13
	attr 0x59, 0x0b			# call_line data1
	attr 0, 0
	abbrev 5, 0x2e, 0		# abstract
	attr 0x03, 0x08
	attr 0, 0
	abbrev 6, 0x2e, 1
	attr 0x11, 0x01
	attr 0x12, 0x07
	attr 0x01, 0x13			# sibling ref4
	attr 0x03, 0x08
	attr 0, 0
	abbrev 7, 0x0b, 1		# lexical_block
	attr 0x01, 0x13
	attr 0, 0
	abbrev 8, 0x2e, 0
	attr 0x55, 0x17			# ranges sec_offset
	attr 0x03, 0x08
	attr 0, 0
	abbrev 9, 0x2e, 0
	attr 0x11, 0x16			# low_pc indirect
	attr 0x12, 0x16
	attr 0x03, 0x16
	attr 0, 0
	.byte 0

	.section .debug_info, "", @progbits
	.macro unit_header version
	.4byte 2f - 1f
1:	.2byte \version
	.if \version == 5
	.byte 1, 8
	.4byte abbrevs
	.else
	.4byte abbrevs
	.byte 8
	.endif
	.endm
first_unit:
	unit_header 4
	.uleb128 1
	.8byte text_start, text_end - text_start
	.4byte first_lines
	.asciz "first"
die_self:
	.uleb128 2
	.8byte self_origin, 16
	.4byte die_self - first_unit
die_circle:
	.uleb128 2
	.8byte circle, 16
	.4byte die_circle2 - first_unit
die_circle2:
	.uleb128 2
	.8byte 0, 0
	.4byte die_circle - first_unit
die_abstract:
	.uleb128 5
	.asciz "inlined"
	.uleb128 3			# deep: 100 calls inlined in one another
	.8byte deep, 16
	.4byte die_abstract - first_unit
	.rept 100
	.uleb128 4
	.8byte deep, 16
	.4byte die_abstract - first_unit
	.byte 7
	.endr
	.skip 101
die_backward:
	.uleb128 6
	.8byte backward, 16
	.4byte die_self - first_unit
	.asciz "backward"
die_block:
	.uleb128 7
	.4byte die_backward - first_unit
	.byte 0
	.byte 0
	.uleb128 8
	.4byte ranges
	.asciz "endless_ranges"
	.uleb128 9
	.uleb128 0x16, 0x16, 0x01	# indirect to indirect to addr
	.8byte indirect
	.uleb128 0x07
	.8byte 16
	.uleb128 0x08
	.asciz "indirect"
	.byte 0
2:
second_unit:
	unit_header 4
	.uleb128 1
	.8byte divides, 16
	.4byte second_lines
	.asciz "second"
	.uleb128 8
	.4byte ranges2
	.asciz "divides"
	.byte 0
2:
third_unit:
	unit_header 5
	.uleb128 1
	.8byte huge_tables, 16
	.4byte third_lines
	.asciz "third"
	.uleb128 6
	.8byte huge_tables, 16
	.4byte 0x7fffffff
	.asciz "huge_tables"
	.byte 0
	.byte 0
2:
fourth_unit:
	unit_header 4			# the functions the first one ends before
	.uleb128 1
	.8byte good, 16
	.4byte good_lines
	.asciz "fourth"
	.uleb128 6
	.8byte good, 16
	.4byte die_good_end - fourth_unit
	.asciz "good"
	.byte 0
die_good_end:
	.byte 0
2:
	.4byte 0xfffffff0		# a unit longer than the section
	.2byte 4

	.section .debug_ranges, "", @progbits
ranges2:
	.8byte 0, 16, 0, 0
ranges:
	.rept 3000
	.8byte 1, 2
	.endr
	.8byte 0x7fffffffffffffff, 1
	.8byte 0xffffffffffffffff, endless_ranges
	.8byte 0, 16			# no end

	.section .debug_line, "", @progbits
	.macro line_header4 range
	.4byte 4f - 3f
3:	.2byte 4
	.4byte 6f - 5f
5:	.byte 1, 1, 1, -5, \range, 13
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
	.byte 0
	.asciz "file.c"
	.byte 0, 0, 0
	.byte 0
6:
	.endm
	.macro set_address to
	.byte 0, 9, 2
	.8byte \to
	.endm
first_lines:
	line_header4 14
	.rept 1000
	.byte 0, 1, 1			# sequences without a row
	.endr
	set_address text_start
	.byte 3
	.sleb128 -100			# before the first line
	.byte 1
	.byte 0, 2, 4, 0		# an unknown operation, cut off
4:
second_lines:
	line_header4 0			# divides by zero
	set_address divides
	.byte 20, 21, 22, 8
	.byte 2
	.uleb128 16
	.byte 0, 1, 1
4:
third_lines:
	.4byte 4f - 3f
3:	.2byte 5
	.byte 8, 0
	.4byte 6f - 5f
5:	.byte 1, 1, 1, -5, 14, 13
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
	.byte 0				# directories have no fields
	.uleb128 0x3fffffffffffffff	# and are many
	.byte 1
	.uleb128 1, 0x19		# files: path, flag_present
	.uleb128 0x3fffffffffffffff
6:
	set_address huge_tables
	.byte 20
	.byte 0, 1, 1
4:
good_lines:
	line_header4 14
	set_address good
	.byte 3
	.sleb128 41
	.byte 1
	.byte 2
	.uleb128 16
	.byte 0, 1, 1
4:
	.section .note.GNU-stack, "", @progbits

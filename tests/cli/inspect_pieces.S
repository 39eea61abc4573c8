/* SPDX-License-Identifier: MIT
 *
 * Variables in pieces of bits, which no compiler at hand writes: of memory, of constants, of
 * nothing. For tests of `cprof inspect`.
 */

	.macro begin_type name code size encoding
	.uleb128 \code
	.asciz "\name"
	.byte \size, \encoding
	.endm

	.macro begin_variable name type
	.uleb128 3
	.asciz "\name"
	.long \type
	.uleb128 2f - 1f
1:
	.endm

	.macro at offset bits skip
	.byte 0x03 /* DW_OP_addr */
	.quad store + \offset
	bits \bits, \skip
	.endm

	.macro number value bits skip
	.byte 0x10 /* DW_OP_constu */
	.uleb128 \value
	.byte 0x9f /* DW_OP_stack_value */
	bits \bits, \skip
	.endm

	.macro bits bits skip
	.byte 0x9d /* DW_OP_bit_piece */
	.uleb128 \bits
	.uleb128 \skip
	.endm

	.data
store:
	.quad 0x1122334455667788, 0x99aabbccddeeff01

	.section .debug_abbrev, "", @progbits
.Labbrev:
	.uleb128 1, 0x11 /* DW_TAG_compile_unit */
	.byte 1
	.uleb128 0x03, 0x08, 0x13, 0x0b, 0, 0 /* DW_AT_name, DW_AT_language */
	.uleb128 2, 0x24 /* DW_TAG_base_type */
	.byte 0
	.uleb128 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0 /* name, byte_size, encoding */
	.uleb128 3, 0x34 /* DW_TAG_variable */
	.byte 0
	.uleb128 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0 /* name, type, location */
	.uleb128 4, 0x13 /* DW_TAG_structure_type */
	.byte 1
	.uleb128 0x03, 0x08, 0x0b, 0x0b, 0, 0
	.uleb128 5, 0x0d /* DW_TAG_member, of bits */
	.byte 0
	.uleb128 0x03, 0x08, 0x49, 0x13, 0x0d, 0x0b, 0x6b, 0x0b, 0, 0 /* bit_size, data_bit_offset */
	.uleb128 6, 0x0d
	.byte 0
	.uleb128 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0 /* data_member_location */
	.byte 0

	.section .debug_info, "", @progbits
.Lunit:
	.long .Lend - .Lversion
.Lversion:
	.value 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.asciz "pieces.c"
	.byte 0x0c /* DW_LANG_C99 */
unsigned_type:
	begin_type "unsigned int" 2 4 7
long_type:
	begin_type "long" 2 8 5
short_type:
	begin_type "short" 2 2 5
fields_type:
	.uleb128 4
	.asciz "fields"
	.byte 4
	.uleb128 5
	.asciz "x"
	.long unsigned_type - .Lunit
	.byte 5, 0
	.uleb128 5
	.asciz "y"
	.long unsigned_type - .Lunit
	.byte 11, 5
	.uleb128 6
	.asciz "z"
	.long short_type - .Lunit
	.byte 2
	.byte 0

	begin_variable "of_memory" unsigned_type-.Lunit
	at 0 12 4
	at 8 20 12
2:
	begin_variable "of_both" long_type-.Lunit
	at 1 27 3
	number 0x123456789a 37 2
2:
	begin_variable "fields" fields_type-.Lunit
	number 9 5 0
	at 0 11 3
	at 2 16 5
2:
	begin_variable "partly" fields_type-.Lunit
	number 77 5 1
	at 4 11 9
	bits 16 0
2:
	begin_variable "nibbles" unsigned_type-.Lunit
	at 3 4 4
	at 3 4 0
	at 2 4 4
	at 2 4 0
	at 1 4 4
	at 1 4 0
	at 0 4 4
	at 0 4 0
2:
	begin_variable "far" short_type-.Lunit
	at 0 16 70
2:
	.byte 0
.Lend:
	.section .note.GNU-stack, "", @progbits

# SPDX-License-Identifier: MIT
#
# Twenty thousand functions of C++ that only a walk can name: no linkage names,
# each in a struct of its own, these in a namespace without a name.
	.set FUNCTIONS, 20000
	.file 1 "scopes.cc"
	.text
	.globl _start
_start:
	.loc 1 1
	ud2
.Lend:
	.section .debug_abbrev, "", @progbits
.Labbrev:
	.uleb128 1, 0x11	# compile_unit
	.byte 1
	.uleb128 0x13, 0x05	# language, data2
	.uleb128 0x10, 0x17	# stmt_list, sec_offset
	.uleb128 0x11, 0x01	# low_pc, addr
	.uleb128 0x12, 0x07	# high_pc, data8
	.uleb128 0, 0
	.uleb128 2, 0x39	# namespace
	.byte 1
	.uleb128 0, 0
	.uleb128 3, 0x13	# structure_type
	.byte 1
	.uleb128 0x03, 0x08	# name, string
	.uleb128 0, 0
	.uleb128 4, 0x2e	# subprogram
	.byte 0
	.uleb128 0x03, 0x08	# name, string
	.uleb128 0x3a, 0x0b	# decl_file, data1
	.uleb128 0x3b, 0x05	# decl_line, data2
	.uleb128 0, 0
	.uleb128 0
	.section .debug_info, "", @progbits
	.long .Linfo_end - .Linfo
.Linfo:
	.value 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.value 0x1a		# C++11
	.long .Lline
	.quad _start
	.quad .Lend - _start
	.uleb128 2
	.set line, 1
	.rept FUNCTIONS
	.uleb128 3
	.string "in"
	.uleb128 4
	.string "f"
	.byte 1
	.value line
	.byte 0
	.set line, line + 1
	.endr
	.byte 0, 0
.Linfo_end:
	.section .debug_line, "", @progbits
.Lline:
	.section .note.GNU-stack, "", @progbits

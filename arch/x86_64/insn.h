/* SPDX-License-Identifier: MIT
 *
 * One x86-64 instruction taken apart, as far as copying it elsewhere and
 * knowing where it leads need it. Of the whole instruction set only the
 * encoding is known, not what the instructions do.
 */
#ifndef CP_ARCH_X86_64_INSN_H
#define CP_ARCH_X86_64_INSN_H

#include "arch/insn.h"

enum cp_x86_map { CP_X86_ONE, CP_X86_0F, CP_X86_0F38, CP_X86_0F3A, CP_X86_VECTOR };

struct cp_x86_insn {
	uint8_t size;
	uint8_t map; /* enum cp_x86_map; VECTOR: VEX, EVEX, XOP */
	uint8_t opcode;
	uint8_t opcode_at; /* its offset */
	uint8_t rex;
	uint8_t rep; /* the last of F2 and F3, or 0 */
	bool opsize, addrsize, lock; /* prefixes 66, 67, F0 */
	bool segment; /* FS or GS */
	bool has_modrm;
	uint8_t modrm; /* its value */
	uint8_t modrm_at; /* offset */
	uint8_t disp_at, disp_size;
	uint8_t imm_at, imm_size; /* also of relative jumps */
};

#define CP_X86_MOD(x) ((x)->modrm >> 6)
#define CP_X86_REG(x) ((x)->modrm >> 3 & 7)
#define CP_X86_RM(x) ((x)->modrm & 7)

/* An operand in memory, or in a register (mod 3), that ModRM tells. Registers
 * by DWARF number, 0xff none; base 16 is the next instruction's address. */
struct cp_x86_operand {
	bool memory;
	uint8_t base, index, scale;
	int32_t disp;
};

/* False: no instruction of 64-bit mode, or one that is cut off. */
bool cp_x86_take_apart(const uint8_t *code, size_t size, struct cp_x86_insn *ret);
void cp_x86_operand(const struct cp_x86_insn *insn, const uint8_t *code,
		    struct cp_x86_operand *ret);
/* DWARF's number for one of x86's. */
uint8_t cp_x86_dwarf(unsigned number);
bool cp_x86_rip_relative(const struct cp_x86_insn *insn);
/* The sign-extended immediate. */
int64_t cp_x86_imm(const struct cp_x86_insn *insn, const uint8_t *code);
bool cp_x86_decode(const uint8_t *code, size_t size, uint64_t pc, struct cp_insn *ret);
void cp_x86_flow(const struct cp_x86_insn *insn, const uint8_t *code, uint64_t pc,
		 struct cp_insn *ret);

#endif

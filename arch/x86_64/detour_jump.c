/* SPDX-License-Identifier: MIT
 *
 * Jumps that take the place of instructions:
 *
 *     e9 d0 d1 d2 d3        to within 2 GiB
 *     2e e9 d0 d1 d2 d3     the same; cs: means nothing to a jump (up to three)
 *     eb d0                 to within 127 bytes
 *
 * Where a later one of these instructions began, the byte of the displacement has to
 * be a breakpoint: cc, or f1. So a window of `push %rbp; mov %rsp,%rbp; push %r12` is
 * e9 cc d1 d2 cc, whose code is 842 to 859 MB below, or e9 cc d1 d2 f1, 235 to 252
 * MB; and 5 bytes at a given byte of its address. Programs that are linked low have
 * nothing there: 60 and 37 are no instructions, and lead above. A jump with a prefix needs neither
 * the one nor the other where an instruction begins at offset 4, and none at 1.
 */
#include "arch/detour.h"

#include <elf.h>
#include <string.h>

#include "arch/x86_64/insn.h"

#define INT3 0xccu
#define ILLEGAL_1 0x60u /* pusha; in 64-bit mode there is none */
#define ILLEGAL_2 0x37u /* aaa */
#define NEXT_PREFIX 0x2e

/* The places of the displacement, from `first` on, that have to be breakpoints. */
static bool constrain(uint32_t begins, unsigned prefixes, uint8_t high,
		      struct cp_detour_landing *ret)
{
	struct cp_detour_landing l = { .prefixes = (uint8_t)prefixes, .illegal = high != INT3 };
	unsigned i;

	/* A later prefix, and the jump itself, would lead to the beginning. */
	if (begins & ((1u << (prefixes + 1)) - 2))
		return false;
	for (i = 0; i < 4; i++) {
		if (!(begins >> (prefixes + 1 + i) & 1))
			continue;
		l.mask |= 0xffu << (8 * i);
		l.value |= (i == 3 ? high : INT3) << (8 * i);
	}
	*ret = l;
	return true;
}

/* Those that may go anywhere first, then those with the fewest bytes given. */
static unsigned rank(const struct cp_detour_landing *l)
{
	return (unsigned)__builtin_popcount(l->mask) + (l->mask >> 24) + (l->illegal ? 512u : 0);
}

static void add_landing(uint32_t begins, unsigned prefixes, uint8_t high,
			struct cp_detour_landing *ways, size_t *count)
{
	struct cp_detour_landing l;
	size_t k;

	if (!constrain(begins, prefixes, high, &l) || (high != INT3 && !(l.mask >> 24)))
		return;
	for (k = (*count)++; k && rank(&ways[k - 1]) > rank(&l); k--)
		ways[k] = ways[k - 1];
	ways[k] = l;
}

size_t cp_detour_landings(uint32_t begins, size_t room,
			  struct cp_detour_landing ret[CP_DETOUR_LANDINGS])
{
	static const uint8_t high[] = { INT3, ILLEGAL_1, ILLEGAL_2 };
	size_t count = 0, i;
	unsigned p;

	for (p = 0; p <= CP_DETOUR_PREFIXES && CP_DETOUR_JUMP + p <= room; p++) {
		for (i = 0; i < CP_ARRAY_SIZE(high); i++)
			add_landing(begins, p, high[i], ret, &count);
	}
	return count;
}

bool cp_detour_jump(const struct cp_detour_landing *landing, uint64_t at, uint64_t to,
		    uint8_t code[CP_DETOUR_JUMP + CP_DETOUR_PREFIXES])
{
	int64_t distance = (int64_t)(to - (at + landing->prefixes + CP_DETOUR_JUMP));
	int32_t rel = (int32_t)distance;

	if (rel != distance || ((uint32_t)rel & landing->mask) != landing->value)
		return false;
	memset(code, NEXT_PREFIX, landing->prefixes);
	code[landing->prefixes] = 0xe9;
	memcpy(code + landing->prefixes + 1, &rel, sizeof(rel));
	return true;
}

bool cp_detour_hop(uint32_t begins, uint64_t at, uint64_t to, uint8_t code[CP_DETOUR_HOP])
{
	int64_t distance = (int64_t)(to - (at + CP_DETOUR_HOP));

	if ((int8_t)distance != distance)
		return false;
	if (begins & 2 && (uint8_t)distance != INT3)
		return false;
	code[0] = 0xeb;
	code[1] = (uint8_t)distance;
	return true;
}

size_t cp_detour_displacement(const uint8_t *code, size_t size)
{
	if (size == 5 && code[0] == 0xe9)
		return 1;
	return size == 6 && code[0] == 0x0f && code[1] >> 4 == 8 ? 2 : 0;
}

/* A `lea` relative to rip, or 32 bits of an immediate. */
uint64_t cp_detour_said(const struct cp_arch *arch, const uint8_t *code, size_t size, uint64_t pc)
{
	struct cp_x86_operand operand;
	struct cp_x86_insn insn;

	if (arch->e_machine != EM_X86_64 || !cp_x86_take_apart(code, size, &insn))
		return 0;
	if (insn.map == CP_X86_ONE && insn.opcode == 0x8d && cp_x86_rip_relative(&insn)) {
		cp_x86_operand(&insn, code, &operand);
		return pc + insn.size + (uint64_t)(int64_t)operand.disp;
	}
	return insn.imm_size >= 4 ? (uint64_t)cp_x86_imm(&insn, code) : 0;
}

/* The next one has a register or memory as its operand; its other one's number goes to
 * *reg_ret. */
static bool take_operand(const uint8_t **code, size_t *size, uint8_t opcode,
			 struct cp_x86_operand *operand, uint8_t *reg_ret)
{
	struct cp_x86_insn insn;

	if (!cp_x86_take_apart(*code, *size, &insn) || insn.map != CP_X86_ONE ||
	    insn.opcode != opcode || !insn.has_modrm || insn.opsize || insn.addrsize ||
	    insn.segment)
		return false;
	if (opcode != 0xff && !(insn.rex & 8))
		return false;
	cp_x86_operand(&insn, *code, operand);
	*reg_ret = opcode == 0xff ? CP_X86_REG(&insn)
				  : cp_x86_dwarf(CP_X86_REG(&insn) | (insn.rex & 4) << 1);
	*code += insn.size;
	*size -= insn.size;
	return true;
}

bool cp_detour_by_distance(const struct cp_arch *arch, const uint8_t *code, size_t size)
{
	struct cp_x86_operand from, other, to;
	uint8_t loaded, added, kind;

	if (arch->e_machine != EM_X86_64 || !take_operand(&code, &size, 0x63, &from, &loaded) ||
	    !from.memory || from.scale != 4 || from.disp || from.base >= arch->pc ||
	    from.index == 0xff || from.base == loaded)
		return false;
	if (take_operand(&code, &size, 0x01, &other, &added)) {
		if (other.memory || other.base != loaded || added != from.base)
			return false;
	} else if (!take_operand(&code, &size, 0x03, &other, &added) || other.memory ||
		   other.base != from.base || added != loaded) {
		return false;
	}
	return take_operand(&code, &size, 0xff, &to, &kind) && !size && kind == 4 && !to.memory &&
	       to.base == loaded;
}

static const uint8_t far_jump[] = { 0xff, 0x25, 0, 0, 0, 0 }; /* jmp *(%rip) */

size_t cp_detour_far_jump(uint64_t to, uint8_t *code)
{
	memcpy(code, far_jump, sizeof(far_jump));
	memcpy(code + sizeof(far_jump), &to, sizeof(to));
	return sizeof(far_jump) + sizeof(to);
}

size_t cp_detour_far_branch(const uint8_t *branch, uint64_t to, uint64_t next, uint64_t at,
			    size_t kept, uint8_t *code)
{
	uint8_t bytes[] = { 0x70, 6, 0xff, 0x25, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0 };
	uint32_t pointer = (uint32_t)kept - 8;
	int64_t distance = (int64_t)(next - (at + sizeof(bytes)));
	int32_t rel = (int32_t)distance;

	if (rel != distance)
		return 0;
	bytes[0] |= (branch[1] & 15) ^ 1; /* over the jump, if not */
	memcpy(bytes + 4, &pointer, sizeof(pointer));
	memcpy(bytes + 9, &rel, sizeof(rel));
	memcpy(code, bytes, sizeof(bytes));
	memcpy(code + kept, &to, sizeof(to));
	return sizeof(bytes);
}

uint64_t cp_detour_jump_target(const uint8_t *code, uint64_t at)
{
	size_t size = 0;
	uint64_t to;
	int32_t rel;

	if (code[0] == 0xeb)
		return at + CP_DETOUR_HOP + (uint64_t)(int64_t)(int8_t)code[1];
	if (!memcmp(code, far_jump, sizeof(far_jump))) {
		memcpy(&to, code + sizeof(far_jump), sizeof(to));
		return to;
	}
	while (size < CP_DETOUR_PREFIXES && code[size] == NEXT_PREFIX)
		size++;
	if (code[size] != 0xe9)
		return 0;
	memcpy(&rel, code + size + 1, sizeof(rel));
	return at + size + CP_DETOUR_JUMP + (uint64_t)(int64_t)rel;
}

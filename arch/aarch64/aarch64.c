/* SPDX-License-Identifier: MIT
 *
 * AArch64, AAPCS64: what can be known without running on it.
 */
#include "arch/arch.h"

#include <elf.h>
#include <string.h>

enum { X29 = 29, X30 = 30, SP = 31, PC = 32, NREGS = 33 };

static const char *const names[NREGS] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",
};

static const char *const other_names[] = { "pstate", "tpidr", NULL };

static bool call_before(const uint8_t *code, size_t size, uint64_t ret_addr, uint64_t *target_ret)
{
	uint32_t insn;
	int64_t words;

	*target_ret = 0;
	if (size < 4)
		return false;
	memcpy(&insn, code + size - 4, 4);
	if (insn >> 26 == 0x25) { /* bl imm26 */
		words = (int64_t)((uint64_t)insn << 38) >> 38;
		*target_ret = ret_addr - 4 + (uint64_t)(words * 4);
		return true;
	}
	return (insn & 0xfffffc1f) == 0xd63f0000; /* blr xn */
}

/* [bti c] adrp x16, page; ldr x17, [x16, #offset]; ... */
static bool jump_slot(const uint8_t *code, size_t size, uint64_t pc, uint64_t *slot_ret)
{
	uint32_t insn[3] = { 0 };
	int64_t pages;
	size_t at = 0;

	memcpy(insn, code, size < sizeof(insn) ? size : sizeof(insn));
	if (insn[0] == 0xd503245f)
		at = 1;
	if ((insn[at] & 0x9f00001f) != 0x90000010 || (insn[at + 1] & 0xffc003ff) != 0xf9400211)
		return false;
	pages = (int64_t)((uint64_t)(insn[at] >> 5 & 0x7ffff) << 45) >> 43;
	pages |= insn[at] >> 29 & 3;
	*slot_ret = ((pc + at * 4) & ~UINT64_C(0xfff)) + (uint64_t)pages * 4096 +
		    (insn[at + 1] >> 10 & 0xfff) * 8;
	return true;
}

/* b imm26 */
static bool jumps_to(const uint8_t *code, size_t size, uint64_t pc, uint64_t target)
{
	uint32_t insn;
	size_t i;

	for (i = 0; i + 4 <= size; i += 4) {
		memcpy(&insn, code + i, 4);
		if (insn >> 26 == 5 &&
		    pc + i + (uint64_t)((int64_t)((uint64_t)insn << 38) >> 38) * 4 == target)
			return true;
	}
	return false;
}

static bool is_sigreturn(const uint8_t *code, size_t size)
{
	/* mov x8, #139; svc #0 */
	static const uint8_t insns[] = { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4 };

	return size >= sizeof(insns) && !memcmp(code, insns, sizeof(insns));
}

static bool is_munmap(const uint8_t *code, size_t size)
{
	/* bti c, if any; mov x8, #215; svc #0 */
	static const uint8_t landing[] = { 0x5f, 0x24, 0x03, 0xd5 };
	static const uint8_t insns[] = { 0xe8, 0x1a, 0x80, 0xd2, 1, 0, 0, 0xd4 };

	if (size >= sizeof(landing) && !memcmp(code, landing, sizeof(landing))) {
		code += sizeof(landing);
		size -= sizeof(landing);
	}
	return size >= sizeof(insns) && !memcmp(code, insns, sizeof(insns));
}

/* sp points to a siginfo of 128 bytes and a struct ucontext, whose registers
 * begin after 176 bytes and the fault address. */
#define GREG(n) (128 + 176 + 8 + 8 * (n))
#define GREG4(n) GREG(n), GREG((n) + 1), GREG((n) + 2), GREG((n) + 3)
static const int16_t sigframe[NREGS] = {
	GREG4(0),  GREG4(4),  GREG4(8),	 GREG4(12), GREG4(16),
	GREG4(20), GREG4(24), GREG4(28), GREG(32),
};

const struct cp_arch cp_arch_aarch64 = {
	.name = "aarch64",
	.e_machine = EM_AARCH64,
	.nregs = NREGS,
	.pc = PC,
	.sp = SP,
	.fp = X29,
	.ret_size = 0,
	.reach = (UINT64_C(1) << 27) - (UINT64_C(1) << 20),
	.user_end = UINT64_C(1) << 48,
	.lr = X30,
	.args = { 0, 1, 2, 3, 4, 5 },
	.result = 0,
	.code_mask = UINT64_C(0x0000ffffffffffff),
	.ucontext_sp = 432,
	.sigframe = sigframe,
	/* x19-x28, x29, x30, sp, pc */
	.callee_saved = UINT64_C(0x1fff80000),
	.red_zone = 0,
	.reg_names = names,
	.other_names = other_names,
	.call_before = call_before,
	.jump_slot = jump_slot,
	.jumps_to = jumps_to,
	.is_sigreturn = is_sigreturn,
	.is_munmap = is_munmap,
};

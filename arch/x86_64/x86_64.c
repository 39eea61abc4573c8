/* SPDX-License-Identifier: MIT
 *
 * x86-64, SysV ABI: what can be known without running on it.
 */
#include "arch/arch.h"

#include <elf.h>
#include <string.h>

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RIP, NREGS };

static const char *const names[NREGS] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

static const char *const other_names[] = { "eflags", "orig_rax", "cs",	    "ss",      "ds", "es",
					   "fs",     "gs",	 "fs_base", "gs_base", NULL };

/* Length of a ModRM operand with its SIB and displacement, at `p`. */
static size_t modrm_size(const uint8_t *p)
{
	unsigned mod = p[0] >> 6, rm = p[0] & 7;
	size_t n = 1;

	if (mod == 3)
		return n;
	if (rm == 4) {
		n++;
		if (mod == 0 && (p[1] & 7) == 5)
			return n + 4;
	} else if (mod == 0 && rm == 5) {
		return n + 4;
	}
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* FF /2, with or without a REX prefix, ending exactly at code + size. */
static bool indirect_call(const uint8_t *code, size_t size)
{
	size_t n;

	for (n = 2; n <= 7 && n <= size; n++) {
		const uint8_t *p = code + size - n;
		uint8_t tail[8] = { 0 };

		if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
			continue;
		memcpy(tail, p + 1, n - 1);
		if (1 + modrm_size(tail) == n)
			return true;
	}
	return false;
}

#define START_CALL_NEAR 16 /* bytes from the argument to the call */

/* `lea main(%rip),%rdi`, or `mov $main,%rdi` in a program at a fixed address, and
 * the call soon behind it. */
static uint64_t start_main(const uint8_t *code, size_t size, uint64_t pc)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x3d }, mov[] = { 0x48, 0xc7, 0xc7 };
	uint64_t target = 0;
	int32_t operand;
	size_t i, set = 0;

	for (i = 0; i + 7 <= size; i++) {
		if (!target && (!memcmp(code + i, lea, 3) || !memcmp(code + i, mov, 3))) {
			memcpy(&operand, code + i + 3, sizeof(operand));
			target = (uint64_t)(int64_t)operand;
			target += code[i + 1] == lea[1] ? pc + i + 7 : 0;
			set = i + 7;
			i += 6;
		} else if (target && i - set < START_CALL_NEAR &&
			   (code[i] == 0xe8 || (code[i] == 0xff && code[i + 1] == 0x15))) {
			return target;
		}
	}
	return 0;
}

static bool call_before(const uint8_t *code, size_t size, uint64_t ret_addr, uint64_t *target_ret)
{
	int32_t rel;

	*target_ret = 0;
	if (size >= 5 && code[size - 5] == 0xe8) {
		memcpy(&rel, code + size - 4, 4);
		*target_ret = ret_addr + (uint64_t)(int64_t)rel;
		return true;
	}
	return indirect_call(code, size);
}

/* [endbr64] [bnd] jmp *disp32(%rip) */
static bool jump_slot(const uint8_t *code, size_t size, uint64_t pc, uint64_t *slot_ret)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;
	int32_t rel;

	if (size >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	if (at < size && code[at] == 0xf2)
		at++;
	if (size - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&rel, code + at + 2, 4);
	*slot_ret = pc + at + 6 + (uint64_t)(int64_t)rel;
	return true;
}

/* call *, jmp * or a load, relative to what follows it. */
static unsigned uses_slots(const uint8_t *code, size_t size, uint64_t pc, uint64_t low,
			   uint64_t end)
{
	unsigned uses = 0;
	int32_t rel;
	size_t i;

	for (i = 2; i + 4 <= size; i++) {
		memcpy(&rel, code + i, 4);
		if (pc + i + 4 + (uint64_t)(int64_t)rel - low >= end - low)
			continue;
		if (code[i - 2] == 0xff && (code[i - 1] == 0x15 || code[i - 1] == 0x25))
			uses |= CP_USES_GOES;
		else if (code[i - 2] == 0x8b && (code[i - 1] & 0xc7) == 5)
			uses |= CP_USES_LOADS;
	}
	return uses;
}

/* jmp rel32 or jcc rel32, at any byte: there are no instructions to count. */
static bool jumps_to(const uint8_t *code, size_t size, uint64_t pc, uint64_t target)
{
	int32_t rel;
	size_t i;

	for (i = 0; i + 5 <= size; i++) {
		bool jcc = i && code[i - 1] == 0x0f && (code[i] & 0xf0) == 0x80;

		memcpy(&rel, code + i + 1, 4);
		if ((code[i] == 0xe9 || jcc) && pc + i + 5 + (uint64_t)(int64_t)rel == target)
			return true;
	}
	return false;
}

static bool is_sigreturn(const uint8_t *code, size_t size)
{
	/* mov $15, %rax; syscall (glibc), mov $15, %eax; syscall (musl) */
	static const uint8_t glibc[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5 };
	static const uint8_t musl[] = { 0xb8, 15, 0, 0, 0, 0x0f, 5 };

	return (size >= sizeof(glibc) && !memcmp(code, glibc, sizeof(glibc))) ||
	       (size >= sizeof(musl) && !memcmp(code, musl, sizeof(musl)));
}

static bool is_munmap(const uint8_t *code, size_t size)
{
	/* endbr64, if any; mov $11, %eax; syscall */
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t call[] = { 0xb8, 11, 0, 0, 0, 0x0f, 5 };

	if (size >= sizeof(landing) && !memcmp(code, landing, sizeof(landing))) {
		code += sizeof(landing);
		size -= sizeof(landing);
	}
	return size >= sizeof(call) && !memcmp(code, call, sizeof(call));
}

/* sp points to a struct ucontext: flags, link and stack before its registers,
 * which are r8-r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
#define GREG(n) (40 + 8 * (n))
static const int16_t sigframe[NREGS] = {
	[RAX] = GREG(13), [RDX] = GREG(12), [RCX] = GREG(14), [RBX] = GREG(11), [RSI] = GREG(9),
	[RDI] = GREG(8),  [RBP] = GREG(10), [RSP] = GREG(15), [R8] = GREG(0),	[R9] = GREG(1),
	[R10] = GREG(2),  [R11] = GREG(3),  [R12] = GREG(4),  [R13] = GREG(5),	[R14] = GREG(6),
	[R15] = GREG(7),  [RIP] = GREG(16),
};

#define BIT(n) (UINT64_C(1) << (n))

const struct cp_arch cp_arch_x86_64 = {
	.name = "x86_64",
	.e_machine = EM_X86_64,
	.nregs = NREGS,
	.pc = RIP,
	.sp = RSP,
	.fp = RBP,
	.ret_size = 8,
	.reach = (UINT64_C(1) << 31) - (UINT64_C(1) << 20),
	.user_end = UINT64_C(0x7ffffffff000),
	.args = { RDI, RSI, RDX, RCX, R8, R9 },
	.result = RAX,
	.code_mask = UINT64_MAX,
	.ucontext_sp = 160,
	.sigframe = sigframe,
	.callee_saved = BIT(RBX) | BIT(RBP) | BIT(RSP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15) |
			BIT(RIP),
	.red_zone = 128,
	.reg_names = names,
	.other_names = other_names,
	/* 18 registers first; rax and rdx are the landing pad's. */
	.unwind_context = { .size = 192,
			    .exception = 0,
			    .selector = 8,
			    .sp = 144,
			    .pc = 152,
			    .lsda = 160,
			    .function = 184 },
	.call_before = call_before,
	.start_main = start_main,
	.jump_slot = jump_slot,
	.uses_slots = uses_slots,
	.jumps_to = jumps_to,
	.is_sigreturn = is_sigreturn,
	.is_munmap = is_munmap,
};

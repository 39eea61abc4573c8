/* SPDX-License-Identifier: MIT
 *
 * Decoding and slots, by bytes. What slots do when they run is judged by
 * test_insn_steps.
 */
#include "test.h"

#include "arch/insn.h"

#define PC UINT64_C(0x401000)
#define SLOT UINT64_C(0x7f0000)

enum { RAX = 0, RCX = 2, RSP = 7, RIP = 16 };

static struct cp_decoder *x86, *arm;

struct decoding {
	const char *bytes;
	uint8_t size, flow;
	uint64_t target;
};

#define BYTES(s) s, sizeof(s) - 1

static const struct decoding decodings[] = {
	{ BYTES("\x55"), CP_FLOW_ON, 0 },
	{ BYTES("\x48\x8b\x05\x10\x00\x00\x00"), CP_FLOW_ON, 0 },
	{ BYTES("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"), CP_FLOW_ON, 0 },
	{ BYTES("\x62\xf1\x7c\x48\x28\x44\x24\x01"), CP_FLOW_ON, 0 }, /* vmovaps 64(%rsp),%zmm0 */
	{ BYTES("\xc4\xe3\x79\x0f\xc1\x08"), CP_FLOW_ON, 0 }, /* vpalignr $8 */
	{ BYTES("\xc5\xf8\x77"), CP_FLOW_ON, 0 }, /* vzeroupper */
	{ BYTES("\xc3"), CP_FLOW_RETURN, 0 },
	{ BYTES("\xf3\xc3"), CP_FLOW_RETURN, 0 },
	{ BYTES("\xf2\xc3"), CP_FLOW_RETURN, 0 },
	{ BYTES("\xc2\x10\x00"), CP_FLOW_RETURN, 0 },
	{ BYTES("\xeb\xfe"), CP_FLOW_JUMP, PC },
	{ BYTES("\xe9\x00\x01\x00\x00"), CP_FLOW_JUMP, PC + 0x105 },
	{ BYTES("\x74\x10"), CP_FLOW_BRANCH, PC + 0x12 },
	{ BYTES("\x0f\x85\x00\xff\xff\xff"), CP_FLOW_BRANCH, PC - 0xfa },
	{ BYTES("\xe3\x02"), CP_FLOW_BRANCH, PC + 4 },
	{ BYTES("\x67\xe3\x02"), CP_FLOW_BRANCH, PC + 5 },
	{ BYTES("\xe8\xfb\xff\xff\xff"), CP_FLOW_CALL, PC },
	{ BYTES("\x66\x66\x48\xe8\x00\x00\x00\x00"), CP_FLOW_CALL, PC + 8 },
	{ BYTES("\xff\xd0"), CP_FLOW_CALL_INDIRECT, 0 },
	{ BYTES("\x3e\xff\xe0"), CP_FLOW_JUMP_INDIRECT, 0 },
	{ BYTES("\xf2\xff\x25\x00\x00\x00\x00"), CP_FLOW_JUMP_INDIRECT, 0 },
	{ BYTES("\x0f\x05"), CP_FLOW_SYSCALL, 0 },
	{ BYTES("\xcd\x80"), CP_FLOW_SYSCALL, 0 },
	{ BYTES("\x0f\x0b"), CP_FLOW_END, 0 },
	{ BYTES("\xf4"), CP_FLOW_END, 0 },
	{ BYTES("\xcc"), CP_FLOW_END, 0 },
	{ BYTES("\x8f\xe9\x78\x81\xc1"), CP_FLOW_ON, 0 }, /* XOP: vfrczpd */
	{ BYTES("\x8f\xc0"), CP_FLOW_ON, 0 }, /* pop %rax */
	{ BYTES("\xf6\x00\x01"), CP_FLOW_ON, 0 }, /* testb $1,(%rax) */
	{ BYTES("\xf6\x10"), CP_FLOW_ON, 0 }, /* notb (%rax) */
	{ BYTES("\x66\x81\xc0\x01\x00"), CP_FLOW_ON, 0 }, /* add $1,%ax */
	{ BYTES("\xc8\x10\x00\x00"), CP_FLOW_ON, 0 }, /* enter */
};

static void test_decoding(void)
{
	struct cp_insn insn;
	size_t i, cut;

	for (i = 0; i < CP_ARRAY_SIZE(decodings); i++) {
		const struct decoding *d = &decodings[i];
		const uint8_t *code = (const uint8_t *)d->bytes;

		CHECK(cp_decode(x86, code, d->size, PC, &insn));
		CHECK_U64(insn.pc, PC);
		CHECK_U64(insn.size, d->size);
		CHECK_U64(insn.flow, d->flow);
		CHECK_U64(insn.target, d->target);
		/* What is cut off is no instruction; prefixes may be left out at the front. */
		for (cut = 0; cut < d->size; cut++)
			CHECK(!cp_decode(x86, code, cut, PC, &insn));
	}
}

static bool decode(const char *bytes, size_t size, struct cp_insn *ret)
{
	return cp_decode(x86, (const uint8_t *)bytes, size, PC, ret);
}

static void test_padding(void)
{
	struct cp_insn insn;

	CHECK(decode(BYTES("\xf3\x0f\x1e\xfa"), &insn) && insn.landing_pad && !insn.nop);
	CHECK(decode(BYTES("\x90"), &insn) && insn.nop && !insn.landing_pad);
	CHECK(decode(BYTES("\xf0\x0f\xb1\x17"), &insn) && insn.compares); /* lock cmpxchg */
	CHECK(decode(BYTES("\xf0\x44\x0f\xb1\x33"), &insn) && insn.compares);
	CHECK(decode(BYTES("\x0f\xb1\x17"), &insn) && !insn.compares);
	CHECK(decode(BYTES("\x66\x90"), &insn) && insn.nop);
	CHECK(decode(BYTES("\x66\x2e\x0f\x1f\x84\x00\x00\x02\x00\x00"), &insn) && insn.nop);
	CHECK(decode(BYTES("\xf3\x90"), &insn) && !insn.nop); /* pause */
	CHECK(decode(BYTES("\x41\x90"), &insn) && !insn.nop); /* xchg %eax,%r8d */
}

static void test_no_instruction(void)
{
	static const uint8_t prefixes[16] = { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
					      0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90 };
	struct cp_insn insn;

	CHECK(!decode(BYTES("\x06\x00\x00\x00\x00\x00\x00\x00"), &insn)); /* push %es */
	CHECK(!decode(BYTES("\x9a\x00\x00\x00\x00\x00\x00\x00"), &insn)); /* far call */
	CHECK(!decode(BYTES("\xff\xff\x00\x00\x00\x00\x00\x00"), &insn));
	CHECK(!decode(BYTES("\x48\xc4\xe3\x79\x0f\xc1\x08\x00"), &insn)); /* REX before VEX */
	CHECK(!decode(BYTES("\x66\xe8\x00\x00\x00\x00\x00\x00"), &insn));
	CHECK(!cp_decode(x86, prefixes, sizeof(prefixes), PC, &insn)); /* more than 15 bytes */
	CHECK(cp_decode(x86, prefixes + 1, sizeof(prefixes) - 1, PC, &insn));
}

/* ---- slots ---- */

static struct cp_step step;
static uint8_t slot[CP_SLOT_SIZE];

static bool prepare(const char *bytes, size_t size, uint64_t at)
{
	return cp_step_prepare(x86, (const uint8_t *)bytes, size, PC, at, slot, &step);
}

static void test_refused(void)
{
	static const struct {
		const char *bytes;
		size_t size;
	} refused[] = {
		{ BYTES("\xcc") },
		{ BYTES("\xf4") },
		{ BYTES("\x0f\x0b") },
		{ BYTES("\xcd\x80") },
		{ BYTES("\x0f\x34") }, /* sysenter */
		{ BYTES("\xc7\xf8\x00\x00\x00\x00") }, /* xbegin */
		{ BYTES("\xff\x28") }, /* ljmp *(%rax) */
		{ BYTES("\xff\x18") }, /* lcall *(%rax) */
		{ BYTES("\xcb") }, /* lret */
		{ BYTES("\x48\xcf") }, /* iretq */
		{ BYTES("\x66\xc3") }, /* retw */
		{ BYTES("\xff\xd4") }, /* call *%rsp */
		{ BYTES("\xff\x54\x24\xf8") }, /* call *-8(%rsp) */
		{ BYTES("\x67\x8b\x05\x00\x00\x00\x00") }, /* mov (%eip),%eax */
		{ BYTES("\x06") },
		{ BYTES("\xe8\x00\x00") },
	};
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(refused); i++) {
		CHECK(!prepare(refused[i].bytes, refused[i].size, SLOT));
		CHECK_U64(step.how, CP_STEP_REFUSED);
	}
}

static void test_reach(void)
{
	static const char load[] = "\x8b\x05\x00\x00\x00\x80"; /* mov -2G(%rip),%eax */

	/* Of the jump back: the slot's end to behind the instruction. */
	CHECK(prepare(BYTES("\x55"), PC + 1 + (UINT64_C(1) << 31) - 6));
	CHECK(!prepare(BYTES("\x55"), PC + 1 + (UINT64_C(1) << 31) - 5));
	CHECK(prepare(BYTES("\x55"), PC + 1 - (UINT64_C(1) << 31) - 5));
	CHECK(!prepare(BYTES("\x55"), PC + 1 - (UINT64_C(1) << 31) - 7));
	/* Of an operand. */
	CHECK(prepare(load, 6, PC));
	CHECK(prepare(load, 6, PC - 0x100));
	CHECK(!prepare(load, 6, PC + 1));
	/* endbr64 needs no slot while we live, but after. */
	CHECK(prepare(BYTES("\xf3\x0f\x1e\xfa"), SLOT));
	CHECK_U64(step.how, CP_STEP_FREE);
	CHECK(!prepare(BYTES("\xf3\x0f\x1e\xfa"), PC + (UINT64_C(1) << 33)));
}

static bool is_slot(const char *bytes, size_t size)
{
	return step.slot_size == size && !memcmp(slot, bytes, size);
}

static void test_slots(void)
{
	/* push %rbp; jmp PC + 1 */
	CHECK(prepare(BYTES("\x55"), PC + 0x1000) && step.done == 1 && step.resume == PC + 1);
	CHECK(is_slot(BYTES("\x55\xe9\xfb\xef\xff\xff")));
	/* cmpl $5,0x100(%rip): the immediate is behind the displacement. */
	CHECK(prepare(BYTES("\x83\x3d\x00\x01\x00\x00\x05"), PC - 0x1000));
	CHECK(is_slot(BYTES("\x83\x3d\x00\x11\x00\x00\x05\xe9\xfb\x0f\x00\x00")));
	CHECK(prepare(BYTES("\xf3\xc3"), SLOT) && is_slot(BYTES("\xf3\xc3")) && !step.done);
	CHECK(prepare(BYTES("\x3e\xff\x25\x00\x00\x00\x00"), PC + 16));
	CHECK(is_slot(BYTES("\x3e\xff\x25\xf0\xff\xff\xff")) && step.indirect_memory);
	CHECK(step.base == RIP && step.index == 0xff && step.disp == 0);
	CHECK(prepare(BYTES("\x75\xfe"), PC + 16) && step.condition == 5);
	CHECK(is_slot(BYTES("\x0f\x85\xea\xff\xff\xff\xe9\xe7\xff\xff\xff")));
	/* call *0x10(%rsp) reads eight bytes further up. */
	CHECK(prepare(BYTES("\xff\x54\x24\x10"), SLOT) && step.disp == 0x10 && step.base == RSP);
	CHECK_U64(step.slot_size, 27);
	CHECK(!memcmp(slot + 20, "\xff\xa4\x24\x18\x00\x00\x00", 7));
}

/* ---- where it goes ---- */

static uint64_t memory_word;

static size_t read_word(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	if (addr != *(const uint64_t *)ctx || size != sizeof(memory_word))
		return 0;
	memcpy(buffer, &memory_word, size);
	return size;
}

static void test_destination(void)
{
	uint64_t at = 0x1000;
	struct cp_reader reader = { .read = read_word, .ctx = &at };
	struct cp_regs regs = { .known = (UINT64_C(1) << 17) - 1 };

	memory_word = 0x1234;
	regs.r[RSP] = at;
	CHECK(prepare(BYTES("\xc3"), SLOT));
	CHECK_U64(cp_step_destination(&step, &regs, 0, &reader), 0x1234);
	regs.r[RSP]++;
	CHECK_U64(cp_step_destination(&step, &regs, 0, &reader), 0);
	CHECK(prepare(BYTES("\xff\xe1"), SLOT)); /* jmp *%rcx */
	regs.r[RCX] = 0x777;
	CHECK_U64(cp_step_destination(&step, &regs, 0, &reader), 0x777);
	regs.known &= ~(UINT64_C(1) << RCX);
	CHECK_U64(cp_step_destination(&step, &regs, 0, &reader), 0);
	/* jmp *0x1000(,%rax,8); with %fs: */
	at = 0x1018;
	regs.r[RAX] = 3;
	CHECK(prepare(BYTES("\xff\x24\xc5\x00\x10\x00\x00"), SLOT));
	CHECK_U64(cp_step_destination(&step, &regs, 0, &reader), 0x1234);
	CHECK(prepare(BYTES("\x64\xff\x24\xc5\x00\x10\x00\x00"), SLOT));
	CHECK_U64(cp_step_destination(&step, &regs, 0, &reader), 0);
	CHECK(prepare(BYTES("\xf3\x0f\x1e\xfa"), SLOT));
	CHECK_U64(cp_step_destination(&step, &regs, 0, &reader), PC + 4);
}

static void test_trap(void)
{
	size_t size;

	CHECK(!memcmp(cp_trap_code(&cp_arch_x86_64, &size), "\xcc", 1) && size == 1);
	CHECK(!memcmp(cp_trap_code(&cp_arch_aarch64, &size), "\x00\x00\x20\xd4", 4) && size == 4);
}

/* ---- AArch64, encoded by the manual (C6.2) ---- */

static const struct {
	uint32_t insn;
	uint8_t flow;
	uint64_t target;
} arm_decodings[] = {
	{ 0xa9bf7bfd, CP_FLOW_ON, 0 }, /* stp x29, x30, [sp, #-16]! */
	{ 0x14000000, CP_FLOW_JUMP, PC }, /* b . */
	{ 0x17ffffff, CP_FLOW_JUMP, PC - 4 }, /* b .-4 */
	{ 0x94000002, CP_FLOW_CALL, PC + 8 }, /* bl .+8 */
	{ 0x54000041, CP_FLOW_BRANCH, PC + 8 }, /* b.ne .+8 */
	{ 0x54ffffe0, CP_FLOW_BRANCH, PC - 4 }, /* b.eq .-4 */
	{ 0xb4000060, CP_FLOW_BRANCH, PC + 12 }, /* cbz x0, .+12 */
	{ 0x35ffffc1, CP_FLOW_BRANCH, PC - 8 }, /* cbnz w1, .-8 */
	{ 0x36080040, CP_FLOW_BRANCH, PC + 8 }, /* tbz w0, #1, .+8 */
	{ 0xb7ffffe3, CP_FLOW_BRANCH, PC - 4 }, /* tbnz x3, #63, .-4 */
	{ 0xd61f0200, CP_FLOW_JUMP_INDIRECT, 0 }, /* br x16 */
	{ 0xd63f0000, CP_FLOW_CALL_INDIRECT, 0 }, /* blr x0 */
	{ 0xd65f03c0, CP_FLOW_RETURN, 0 }, /* ret */
	{ 0xd65f0bff, CP_FLOW_RETURN, 0 }, /* retaa */
	{ 0xd71f0a11, CP_FLOW_JUMP_INDIRECT, 0 }, /* braa x16, x17 */
	{ 0xd73f0a11, CP_FLOW_CALL_INDIRECT, 0 }, /* blraa x16, x17 */
	{ 0xd4000001, CP_FLOW_SYSCALL, 0 }, /* svc #0 */
	{ 0xd4200000, CP_FLOW_END, 0 }, /* brk #0 */
	{ 0xd4207d00, CP_FLOW_END, 0 }, /* brk #1000 */
	{ 0x00000000, CP_FLOW_END, 0 }, /* udf #0 */
	{ 0xd503201f, CP_FLOW_ON, 0 }, /* nop */
	{ 0xd503233f, CP_FLOW_ON, 0 }, /* paciasp */
};

static bool arm_decode(uint32_t word, struct cp_insn *ret)
{
	uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			    (uint8_t)(word >> 24) };

	return cp_decode(arm, code, 4, PC, ret);
}

static void test_aarch64(void)
{
	struct cp_insn insn;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(arm_decodings); i++) {
		CHECK(arm_decode(arm_decodings[i].insn, &insn));
		CHECK_U64(insn.size, 4);
		CHECK_U64(insn.flow, arm_decodings[i].flow);
		CHECK_U64(insn.target, arm_decodings[i].target);
	}
	CHECK(arm_decode(0xd503245f, &insn) && insn.landing_pad); /* bti c */
	CHECK(arm_decode(0xd50324df, &insn) && insn.landing_pad); /* bti jc */
	CHECK(arm_decode(0xd503201f, &insn) && insn.nop && !insn.landing_pad);
	CHECK(!cp_decode(arm, slot, 3, PC, &insn));
	CHECK(!cp_step_prepare(arm, (const uint8_t *)"\x1f\x20\x03\xd5", 4, PC, SLOT, slot, &step));
	CHECK_U64(step.how, CP_STEP_REFUSED);
}

/* Registers by DWARF number: rax 0, rdx 1, rcx 2, rbx 3, rsi 4, rdi 5, rbp 6, rsp 7. */
static const struct {
	const char *bytes;
	uint8_t size, to, from;
	uint16_t written;
	uint64_t slot;
} moving[] = {
	{ BYTES("\xff\x15\x10\x00\x00\x00"), 0xff, 0xff, 0x0f37, PC + 0x16 }, /* call *0x10(%rip) */
	{ BYTES("\xff\x25\x10\x00\x00\x00"), 0xff, 0xff, 0, PC + 0x16 }, /* jmp */
	{ BYTES("\x64\xff\x15\x10\x00\x00\x00"), 0xff, 0xff, 0x0f37, 0 }, /* %fs: */
	{ BYTES("\xff\x50\x10"), 0xff, 0xff, 0x0f37, 0 }, /* call *0x10(%rax) */
	{ BYTES("\x41\xff\xd5"), 0xff, 13, 0x0f37, 0 }, /* call *%r13 */
	{ BYTES("\xff\xe0"), 0xff, 0, 0, 0 }, /* jmp *%rax */
	{ BYTES("\x48\x8b\x1d\x10\x00\x00\x00"), 3, 0xff, 1u << 3, PC + 0x17 }, /* mov, to rbx */
	{ BYTES("\x8b\x1d\x10\x00\x00\x00"), 0xff, 0xff, 1u << 3, 0 }, /* half of it */
	{ BYTES("\x4c\x89\xed"), 6, 13, 1u << 6, 0 }, /* mov %r13,%rbp */
	{ BYTES("\x49\x8b\xde"), 3, 14, 1u << 3, 0 }, /* mov %r14,%rbx */
	{ BYTES("\x48\x89\x44\x24\x08"), 0xff, 0xff, 0, 0 }, /* mov %rax,8(%rsp) */
	{ BYTES("\x48\x8d\x1d\x10\x00\x00\x00"), 0xff, 0xff, 1u << 3, 0 }, /* lea: no load */
	{ BYTES("\x31\xdb"), 0xff, 0xff, 1u << 3, 0 }, /* xor %ebx,%ebx */
	{ BYTES("\xb7\x01"), 0xff, 0xff, 1u << 3, 0 }, /* mov $1,%bh */
	{ BYTES("\x48\x87\xd9"), 0xff, 0xff, 1u << 3 | 1u << 2, 0 }, /* xchg %rbx,%rcx */
	{ BYTES("\x5b"), 0xff, 0xff, 1u << 3 | 1u << 7, 0 }, /* pop %rbx */
	{ BYTES("\x48\x85\xdb"), 0xff, 0xff, 0, 0 }, /* test %rbx,%rbx */
	{ BYTES("\x48\x39\xd8"), 0xff, 0xff, 0, 0 }, /* cmp %rbx,%rax */
	{ BYTES("\x0f\xa2"), 0xff, 0xff, 0xf, 0 }, /* cpuid */
	{ BYTES("\x74\x10"), 0xff, 0xff, 1u << 2, 0 }, /* je; as loop counts down in rcx */
	{ BYTES("\x06"), 0xff, 0xff, 0xffff, 0 }, /* none */
};

static void test_moves(void)
{
	struct cp_moves m;
	size_t i;

	for (i = 0; i < sizeof(moving) / sizeof(moving[0]); i++) {
		cp_decode_moves(x86, (const uint8_t *)moving[i].bytes, moving[i].size, PC, &m);
		CHECK_U64(m.to, moving[i].to);
		CHECK_U64(m.from, moving[i].from);
		CHECK_U64(m.written, moving[i].written);
		CHECK_U64(m.slot, moving[i].slot);
	}
	cp_decode_moves(arm, (const uint8_t *)"\x00\x00\x00\x00", 4, PC, &m);
	CHECK_U64(m.written, 0xffff);
}

int main(void)
{
	x86 = cp_decoder_create(&cp_arch_x86_64);
	arm = cp_decoder_create(&cp_arch_aarch64);
	if (!x86 || !arm)
		return 1;
	test_decoding();
	test_padding();
	test_no_instruction();
	test_refused();
	test_reach();
	test_slots();
	test_destination();
	test_trap();
	test_aarch64();
	test_moves();
	cp_decoder_destroy(x86);
	cp_decoder_destroy(arm);
	TEST_MAIN_END;
}

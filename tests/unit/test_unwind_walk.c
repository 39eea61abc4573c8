/* SPDX-License-Identifier: MIT
 *
 * Walks over processes made by hand: what real programs on this machine don't
 * show. Another ISA, broken stacks, circles, odd indexes, signal trampolines
 * without call frame information, mappings that change.
 */
#include "test.h"
#include "unwind/dwarf.h"
#include "unwind/paths.h"
#include "unwind/unwind.h"

#include <elf.h>

#define BASE UINT64_C(0x555500000000)
#define STACK UINT64_C(0x7ffe00000000)
#define HDR 0x200u /* offsets in the object */
#define EH_FRAME 0x300u
#define TEXT 0x1000u
#define SIZE 0x2000u
#define BIT(n) (UINT64_C(1) << (n))

enum { RBX = 3, RBP = 6, RSP = 7, RIP = 16, X29 = 29, X30 = 30, SP = 31, PC = 32 };

struct process {
	const struct cp_arch *arch;
	uint8_t object[SIZE];
	uint64_t stack[512];
	size_t eh_size, fdes;
	struct {
		uint32_t pc, fde;
	} index[16];
	size_t reads;
};

static struct process process;
static struct cp_unwind_space *space;
static struct cp_frame frames[64];
static size_t count;
static enum cp_unwind_end end;

static size_t read_memory(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	struct process *p = ctx;
	uint64_t offset = addr - BASE;

	p->reads++;
	if (offset >= SIZE)
		return 0;
	if (size > SIZE - offset)
		size = SIZE - offset;
	memcpy(buffer, p->object + offset, size);
	return size;
}

static const struct cp_reader memory = { read_memory, &process };

static void put_eh(const void *bytes, size_t size)
{
	memcpy(process.object + EH_FRAME + process.eh_size, bytes, size);
	process.eh_size += size;
}

static void put_entry(const uint8_t *head, size_t head_size, const uint8_t *program, size_t size)
{
	uint32_t length = (uint32_t)((head_size + size + 4 + 7) & ~7u) - 4;
	uint8_t padding[8] = { 0 };

	put_eh(&length, 4);
	put_eh(head, head_size);
	put_eh(program, size);
	put_eh(padding, length - head_size - size);
}

/* The CIE that all following functions have; where it is. */
static uint32_t put_cie(const char *augmentation, const uint8_t *program, size_t size)
{
	uint32_t at = (uint32_t)process.eh_size;
	bool arm = process.arch == &cp_arch_aarch64;
	uint8_t head[32] = { 0, 0, 0, 0, 1 };
	size_t n = 5;

	memcpy(head + n, augmentation, strlen(augmentation) + 1);
	n += strlen(augmentation) + 1;
	head[n++] = arm ? 4 : 1;
	head[n++] = 0x78;
	head[n++] = arm ? X30 : RIP;
	head[n++] = 1;
	head[n++] = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
	put_entry(head, n, program, size);
	return at;
}

static void put_fde(uint32_t cie, uint32_t start, uint32_t size, const uint8_t *program,
		    size_t program_size)
{
	uint32_t at = (uint32_t)process.eh_size;
	uint32_t head[3] = { at + 4 - cie, start - (EH_FRAME + at + 8), size };
	uint8_t bytes[13] = { 0 };

	memcpy(bytes, head, sizeof(head));
	process.index[process.fdes].pc = start;
	process.index[process.fdes++].fde = EH_FRAME + at;
	put_entry(bytes, sizeof(bytes), program, program_size);
}

static void put_headers(bool hdr)
{
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = process.arch->e_machine,
		.e_phoff = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = hdr ? 2 : 1,
	};
	Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = SIZE, .p_filesz = SIZE },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = HDR },
	};

	memcpy(process.object, &eh, sizeof(eh));
	memcpy(process.object + sizeof(eh), ph, sizeof(ph));
}

/* .eh_frame_hdr with a table of one of the encodings there are, or none. */
static void put_hdr(uint8_t encoding)
{
	uint8_t head[4] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4, encoding };
	uint32_t eh_frame = EH_FRAME - (HDR + 4);
	uint32_t n = (uint32_t)process.fdes;
	bool wide = (encoding & 0x0f) == DW_EH_PE_sdata8;
	uint8_t *to = process.object + HDR;
	size_t i;

	memcpy(to, head, 4);
	memcpy(to + 4, &eh_frame, 4);
	memcpy(to + 8, &n, 4);
	to += 12;
	for (i = 0; encoding != DW_EH_PE_omit && i < process.fdes * 2; i++) {
		int64_t value = i & 1 ? process.index[i / 2].fde : process.index[i / 2].pc;

		if ((encoding & 0x70) == DW_EH_PE_datarel)
			value -= HDR;
		else
			value += (int64_t)BASE; /* as the dynamic linker relocates it */
		memcpy(to, &value, wide ? 8 : 4);
		to += wide ? 8 : 4;
	}
}

static void map(uint64_t inode)
{
	struct cp_unwind_mapping m = { .start = BASE,
				       .end = BASE + SIZE,
				       .inode = inode,
				       .path = inode ? "/made/up" : "",
				       .executable = true };

	CHECK_OK(cp_unwind_space_set_mappings(space, &m, 1));
}

static void begin(const struct cp_arch *arch)
{
	memset(&process, 0, sizeof(process));
	process.arch = arch;
	CHECK_OK(cp_unwind_space_create(arch, &memory, NULL, &space));
}

static void finish(void)
{
	cp_unwind_space_destroy(space);
}

static void code(uint32_t at, const void *bytes, size_t size)
{
	memcpy(process.object + at, bytes, size);
}

/* call rel32 so that it returns to `at` */
static void call(uint32_t at, uint32_t target)
{
	int32_t rel = (int32_t)(target - at);
	uint8_t bytes[5] = { 0xe8 };

	memcpy(bytes + 1, &rel, 4);
	code(at - 5, bytes, 5);
}

static struct cp_unwind_capture capture(uint64_t pc, uint64_t fp, uint64_t known)
{
	struct cp_unwind_capture c = { .stack_base = STACK,
				       .stack = (const uint8_t *)process.stack,
				       .stack_size = sizeof(process.stack) };
	const struct cp_arch *arch = process.arch;

	c.regs.known = known;
	c.regs.r[arch->pc] = pc;
	c.regs.r[arch->sp] = STACK;
	c.regs.r[arch->fp] = fp;
	if (!arch->ret_size)
		c.regs.r[arch->lr] = BASE + TEXT + 0x14;
	return c;
}

static void walk(enum cp_unwinder by, uint64_t pc, uint64_t fp, uint64_t known, size_t max)
{
	struct cp_unwind_capture c = capture(pc, fp, known);

	cp_unwind_walk(space, by, &c, frames, max, &count, &end);
}

#define ALL UINT64_MAX
#define PROGRAM(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* main at TEXT, which nothing called; leaf at TEXT + 0x100. */
static void put_two_functions(void)
{
	uint32_t cie = put_cie("zR", PROGRAM(DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RIP, 1));

	put_fde(cie, TEXT, 0x80, PROGRAM(DW_CFA_undefined, RIP));
	put_fde(cie, TEXT + 0x100, 0x80,
		PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | RBX, 2));
	call(TEXT + 0x20, TEXT + 0x100);
	put_eh(&(uint32_t){ 0 }, 4);
	process.stack[0] = 0xbbbb; /* rbx */
	process.stack[1] = BASE + TEXT + 0x20;
}

static void check_two_frames(void)
{
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, ALL, 64);
	CHECK_U64(count, 2);
	CHECK_U64(end, CP_UNWIND_END_ROOT);
	CHECK_U64(frames[1].pc.v, BASE + TEXT + 0x20);
	CHECK_U64(frames[0].cfa.v, STACK + 16);
	CHECK_U64(frames[0].flags, CP_FRAME_EXACT_PC);
	CHECK_U64(frames[0].by, CP_UNWIND_BY_CFI);
	CHECK_U64(frames[1].by, CP_UNWIND_BY_NOTHING);
	CHECK_U64(frames[1].flags, 0);
	CHECK_U64(frames[1].regs.r[RBX], 0xbbbb);
	CHECK_U64(frames[1].regs.known, cp_arch_x86_64.callee_saved);
}

/* Every way that the functions' list can be written, or be missing. */
static void test_indexes(void)
{
	static const uint8_t encodings[] = { DW_EH_PE_datarel | DW_EH_PE_sdata4,
					     DW_EH_PE_datarel | DW_EH_PE_udata4,
					     DW_EH_PE_datarel | DW_EH_PE_sdata8,
					     DW_EH_PE_sdata8,
					     DW_EH_PE_datarel | DW_EH_PE_uleb128,
					     DW_EH_PE_omit,
					     0 };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(encodings); i++) {
		begin(&cp_arch_x86_64);
		put_two_functions();
		put_headers(encodings[i] != 0); /* 0: no header leads there */
		put_hdr(encodings[i]);
		map(7);
		check_two_frames();
		finish();
	}
}

/* A walk whose pcs are known reads nothing but the copy. */
static void test_warm(void)
{
	begin(&cp_arch_x86_64);
	put_two_functions();
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	map(7);
	check_two_frames();
	process.reads = 0;
	check_two_frames();
	CHECK_U64(process.reads, 0);
	map(8); /* another file there: all is new */
	check_two_frames();
	CHECK(process.reads > 0);
	finish();
}

static void test_ends(void)
{
	begin(&cp_arch_x86_64);
	put_two_functions();
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	map(7);
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, ALL, 1);
	CHECK_U64(count, 1);
	CHECK_U64(end, CP_UNWIND_END_MAX);
	process.stack[1] = 0;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, ALL, 64);
	CHECK_U64(end, CP_UNWIND_END_ROOT);
	process.stack[1] = 0x1234;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, ALL, 64);
	CHECK_U64(count, 1);
	CHECK_U64(end, CP_UNWIND_END_UNMAPPED);
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, BIT(RIP), 64);
	CHECK_U64(count, 1);
	CHECK_U64(end, CP_UNWIND_END_NO_INFO);
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, 0, 64);
	CHECK_U64(count, 0);
	finish();
}

/* main calls a function with a frame pointer, which calls a leaf without, whose rule `rule` adds
 * to. */
static void put_three_functions(const uint8_t *rule, size_t size)
{
	uint32_t cie = put_cie("zR", PROGRAM(DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RIP, 1));

	put_fde(cie, TEXT, 0x80, PROGRAM(DW_CFA_undefined, RIP));
	put_fde(cie, TEXT + 0x100, 0x80, PROGRAM(DW_CFA_def_cfa, RBP, 16, DW_CFA_offset | RBP, 2));
	put_fde(cie, TEXT + 0x200, 0x80, rule, size);
	call(TEXT + 0x20, TEXT + 0x100);
	call(TEXT + 0x120, TEXT + 0x200);
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	map(7);
	process.stack[0] = BASE + TEXT + 0x120;
	process.stack[10] = STACK + 40 * 8; /* another one that could be it */
	process.stack[11] = BASE + TEXT + 0x20;
	process.stack[20] = 0xfefe; /* rbp */
	process.stack[21] = BASE + TEXT + 0x20;
}

/* At the end of an epilogue the rule still has what was taken off the stack below it, where no
 * copy has it. */
static void check_epilogue(const uint8_t *rule, size_t size)
{
	begin(&cp_arch_x86_64);
	put_three_functions(rule, size);
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x210, STACK + 20 * 8, ALL, 64);
	CHECK_U64(count, 3);
	CHECK_U64(end, CP_UNWIND_END_ROOT);
	CHECK_U64(frames[1].by, CP_UNWIND_BY_CFI);
	CHECK_U64(frames[1].cfa.v, STACK + 22 * 8);
	CHECK_U64(frames[2].regs.r[RBP], 0xfefe);
	CHECK(!(frames[2].flags & CP_FRAME_GUESSED));
	finish();
}

static void test_epilogue(void)
{
	check_epilogue(PROGRAM(DW_CFA_offset | RBP, 2));
	check_epilogue(PROGRAM(DW_CFA_offset | RBP, 2, DW_CFA_val_offset, RBX, 1));
}

#ifdef __x86_64__
/* Is the path found with this word of the stack changed, and is it right: is the walk the same? */
static bool holds_with(const struct cp_unwind_paths *paths, size_t at, uint64_t value)
{
	struct cp_unwind_capture c = capture(BASE + TEXT + 0x210, STACK + 20 * 8, ALL);
	uint64_t before = process.stack[at], found = 0;
	bool ret;

	process.stack[at] = value;
	ret = cp_unwind_paths_find(paths, &c, &found);
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x210, STACK + 20 * 8, ALL, 64);
	process.stack[at] = before;
	CHECK(!ret ||
	      (found == 77 && count == 3 && end == CP_UNWIND_END_ROOT &&
	       frames[1].pc.v == BASE + TEXT + 0x120 && frames[2].pc.v == BASE + TEXT + 0x20));
	return ret;
}

/* A walk is known again by the words that it depends on, and by no others. */
static void test_paths(void)
{
	struct cp_unwind_paths *paths = cp_unwind_paths_create();
	struct cp_unwind_capture c;
	uint64_t value;

	begin(&cp_arch_x86_64);
	put_three_functions(PROGRAM(DW_CFA_offset | RBP, 2));
	c = capture(BASE + TEXT + 0x210, STACK + 20 * 8, ALL);
	CHECK(!cp_unwind_paths_find(paths, &c, &value));
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x210, STACK + 20 * 8, ALL, 64);
	CHECK(cp_unwind_paths_add(paths, space, &c, frames, count, end, 77));
	CHECK(holds_with(paths, 5, 0x1234)); /* nobody's */
	CHECK(holds_with(paths, 11, 0x1234));
	CHECK(holds_with(paths, 20, 0x1234)); /* saved, but needed for no frame */
	CHECK(!holds_with(paths, 0, BASE + TEXT + 0x124));
	CHECK(!holds_with(paths, 21, BASE + TEXT + 0x24));
	c.regs.r[RBP] = STACK + 10 * 8;
	CHECK(!cp_unwind_paths_find(paths, &c, &value));
	c.regs.r[RBP] = STACK + 20 * 8;
	c.regs.known &= ~BIT(RBP);
	CHECK(!cp_unwind_paths_find(paths, &c, &value));
	c.regs.known = ALL;
	c.stack_size = 64;
	CHECK(!cp_unwind_paths_find(paths, &c, &value));
	cp_unwind_walk(space, CP_UNWINDER_OWN, &c, frames, 64, &count, &end);
	CHECK_U64(end, CP_UNWIND_END_CUT);
	CHECK(cp_unwind_paths_add(paths, space, &c, frames, count, end, 78));
	CHECK(cp_unwind_paths_find(paths, &c, &value));
	CHECK_U64(value, 78);
	c.regs.known = BIT(RIP) | BIT(RSP); /* the caller is found by a guess */
	c.stack_size = sizeof(process.stack);
	cp_unwind_walk(space, CP_UNWINDER_OWN, &c, frames, 64, &count, &end);
	CHECK(count > 1);
	CHECK(!cp_unwind_paths_add(paths, space, &c, frames, count, end, 79));
	cp_unwind_paths_clear(paths);
	c.regs.known = ALL;
	CHECK(!cp_unwind_paths_find(paths, &c, &value));
	finish();
	cp_unwind_paths_destroy(paths);
}
#else
static void test_paths(void)
{
	puts("unwind paths: nothing to test: this machine's detours tell no stacks");
}
#endif

/* CFI that leads round in a circle, or down the stack. */
static void test_circles(void)
{
	uint32_t cie;

	begin(&cp_arch_x86_64);
	cie = put_cie("zR", PROGRAM(DW_CFA_def_cfa, RBP, 0, DW_CFA_offset | RIP, 1));
	put_fde(cie, TEXT, 0x80, PROGRAM(DW_CFA_offset | RBP, 2));
	put_fde(cie, TEXT + 0x100, 0x80, PROGRAM(DW_CFA_def_cfa, RSP, 0));
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	map(7);
	process.stack[20] = STACK + 38 * 8; /* two frames that are each other's caller */
	process.stack[21] = BASE + TEXT + 0x20;
	process.stack[36] = STACK + 22 * 8;
	process.stack[37] = BASE + TEXT + 0x30;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x10, STACK + 22 * 8, ALL, 64);
	CHECK_U64(end, CP_UNWIND_END_BAD);
	CHECK(count < 64);
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, ALL, 64);
	CHECK_U64(count, 1);
	CHECK_U64(end, CP_UNWIND_END_BAD);
	/* beyond the copy */
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x10, STACK + sizeof(process.stack) + 64, ALL, 64);
	CHECK_U64(count, 1);
	CHECK_U64(end, CP_UNWIND_END_CUT);
	finish();
}

/* A handler whose trampoline has no CFI, as musl's: behind it every register
 * is known again. */
static void test_sigframe(void)
{
	static const uint8_t trampoline[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5 };
	uint64_t *uc = process.stack + 2;
	unsigned i;

	begin(&cp_arch_x86_64);
	put_two_functions();
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	code(TEXT + 0x180, trampoline, sizeof(trampoline));
	map(7);
	process.stack[1] = BASE + TEXT + 0x180;
	for (i = 0; i < 17; i++)
		uc[cp_arch_x86_64.sigframe[i] / 8] = 0x1000 + i;
	uc[cp_arch_x86_64.sigframe[RIP] / 8] = BASE + TEXT + 0x100; /* its first instruction */
	uc[cp_arch_x86_64.sigframe[RSP] / 8] = STACK + 400 * 8;
	process.stack[400] = BASE + TEXT + 0x20;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, ALL, 64);
	CHECK_U64(count, 4);
	CHECK_U64(frames[1].flags, CP_FRAME_SIGNAL);
	CHECK_U64(frames[1].by, CP_UNWIND_BY_SIGFRAME);
	CHECK_U64(frames[2].flags, CP_FRAME_EXACT_PC);
	CHECK_U64(frames[2].regs.known, BIT(17) - 1);
	CHECK_U64(frames[2].regs.r[0], 0x1000);
	CHECK_U64(frames[2].cfa.v, STACK + 401 * 8);
	CHECK_U64(frames[3].pc.v, BASE + TEXT + 0x20);
	CHECK_U64(end, CP_UNWIND_END_ROOT);
	/* and when the thread is in the trampoline itself */
	memmove(process.stack, process.stack + 2, sizeof(process.stack) - 16);
	process.stack[400] = BASE + TEXT + 0x20;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x187, 0, ALL, 64);
	CHECK_U64(count, 3);
	CHECK_U64(frames[0].flags, CP_FRAME_SIGNAL | CP_FRAME_EXACT_PC);
	finish();
}

/* Code without CFI, mapped anonymously: just called; with a frame pointer;
 * with neither; and a call through a null pointer. */
static void test_guesses(void)
{
	begin(&cp_arch_x86_64);
	put_two_functions();
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	call(TEXT + 0x30, TEXT + 0x800);
	code(TEXT + 0x3e, "\xff\xd0", 2); /* call *%rax */
	map(7);
	process.stack[0] = BASE + TEXT + 0x30;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x800, 0, ALL, 64);
	CHECK_U64(count, 2);
	CHECK_U64(frames[0].by, CP_UNWIND_BY_CALL);
	CHECK_U64(frames[1].flags, 0);
	CHECK_U64(frames[1].regs.known, cp_arch_x86_64.callee_saved);

	process.stack[0] = BASE + TEXT + 0x40;
	walk(CP_UNWINDER_OWN, 0, 0, ALL, 64);
	CHECK_U64(count, 2);
	CHECK_U64(frames[1].pc.v, BASE + TEXT + 0x40);
	process.stack[0] = BASE + TEXT + 0x41; /* behind no call */
	walk(CP_UNWINDER_OWN, 0, 1, ALL, 64);
	CHECK_U64(count, 1);
	CHECK_U64(end, CP_UNWIND_END_NO_INFO);

	process.stack[1] = 0;
	process.stack[11] = BASE + TEXT + 0x30;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x810, STACK + 80, ALL, 64);
	CHECK_U64(count, 2);
	CHECK_U64(frames[0].by, CP_UNWIND_BY_FP);
	CHECK_U64(frames[1].flags, CP_FRAME_GUESSED);
	CHECK_U64(frames[1].regs.known, BIT(RIP) | BIT(RSP) | BIT(RBP));
	walk(CP_UNWINDER_FP, BASE + TEXT + 0x810, STACK + 80, ALL, 64);
	CHECK_U64(count, 2);
	CHECK_U64(end, CP_UNWIND_END_ROOT);

	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x810, 0x1234567, ALL, 64);
	CHECK_U64(count, 2);
	CHECK_U64(frames[0].by, CP_UNWIND_BY_SCAN);
	CHECK_U64(frames[0].cfa.v, STACK + 96);
	finish();
}

/* Code that is made at run time recurses: it may change from walk to walk, and not under one. */
static void test_made_code(void)
{
	enum { FRAMES = 60 };
	size_t i, once;

	begin(&cp_arch_x86_64);
	call(TEXT + 0x120, TEXT + 0x100);
	map(0);
	for (i = 0; i < FRAMES; i++) {
		process.stack[4 * i] = STACK + 32 * (i + 1);
		process.stack[4 * i + 1] = BASE + TEXT + 0x120;
	}
	process.stack[4 * (FRAMES - 1)] = 0;
	process.reads = 0;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, STACK, ALL, 64);
	CHECK(count > FRAMES - 2);
	CHECK_U64(frames[FRAMES / 2].by, CP_UNWIND_BY_FP);
	once = process.reads;
	CHECK(once < FRAMES / 2);
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, STACK, ALL, 64);
	CHECK(process.reads > once);
	finish();
}

/* A function with a frame pointer that is not known; an old frame lies in the
 * part of the stack that it has reserved. */
static void test_blocked(void)
{
	/* push %rbp; mov %rsp, %rbp; sub $64, %rsp */
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 64 };
	uint32_t cie;

	begin(&cp_arch_x86_64);
	cie = put_cie("zR", PROGRAM(DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RIP, 1));
	put_fde(cie, TEXT, 0x80, PROGRAM(DW_CFA_undefined, RIP));
	put_fde(cie, TEXT + 0x100, 0x80,
		PROGRAM(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | RBP, 2,
			DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, RBP));
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	call(TEXT + 0x20, TEXT + 0x100);
	call(TEXT + 0x40, TEXT + 0x100);
	code(TEXT + 0x100, prologue, sizeof(prologue));
	map(7);
	process.stack[2] = STACK + 200;
	process.stack[3] = BASE + TEXT + 0x40; /* old */
	process.stack[8] = STACK + 200;
	process.stack[9] = BASE + TEXT + 0x20;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, BIT(RIP) | BIT(RSP), 64);
	CHECK_U64(count, 2);
	CHECK_U64(frames[1].pc.v, BASE + TEXT + 0x20);
	CHECK_U64(frames[1].flags, CP_FRAME_GUESSED);
	CHECK_U64(frames[0].by, CP_UNWIND_BY_SCAN);
	CHECK_U64(frames[1].regs.known, BIT(RIP) | BIT(RSP) | BIT(RBP));
	CHECK_U64(frames[1].regs.r[RBP], STACK + 200);
	CHECK_U64(end, CP_UNWIND_END_ROOT);
	finish();
}

/* AArch64: a leaf that keeps its return address in x30, and a frame whose
 * saved one carries an authentication code. */
static void test_aarch64(void)
{
	uint32_t cie;

	begin(&cp_arch_aarch64);
	cie = put_cie("zR", PROGRAM(DW_CFA_def_cfa, SP, 0));
	put_fde(cie, TEXT, 0x80,
		PROGRAM(DW_CFA_AARCH64_negate_ra_state, DW_CFA_def_cfa_offset, 32,
			DW_CFA_offset | X29, 4, DW_CFA_offset | X30, 3));
	put_fde(cie, TEXT + 0x100, 0x80, PROGRAM(DW_CFA_nop));
	put_fde(cie, TEXT + 0x200, 0x80, PROGRAM(DW_CFA_undefined, X30));
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	map(7);
	process.stack[0] = 0x2929;
	process.stack[1] = (BASE + TEXT + 0x220) | UINT64_C(0x0012) << 48;
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x100, 0, ALL >> 31, 64);
	CHECK_U64(count, 3);
	CHECK_U64(frames[0].cfa.v, STACK);
	CHECK_U64(frames[1].pc.v, BASE + TEXT + 0x14);
	CHECK_U64(frames[1].cfa.v, STACK + 32);
	CHECK_U64(frames[2].pc.v, BASE + TEXT + 0x220);
	CHECK_U64(frames[2].regs.r[X29], 0x2929);
	CHECK_U64(end, CP_UNWIND_END_ROOT);
	finish();
}

/* Text moved to anonymous memory (huge pages) inside an object. */
static void test_moved_text(void)
{
	struct cp_unwind_mapping m[] = {
		{ .start = BASE, .end = BASE + TEXT, .inode = 7, .path = "/made/up" },
		{ .start = BASE + TEXT, .end = BASE + SIZE, .path = "", .executable = true },
	};

	begin(&cp_arch_x86_64);
	put_two_functions();
	put_headers(true);
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	CHECK_OK(cp_unwind_space_set_mappings(space, m, CP_ARRAY_SIZE(m)));
	check_two_frames();
	CHECK(cp_unwind_space_covers(space, BASE + TEXT));
	CHECK(!cp_unwind_space_covers(space, BASE + SIZE));
	CHECK(!cp_unwind_space_covers(space, BASE + TEXT - 1));
	finish();
}

/* Text that lld placed so that its mapping, too, begins at file offset 0: a
 * page before it, the same page of the file holds the headers. */
static void test_shared_page(void)
{
	struct cp_unwind_mapping m[] = {
		{ .start = BASE, .end = BASE + TEXT, .inode = 7, .path = "/made/up" },
		{ .start = BASE + TEXT,
		  .end = BASE + SIZE,
		  .inode = 7,
		  .path = "/made/up",
		  .executable = true },
	};
	Elf64_Phdr text = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEXT, .p_memsz = SIZE - TEXT
	};
	Elf64_Phdr first = { .p_type = PT_LOAD, .p_flags = PF_R, .p_memsz = TEXT };
	Elf64_Ehdr eh;

	begin(&cp_arch_x86_64);
	put_two_functions();
	put_headers(true);
	memcpy(&eh, process.object, sizeof(eh));
	eh.e_phnum = 3;
	memcpy(process.object, &eh, sizeof(eh));
	memcpy(process.object + sizeof(eh), &first, sizeof(first));
	memcpy(process.object + sizeof(eh) + 2 * sizeof(first), &text, sizeof(text));
	memcpy(process.object + TEXT, process.object, 0x200); /* the same page of the file */
	put_hdr(DW_EH_PE_datarel | DW_EH_PE_sdata4);
	CHECK_OK(cp_unwind_space_set_mappings(space, m, CP_ARRAY_SIZE(m)));
	walk(CP_UNWINDER_OWN, BASE + TEXT + 0x110, 0, ALL, 64);
	CHECK_U64(frames[0].by, CP_UNWIND_BY_CFI);
	CHECK_U64(frames[0].cfa.v, STACK + 16);
	finish();
}

int main(void)
{
	test_indexes();
	test_warm();
	test_made_code();
	test_ends();
	test_epilogue();
	test_paths();
	test_circles();
	test_sigframe();
	test_guesses();
	test_blocked();
	test_aarch64();
	test_moved_text();
	test_shared_page();
	TEST_MAIN_END;
}

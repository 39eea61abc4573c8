/* SPDX-License-Identifier: MIT
 *
 * The unwinder, from ELF headers to guesses. The input is a process: after a
 * header of 8 bytes, what it has mapped at BASE, code, unwind data and stack
 * in one. Header: a byte of flags, the leaf's pc, sp and frame pointer as
 * offsets (16 bits each), and a byte that is not used.
 *
 * With FLAG_SECTION the bytes are not an ELF file, but a section out of one,
 * which is handed in through the door for files.
 */
#include "unwind/unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define BASE UINT64_C(0x10000)
#define HEADER 8

#define FLAG_AARCH64 1
#define FLAG_BLOCKED 2 /* only pc and sp are known */
#define FLAG_SECTION 4
#define FLAG_DEBUG_FRAME 8
#define FLAG_COPY 16 /* the stack is a copy, of the second half */

struct process {
	const uint8_t *bytes;
	size_t size;
	unsigned flags;
	uint8_t made[1024]; /* FLAG_SECTION: ELF headers */
};

static size_t read_process(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	const struct process *p = ctx;
	const uint8_t *from = p->bytes;
	size_t have = p->size;

	if (p->flags & FLAG_SECTION) {
		from = p->made;
		have = sizeof(p->made);
	}
	if (addr < BASE || addr - BASE >= have)
		return 0;
	if (size > have - (addr - BASE))
		size = have - (addr - BASE);
	memcpy(buffer, from + (addr - BASE), size);
	return size;
}

static size_t find_sections(void *ctx, const struct cp_unwind_mapping *object,
			    struct cp_unwind_section *ret, size_t max)
{
	const struct process *p = ctx;

	(void)object;
	if (!(p->flags & FLAG_SECTION) || !max)
		return 0;
	ret[0] = (struct cp_unwind_section){
		.bytes = p->bytes,
		.size = p->size,
		.addr = { p->flags & FLAG_DEBUG_FRAME ? 0 : BASE + 0x800 },
		.debug_frame = p->flags & FLAG_DEBUG_FRAME,
	};
	return 1;
}

static void make_headers(struct process *p, const struct cp_arch *arch)
{
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_machine = arch->e_machine,
		.e_phoff = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_vaddr = BASE, .p_memsz = 0x20000, .p_flags = PF_X };

	memcpy(p->made, &eh, sizeof(eh));
	memcpy(p->made + sizeof(eh), &ph, sizeof(ph));
}

static uint16_t field(const uint8_t *header, size_t at)
{
	return (uint16_t)(header[at] | header[at + 1] << 8);
}

static void walk(struct cp_unwind_space *space, const struct cp_arch *arch, const struct process *p,
		 const uint8_t *header)
{
	static struct cp_frame frames[128];
	struct cp_unwind_capture capture = {
		.stack_base = BASE + p->size / 2,
		.stack = p->bytes + p->size / 2,
		.stack_size = p->flags & FLAG_COPY ? p->size - p->size / 2 : 0,
		.held = !(p->flags & FLAG_COPY),
	};
	enum cp_unwind_end end;
	size_t count;

	capture.regs.known = (UINT64_C(1) << arch->nregs) - 1;
	if (p->flags & FLAG_BLOCKED)
		capture.regs.known = UINT64_C(1) << arch->pc | UINT64_C(1) << arch->sp;
	capture.regs.r[arch->pc] = BASE + field(header, 1);
	capture.regs.r[arch->sp] = BASE + field(header, 3);
	capture.regs.r[arch->fp] = BASE + field(header, 5);
	cp_unwind_walk(space, CP_UNWINDER_OWN, &capture, frames, CP_ARRAY_SIZE(frames), &count,
		       &end);
	cp_unwind_walk(space, CP_UNWINDER_FP, &capture, frames, CP_ARRAY_SIZE(frames), &count,
		       &end);
	if (count > CP_ARRAY_SIZE(frames))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct process p = { 0 };
	struct cp_reader memory = { read_process, &p };
	struct cp_unwind_files files = { find_sections, &p };
	struct cp_unwind_mapping mapping = { .start = BASE, .inode = 1, .path = "fuzz" };
	const struct cp_arch *arch;
	struct cp_unwind_space *space;
	struct cp_error *err;

	if (size < HEADER)
		return 0;
	p.flags = bytes[0];
	p.bytes = bytes + HEADER;
	p.size = size - HEADER;
	arch = p.flags & FLAG_AARCH64 ? &cp_arch_aarch64 : &cp_arch_x86_64;
	make_headers(&p, arch);
	err = cp_unwind_space_create(arch, &memory, NULL, &space);
	if (err)
		abort();
	cp_unwind_space_set_files(space, &files);
	mapping.end = BASE + 0x20000;
	mapping.executable = true;
	err = cp_unwind_space_set_mappings(space, &mapping, 1);
	if (err)
		abort();
	walk(space, arch, &p, bytes);
	cp_unwind_space_destroy(space);
	return 0;
}

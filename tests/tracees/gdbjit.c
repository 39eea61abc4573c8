/* SPDX-License-Identifier: MIT
 *
 * Code made at run time and registered for gdb: functions written into fresh
 * pages, each with an ELF file of its own in memory. made_add_0, _1, ... and
 * made_loop are called and unregistered, and others take their place in the
 * same pages: made_add_16, ... --mode says what is registered, and how:
 *
 *	spin	made_loop alone, whose symbol has an address; until the end
 *	object	the same, its symbol has an offset in its section
 *	circle	the list of entries has no end
 *	huge	a file of 2^60 bytes
 *	garbage	a file that is none; foreign: one of another machine
 *	wild	an entry that is nowhere
 *	many	8000 entries of the same file
 */
#include <elf.h>
#include <stddef.h>
#include <sys/mman.h>

#include "tracee.h"

#if defined(__x86_64__)
/* eax = edi + N; a loop of edi rounds. */
static const uint8_t add_code[] = { 0x8d, 0x87, 0, 0, 0, 0, 0xc3 };
static const uint8_t loop_code[] = { 0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xc3 };
#define MACHINE EM_X86_64

static void patch(uint8_t *code, uint32_t n)
{
	memcpy(code + 2, &n, sizeof(n));
}
#elif defined(__aarch64__)
static const uint8_t add_code[] = { 0, 0, 0, 0x11, 0xc0, 0x03, 0x5f, 0xd6 };
static const uint8_t loop_code[] = { 0xe1, 0x03, 0x00, 0x2a, 0x00, 0x00, 0x80, 0x52,
				     0x00, 0x00, 0x01, 0x0b, 0x21, 0x04, 0x00, 0x71,
				     0xc1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
#define MACHINE EM_AARCH64

static void patch(uint8_t *code, uint32_t n)
{
	uint32_t insn = 0x11000000 | n << 10;

	memcpy(code, &insn, sizeof(insn));
}
#endif

#define COUNT 16
#define LOOP 100000

/* ---- what gdb's manual says ---- */

struct jit_code_entry {
	struct jit_code_entry *next_entry, *prev_entry;
	const char *symfile_addr;
	uint64_t symfile_size;
};

struct jit_descriptor {
	uint32_t version, action_flag;
	struct jit_code_entry *relevant_entry, *first_entry;
};

extern struct jit_descriptor __jit_debug_descriptor;
extern void __jit_debug_register_code(void);

struct jit_descriptor __jit_debug_descriptor = { 1, 0, NULL, NULL };

NOIPA void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

/* ---- an ELF file for one function ---- */

struct file {
	Elf64_Ehdr header;
	Elf64_Shdr sections[5]; /* none, .text, .symtab, .strtab, .shstrtab */
	Elf64_Sym symbols[2];
	char strings[32], names[48];
};

struct code {
	struct jit_code_entry entry;
	struct file file;
	uint8_t *page;
};

static void fill_file(struct file *f, const uint8_t *code, size_t size, const char *name)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
	bool offset = opt.mode && !strcmp(opt.mode, "object");

	*f = (struct file){
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_REL,
			    .e_machine = MACHINE,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_shoff = offsetof(struct file, sections),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 5,
			    .e_shstrndx = 4 },
		.sections = { { 0 },
			      { .sh_name = 1,
				.sh_type = SHT_NOBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = (uintptr_t)code,
				.sh_size = size,
				.sh_addralign = 16 },
			      { .sh_name = 7,
				.sh_type = SHT_SYMTAB,
				.sh_offset = offsetof(struct file, symbols),
				.sh_size = sizeof(f->symbols),
				.sh_entsize = sizeof(Elf64_Sym),
				.sh_link = 3,
				.sh_info = 1,
				.sh_addralign = 8 },
			      { .sh_name = 15,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct file, strings),
				.sh_size = sizeof(f->strings),
				.sh_addralign = 1 },
			      { .sh_name = 23,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct file, names),
				.sh_size = sizeof(names),
				.sh_addralign = 1 } },
		.symbols = { { 0 },
			     { .st_name = 1,
			       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			       .st_shndx = 1,
			       .st_value = offset ? 0 : (uintptr_t)code,
			       .st_size = size } },
	};
	memcpy(f->names, names, sizeof(names));
	snprintf(f->strings + 1, sizeof(f->strings) - 1, "%s", name);
	if (!offset)
		f->header.e_type = ET_EXEC;
}

static void tell(uint32_t action, struct code *c)
{
	__jit_debug_descriptor.action_flag = action;
	__jit_debug_descriptor.relevant_entry = &c->entry;
	__jit_debug_register_code();
}

static void announce(struct code *c)
{
	struct jit_code_entry *first = __jit_debug_descriptor.first_entry;

	c->entry = (struct jit_code_entry){ first, NULL, (char *)&c->file, sizeof(c->file) };
	if (first)
		first->prev_entry = &c->entry;
	__jit_debug_descriptor.first_entry = &c->entry;
	tell(1, c);
}

static void withdraw(struct code *c)
{
	struct jit_code_entry *e = &c->entry;

	if (e->prev_entry)
		e->prev_entry->next_entry = e->next_entry;
	else
		__jit_debug_descriptor.first_entry = e->next_entry;
	if (e->next_entry)
		e->next_entry->prev_entry = e->prev_entry;
	tell(2, c);
}

/* ---- code ---- */

static struct code codes[COUNT + 1];

static void make(struct code *c, const uint8_t *code, size_t size, const char *name, long n)
{
	char text[24];

	if (!c->page)
		c->page = (uint8_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(c->page != MAP_FAILED, "mmap: %s", strerror(errno));
	TRY(mprotect(c->page, 4096, PROT_READ | PROT_WRITE));
	memcpy(c->page, code, size);
	if (code == add_code)
		patch(c->page, (uint32_t)n % 1024);
	TRY(mprotect(c->page, 4096, PROT_READ | PROT_EXEC));
	__builtin___clear_cache((char *)c->page, (char *)c->page + size);
	snprintf(text, sizeof(text), "%s_%ld", name, n);
	if (n < 0)
		snprintf(text, sizeof(text), "%s", name);
	fill_file(&c->file, c->page, size, text);
	announce(c);
}

static uint32_t call(const struct code *c, uint32_t n)
{
	union {
		uint8_t *code;
		uint32_t (*call)(uint32_t);
	} f = { c->page };

	return f.call(n);
}

static void loop(const struct code *c)
{
	CHECK(call(c, LOOP) == (uint32_t)(LOOP * (LOOP + 1ULL) / 2),
	      "generated loop computed something else");
}

static void one_round(void)
{
	for (long i = 0; i < COUNT; i++)
		make(&codes[i], add_code, sizeof(add_code), "made_add",
		     (tracee_round - 1) * COUNT + i);
	make(&codes[COUNT], loop_code, sizeof(loop_code), "made_loop", tracee_round - 1);
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t k = 0; k < 500; k++)
			CHECK(call(&codes[i], k) ==
				      k + ((uint32_t)(tracee_round - 1) * COUNT + i) % 1024,
			      "generated code computed something else");
	loop(&codes[COUNT]);
	for (uint32_t i = 0; i <= COUNT; i++)
		withdraw(&codes[i]);
}

/* ---- what is no good ---- */

static bool is_mode(const char *mode)
{
	return !strcmp(opt.mode, mode);
}

static void spoil(void)
{
	static struct jit_code_entry many[8000];
	static struct code bad;

	bad = codes[0];
	if (is_mode("huge"))
		bad.entry.symfile_size = UINT64_C(1) << 60;
	if (is_mode("garbage"))
		memset(&bad.file, 0xa5, sizeof(bad.file));
	if (is_mode("foreign"))
		bad.file.header.e_machine = EM_S390;
	if (is_mode("huge") || is_mode("garbage") || is_mode("foreign")) {
		uint64_t size = bad.entry.symfile_size;

		announce(&bad);
		bad.entry.symfile_size = size;
		tell(1, &bad);
	}
	if (is_mode("circle"))
		codes[0].entry.next_entry = &codes[0].entry;
	if (is_mode("wild"))
		codes[0].entry.next_entry = (struct jit_code_entry *)(uintptr_t)0xdead00001000;
	for (size_t i = 0; is_mode("many") && i < 8000; i++) {
		many[i] = codes[0].entry;
		many[i].next_entry = __jit_debug_descriptor.first_entry;
		__jit_debug_descriptor.first_entry = &many[i];
	}
}

int main(int argc, char **argv)
{
	tracee_begin("gdbjit", argc, argv, (struct tracee_options){ .rounds = 100 });
	if (!opt.mode) {
		while (tracee_more())
			one_round();
		return tracee_ok("generated code, every result");
	}
	make(&codes[0], loop_code, sizeof(loop_code), "made_loop", -1);
	spoil();
	while (tracee_more())
		loop(&codes[0]);
	return tracee_ok("generated code, every result");
}

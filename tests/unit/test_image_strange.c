/* SPDX-License-Identifier: MIT
 *
 * Broken files. First one that an assembler made on purpose (image/strange.s):
 * what can be known is known, and nothing hangs. Then a program, with each
 * field of its headers, symbols, dynamic section, notes and unit headers in
 * turn set to numbers that break readers, and cut off at many places: every
 * question about it is asked, and must come back. Last, files that are correct
 * but made to cost time.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "image/image.h"
#include "test.h"

/* ---- made on purpose ---- */

static uint64_t address_of(struct cp_image *image, const char *name)
{
	const struct cp_symbol *s;
	size_t count, i;

	CHECK_OK(cp_image_symbols(image, &s, &count));
	for (i = 0; i < count; i++) {
		if (!strcmp(s[i].name, name))
			return s[i].start.v;
	}
	CHECK(!"no such symbol");
	return 0;
}

/* The frames at the first byte of a function; the outermost is in *ret. */
static size_t frames_of(struct cp_image *image, const char *name, struct cp_inline_frame *ret)
{
	struct cp_inline_frame frames[200];
	struct cp_vaddr at = { address_of(image, name) };
	size_t n = cp_image_frames(image, at, frames, 200);

	*ret = (struct cp_inline_frame){ 0 };
	CHECK(n <= 200);
	if (n && n <= 200)
		*ret = frames[n - 1];
	return n;
}

static void strange(const char *path)
{
	struct cp_inline_frame f;
	struct cp_image *image = NULL;

	CHECK_OK(cp_image_open_file(path, NULL, &image));
	if (!image)
		return;
	CHECK_U64(frames_of(image, "self_origin", &f), 1);
	CHECK(!f.function);
	CHECK_U64(frames_of(image, "circle", &f), 1);
	CHECK(!f.function);
	CHECK_U64(frames_of(image, "deep", &f), 64);
	CHECK_STR(f.function, "inlined");
	CHECK_U64(f.line, 7);
	CHECK_U64(frames_of(image, "backward", &f), 1);
	CHECK_STR(f.function, "backward");
	CHECK_U64(frames_of(image, "endless_ranges", &f), 1);
	CHECK_STR(f.function, "endless_ranges");
	CHECK_U64(frames_of(image, "divides", &f), 1);
	CHECK_STR(f.function, "divides");
	CHECK_U64(f.line, 0);
	CHECK_U64(frames_of(image, "huge_tables", &f), 1);
	CHECK_STR(f.function, "huge_tables");
	CHECK_U64(frames_of(image, "good", &f), 1);
	CHECK_STR(f.function, "good");
	CHECK_STR(f.file, "file.c");
	CHECK_U64(f.line, 42);
	cp_image_destroy(image);
}

/* ---- made by breaking ---- */

static char current[128]; /* which one is being asked */
static unsigned asked;

static void on_alarm(int signo)
{
	(void)signo;
	if (write(2, "took too long: ", 15) < 0 || write(2, current, strlen(current)) < 0)
		_exit(2);
	_exit(1);
}

static void ask(const uint8_t *bytes, size_t size)
{
	struct cp_inline_frame frames[4];
	const struct cp_symbol *symbols;
	struct cp_image *image = NULL;
	size_t count = 0, i;
	struct cp_error *err;
	char path[64];
	int fd = memfd_create("broken", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	alarm(120); /* a hang, not a slow machine */
	err = cp_image_open_file(path, NULL, &image);
	cp_error_free(err);
	if (image && !cp_image_symbols(image, &symbols, &count)) {
		for (i = 0; i < count; i += count / 8 + 1)
			cp_image_frames(image, symbols[i].start, frames, 4);
		cp_image_symbol(image, (struct cp_vaddr){ 0x1000 }, &(struct cp_symbol){ 0 });
		cp_image_frames(image, (struct cp_vaddr){ 0x1000 }, frames, 4);
	}
	cp_image_destroy(image);
	alarm(0);
	close(fd);
	asked++;
}

struct program {
	uint8_t *bytes; /* a copy, broken one field at a time */
	size_t size;
};

static void break_field(struct program *p, size_t at, size_t width, const char *what)
{
	const uint64_t numbers[] = {
		0,	     1,		 UINT64_MAX, UINT64_MAX >> 1, p->size,
		p->size - 1, 0x80000000, 0xffff,     UINT64_MAX - 15, (uint64_t)at
	};
	uint8_t was[8];
	size_t i;

	if (at > p->size || width > p->size - at)
		return;
	memcpy(was, p->bytes + at, width);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		snprintf(current, sizeof(current), "%s at %zu, number %zu\n", what, at, i);
		memcpy(p->bytes + at, &numbers[i], width);
		ask(p->bytes, p->size);
	}
	memcpy(p->bytes + at, was, width);
}

/* Structures are broken field by field, of the widths given: "448". */
static void break_fields(struct program *p, size_t at, const char *widths, const char *what)
{
	for (; *widths; widths++) {
		break_field(p, at, (size_t)(*widths - '0'), what);
		at += (size_t)(*widths - '0');
	}
}

static void break_section(struct program *p, const Elf64_Shdr *s)
{
	size_t i;

	switch (s->sh_type) {
	case SHT_DYNSYM:
	case SHT_SYMTAB:
		for (i = 1; i < 4; i++)
			break_fields(p, s->sh_offset + i * sizeof(Elf64_Sym), "411288", "symbol");
		break;
	case SHT_RELA:
		break_fields(p, s->sh_offset, "888", "relocation");
		break;
	case SHT_NOTE:
		break_fields(p, s->sh_offset, "444", "note");
		break;
	case SHT_DYNAMIC:
		for (i = 0; i < s->sh_size / 16 && i < 12; i++)
			break_fields(p, s->sh_offset + i * 16, "88", "dynamic");
		break;
	case SHT_PROGBITS:
		/* Unit headers, abbreviations, call frame information. */
		for (i = 0; !(s->sh_flags & SHF_EXECINSTR) && i < 24 && i < s->sh_size; i++)
			break_field(p, s->sh_offset + i, 1, "content");
		break_fields(p, s->sh_offset, "4448", "content");
		break;
	default:
		break;
	}
}

static void broken(const char *path)
{
	struct cp_buf file = { 0 };
	struct program p;
	Elf64_Ehdr eh;
	Elf64_Shdr s;
	size_t i;

	CHECK_OK(cp_file_read(AT_FDCWD, path, 1 << 22, &file));
	p = (struct program){ (uint8_t *)file.bytes, file.size };
	memcpy(&eh, p.bytes, sizeof(eh));
	ask(p.bytes, p.size);
	break_fields(&p, 4, "111", "ident");
	break_fields(&p, 16, "224888422222", "header");
	for (i = 0; i < eh.e_phnum; i++)
		break_fields(&p, eh.e_phoff + i * sizeof(Elf64_Phdr), "44888888", "segment");
	for (i = 1; i < eh.e_shnum; i++) {
		break_fields(&p, eh.e_shoff + i * sizeof(s), "4488884488", "section");
		memcpy(&s, p.bytes + eh.e_shoff + i * sizeof(s), sizeof(s));
		if (s.sh_offset < p.size)
			break_section(&p, &s);
	}
	for (i = 0; i < p.size; i += 1 + p.size / 300) {
		snprintf(current, sizeof(current), "cut at %zu\n", i);
		ask(p.bytes, i);
	}
	cp_buf_free(&file);
}

/* ---- made to waste time ---- */

/* An ELF file of sections, one after another, all of whose code is at CODE. */
#define CODE 0x1000

struct maker {
	struct cp_buf content, headers, names;
	unsigned count;
};

static void section(struct maker *m, const char *name, uint32_t type, uint32_t link,
		    const void *bytes, size_t size)
{
	Elf64_Shdr s = { .sh_name = (uint32_t)m->names.size,
			 .sh_type = type,
			 .sh_link = link,
			 .sh_offset = 4096 + m->content.size,
			 .sh_size = size };

	cp_buf_add(&m->names, name, strlen(name) + 1);
	cp_buf_add(&m->content, bytes, size);
	while (m->content.size % 16)
		cp_buf_u8(&m->content, 0);
	cp_buf_add(&m->headers, &s, sizeof(s));
	m->count++;
}

/* Writes it, asks about it, forgets it. */
static void ask_made(struct maker *m, const char *what)
{
	Elf64_Phdr p = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = CODE, .p_memsz = 0x1000
	};
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_phoff = sizeof(eh),
			  .e_phentsize = sizeof(p),
			  .e_phnum = 1,
			  .e_shentsize = sizeof(Elf64_Shdr) };
	char head[4096] = { 0 };
	struct cp_buf file = { 0 }, names = { 0 };

	cp_buf_add(&names, m->names.bytes, m->names.size);
	cp_buf_add(&names, ".shstrtab", 10);
	section(m, ".shstrtab", SHT_STRTAB, 0, names.bytes, names.size);
	cp_buf_free(&names);
	eh.e_shnum = (uint16_t)m->count;
	eh.e_shstrndx = (uint16_t)(m->count - 1);
	eh.e_shoff = sizeof(head) + m->content.size;
	memcpy(head, &eh, sizeof(eh));
	memcpy(head + sizeof(eh), &p, sizeof(p));
	cp_buf_add(&file, head, sizeof(head));
	cp_buf_add(&file, m->content.bytes, m->content.size);
	cp_buf_add(&file, m->headers.bytes, m->headers.size);
	snprintf(current, sizeof(current), "%s\n", what);
	ask((const uint8_t *)file.bytes, file.size);
	cp_buf_free(&file);
	cp_buf_free(&m->content);
	cp_buf_free(&m->headers);
	cp_buf_free(&m->names);
}

/* Symbols at one address whose names are the ends of one long string. */
static void same_long_name(void)
{
	const size_t count = 300000, length = 8 << 20;
	Elf64_Sym *syms = calloc(count, sizeof(*syms));
	char *names = malloc(length);
	struct maker m = { 0 };
	size_t i;

	memset(names, 'a', length);
	names[length - 1] = 0;
	for (i = 1; i < count; i++)
		syms[i] = (Elf64_Sym){ .st_name = (uint32_t)i,
				       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				       .st_shndx = 1,
				       .st_value = CODE,
				       .st_size = i };
	section(&m, "", SHT_NULL, 0, "", 0);
	section(&m, ".symtab", SHT_SYMTAB, 2, syms, count * sizeof(*syms));
	section(&m, ".strtab", SHT_STRTAB, 0, names, length);
	ask_made(&m, "long names");
	free(syms);
	free(names);
}

/* A unit of a million DIEs of one byte, each with `attrs` attributes that
 * take no room; and many units that share the table. */
static void many_attributes(unsigned attrs, size_t units, size_t dies)
{
	struct cp_buf abbrev = { 0 }, info = { 0 };
	struct maker m = { 0 };
	size_t i, k;

	cp_buf_str(&abbrev, "\001\056\001"); /* subprogram with children */
	for (i = 0; i < attrs; i++)
		cp_buf_str(&abbrev, "\077\031"); /* external, flag_present */
	cp_buf_add(&abbrev, "\0\0\0", 3);
	for (i = 0; i < units; i++) {
		cp_buf_u32(&info, (uint32_t)(7 + dies));
		cp_buf_add(&info, "\4\0\0\0\0\0\10", 7);
		for (k = 0; k < dies; k++)
			cp_buf_u8(&info, 1);
	}
	section(&m, "", SHT_NULL, 0, "", 0);
	section(&m, ".debug_info", SHT_PROGBITS, 0, info.bytes, info.size);
	section(&m, ".debug_abbrev", SHT_PROGBITS, 0, abbrev.bytes, abbrev.size);
	ask_made(&m, "many attributes");
	cp_buf_free(&abbrev);
	cp_buf_free(&info);
}

/* Every function of a unit has the same long list of ranges. */
static void shared_ranges(void)
{
	struct cp_buf abbrev = { 0 }, info = { 0 }, ranges = { 0 };
	struct maker m = { 0 };
	size_t i;

	cp_buf_add(&abbrev, "\001\021\001\021\001\022\007\0\0", 9); /* unit: low_pc, high_pc */
	cp_buf_add(&abbrev, "\002\056\0\125\027\0\0\0", 8); /* subprogram: ranges */
	cp_buf_u32(&info, 7 + 17 + 5 * 100000);
	cp_buf_add(&info, "\4\0\0\0\0\0\10", 7);
	cp_buf_u8(&info, 1);
	cp_buf_u64(&info, CODE);
	cp_buf_u64(&info, 0x1000);
	for (i = 0; i < 100000; i++) {
		cp_buf_u8(&info, 2);
		cp_buf_u32(&info, 0);
		cp_buf_u64(&ranges, i % 2000);
		cp_buf_u64(&ranges, i % 2000 + 1000);
	}
	section(&m, "", SHT_NULL, 0, "", 0);
	section(&m, ".debug_info", SHT_PROGBITS, 0, info.bytes, info.size);
	section(&m, ".debug_abbrev", SHT_PROGBITS, 0, abbrev.bytes, abbrev.size);
	section(&m, ".debug_ranges", SHT_PROGBITS, 0, ranges.bytes, ranges.size);
	ask_made(&m, "shared ranges");
	cp_buf_free(&abbrev);
	cp_buf_free(&info);
	cp_buf_free(&ranges);
}

/* A file that gets shorter while it is being read is no SIGBUS. */
static void shrinking(const char *path)
{
	struct cp_inline_frame frames[4];
	struct cp_image *image = NULL;
	struct cp_buf file = { 0 };
	struct cp_symbol s;
	char self[64];
	int fd = memfd_create("shrinking", MFD_CLOEXEC);

	CHECK_OK(cp_file_read(AT_FDCWD, path, 1 << 22, &file));
	CHECK(write(fd, file.bytes, file.size) == (ssize_t)file.size);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	CHECK_OK(cp_image_open_file(self, NULL, &image));
	CHECK(!ftruncate(fd, 4096));
	CHECK(!cp_image_symbol(image, (struct cp_vaddr){ 0x1100 }, &s) || s.name[0]);
	CHECK_U64(cp_image_frames(image, (struct cp_vaddr){ 0x1100 }, frames, 4), 0);
	cp_image_destroy(image);
	cp_buf_free(&file);
	close(fd);
}

int main(int argc, char **argv)
{
	int i;

	signal(SIGALRM, on_alarm);
	if (argc < 3)
		return 2;
	strange(argv[1]);
	shrinking(argv[2]);
	same_long_name();
	many_attributes(500000, 1, 1000000);
	many_attributes(500, 1, 1000000);
	many_attributes(500, 100000, 3);
	shared_ranges();
	for (i = 2; i < argc; i++)
		broken(argv[i]);
	printf("%u broken files\n", asked);
	CHECK(asked > 1000);
	TEST_MAIN_END;
}

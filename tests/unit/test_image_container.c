/* SPDX-License-Identifier: MIT
 *
 * ELF containers that libelf 0.188, left alone, makes too much of: counts that a
 * sparse file claims, strings without an end, lengths out of proportion. And that
 * nothing is mapped of a file, and notes are read whatever their padding.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "image/elffile.h"
#include "image/elfsymbols.h"
#include "image/notes.h"
#include "image/image.h"
#include "test.h"

#define SECTIONS 4096 /* where their headers are */

static Elf64_Ehdr header(unsigned class, unsigned sections)
{
	return (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', (uint8_t) class, ELFDATA2LSB, 1 },
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_shoff = SECTIONS,
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = (uint16_t)sections };
}

static void put(int fd, uint64_t at, const void *bytes, size_t size)
{
	CHECK(pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size);
}

static int make(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	CHECK(fd >= 0);
	alarm(120); /* a hang, not a slow machine */
	return fd;
}

static long peak_kb(void)
{
	struct rusage usage;

	CHECK(!getrusage(RUSAGE_SELF, &usage));
	return usage.ru_maxrss;
}

/* 60 million sections, or segments, in a file of 4 GB of which some bytes are there. */
static void claims(void)
{
	const uint64_t count = UINT64_C(60) << 20;
	const Elf64_Shdr first = { .sh_size = count };
	const Elf64_Shdr segments = { .sh_info = (uint32_t)count };
	Elf64_Ehdr eh = header(ELFCLASS64, 0);
	long before = peak_kb();
	struct cp_elf *elf = NULL;
	struct cp_error *err;
	int fd = make("sections");

	put(fd, 0, &eh, sizeof(eh));
	put(fd, SECTIONS, &first, sizeof(first));
	CHECK(!ftruncate(fd, SECTIONS + (off_t)(count * sizeof(first))));
	err = cp_elf_open_fd(fd, "sections", &elf);
	CHECK(err);
	cp_error_free(err);

	fd = make("segments");
	eh = header(ELFCLASS64, 1);
	eh.e_phnum = PN_XNUM;
	put(fd, 0, &eh, sizeof(eh));
	put(fd, SECTIONS, &segments, sizeof(segments));
	CHECK(!ftruncate(fd, (off_t)((count + 1) * sizeof(Elf64_Phdr))));
	CHECK_OK(cp_elf_open_fd(fd, "segments", &elf));
	CHECK_U64(elf->segment_count, 0);
	CHECK_U64(elf->section_count, 1);
	cp_elf_destroy(elf);
	CHECK(peak_kb() - before < 64 << 10);
}

static void claims_of_32_bits(void)
{
	Elf32_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1 },
			  .e_type = ET_EXEC,
			  .e_machine = EM_386,
			  .e_version = EV_CURRENT,
			  .e_shoff = SECTIONS,
			  .e_shentsize = sizeof(Elf32_Shdr) };
	const Elf32_Shdr first = { .sh_size = 60 << 20 };
	long before = peak_kb();
	struct cp_elf *elf = NULL;
	int fd = make("32");

	put(fd, 0, &eh, sizeof(eh));
	put(fd, SECTIONS, &first, sizeof(first));
	CHECK(!ftruncate(fd, SECTIONS + (off_t)(60 << 20) * (off_t)sizeof(first)));
	CHECK_OK(cp_elf_open_fd(fd, "32", &elf));
	CHECK(!elf->is_64bit && elf->machine == EM_386 && elf->type == ET_EXEC);
	cp_elf_destroy(elf);
	CHECK(peak_kb() - before < 64 << 10);
}

/* A table of symbols and one of strings, with or without a NUL at its end. */
static void strings(bool ended)
{
	enum { COUNT = 200000, LENGTH = 8 << 20 };
	const Elf64_Ehdr eh = header(ELFCLASS64, 3);
	const Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_type = SHT_SYMTAB,
		  .sh_link = 2,
		  .sh_offset = 8192,
		  .sh_size = COUNT * sizeof(Elf64_Sym) },
		{ .sh_type = SHT_STRTAB, .sh_offset = 16 << 20, .sh_size = LENGTH },
	};
	Elf64_Sym *syms = calloc(COUNT, sizeof(*syms)), sym;
	struct cp_elf_symbols symbols = { 0 };
	char *names = malloc(LENGTH);
	struct cp_elf *elf = NULL;
	int fd = make("strings");
	unsigned i, named = 0;

	memset(names, 'a', LENGTH);
	names[LENGTH - 1] = ended ? 0 : 'a';
	for (i = 1; i < COUNT; i++)
		syms[i] = (Elf64_Sym){ .st_name = i, .st_value = i };
	syms[2].st_name = LENGTH;
	put(fd, 0, &eh, sizeof(eh));
	put(fd, SECTIONS, sections, sizeof(sections));
	put(fd, 8192, syms, COUNT * sizeof(*syms));
	put(fd, 16 << 20, names, LENGTH);
	CHECK_OK(cp_elf_open_fd(fd, "strings", &elf));
	CHECK(cp_elf_symbols(elf, cp_elf_symbol_section(elf, SHT_SYMTAB), &symbols) == ended);
	for (i = 1; i < symbols.count; i++)
		named += cp_elf_symbol(&symbols, i, &sym) != NULL && sym.st_value == i;
	CHECK_U64(named, ended ? COUNT - 2 : 0);
	CHECK(!cp_elf_symbol(&symbols, COUNT, &sym));
	cp_elf_destroy(elf);
	free(syms);
	free(names);
}

/* 64 bytes that claim to be a gigabyte, in both forms of compressed sections; and
 * 3 GB, compressed, of a file that is all hole. */
static void compressed(void)
{
	static const char names[] = "\0.zdebug_info";
	const Elf64_Chdr ch = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 1 << 30 };
	const Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_COMPRESSED,
		  .sh_offset = 8192,
		  .sh_size = 64 },
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = 8192 + 64, .sh_size = 64 },
		{ .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_COMPRESSED,
		  .sh_offset = 8192 + 256,
		  .sh_size = UINT64_C(3) << 30 },
		{ .sh_type = SHT_STRTAB, .sh_offset = 8192 + 128, .sh_size = sizeof(names) },
	};
	Elf64_Ehdr eh = header(ELFCLASS64, 5);
	long before = peak_kb();
	struct cp_elf *elf = NULL;
	int fd = make("compressed");
	unsigned i;

	eh.e_shstrndx = 4;
	put(fd, 0, &eh, sizeof(eh));
	put(fd, SECTIONS, sections, sizeof(sections));
	put(fd, 8192, &ch, sizeof(ch));
	put(fd, 8192 + 64, "ZLIB\0\0\0\0\x40\0\0\0", 12);
	put(fd, 8192 + 128, names, sizeof(names));
	put(fd, 8192 + 256, &ch, sizeof(ch));
	CHECK(!ftruncate(fd, (off_t)4 << 30));
	CHECK_OK(cp_elf_open_fd(fd, "compressed", &elf));
	CHECK_U64(elf->section_count, 5);
	CHECK_STR(elf->sections[2].name, ".zdebug_info");
	for (i = 1; i < 4; i++)
		CHECK_U64(cp_elf_length(elf, &elf->sections[i]), 0);
	cp_elf_destroy(elf);
	CHECK(peak_kb() - before < 64 << 10);
}

/* ---- notes ---- */

struct seen {
	unsigned count;
	uint64_t vaddr; /* of the last one */
	char desc[16];
};

static bool see(void *ctx, const struct cp_elf_note *note)
{
	struct seen *seen = ctx;

	seen->count++;
	seen->vaddr = note->vaddr;
	CHECK(note->desc_size < sizeof(seen->desc));
	memcpy(seen->desc, note->desc, note->desc_size);
	seen->desc[note->desc_size] = 0;
	return true;
}

/* Two notes, padded to `align`, but for the last one's end. */
static struct seen notes(uint64_t align)
{
	const size_t name_at = sizeof(Elf64_Nhdr), desc_at = align == 8 ? 24 : 20;
	const Elf64_Nhdr nh = { .n_namesz = 6, .n_descsz = 5, .n_type = 7 };
	const Elf64_Phdr p = { .p_type = PT_NOTE,
			       .p_offset = 256,
			       .p_vaddr = 0x10100,
			       .p_filesz = 2 * desc_at + 8 + 5,
			       .p_align = align };
	Elf64_Ehdr eh = header(ELFCLASS64, 0);
	struct seen seen = { 0 };
	struct cp_elf *elf = NULL;
	int fd = make("notes");
	unsigned i;

	eh.e_shoff = 0;
	eh.e_phnum = 1;
	put(fd, 0, &eh, sizeof(eh));
	put(fd, sizeof(eh), &p, sizeof(p));
	for (i = 0; i < 2; i++) {
		const uint64_t at = p.p_offset + i * (desc_at + 8);

		put(fd, at, &nh, sizeof(nh));
		put(fd, at + name_at, "cprof", 6);
		put(fd, at + desc_at, i ? "last!" : "first", 5);
	}
	CHECK(!ftruncate(fd, 4096));
	CHECK_OK(cp_elf_open_fd(fd, "notes", &elf));
	cp_elf_each_note(elf, see, &seen);
	cp_elf_destroy(elf);
	return seen;
}

static void all_notes(void)
{
	struct seen seen = notes(4);

	CHECK_U64(seen.count, 2);
	CHECK_STR(seen.desc, "last!");
	CHECK_U64(seen.vaddr, 0x10100 + 28 + 20);
	seen = notes(8);
	CHECK_U64(seen.count, 2);
	CHECK_STR(seen.desc, "last!");
	CHECK_U64(seen.vaddr, 0x10100 + 32 + 24);
}

/* ---- a program ---- */

/* Everything is asked, and then the kernel what of the file is mapped. */
static void not_mapped(const char *path)
{
	struct cp_buf file CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf maps CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_inline_frame frames[4];
	const struct cp_symbol *symbols;
	struct cp_image *image = NULL;
	int fd = make("not-mapped");
	size_t count = 0;
	char self[64];

	CHECK_OK(cp_file_read(AT_FDCWD, path, 1 << 22, &file));
	put(fd, 0, file.bytes, file.size);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	CHECK_OK(cp_image_open_file(self, NULL, &image));
	CHECK_OK(cp_image_symbols(image, &symbols, &count));
	CHECK(count > 5);
	cp_image_frames(image, symbols[count / 2].start, frames, 4);
	CHECK_OK(cp_file_read(AT_FDCWD, "/proc/self/maps", 1 << 22, &maps));
	CHECK(memmem(maps.bytes, maps.size, "[stack]", 7));
	CHECK(!memmem(maps.bytes, maps.size, "not-mapped", 10));
	cp_image_destroy(image);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	claims();
	claims_of_32_bits();
	strings(true);
	strings(false);
	compressed();
	all_notes();
	not_mapped(argv[1]);
	TEST_MAIN_END;
}

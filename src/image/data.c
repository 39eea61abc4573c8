/* SPDX-License-Identifier: MIT
 *
 * The segments of data, as the program headers tell them.
 */
#include "image/internal.h"

#include <elf.h>
#include <string.h>

#define PAGE 4096

/* The end of the part that is protected after it was relocated, if `p` begins with
 * one; the protection is of whole pages. */
static uint64_t end_of_relocated(const struct cp_elf *elf, const Elf64_Phdr *p)
{
	size_t i;

	for (i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *r = &elf->segments[i];

		if (r->p_type == PT_GNU_RELRO && r->p_vaddr >= p->p_vaddr &&
		    r->p_vaddr - p->p_vaddr < p->p_memsz)
			return (r->p_vaddr + r->p_memsz) & ~(uint64_t)(PAGE - 1);
	}
	return 0;
}

size_t cp_image_writable(const struct cp_image *image, struct cp_vaddr *starts, uint64_t *sizes,
			 size_t max)
{
	const struct cp_elf *elf = image->elf;
	size_t i, count = 0;

	for (i = 0; i < elf->segment_count && count < max; i++) {
		const Elf64_Phdr *p = &elf->segments[i];
		uint64_t end, start = p->p_vaddr, from;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W) ||
		    __builtin_add_overflow(start, p->p_memsz, &end))
			continue;
		from = end_of_relocated(elf, p);
		if (from > start)
			start = from;
		if (start >= end)
			continue;
		starts[count].v = start;
		sizes[count++] = end - start;
	}
	return count;
}

bool cp_image_tls(const struct cp_image *image, uint64_t *size_ret, uint64_t *align_ret)
{
	const struct cp_elf *elf = image->elf;
	size_t i;

	for (i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type != PT_TLS || !p->p_memsz)
			continue;
		*size_ret = p->p_memsz;
		*align_ret = p->p_align && !(p->p_align & (p->p_align - 1)) ? p->p_align : 1;
		return true;
	}
	return false;
}

void cp_image_tls_initial(const struct cp_image *image, uint64_t offset, void *buffer, size_t size)
{
	const struct cp_elf *elf = image->elf;
	size_t i, want;

	memset(buffer, 0, size);
	for (i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type != PT_TLS || offset >= p->p_filesz)
			continue;
		want = size < p->p_filesz - offset ? size : p->p_filesz - offset;
		cp_image_read(image, (struct cp_vaddr){ p->p_vaddr + offset }, buffer, want);
	}
}

size_t cp_image_read_constant(const struct cp_image *image, struct cp_vaddr at, void *buffer,
			      size_t size)
{
	const Elf64_Phdr *p = cp_elf_segment_at(image->elf, at.v);
	size_t done, rest;

	if (!p || p->p_flags & PF_W)
		return 0;
	done = cp_image_read(image, at, buffer, size);
	if (!done || done == size)
		return done;
	rest = -(at.v + done) & (PAGE - 1);
	if (rest > size - done)
		rest = size - done;
	memset((uint8_t *)buffer + done, 0, rest);
	return done + rest;
}

/* Words that the dynamic linker fills with an address in the image, by entries of
 * .rela.dyn. */
static void relocate(struct cp_image *image, uint64_t at, uint8_t *buffer, size_t size)
{
	const uint8_t *bytes;
	struct cp_vaddr ignored;
	Elf64_Rela r;
	size_t length, i;

	if (!cp_image_section(image, ".rela.dyn", &bytes, &length, &ignored))
		return;
	for (i = 0; i + sizeof(r) <= length; i += sizeof(r)) {
		memcpy(&r, bytes + i, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) != R_X86_64_RELATIVE || r.r_offset < at ||
		    size < sizeof(r.r_addend) || r.r_offset - at > size - sizeof(r.r_addend))
			continue;
		memcpy(buffer + (r.r_offset - at), &r.r_addend, sizeof(r.r_addend));
	}
}

size_t cp_image_read_initial(struct cp_image *image, struct cp_vaddr at, void *buffer, size_t size)
{
	const Elf64_Phdr *p = cp_elf_segment_at(image->elf, at.v);
	size_t done;

	if (!p)
		return 0;
	if (size > p->p_vaddr + p->p_memsz - at.v)
		size = p->p_vaddr + p->p_memsz - at.v;
	done = cp_image_read(image, at, buffer, size);
	if (done < size && at.v + done < p->p_vaddr + p->p_filesz)
		return done;
	memset((uint8_t *)buffer + done, 0, size - done);
	if (cp_image_machine(image) == EM_X86_64)
		relocate(image, at.v, buffer, size);
	return size;
}

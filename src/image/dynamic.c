/* SPDX-License-Identifier: MIT
 *
 * The dynamic symbols without section headers, as the dynamic linker finds
 * them: of files that were stripped of them, and of images that are only in
 * memory. There the linker may have turned the addresses in the dynamic
 * section into run-time ones.
 */
#include "image/dynamic.h"

#define MAX_DYNAMIC 4096 /* entries */
#define MAX_BUCKETS (1u << 22)

struct dynamic {
	const struct cp_elf *elf;
	uint64_t symtab, strtab, strsz, hash, gnu_hash; /* link-time; 0: none */
};

/* A link-time address, whichever of the two `value` is. */
static uint64_t link_time(const struct cp_elf *elf, uint64_t value)
{
	if (elf->bias && !cp_elf_segment_at(elf, value) && value >= elf->bias)
		return value - elf->bias;
	return value;
}

/* The offset in the file of `size` bytes of memory; false: not all are there. */
static bool place_of(const struct cp_elf *elf, uint64_t vaddr, uint64_t size, uint64_t *ret)
{
	const Elf64_Phdr *p = cp_elf_segment_at(elf, vaddr);
	uint64_t within;

	if (!p)
		return false;
	within = vaddr - p->p_vaddr;
	if (within >= p->p_filesz || size > p->p_filesz - within ||
	    p->p_offset > UINT64_MAX - within)
		return false;
	*ret = p->p_offset + within;
	return true;
}

static bool read_at(const struct cp_elf *elf, uint64_t vaddr, void *to, size_t size)
{
	uint64_t offset;

	return place_of(elf, vaddr, size, &offset) && cp_elf_read(elf, offset, to, size);
}

static void note(struct dynamic *d, const Elf64_Dyn *dyn)
{
	uint64_t at = link_time(d->elf, dyn->d_un.d_ptr);

	switch (dyn->d_tag) {
	case DT_SYMTAB:
		d->symtab = at;
		break;
	case DT_STRTAB:
		d->strtab = at;
		break;
	case DT_STRSZ:
		d->strsz = dyn->d_un.d_val;
		break;
	case DT_HASH:
		d->hash = at;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = at;
		break;
	default:
		break;
	}
}

static bool read_dynamic(struct dynamic *d)
{
	const struct cp_elf *elf = d->elf;
	const Elf64_Phdr *p, *found = NULL;
	Elf64_Dyn dyn;
	unsigned i;

	for (p = elf->segments; p < cp_elf_segments_end(elf) && !found; p++) {
		if (p->p_type == PT_DYNAMIC)
			found = p;
	}
	if (!found)
		return false;
	for (i = 0; i < MAX_DYNAMIC; i++) {
		if (!cp_elf_read(elf, found->p_offset + i * sizeof(dyn), &dyn, sizeof(dyn)) ||
		    dyn.d_tag == DT_NULL)
			break;
		note(d, &dyn);
	}
	return d->symtab && d->strtab && d->strsz && d->strsz < elf->size;
}

/* The GNU hash table does not say how many symbols there are: the chain that
 * begins last ends with the last one. */
static uint64_t count_by_gnu_hash(const struct dynamic *d)
{
	uint32_t head[4], last = 0, value, i; /* buckets, first symbol, bloom words, shift */
	uint64_t buckets, chains;

	if (!read_at(d->elf, d->gnu_hash, head, sizeof(head)) || head[0] > MAX_BUCKETS)
		return 0;
	buckets = d->gnu_hash + sizeof(head) + UINT64_C(8) * head[2];
	chains = buckets + UINT64_C(4) * head[0];
	for (i = 0; i < head[0]; i++) {
		if (!read_at(d->elf, buckets + UINT64_C(4) * i, &value, 4))
			return 0;
		if (value > last)
			last = value;
	}
	if (last < head[1])
		return head[1];
	do {
		if (last - head[1] > MAX_BUCKETS ||
		    !read_at(d->elf, chains + UINT64_C(4) * (last - head[1]), &value, 4))
			return 0;
		last++;
	} while (!(value & 1));
	return last;
}

static uint64_t count_symbols(const struct dynamic *d)
{
	uint32_t head[2];

	if (d->hash && read_at(d->elf, d->hash, head, sizeof(head)))
		return head[1];
	return d->gnu_hash ? count_by_gnu_hash(d) : 0;
}

bool cp_symbols_add_dynamic(struct cp_elf *elf, struct cp_raw_symbols *raw)
{
	struct dynamic d = { .elf = elf };
	struct cp_elf_symbols symbols;
	uint64_t count, at, names;

	if (!read_dynamic(&d))
		return true;
	count = count_symbols(&d);
	return !count || count > elf->size / sizeof(Elf64_Sym) ||
	       !place_of(elf, d.symtab, count * sizeof(Elf64_Sym), &at) ||
	       !place_of(elf, d.strtab, d.strsz, &names) ||
	       !cp_elf_symbols_at(elf, at, count, names, d.strsz, &symbols) ||
	       cp_symbols_add_list(elf, elf, &symbols, raw);
}

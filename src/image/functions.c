/* SPDX-License-Identifier: MIT
 *
 * Bounds of functions that no symbol names, from the call frame information
 * that every compiler leaves in stripped programs. .eh_frame is a list of
 *
 *     CIE   how the following FDEs encode addresses (and much else)
 *     FDE   first address, number of bytes, (instructions)
 *
 * each led by its length; an FDE says how far back its CIE is.
 */
#include "image/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"

#define MAX_EH_FRAME (UINT64_C(512) << 20)

/* DW_EH_PE_*: how a pointer is written, and what it is relative to. */
enum { PE_ABSPTR = 0, PE_ULEB = 1, PE_UDATA2 = 2, PE_UDATA4 = 3, PE_UDATA8 = 4 };
enum { PE_SLEB = 9, PE_SDATA2 = 10, PE_SDATA4 = 11, PE_SDATA8 = 12 };
enum { PE_PCREL = 0x10, PE_RELATIVE = 0x70, PE_INDIRECT = 0x80, PE_OMIT = 0xff };
#define AUGMENTED 0x100u /* beside an encoding: FDEs have augmentation data */
#define SIGNAL 0x200u /* they are of signal frames */

/* DW_CFA_*: call frame instructions, as many as are looked at here. */
enum { CFA_NOP = 0, CFA_DEF_CFA = 0x0c, CFA_DEF_CFA_EXPRESSION = 0x0f, CFA_OFFSET = 0x80 };

struct frames {
	const uint8_t *bytes;
	size_t size;
	uint64_t vaddr;
	struct cp_map encodings; /* offset of a CIE -> encoding of its FDEs */
	uint64_t last; /* the CIE asked for last, + 1, and what it was */
	unsigned last_encoding;
};

static uint64_t read_pointer(struct cp_cursor *c, unsigned encoding)
{
	switch (encoding & 15) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cp_cursor_u64(c);
	case PE_ULEB:
		return cp_cursor_uleb(c);
	case PE_SLEB:
		return (uint64_t)cp_cursor_sleb(c);
	case PE_UDATA2:
		return cp_cursor_u16(c);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cp_cursor_u16(c);
	case PE_UDATA4:
		return cp_cursor_u32(c);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cp_cursor_u32(c);
	default:
		c->bad = true;
		return 0;
	}
}

/* The encoding of addresses in the FDEs of a CIE whose content after the id is at
 * `c`; PE_OMIT when it can't be told. */
static unsigned encoding_of_cie(struct cp_cursor c)
{
	uint8_t version = cp_cursor_u8(&c);
	const char *augmentation = cp_cursor_string(&c);
	unsigned encoding = PE_ABSPTR, signal = 0;

	if (!augmentation)
		return PE_OMIT;
	cp_cursor_uleb(&c);
	cp_cursor_sleb(&c);
	if (version == 1)
		cp_cursor_u8(&c);
	else
		cp_cursor_uleb(&c);
	if (augmentation[0] != 'z')
		return augmentation[0] || c.bad ? PE_OMIT : PE_ABSPTR;
	cp_cursor_uleb(&c);
	for (augmentation++; *augmentation && !c.bad; augmentation++) {
		if (*augmentation == 'R')
			encoding = cp_cursor_u8(&c);
		else if (*augmentation == 'L')
			cp_cursor_u8(&c);
		else if (*augmentation == 'P')
			read_pointer(&c, cp_cursor_u8(&c));
		else if (*augmentation == 'S')
			signal = SIGNAL;
		else if (*augmentation != 'B')
			break;
	}
	return c.bad ? PE_OMIT : encoding | AUGMENTED | signal;
}

static unsigned read_encoding(struct frames *f, uint64_t offset)
{
	uint64_t *known = cp_map_get(&f->encodings, offset);
	unsigned encoding = PE_OMIT;
	struct cp_cursor c;
	uint64_t length;

	if (known)
		return (unsigned)*known;
	if (offset < f->size) {
		c = cp_cursor(f->bytes + offset, f->size - offset);
		length = cp_cursor_u32(&c);
		if (length != UINT32_MAX && length <= cp_cursor_left(&c)) {
			c = cp_cursor(c.at, length);
			if (!cp_cursor_u32(&c) && !c.bad)
				encoding = encoding_of_cie(c);
		}
	}
	cp_map_put(&f->encodings, offset, encoding);
	return encoding;
}

static unsigned encoding_at(struct frames *f, uint64_t offset)
{
	if (f->last != offset + 1) {
		f->last_encoding = read_encoding(f, offset);
		f->last = offset + 1;
	}
	return f->last_encoding;
}

/* True when the instructions of an FDE, which follow at `c`, begin by saying
 * that something was pushed already: what begins so was jumped to from the
 * middle of a function. */
static bool begins_inside(struct cp_cursor c, unsigned encoding)
{
	uint8_t op;

	if (encoding & AUGMENTED)
		cp_cursor_bytes(&c, cp_cursor_uleb(&c));
	do
		op = cp_cursor_u8(&c);
	while (op == CFA_NOP && !c.bad);
	return !c.bad &&
	       ((op >= CFA_DEF_CFA && op <= CFA_DEF_CFA_EXPRESSION) || (op & 0xc0) == CFA_OFFSET);
}

/* The code of an FDE whose content begins at `c`. */
static bool read_fde(struct frames *f, struct cp_cursor c, unsigned encoding, struct cp_symbol *ret)
{
	uint64_t here = f->vaddr + (uint64_t)(c.at - f->bytes);
	uint64_t start, size;

	if (encoding == PE_OMIT || (encoding & PE_INDIRECT))
		return false;
	start = read_pointer(&c, encoding);
	size = read_pointer(&c, encoding & 7); /* always unsigned, never relative */
	if ((encoding & PE_RELATIVE) == PE_PCREL)
		start += here;
	else if (encoding & PE_RELATIVE)
		return false;
	if (c.bad || !size || size > UINT64_MAX - start)
		return false;
	*ret = (struct cp_symbol){ .start = { start },
				   .size = size,
				   .kind = CP_SYMBOL_UNWIND,
				   .local = true,
				   .part = begins_inside(c, encoding) };
	return true;
}

/* "fn_<hex>", without printf: there may be 100,000 of them. */
static const char *name_unnamed(struct cp_symbols *table, uint64_t start)
{
	char name[3 + 16], *at = name + sizeof(name);

	do {
		*--at = "0123456789abcdef"[start & 15];
		start >>= 4;
	} while (start);
	*--at = '_';
	*--at = 'n';
	*--at = 'f';
	return cp_symbols_keep(table, at, (size_t)(name + sizeof(name) - at));
}

/* The code that ends a signal handler, which everybody calls the same. What
 * describes it begins one byte early, for unwinders that look before a return
 * address. */
#define RESTORER "__restore_rt"

static bool add_function(const struct cp_elf *elf, const struct cp_spans *known,
			 struct cp_symbol *s, bool signal, struct cp_raw_symbols *raw)
{
	uint64_t start = s->start.v += signal;
	const struct cp_span *span = cp_spans_find(known, start);

	s->size -= signal;
	if (!s->size)
		return true;
	if (!cp_elf_is_code(elf, start) || !cp_elf_is_code(elf, start + s->size - 1))
		return true;
	/* Named, or inside something named that has a size. */
	if (span && (raw->list.items[span->value].s.size ||
		     raw->list.items[span->value].s.start.v == start))
		return true;
	s->name = signal ? cp_symbols_keep(raw->into, RESTORER, sizeof(RESTORER) - 1)
			 : name_unnamed(raw->into, start);
	return s->name && cp_symbols_push(raw, s, UINT32_MAX, 0);
}

static bool add_all(const struct cp_elf *elf, struct frames *f, const struct cp_spans *known,
		    struct cp_raw_symbols *raw)
{
	struct cp_cursor c = cp_cursor(f->bytes, f->size), entry;
	struct cp_symbol s;
	uint64_t length, id_at;
	const uint8_t *body;
	unsigned encoding;
	uint32_t id;

	while (cp_cursor_left(&c) >= 4) {
		length = cp_cursor_u32(&c);
		if (length == UINT32_MAX)
			length = cp_cursor_u64(&c);
		if (!length || length > cp_cursor_left(&c))
			break;
		body = cp_cursor_bytes(&c, length);
		if (!body)
			break;
		entry = cp_cursor(body, length);
		id_at = (uint64_t)(body - f->bytes);
		id = cp_cursor_u32(&entry);
		if (!id || id > id_at || entry.bad) /* a CIE, or nonsense */
			continue;
		encoding = encoding_at(f, id_at - id);
		if (read_fde(f, entry, encoding, &s) &&
		    !add_function(elf, known, &s, encoding != PE_OMIT && encoding & SIGNAL, raw))
			return false;
	}
	return true;
}

/* .eh_frame by the program headers, for files without section headers: what
 * .eh_frame_hdr points to, up to the end of its segment. Owned by the caller. */
static uint8_t *by_segment(const struct cp_elf *elf, struct frames *f)
{
	const Elf64_Phdr *p, *hdr = NULL;
	uint8_t head[8], *bytes;
	int32_t relative;

	for (p = elf->segments; p < cp_elf_segments_end(elf) && !hdr; p++) {
		if (p->p_type == PT_GNU_EH_FRAME)
			hdr = p;
	}
	if (!hdr || !cp_elf_read(elf, hdr->p_offset, head, sizeof(head)) || head[0] != 1 ||
	    head[1] != (PE_PCREL | PE_SDATA4))
		return NULL;
	memcpy(&relative, head + 4, sizeof(relative));
	f->vaddr = hdr->p_vaddr + 4 + (uint64_t)(int64_t)relative;
	p = cp_elf_segment_at(elf, f->vaddr);
	if (!p || f->vaddr - p->p_vaddr >= p->p_filesz)
		return NULL;
	f->size = p->p_filesz - (f->vaddr - p->p_vaddr);
	if (f->size > MAX_EH_FRAME || f->size > elf->size)
		return NULL;
	bytes = malloc(f->size);
	if (bytes && !cp_elf_read(elf, p->p_offset + (f->vaddr - p->p_vaddr), bytes, f->size)) {
		free(bytes);
		bytes = NULL;
	}
	f->bytes = bytes;
	return bytes;
}

bool cp_symbols_add_unwind(struct cp_elf *elf, const struct cp_spans *known,
			   struct cp_raw_symbols *raw)
{
	struct cp_elf_section *section = cp_elf_section(elf, ".eh_frame");
	struct frames f = { 0 };
	uint8_t *own = NULL;
	bool ok = true;

	if (section && section->size <= MAX_EH_FRAME) {
		f.bytes = cp_elf_load(elf, section, &f.size);
		f.vaddr = section->vaddr;
	} else if (!section) {
		own = by_segment(elf, &f);
	}
	if (f.bytes)
		ok = add_all(elf, &f, known, raw);
	cp_map_free(&f.encodings);
	free(own);
	return ok;
}

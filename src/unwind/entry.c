/* SPDX-License-Identifier: MIT
 *
 * Entries: CIEs and FDEs. The two sections differ in little (LSB Core 10.6, DWARF 5
 * 6.4.1): how a CIE is recognised, what an FDE's pointer to it counts from,
 * and how addresses are written.
 *
 *	.eh_frame                          .debug_frame
 *	length (4, or 0xffffffff + 8)      the same
 *	id: 0 is a CIE, else the           id: all ones is a CIE, else the
 *	    distance back to the CIE           CIE's offset in the section
 *	    (4 bytes always)                   (8 bytes in the 64-bit format)
 *	addresses: DW_EH_PE_*, augmented   addresses: 8 bytes, absolute
 */
#include "unwind/entry.h"
#include "unwind/dwarf.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_MAX (1u << 20) /* bytes; the longest in LLVM has some 30 KiB */
#define FIRST_READ 256 /* holds most entries: one read instead of two */

size_t cp_cfi_read(const struct cp_cfi_source *source, uint64_t at, void *buffer, size_t size)
{
	if (at < source->start || at >= source->end)
		return 0;
	if (size > source->end - at)
		size = source->end - at;
	if (!source->bytes)
		return source->memory->read(source->memory->ctx, at + source->bias, buffer, size);
	memcpy(buffer, source->bytes + (at - source->start), size);
	return size;
}

void cp_cfi_scratch_free(struct cp_cfi_scratch *scratch)
{
	free(scratch->bytes);
	*scratch = (struct cp_cfi_scratch){ 0 };
}

static bool reserve(struct cp_cfi_scratch *scratch, size_t size)
{
	uint8_t *grown;

	if (size <= scratch->capacity)
		return true;
	grown = realloc(scratch->bytes, size);
	if (!grown)
		return false;
	scratch->bytes = grown;
	scratch->capacity = size;
	return true;
}

/* `size` bytes at `at`, in place or in scratch, of which `have` are there. */
static const uint8_t *load(const struct cp_cfi_source *source, uint64_t at, size_t have,
			   size_t size, struct cp_cfi_scratch *scratch)
{
	if (source->bytes)
		return size <= source->end - at ? source->bytes + (at - source->start) : NULL;
	if (!reserve(scratch, size))
		return NULL;
	if (have < size &&
	    cp_cfi_read(source, at + have, scratch->bytes + have, size - have) != size - have)
		return NULL;
	return scratch->bytes;
}

/* The id or CIE pointer, whose own address counts in .eh_frame. */
static void read_id(const struct cp_cfi_source *source, bool wide, struct cp_cfi_entry *entry)
{
	struct cp_cfi_cursor *b = &entry->body;
	uint64_t here = b->addr + (uint64_t)(b->c.at - b->first), id;

	if (source->debug_frame) {
		id = wide ? cp_cursor_u64(&b->c) : cp_cursor_u32(&b->c);
		entry->is_cie = id == (wide ? UINT64_MAX : UINT32_MAX);
		entry->cie = source->start + id;
	} else {
		id = cp_cursor_u32(&b->c);
		entry->is_cie = id == 0;
		entry->cie = here - id;
	}
}

bool cp_cfi_read_entry(const struct cp_cfi_source *source, uint64_t at,
		       struct cp_cfi_scratch *scratch, struct cp_cfi_entry *ret)
{
	uint8_t head[12] = { 0 };
	struct cp_cursor c = cp_cursor(head, sizeof(head));
	const uint8_t *bytes;
	size_t have, header = 4;
	uint64_t length;

	if (source->bytes) {
		have = cp_cfi_read(source, at, head, sizeof(head));
	} else {
		if (!reserve(scratch, FIRST_READ))
			return false;
		have = cp_cfi_read(source, at, scratch->bytes, FIRST_READ);
		memcpy(head, scratch->bytes, have < sizeof(head) ? have : sizeof(head));
	}
	if (have < 4)
		return false;
	*ret = (struct cp_cfi_entry){ .at = at };
	length = cp_cursor_u32(&c);
	if (length == UINT32_MAX) {
		length = cp_cursor_u64(&c);
		header = 12;
	}
	ret->end = length == 0;
	ret->next = at + header;
	if (ret->end)
		return true;
	if (length > ENTRY_MAX || length < 4)
		return false;
	ret->next += length;
	bytes = load(source, at, have, header + length, scratch);
	if (!bytes)
		return false;
	ret->body = (struct cp_cfi_cursor){ cp_cursor(bytes + header, length), bytes, at };
	read_id(source, header == 12, ret);
	return !ret->body.c.bad;
}

/* The value as it is written, before its base is added. */
static uint64_t read_raw(struct cp_cfi_cursor *c, uint8_t format, bool *known_ret)
{
	*known_ret = true;
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
	case DW_EH_PE_signed:
		return cp_cursor_u64(&c->c);
	case DW_EH_PE_uleb128:
		return cp_cursor_uleb(&c->c);
	case DW_EH_PE_udata2:
		return cp_cursor_u16(&c->c);
	case DW_EH_PE_udata4:
		return cp_cursor_u32(&c->c);
	case DW_EH_PE_sleb128:
		return (uint64_t)cp_cursor_sleb(&c->c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)cp_cursor_u16(&c->c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)cp_cursor_u32(&c->c);
	default:
		*known_ret = false;
		return 0;
	}
}

/* A pointer in memory that the dynamic linker has relocated. */
static uint64_t unrelocate(const struct cp_cfi_source *source, uint64_t value)
{
	uint64_t linked = value - source->bias;

	return linked >= source->low && linked < source->high ? linked : value;
}

bool cp_cfi_read_pointer(const struct cp_cfi_source *source, struct cp_cfi_cursor *c,
			 uint8_t encoding, uint64_t data, uint64_t *ret)
{
	uint64_t here, value, target;
	bool known;

	*ret = 0;
	if (encoding == DW_EH_PE_omit)
		return true;
	here = c->addr + (uint64_t)(c->c.at - c->first);
	if ((encoding & DW_EH_PE_base_mask) == DW_EH_PE_aligned) {
		cp_cursor_bytes(&c->c, -here & 7);
		encoding = DW_EH_PE_absptr | (encoding & DW_EH_PE_indirect);
	}
	value = read_raw(c, encoding & 0x0f, &known);
	if (!known || c->c.bad)
		return false;
	if (!value) /* a null pointer, whatever the base */
		return true;
	if ((encoding & DW_EH_PE_base_mask) == DW_EH_PE_pcrel)
		value += here;
	else if ((encoding & DW_EH_PE_base_mask) == DW_EH_PE_datarel && data)
		value += data;
	else if ((encoding & DW_EH_PE_base_mask) == 0)
		value = unrelocate(source, value);
	else
		return false;
	if (encoding & DW_EH_PE_indirect) {
		if (cp_cfi_read(source, value, &target, 8) != 8)
			return false;
		value = unrelocate(source, target);
	}
	*ret = value;
	return true;
}

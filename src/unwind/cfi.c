/* SPDX-License-Identifier: MIT */
#include "unwind/cfi.h"
#include "unwind/dwarf.h"

#include <stdlib.h>
#include <string.h>

/* The augmentation string's letters say what its data holds, in order. An
 * unknown letter ends what we understand; the data's size skips the rest. */
static bool read_augmentation(const struct cp_cfi_source *source, const char *letters,
			      struct cp_cfi_cursor *c, struct cp_cie *cie)
{
	uint64_t size = cp_cursor_uleb(&c->c), ignored;
	struct cp_cfi_cursor data = *c;
	uint8_t encoding;

	if (!cp_cursor_bytes(&c->c, size))
		return false;
	data.c.end = c->c.at;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = cp_cursor_u8(&data.c);
			break;
		case 'L':
			cie->lsda_encoding = cp_cursor_u8(&data.c);
			break;
		case 'P':
			encoding = cp_cursor_u8(&data.c) & (uint8_t)~DW_EH_PE_indirect;
			cp_cfi_read_pointer(source, &data, encoding, 1, &ignored);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* AArch64: return addresses are signed with key B */
		case 'G': /* AArch64: memory tags on the stack */
			break;
		default:
			return true;
		}
	}
	return !data.c.bad;
}

static bool read_cie(const struct cp_cfi_source *source, struct cp_cfi_cursor *c,
		     struct cp_cie *cie)
{
	uint8_t version = cp_cursor_u8(&c->c);
	const char *letters = cp_cursor_string(&c->c);

	if (!letters || (version != 1 && version != 3 && version != 4))
		return false;
	if (!strcmp(letters, "eh")) { /* GCC 2: a pointer that means nothing now */
		cp_cursor_u64(&c->c);
		letters += 2;
	}
	if (version == 4) { /* size of an address, of a segment selector */
		if (cp_cursor_u8(&c->c) != 8 || cp_cursor_u8(&c->c) != 0)
			return false;
	}
	cie->code_align = cp_cursor_uleb(&c->c);
	cie->data_align = cp_cursor_sleb(&c->c);
	cie->ra_reg = (unsigned)(version == 1 ? cp_cursor_u8(&c->c) : cp_cursor_uleb(&c->c));
	if (letters[0] == 'z') {
		cie->augmented = true;
		return read_augmentation(source, letters + 1, c, cie) && !c->c.bad;
	}
	return !letters[0] && !c->c.bad;
}

bool cp_cie_parse(const struct cp_cfi_source *source, const struct cp_cfi_entry *entry,
		  unsigned nregs, struct cp_cie *ret)
{
	struct cp_cie cie = { .pointer_encoding = DW_EH_PE_absptr, .lsda_encoding = DW_EH_PE_omit };
	struct cp_cfi_cursor c = entry->body;
	size_t done = (size_t)(c.c.at - c.first), size = (size_t)(c.c.end - c.first);

	if (!entry->is_cie || entry->end)
		return false;
	cie.bytes = malloc(size);
	if (!cie.bytes)
		return false;
	memcpy(cie.bytes, c.first, size);
	c.first = cie.bytes;
	c.c = cp_cursor(cie.bytes + done, size - done);
	if (!read_cie(source, &c, &cie) || cie.ra_reg >= nregs ||
	    !cp_cfi_run_initial(source, &cie, c, nregs, &cie.initial)) {
		cp_cie_deinit(&cie);
		return false;
	}
	*ret = cie;
	return true;
}

void cp_cie_deinit(struct cp_cie *cie)
{
	free(cie->bytes);
	cie->bytes = NULL;
}

/* The augmentation data of an FDE: the address of its LSDA, or 0. */
static uint64_t read_fde_data(const struct cp_cfi_source *source, const struct cp_cie *cie,
			      struct cp_cfi_cursor *c)
{
	uint64_t size = cp_cursor_uleb(&c->c), lsda;
	struct cp_cfi_cursor data = *c;

	if (!cp_cursor_bytes(&c->c, size))
		return 0;
	data.c.end = c->c.at;
	return cp_cfi_read_pointer(source, &data, cie->lsda_encoding, 0, &lsda) ? lsda : 0;
}

bool cp_fde_parse(const struct cp_cfi_source *source, const struct cp_cfi_entry *entry,
		  const struct cp_cie *cie, struct cp_fde *ret)
{
	struct cp_cfi_cursor c = entry->body;
	uint64_t start, size, lsda = 0;

	if (entry->is_cie || entry->end)
		return false;
	/* The size has the format of the start, but no base; it is unsigned,
	 * whatever the format says. */
	if (!cp_cfi_read_pointer(source, &c, cie->pointer_encoding, 0, &start) || !start)
		return false;
	switch (cie->pointer_encoding & 0x0f) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		size = cp_cursor_u16(&c.c);
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		size = cp_cursor_u32(&c.c);
		break;
	case DW_EH_PE_uleb128:
	case DW_EH_PE_sleb128:
		size = cp_cursor_uleb(&c.c);
		break;
	default:
		size = cp_cursor_u64(&c.c);
		break;
	}
	if (cie->augmented)
		lsda = read_fde_data(source, cie, &c);
	if (c.c.bad || !size || start + size < start)
		return false;
	*ret = (struct cp_fde){ .start = start, .end = start + size, .lsda = lsda, .program = c };
	return true;
}

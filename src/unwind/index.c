/* SPDX-License-Identifier: MIT */
#include "unwind/index.h"
#include "unwind/dwarf.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define ENTRIES_MAX (UINT64_C(1) << 27)

static unsigned size_of(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0; /* not of one size: can't be searched */
	}
}

bool cp_index_open_hdr(struct cp_index *index, const struct cp_cfi_source *source, uint64_t hdr,
		       uint64_t *eh_frame_ret)
{
	uint8_t head[32] = { 0 };
	size_t got = cp_cfi_read(source, hdr, head, sizeof(head));
	struct cp_cfi_cursor c = { cp_cursor(head, got), head, hdr };
	uint8_t version = cp_cursor_u8(&c.c), eh_frame = cp_cursor_u8(&c.c);
	uint8_t count = cp_cursor_u8(&c.c), table = cp_cursor_u8(&c.c);

	*eh_frame_ret = 0;
	if (c.c.bad || version != 1)
		return false;
	if (!cp_cfi_read_pointer(source, &c, eh_frame, hdr, eh_frame_ret))
		return false;
	if (count == DW_EH_PE_omit || table == DW_EH_PE_omit || !size_of(table) ||
	    ((table & 0xf0) != 0 && (table & 0xf0) != DW_EH_PE_datarel) ||
	    !cp_cfi_read_pointer(source, &c, count, hdr, &index->count))
		return false;
	index->hdr = hdr;
	index->encoding = table;
	index->value_size = size_of(table);
	index->entries = hdr + (uint64_t)(c.c.at - c.first);
	if (!index->count || index->count > ENTRIES_MAX ||
	    index->count * 2 * index->value_size > source->end - index->entries)
		return false;
	index->npages = (index->count * 2 * index->value_size + PAGE - 1) / PAGE;
	index->pages = calloc(index->npages, sizeof(*index->pages));
	return index->pages != NULL;
}

/* The page of the table that holds byte `offset` of it. */
static const uint8_t *page_at(struct cp_index *index, const struct cp_cfi_source *source,
			      uint64_t offset)
{
	size_t number = offset / PAGE, size = PAGE;
	uint64_t table_size = index->count * 2 * index->value_size;
	uint8_t *page = index->pages[number];

	if (page)
		return page;
	if (size > table_size - number * PAGE)
		size = table_size - number * PAGE;
	page = calloc(1, PAGE);
	if (!page)
		return NULL;
	if (cp_cfi_read(source, index->entries + number * PAGE, page, size) != size) {
		free(page);
		return NULL;
	}
	return index->pages[number] = page;
}

/* Value 0 (start) or 1 (FDE) of entry `i`. Entries never straddle a page. */
static bool value_at(struct cp_index *index, const struct cp_cfi_source *source, uint64_t i,
		     unsigned which, uint64_t *ret)
{
	uint64_t offset = (i * 2 + which) * index->value_size;
	const uint8_t *page = page_at(index, source, offset);
	struct cp_cfi_cursor c;

	if (!page)
		return false;
	c = (struct cp_cfi_cursor){ cp_cursor(page + offset % PAGE, index->value_size),
				    page + offset % PAGE, index->entries + offset };
	return cp_cfi_read_pointer(source, &c, index->encoding, index->hdr, ret);
}

static bool find_in_hdr(struct cp_index *index, const struct cp_cfi_source *source, uint64_t pc,
			uint64_t *fde_ret)
{
	uint64_t low = 0, high = index->count, middle, start;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (!value_at(index, source, middle, 0, &start))
			return false;
		if (start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && value_at(index, source, low - 1, 1, fde_ret);
}

bool cp_index_add(struct cp_index *index, struct cp_index_entry entry)
{
	return index->list.count < ENTRIES_MAX && cp_vec_push(&index->list, entry);
}

static int by_start(const void *a, const void *b)
{
	const struct cp_index_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->fde < y->fde ? -1 : x->fde > y->fde;
}

void cp_index_sort(struct cp_index *index)
{
	if (index->list.count)
		qsort(index->list.items, index->list.count, sizeof(*index->list.items), by_start);
}

static bool find_in_list(struct cp_index *index, uint64_t pc, uint64_t *fde_ret)
{
	size_t low = 0, high = index->list.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (index->list.items[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || pc >= index->list.items[low - 1].end)
		return false;
	*fde_ret = index->list.items[low - 1].fde;
	return true;
}

bool cp_index_find(struct cp_index *index, const struct cp_cfi_source *source, uint64_t pc,
		   uint64_t *fde_ret)
{
	return index->pages ? find_in_hdr(index, source, pc, fde_ret)
			    : find_in_list(index, pc, fde_ret);
}

void cp_index_free(struct cp_index *index)
{
	size_t i;

	for (i = 0; index->pages && i < index->npages; i++)
		free(index->pages[i]);
	free(index->pages);
	cp_vec_free(&index->list);
	*index = (struct cp_index){ 0 };
}

/* SPDX-License-Identifier: MIT
 *
 * From a link-time pc to its FDE: by the linker's sorted table in
 * .eh_frame_hdr, read in place page by page as the search touches it, or by
 * a list made from one pass over a section that has no such table.
 */
#ifndef CP_UNWIND_INDEX_H
#define CP_UNWIND_INDEX_H

#include "base/vec.h"
#include "unwind/entry.h"

struct cp_index_entry {
	uint64_t start, end;
	uint64_t fde;
};

struct cp_index {
	/* .eh_frame_hdr */
	uint64_t hdr; /* its address; base of its relative values */
	uint64_t entries, count; /* the table: address, entries of two values */
	uint8_t encoding; /* DW_EH_PE_* of its values */
	unsigned value_size;
	uint8_t **pages; /* owned; NULL where not read yet */
	size_t npages;
	/* or a list */
	CP_VEC(struct cp_index_entry) list; /* sorted by start */
};

/* Reads the header at `hdr`. *eh_frame_ret is where it says .eh_frame is, 0
 * if it does not. False: no table that can be searched. */
bool cp_index_open_hdr(struct cp_index *index, const struct cp_cfi_source *source, uint64_t hdr,
		       uint64_t *eh_frame_ret);
/* Appends an entry to the list; sort before finding. */
bool cp_index_add(struct cp_index *index, struct cp_index_entry entry);
void cp_index_sort(struct cp_index *index);
/* Address of the FDE that may cover `pc`: the last that starts at or below. */
bool cp_index_find(struct cp_index *index, const struct cp_cfi_source *source, uint64_t pc,
		   uint64_t *fde_ret);
void cp_index_free(struct cp_index *index);

#endif

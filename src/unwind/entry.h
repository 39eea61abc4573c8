/* SPDX-License-Identifier: MIT
 *
 * Entries of .eh_frame and .debug_frame, and pointers in them. Everything here
 * works with link-time addresses, so that what comes out fits every process that
 * maps the object. The bytes may be anything: sizes are checked.
 */
#ifndef CP_UNWIND_ENTRY_H
#define CP_UNWIND_ENTRY_H

#include "base/cursor.h"
#include "base/types.h"

/* A section's bytes: a copy, or a process's memory. */
struct cp_cfi_source {
	const uint8_t *bytes; /* of start ... end; NULL: read `memory` */
	const struct cp_reader *memory;
	uint64_t bias; /* run-time minus link-time address where memory was read; else 0 */
	uint64_t start, end; /* link-time addresses that may be read */
	uint64_t low, high; /* the whole object's, to recognise relocated pointers */
	bool debug_frame; /* else .eh_frame */
};

/* Bytes between start and end; how many could be read. */
size_t cp_cfi_read(const struct cp_cfi_source *source, uint64_t at, void *buffer, size_t size);

/* Room for an entry read out of memory; all-zero at first. */
struct cp_cfi_scratch {
	uint8_t *bytes;
	size_t capacity;
};
void cp_cfi_scratch_free(struct cp_cfi_scratch *scratch);

/* Bytes and the address of the first of them. */
struct cp_cfi_cursor {
	struct cp_cursor c;
	const uint8_t *first;
	uint64_t addr;
};

struct cp_cfi_entry {
	uint64_t at, next; /* its address, and that of the entry behind it */
	bool end; /* a zero length: padding, or the end of .eh_frame */
	bool is_cie;
	uint64_t cie; /* an FDE's CIE */
	struct cp_cfi_cursor body; /* what follows the CIE id or pointer; in scratch or source */
};

/* Reads the entry at `at`. False: it can't be read or makes no sense. */
bool cp_cfi_read_entry(const struct cp_cfi_source *source, uint64_t at,
		       struct cp_cfi_scratch *scratch, struct cp_cfi_entry *ret);

/* A DW_EH_PE_* encoded pointer. `data` is the base of datarel, 0: there is
 * none. False for encodings that need what we don't know. */
bool cp_cfi_read_pointer(const struct cp_cfi_source *source, struct cp_cfi_cursor *c,
			 uint8_t encoding, uint64_t data, uint64_t *ret);

#endif

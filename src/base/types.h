/* SPDX-License-Identifier: MIT
 *
 * Addresses. A run-time address (in a process) and a link-time address (in an
 * ELF file) are different types, so that only an image's load bias turns one
 * into the other.
 */
#ifndef CP_BASE_TYPES_H
#define CP_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_addr {
	uint64_t v;
}; /* in the profiled process */
struct cp_vaddr {
	uint64_t v;
}; /* p_vaddr's address space of an ELF file */

/* Memory that can be read: a process's, a captured copy's, a file's. */
struct cp_reader {
	/* Copies up to `size` bytes at `addr` to `buffer`; returns how many
	 * could be read from the start (0: none). Never fails otherwise. */
	size_t (*read)(void *ctx, uint64_t addr, void *buffer, size_t size);
	void *ctx; /* borrowed for as long as the reader is used */
};

static inline bool cp_read_exact(const struct cp_reader *reader, uint64_t addr, void *buffer,
				 size_t size)
{
	return reader->read(reader->ctx, addr, buffer, size) == size;
}

#define CP_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif

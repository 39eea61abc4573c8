/* SPDX-License-Identifier: MIT
 *
 * What was read of a program that runs on: see reads.c.
 */
#ifndef CP_CMD_READS_H
#define CP_CMD_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

/* A look: all that was read for one value, in its order. */
struct cp_reads {
	CP_VEC(struct cp_read {
		uint64_t address;
		size_t size;
		size_t at; /* in `bytes` */
	})
	list;
	struct cp_buf bytes;
	bool lost; /* something was not noted */
};

void cp_reads_clear(struct cp_reads *reads);
void cp_reads_free(struct cp_reads *reads);
void cp_reads_note(struct cp_reads *reads, uint64_t address, const void *bytes, size_t size);
/* Was it all at one moment, as far as one look can tell: a single word? */
bool cp_reads_is_word(const struct cp_reads *reads);
/* Was all of the second look there at one moment? */
bool cp_reads_agree(const struct cp_reads *first, const struct cp_reads *second);

#endif

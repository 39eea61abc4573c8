/* SPDX-License-Identifier: MIT
 *
 * What is known of an image's code before any of it is replaced, four bits a byte:
 *
 *     starts   an instruction begins here
 *     leads    something may lead here: no window has this in its middle
 *     taken    a window, or a jump in padding, has it already
 *     lent     the displacement of a pun (plan.h), which one other window may share
 *
 * Leads are taken for more than they are: targets of jumps, what follows a call, what
 * an instruction or a word of data says that could be an address, symbols, landing
 * pads. What a computed jump leads to is known only where its table is: plan.h.
 */
#ifndef CP_DETOUR_TEXT_H
#define CP_DETOUR_TEXT_H

#include "base/buf.h"
#include "base/error.h"
#include "probe/plan.h"

struct cp_detour_bits {
	uint64_t *words; /* owned */
};

struct cp_detour_text {
	const struct cp_arch *arch;
	struct cp_decoder *decoder; /* borrowed */
	const struct cp_reader *memory; /* borrowed: link-time addresses, without our jumps */
	uint64_t start, end; /* link-time */
	struct cp_detour_bits code; /* in a function */
	struct cp_detour_bits starts, leads, taken, lent;
	struct cp_detour_bits returns; /* a call returns here */
};

/* Reads all functions, and of the image symbols, relocations and data. `memory` is of
 * the file or of the process. */
CP_ERROR cp_detour_text_create(const struct cp_arch *arch, struct cp_decoder *decoder,
			       const struct cp_reader *memory, struct cp_image *image,
			       const struct cp_probe_functions *functions,
			       struct cp_detour_text **ret);
/* A new one as bytes, and back, for the same functions. An error: they are none such. */
#define CP_DETOUR_TEXT_FORMAT 1
void cp_detour_text_save(const struct cp_detour_text *text, struct cp_buf *out);
CP_ERROR cp_detour_text_load(const struct cp_arch *arch, struct cp_decoder *decoder,
			     const struct cp_reader *memory,
			     const struct cp_probe_functions *functions, const void *bytes,
			     size_t size, struct cp_detour_text **ret);
void cp_detour_text_destroy(struct cp_detour_text *text);

/* For leads that only others know, and words of memory (8 bytes each, run-time minus
 * link-time addresses being `bias`). */
void cp_detour_text_lead(struct cp_detour_text *text, uint64_t address);
void cp_detour_text_words(struct cp_detour_text *text, const void *bytes, size_t size,
			  uint64_t bias);

static inline bool cp_detour_bit(const struct cp_detour_text *text,
				 const struct cp_detour_bits *bits, uint64_t address)
{
	uint64_t at = address - text->start;

	return at < text->end - text->start && (bits->words[at / 64] >> (at % 64) & 1);
}

static inline void cp_detour_set(const struct cp_detour_text *text, struct cp_detour_bits *bits,
				 uint64_t address)
{
	uint64_t at = address - text->start;

	if (at < text->end - text->start)
		bits->words[at / 64] |= UINT64_C(1) << (at % 64);
}

static inline void cp_detour_clear(const struct cp_detour_text *text, struct cp_detour_bits *bits,
				   uint64_t address)
{
	uint64_t at = address - text->start;

	if (at < text->end - text->start)
		bits->words[at / 64] &= ~(UINT64_C(1) << (at % 64));
}

#endif

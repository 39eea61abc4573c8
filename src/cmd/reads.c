/* SPDX-License-Identifier: MIT
 *
 * A value is read in pieces, and the program runs on meanwhile. Of two looks in a row that
 * saw the same, what both saw was there all the time from the first to the second. So it
 * was when the second look came to a word that the first had found different, if that is
 * the only one: then all of the second look is of that moment.
 *
 *     first   a=1  b=5  c=7        b=5, c=7 all the time ─┐
 *     second  a=2  b=5  c=7   ◄─ a=2 was read in between ─┘
 */
#include "cmd/reads.h"

#include <string.h>

#define WORD 8u
#define BYTES_MAX (16u << 20)

void cp_reads_clear(struct cp_reads *reads)
{
	reads->list.count = 0;
	reads->lost = false;
	cp_buf_clear(&reads->bytes);
}

void cp_reads_free(struct cp_reads *reads)
{
	cp_vec_free(&reads->list);
	cp_buf_free(&reads->bytes);
}

void cp_reads_note(struct cp_reads *reads, uint64_t address, const void *bytes, size_t size)
{
	struct cp_read read = { address, size, reads->bytes.size };

	if (reads->lost || size > BYTES_MAX - reads->bytes.size) {
		reads->lost = true;
		return;
	}
	cp_buf_add(&reads->bytes, bytes, size);
	reads->lost = reads->bytes.failed || !cp_vec_push(&reads->list, read);
}

bool cp_reads_is_word(const struct cp_reads *reads)
{
	const struct cp_read *r;

	cp_vec_for_each(&reads->list, r)
		if (r->address / WORD != reads->list.items[0].address / WORD ||
		    (r->address + r->size - 1) / WORD != reads->list.items[0].address / WORD)
			return false;
	return !reads->lost;
}

/* Are all bytes of the two that differ of one word, which is *word_ret (0: none yet)? */
static bool within_word(const struct cp_read *r, const uint8_t *a, const uint8_t *b,
			uint64_t *word_ret)
{
	uint64_t word;
	size_t i;

	if (!memcmp(a, b, r->size))
		return true;
	for (i = 0; i < r->size; i++) {
		word = (r->address + i) / WORD;
		if (a[i] == b[i] || word == *word_ret)
			continue;
		if (*word_ret)
			return false;
		*word_ret = word;
	}
	return true;
}

bool cp_reads_agree(const struct cp_reads *first, const struct cp_reads *second)
{
	const struct cp_read *a, *b;
	uint64_t word = 0;
	size_t i;

	if (first->lost || second->lost || first->list.count != second->list.count)
		return false;
	for (i = 0; i < first->list.count; i++) {
		a = &first->list.items[i];
		b = &second->list.items[i];
		if (a->address != b->address || a->size != b->size ||
		    !within_word(a, (const uint8_t *)first->bytes.bytes + a->at,
				 (const uint8_t *)second->bytes.bytes + b->at, &word))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT
 *
 * Values of records that go into blocks (calls/blocks.c): of sites whose values have a form
 * (inspect/form.h). Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_VALUED_H
#define CP_ENGINE_PROBES_VALUED_H

#include "engine/probes/rings.h"
#include "engine/probes/sites.h"
#include "inspect/form.h"

struct cp_record_plain;

/* What a fetch brings, in a record. */
struct engine_valued_fetch {
	uint8_t as; /* enum engine_fetch_as */
	uint8_t from; /* the fetch that has its pointer, + 1; 0: the word `pointer` has it */
	uint16_t pointer; /* ENGINE_VALUED_SP: it is the stack pointer */
	uint16_t word; /* where it is, or its head; of texts not known before */
	uint16_t size; /* bytes */
	uint16_t at; /* its pointer, in what `from` brings */
	int32_t offset; /* from its pointer */
};
#define ENGINE_VALUED_SP UINT16_MAX
#define ENGINE_VALUED_FETCHES 64 /* the most */

/* A number in a word of a record, or a pointer to a text there. */
struct engine_valued_number {
	uint16_t word;
	uint8_t shift, unused; /* bits below it, and of 64 those above it */
	bool is_signed;
	bool is_text; /* its texts stand in the record one behind the other, in this order */
	bool by_form; /* the form has to say what its bits mean */
};

/* Where a record of a site has what its form asks for. */
struct engine_valued {
	struct cp_form *form; /* owned */
	uint16_t *words; /* owned; of what is in registers and on the stack, by item */
	struct engine_valued_fetch *fetches; /* owned */
	uint16_t fetch_count;
	uint16_t first_text; /* the word where texts begin */
	uint16_t numbers; /* that its values are told as (cprof_value_words()); 0: as values */
	uint16_t most; /* the record has more words than this, where ... */
	struct engine_valued_number *plain; /* ... all are these; owned; NULL: not so */
	bool texts, by_form; /* some of them are */
	bool blocks; /* they are, too, of what fetches bring, if all of that is there, ... */
	uint16_t end; /* ... up to this word */
};

/* Is there room for the record's values, before the block is told? */
bool engine_valued_fits(const struct engine_ring *ring, const struct engine_valued *valued,
			const struct cp_record_plain *record);
/* Values of a record, as one or the other; both NULL: none. */
struct engine_valued_told {
	const cprof_value *values;
	const uint64_t *numbers;
};

/* Reads a record's values into the ring's block, where they fit. False: it takes the way of
 * hits. */
bool engine_valued_read(cprof_session *s, const cprof_process *p, struct engine_ring *ring,
			const struct engine_valued *valued, const struct cp_record_plain *record,
			uint64_t sp, struct engine_valued_told *ret);

/* Gives back what was read last: the record goes the way of hits. */
void engine_valued_drop(struct engine_ring *ring, const struct engine_valued *valued);

/* Two records, whose values are told as numbers, one behind the other; `first` or `last` NULL:
 * no values. */
struct engine_valued_two {
	const struct engine_valued *first, *last;
	const struct cp_record_plain *begins, *ends;
};
bool engine_valued_two_fit(const struct engine_ring *ring, const struct engine_valued_two *two);
bool engine_valued_read_two(cprof_session *s, const cprof_process *p, struct engine_ring *ring,
			    const struct engine_valued_two *two, uint64_t sp, const uint64_t **ret);

/* The block was told. */
void engine_valued_clear(struct engine_ring *ring);
/* Frees the block, too. */
void engine_valued_release(struct engine_ring *ring);

#endif

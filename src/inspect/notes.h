/* SPDX-License-Identifier: MIT
 *
 * Notes of what values are made of, while they are made: of which bytes, and what of those
 * else than the bytes decides. form.c makes forms of them.
 *
 * A value that there is no note of, in the order in which they are made, is one that has no
 * form.
 */
#ifndef CP_INSPECT_NOTES_H
#define CP_INSPECT_NOTES_H

#include "inspect/build.h"

struct cp_note {
	const cprof_value *value;
	const struct cp_type *type; /* stripped; NULL: a raw register */
	const uint8_t *at; /* NULL: nowhere */
	const uint8_t *text; /* that it is, or leads to; NULL: none */
	uint8_t shift, bits; /* of a number; 0: it has parts, or nothing of its own */
	bool whole; /* its text can't go on behind what is at hand */
	bool folds; /* an array whose equal elements are shown once */
};

/* Bytes of a parameter. */
struct cp_noted_bytes {
	const struct cp_parameter *parameter;
	const uint8_t *at;
	uint64_t size;
};

struct cp_notes {
	CP_VEC(struct cp_note) all;
	CP_VEC(struct cp_noted_bytes) bytes;
	bool failed; /* what was there decided what values there are */
};

static inline void cp_notes_free(struct cp_notes *notes)
{
	cp_vec_free(&notes->all);
	cp_vec_free(&notes->bytes);
}

static inline void cp_note(struct cp_build *b, struct cp_note note)
{
	if (b->notes)
		b->notes->failed |= !cp_vec_push(&b->notes->all, note);
}

/* A number of `bits`, `shift` bits from `at` on. */
static inline void cp_note_number(struct cp_build *b, const cprof_value *v, const struct cp_type *t,
				  const uint8_t *at, unsigned shift, unsigned bits)
{
	cp_note(b, (struct cp_note){ .value = v,
				     .type = t,
				     .at = at,
				     .shift = (uint8_t)shift,
				     .bits = (uint8_t)(bits <= 64 ? bits : 0) });
}

/* What has parts, or says nothing but that it is there. */
static inline void cp_note_whole(struct cp_build *b, const cprof_value *v, const struct cp_type *t,
				 struct cp_bytes from)
{
	cp_note(b, (struct cp_note){ .value = v, .type = t, .at = from.at });
}

static inline struct cp_note *cp_last_note(struct cp_build *b, const cprof_value *v)
{
	struct cp_notes *notes = b->notes;

	if (!notes || !notes->all.count || notes->all.items[notes->all.count - 1].value != v)
		return NULL;
	return &notes->all.items[notes->all.count - 1];
}

/* That is a text, or leads to one. */
static inline void cp_note_text(struct cp_build *b, const cprof_value *v, const uint8_t *text,
				bool whole)
{
	struct cp_note *last = cp_last_note(b, v);

	if (last) {
		last->text = text;
		last->whole = whole;
	}
}

static inline void cp_note_folds(struct cp_build *b, const cprof_value *v)
{
	struct cp_note *last = cp_last_note(b, v);

	if (last)
		last->folds = true;
}

/* What is there decides what values there are. */
static inline void cp_note_depends(struct cp_build *b)
{
	if (b->notes)
		b->notes->failed = true;
}

static inline void cp_note_parameter(struct cp_build *b, const struct cp_parameter *p,
				     struct cp_bytes from)
{
	const struct cp_noted_bytes bytes = { p, from.at, from.size };

	if (b->notes)
		b->notes->failed |= !cp_vec_push(&b->notes->bytes, bytes);
}

#endif

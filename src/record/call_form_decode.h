/* SPDX-License-Identifier: MIT
 *
 * Reads values of calls in a block (call_form.h), which anybody may have written.
 */
#ifndef CP_RECORD_CALL_FORM_DECODE_H
#define CP_RECORD_CALL_FORM_DECODE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "record/calls.h"

struct cp_call_form_text {
	const char *bytes;
	uint32_t size;
};

/* A form in a block, and where what its items had last begins. */
struct cp_call_form_use {
	const struct cp_call_form_row *row;
	size_t last;
};

/* Begins as zeros. */
struct cp_call_form_reader {
	CP_VEC(struct cp_call_form_use) rows; /* the block's forms */
	CP_VEC(struct cp_call_form_last) lasts; /* of their items, one after the other */
	CP_VEC(struct cp_call_form_text) texts; /* the block's */
	struct cp_interner known; /* forms of all blocks, as they stand there */
	CP_VEC(struct cp_call_form_row *) all; /* owned; by number in `known` */
	struct cp_arena names;
	CP_VEC(cprof_value) values; /* of the event */
	bool no_memory;
};

/* Another block begins. */
void cp_call_form_begin(struct cp_call_form_reader *r);
/* Reads which form comes: number + 1, or 0. False: it makes no sense. */
bool cp_call_form_get(struct cp_call_form_reader *r, struct cp_cursor *c, uint32_t *form_ret);
/* Reads the values of an event; they are good until the next. Texts are where the block's
 * bytes are; forms last as the reader does. */
bool cp_call_form_read(struct cp_call_form_reader *r, struct cp_cursor *c, uint32_t form,
		       struct cp_record_call *call);
/* Passes over them. */
bool cp_call_form_pass(struct cp_call_form_reader *r, struct cp_cursor *c, uint32_t form);
void cp_call_form_reader_free(struct cp_call_form_reader *r);

#endif

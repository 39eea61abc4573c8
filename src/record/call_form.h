/* SPDX-License-Identifier: MIT
 *
 * Values of calls in a block: what those of a function's enters have alike is written once
 * in each block, its form; of an event come numbers, in the form's order:
 *
 *     number, pointer      less the last one there, zigzag
 *     enumerator, function the same, then its name: a text, or 0
 *     float                its bytes from the lowest fraction on
 *     text                 0: the pointer is NULL; else 1 + is it cut + 2 * its number among
 *                          the block's, where the first that is not there yet follows: its
 *                          size, bytes, NUL
 *     its address          less the last one there, zigzag
 *
 * all as LEB128. A form is its number among those of the block + 1, 0 for no values; the
 * first that is not there yet follows: how many values, and of each kind, source, error,
 * flags, size, name, type.
 */
#ifndef CP_RECORD_CALL_FORM_H
#define CP_RECORD_CALL_FORM_H

#include "record/call_block.h"

/* Of an item of a form. */
#define CP_FORM_ADDRESS 1u /* it has one */
#define CP_FORM_NAMED 2u /* it may have a symbol */
#define CP_FORM_GUESSED 4u

struct cp_call_forms;

/* The number of an entry's form + 1, 0: it has no values, or such as a block can't have; new
 * ones are known from now on, as long as their pointers mean the same. *size_ret: bytes that
 * form and values take at most. */
uint32_t cp_call_form_of(struct cp_call_coder *coder, const struct cp_call_entry *entry,
			 size_t *size_ret);
/* Both write at `at`, where there is room, and tell where that ends. */
uint8_t *cp_call_form_put(struct cp_call_coder *coder, uint32_t form, uint8_t *at);
uint8_t *cp_call_form_values(struct cp_call_coder *coder, uint32_t form,
			     const struct cp_call_entry *entry, uint8_t *at);
void cp_call_forms_free(struct cp_call_forms *forms);

#endif

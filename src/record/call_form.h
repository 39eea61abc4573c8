/* SPDX-License-Identifier: MIT
 *
 * Values of calls in a block: what those of a function's enters have alike is written once
 * in each block, its form; of an event come numbers, in the form's order, each value before
 * its parts:
 *
 *     number, pointer      less the last one there, zigzag; a NULL has no parts
 *     enumerator, function the same, then its name: a text, or 0
 *     float                its bytes from the lowest fraction on
 *     text                 0: the pointer is NULL; else 1 + is it cut + 2 * its number among
 *                          the block's, where the first that is not there yet follows: its
 *                          size, bytes, NUL
 *     its own address      less the last one there, zigzag
 *     array that is folded is it cut + 2 * how many elements, each with how often it stands
 *                          there in a row (0: once) before it
 *
 * all as LEB128. A form is its number among those of the block + 1, 0 for no values; the
 * first that is not there yet follows: how many values, and of each kind, source, error,
 * flags, size, name, type, how many parts, where it is in what it is part of (the address +
 * 1, 0: it has none, or its own), and those parts.
 */
#ifndef CP_RECORD_CALL_FORM_H
#define CP_RECORD_CALL_FORM_H

#include "record/call_block.h"
#include "record/call_encode.h"

/* Of an item of a form. */
#define CP_FORM_ADDRESS 1u /* it has one of its own */
#define CP_FORM_NAMED 2u /* it may have a symbol */
#define CP_FORM_GUESSED 4u
#define CP_FORM_CUT 8u
#define CP_FORM_FOLDS 16u

#define CP_FORM_DEEP 66 /* levels of parts */

/* An address of a value as forms have it: 0: none, 1: its own, else where it is in what it
 * is part of. */
static inline uint64_t cp_form_within(uint64_t address)
{
	return address > 1 ? address - 1 : 0;
}

/* What parts of a value are in memory by: what it points to, or else what itself is part
 * of; `base`: of that. */
static inline uint64_t cp_form_base(const cprof_value *v, uint64_t base)
{
	return v->kind == CPROF_VALUE_POINTER ? v->u.u : base;
}

/* Can a block have such values? */
static inline bool cp_form_suits(const cprof_value *v)
{
	switch (v->kind) {
	case CPROF_VALUE_STRUCT:
	case CPROF_VALUE_UNION:
	case CPROF_VALUE_ARRAY:
	case CPROF_VALUE_POINTER:
		return true;
	case CPROF_VALUE_STRING:
	case CPROF_VALUE_ERROR:
		return !v->count;
	default:
		return !v->count && cp_record_value_numbers(v->kind) == 1;
	}
}

/* May it have parts? */
static inline bool cp_form_leads(const cprof_value *v)
{
	return v->kind != CPROF_VALUE_POINTER || v->u.u;
}

struct cp_call_forms;

/* Values of an event: `values` or `numbers` has them. */
struct cp_call_values {
	const cprof_value *form; /* NULL: none */
	const cprof_value *values;
	const uint64_t *numbers;
	uint32_t count;
};

static inline struct cp_call_values cp_call_values_of(const struct cp_call_entry *e)
{
	if (!e->value_count)
		return (struct cp_call_values){ 0 };
	return (struct cp_call_values){ e->form, e->values, e->numbers, e->value_count };
}

/* The number of a form + 1, 0: there are no values, or such as a block can't have; new ones are
 * known from now on, as long as their pointers mean the same. */
uint32_t cp_call_form_of(struct cp_call_coder *coder, const struct cp_call_values *values);
/* Bytes that a form and values take at most. */
size_t cp_call_form_size(const struct cp_call_coder *coder, uint32_t form,
			 const struct cp_call_values *values);
/* Likewise, texts aside; SIZE_MAX: it may have some. */
size_t cp_call_form_plain_size(const struct cp_call_coder *coder, uint32_t form);
/* Both write at `at`, where there is room, and tell where that ends. */
uint8_t *cp_call_form_put(struct cp_call_coder *coder, uint32_t form, uint8_t *at);
uint8_t *cp_call_form_values(struct cp_call_coder *coder, uint32_t form,
			     const struct cp_call_values *values, uint8_t *at);
void cp_call_forms_free(struct cp_call_forms *forms);

#endif

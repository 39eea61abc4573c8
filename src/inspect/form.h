/* SPDX-License-Identifier: MIT
 *
 * A form: what the values of a place have alike, call after call, where their types alone
 * decide what values there are. Worked out once, so that a call brings nothing but what is
 * its own:
 *
 *     open(const char *path, int flags)     form   path: text at rdi │ flags: 32 bits of rsi
 *                                           call   "/etc/passwd"     │ 0
 *     visit(struct node *n)                 form   n: rdi, to {next: 64 bits of block 0,
 *                                                  name: text by block 0 + 8, …}
 *
 * The code that makes values makes them of zeros, and notes which bytes each is of; where
 * what is there decides (a cycle, what can't be read, a container), that code has to make
 * them. So a form makes the same values as cp_signature_arguments() and
 * cp_signature_result() do.
 */
#ifndef CP_INSPECT_FORM_H
#define CP_INSPECT_FORM_H

#include "inspect/inspect.h"

#define CP_FORM_VALUES 192 /* with all that they consist of */
#define CP_FORM_OWN 1u /* an address that is the call's own; else it is this, ... */
#define CP_FORM_WITHIN 2u /* ... and where it is in what it is part of */

enum cp_form_what {
	CP_FORM_WHOLE, /* it has parts, or says nothing but that it is there */
	CP_FORM_NUMBER,
	CP_FORM_SINGLE, /* a float */
	CP_FORM_DOUBLE,
	CP_FORM_ENUM,
	CP_FORM_FUNCTION, /* a pointer to one */
	CP_FORM_TEXT, /* a pointer to characters */
	CP_FORM_CHARACTERS, /* a text itself */
	CP_FORM_FOLDED, /* an array whose equal elements are shown once; they have no parts */
};

enum cp_form_where {
	CP_FORM_NOWHERE,
	CP_FORM_REGISTER,
	CP_FORM_VECTOR,
	CP_FORM_STACK,
	CP_FORM_BLOCK, /* what a fetch brings */
};

struct cp_form_item {
	const struct cp_type *type; /* ENUM */
	int32_t offset; /* bytes: STACK: from the stack pointer; BLOCK: in it */
	uint32_t size; /* CHARACTERS, FOLDED: bytes; of FOLDED an element's */
	uint32_t elements; /* FOLDED: that there are */
	uint16_t first; /* part, their number is the value's count */
	uint16_t parent; /* + 1; 0: none */
	uint8_t what; /* enum cp_form_what */
	uint8_t where; /* enum cp_form_where */
	uint8_t number; /* of the register, or the fetch */
	uint8_t shift; /* bits before those of a number */
	uint8_t bits; /* of a number */
	uint8_t text; /* TEXT: the fetch that brings it */
	bool is_signed;
	bool addressed; /* it is in memory */
	bool ends; /* CHARACTERS: they can't go on */
};

struct cp_form {
	uint32_t count; /* arguments, or 1 */
	uint32_t total; /* values */
	uint32_t text_most; /* bytes of a text that are shown */
	/* By item, arguments first, the parts of a value side by side, behind it. `address` as
	 * CP_FORM_*, `symbol` is "" where it may have one, `repeats` 1 of what is FOLDED; of a
	 * text, `kind` is STRING, and POINTER of those that are NULL. */
	cprof_value *values; /* owned */
	struct cp_form_item *items; /* owned */
	struct cp_form_names *names; /* owned; of items, and enumerators that were met */
};

/* The form of the arguments, or (`leave`) of the result, where `list` is what is captured
 * and `shapes` what types are read by; NULL: they have none, or there is no memory. It lives
 * no longer than the signature's image. */
struct cp_form *cp_form_create(const struct cp_signature *signature, bool leave,
			       const struct cp_capture_list *list, const struct cp_shapes *shapes);
void cp_form_destroy(struct cp_form *form);

/* Sets what is the call's own of a number that its place holds, from the lowest bit on.
 * False: not so many different ones are kept; `value` is as it was. */
bool cp_form_set(struct cp_form *form, size_t item, uint64_t number, cprof_value *value);

/* Sets a text of which `size` bytes are at hand, which have to last; `ended`: it ends there. */
void cp_form_set_text(const struct cp_form *form, uint64_t address, const char *bytes,
		      uint32_t size, bool ended, cprof_value *value);

#endif

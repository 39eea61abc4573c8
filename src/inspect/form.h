/* SPDX-License-Identifier: MIT
 *
 * A form: what the values of a place have alike, call after call, where each is a number,
 * an enumerator, a function's address or a text. Worked out once, so that a call brings
 * nothing but what is its own:
 *
 *     open(const char *path, int flags)     form   path: text at rdi │ flags: 32 bits of rsi
 *                                           call   "/etc/passwd"     │ 0
 *
 * It makes the same values as cp_signature_arguments() and cp_signature_result() do.
 */
#ifndef CP_INSPECT_FORM_H
#define CP_INSPECT_FORM_H

#include "inspect/inspect.h"

#define CP_FORM_VALUES 16

enum cp_form_what {
	CP_FORM_NOTHING, /* the same in every call */
	CP_FORM_NUMBER,
	CP_FORM_SINGLE, /* a float */
	CP_FORM_DOUBLE,
	CP_FORM_ENUM,
	CP_FORM_FUNCTION, /* a pointer to one */
	CP_FORM_TEXT, /* a pointer to characters */
};

enum cp_form_where { CP_FORM_REGISTER, CP_FORM_VECTOR, CP_FORM_STACK };

struct cp_form_item {
	uint8_t what; /* enum cp_form_what */
	uint8_t where; /* enum cp_form_where */
	uint8_t number; /* of the register */
	uint8_t bits; /* of a number, the lowest of what is there */
	bool is_signed;
	int32_t offset; /* STACK: from the stack pointer */
	const struct cp_type *type; /* ENUM */
};

struct cp_form {
	uint32_t count;
	uint32_t text_most; /* bytes of a text that are shown */
	/* By item. `address` is 1 where a value has one; `symbol` is "" where it may have one;
	 * of a text, `kind` is STRING, and POINTER of those that are NULL. */
	cprof_value values[CP_FORM_VALUES];
	struct cp_form_item items[CP_FORM_VALUES];
	struct cp_form_names *names; /* owned; of items, and enumerators that were met */
};

/* The form of the arguments, or (`leave`) of the result; NULL: they have none, or there is
 * no memory. It lives no longer than the signature's image. */
struct cp_form *cp_form_create(const struct cp_signature *signature, bool leave);
void cp_form_destroy(struct cp_form *form);

/* Sets what is the call's own of a number that its place holds. False: not so many different
 * ones are kept; `value` is as it was. */
bool cp_form_set(struct cp_form *form, size_t item, uint64_t number, cprof_value *value);

/* Sets a text of which `size` bytes are at hand, which have to last; `ended`: it ends there. */
void cp_form_set_text(const struct cp_form *form, uint64_t address, const char *bytes,
		      uint32_t size, bool ended, cprof_value *value);

#endif

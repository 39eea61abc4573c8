/* SPDX-License-Identifier: MIT
 *
 * Values made of nothing but zeros, with notes of which bytes each is of: what forms are
 * taken from. All that is fetched is there, each at an address of its own.
 */
#ifndef CP_INSPECT_FORM_TRIAL_H
#define CP_INSPECT_FORM_TRIAL_H

#include "inspect/form.h"
#include "inspect/notes.h"

struct cp_form_trial;

/* NULL: such values can't have a form, or there is no memory. */
struct cp_form_trial *cp_form_trial_make(const struct cp_signature *signature, bool leave,
					 const struct cp_capture_list *list,
					 const struct cp_shapes *shapes);
/* The values, how many there are, and with all that they consist of; NULL: no form. */
const cprof_value *cp_form_trial_values(const struct cp_form_trial *trial, size_t *count_ret,
					size_t *total_ret);
uint32_t cp_form_trial_text_most(const struct cp_form_trial *trial);
/* The next note; NULL: that was the last. */
const struct cp_note *cp_form_trial_next(struct cp_form_trial *trial);
/* Sets where `bits`, `shift` bits from `at` on, are. False: they are not all in one place. */
bool cp_form_trial_find(const struct cp_form_trial *trial, const uint8_t *at, unsigned shift,
			unsigned bits, struct cp_form_item *ret);
void cp_form_trial_free(struct cp_form_trial *trial);

#endif

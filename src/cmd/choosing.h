/* SPDX-License-Identifier: MIT
 *
 * Functions of a recording by SPEC: which of them are shown, which calls count.
 */
#ifndef CP_CMD_CHOOSING_H
#define CP_CMD_CHOOSING_H

#include "report/profile/profile.h"

struct cp_spec;

/* The choice of single calls, as it is typed. */
struct cp_choice_options {
	const char *under, *not_under, *paths_to;
	uint64_t levels, least_ns;
};

/* Does the SPEC mean a function of `p`? For struct cp_call_choice. */
bool cp_spec_means(void *spec, const struct cp_profile *p, const struct cp_function *f);
/* An error where it, which was typed as `text`, means none; with names that are near. */
CP_ERROR cp_check_spec(const struct cp_profile *p, struct cp_spec *spec, const char *text);

/* What is needed while a profile is made by such a choice. Begins with zeros. */
struct cp_choosing {
	const struct cp_choice_options *options; /* borrowed */
	struct cp_spec *under, *not_under, *paths_to; /* owned; NULL: not asked for */
};
CP_ERROR cp_choosing_begin(struct cp_choosing *c, const struct cp_choice_options *o,
			   struct cp_call_choice *ret);
/* An error where a SPEC means no function whose calls are in the recording. */
CP_ERROR cp_choosing_check(const struct cp_choosing *c, const struct cp_profile *p);
void cp_choosing_end(struct cp_choosing *c);

#endif

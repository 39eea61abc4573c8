/* SPDX-License-Identifier: MIT
 *
 * A signature: what a function takes and gives, where, and what a stop has to read for
 * it. Made by read.c, with exits as they are asked for.
 */
#ifndef CP_INSPECT_SIGNATURE_H
#define CP_INSPECT_SIGNATURE_H

#include "base/arena.h"
#include "base/vec.h"
#include "image/location.h"
#include "inspect/inspect.h"
#include "inspect/place.h"

#define CP_VALUE_DEPTH 64 /* of any nesting, whatever the limits say */

#define CP_LEADS_MAX 8 /* pointers in a row */

struct cp_parameter {
	const char *name;
	const struct cp_type *type; /* NULL: a raw register */
	uint8_t source; /* cprof_value_source */
	bool guessed;
	struct cp_place place;
	/* Its place has a pointer, and so many lead on from there: it is leads[lead_count - 1]
	 * bytes into what the last leads to, each of the others so far into what the one before
	 * it does. */
	uint8_t lead_count;
	int32_t leads[CP_LEADS_MAX];
	const struct cp_type_member *bits; /* it is a bit-field of what is there, or NULL */
};

struct cp_fetches {
	CP_VEC(struct cp_fetch) list; /* by level */
	bool beyond; /* values lead on to what these do not read */
};

/* An exit that captures more than the others, because of the locals in scope there. */
struct cp_exit {
	uint64_t site;
	struct cp_fetches fetches;
	unsigned flags; /* CP_SITE_* */
	struct cp_parameter *locals;
	size_t local_count;
};

struct cp_signature {
	struct cp_arena arena;
	struct cp_image *image; /* borrowed */
	const struct cp_arch *arch;
	const struct cp_convention *convention; /* NULL: none is known */
	struct cp_value_limits limits;
	struct cp_function_info function;
	bool described; /* there is debug information */
	unsigned want; /* CP_SIGNATURE_* */
	struct cp_parameter *parameters;
	size_t parameter_count;
	/* What is told for them: these, if `chosen` (chosen.h), for which the parameters
	 * themselves need not be captured. */
	struct cp_parameter *shown;
	size_t shown_count;
	bool chosen, arguments_too;
	struct cp_parameter result; /* type NULL: void */
	bool has_result;
	struct cp_fetches entry, exit;
	unsigned entry_flags, exit_flags; /* CP_SITE_* */
	CP_VEC(struct cp_exit *) exits; /* made when first asked for */
};

/* Nothing but its image and limits; NULL without memory. */
struct cp_signature *cp_signature_new(struct cp_image *image, const struct cp_value_limits *limits);

void cp_signature_set_constant(struct cp_parameter *p, const struct cp_variable *v);
/* Is what is said of `v` so before the first instruction, too? */
bool cp_signature_needs_no_frame(const struct cp_signature *signature, const struct cp_variable *v,
				 const struct cp_place *said);
/* Bytes of its value. */
uint64_t cp_parameter_size(const struct cp_parameter *p);
/* An argument, or the result (-1); NULL: there is none. */
const struct cp_parameter *cp_signature_parameter(const struct cp_signature *signature,
						  int position);

#endif

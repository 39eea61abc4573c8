/* SPDX-License-Identifier: MIT
 *
 * Functions of Rust: see rust.c.
 */
#ifndef CP_INSPECT_RUST_H
#define CP_INSPECT_RUST_H

#include <string.h>

#include "image/types.h"
#include "inspect/signature.h"

/* Places the arguments and the result of a function of Rust. */
struct cp_error *cp_rust_place(struct cp_signature *signature);

/* Of an enum's forms: the one that is an Option's without anything. */
static inline bool cp_rust_is_none(const struct cp_type_variant *v)
{
	return !strcmp(v->member.name, "None");
}

static inline bool cp_rust_is_option(const struct cp_type_details *d)
{
	const struct cp_type_variant *v = d->variants;

	return d->variant_count == 2 && cp_rust_is_none(v) != cp_rust_is_none(v + 1) &&
	       !strcmp(v[cp_rust_is_none(v)].member.name, "Some");
}

#endif

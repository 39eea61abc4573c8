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

/* Where in a pointer to what has a trait its two words are. */
struct cp_rust_trait {
	uint64_t pointer, vtable;
};

/* Is it one: `&dyn Trait`, `Box<dyn Trait>`? Its details have been read. */
static inline bool cp_rust_is_trait(const struct cp_type *t, struct cp_rust_trait *ret)
{
	const struct cp_type_details *d = t->kind == CP_TYPE_STRUCT ? cp_type_details(t) : NULL;
	const struct cp_type_member *m = d ? d->members : NULL;

	if (!d || d->member_count != 2 || d->variant_count || t->size != 16 ||
	    t->language != CP_LANGUAGE_RUST || strcmp(m[0].name, "pointer") != 0 ||
	    strcmp(m[1].name, "vtable") != 0)
		return false;
	*ret = (struct cp_rust_trait){ m[0].offset, m[1].offset };
	return m[0].offset <= 8 && m[1].offset <= 8;
}

#endif

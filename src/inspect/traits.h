/* SPDX-License-Identifier: MIT
 *
 * Pointers of Rust to what has a trait, whatever it is: see traits.c.
 */
#ifndef CP_INSPECT_TRAITS_H
#define CP_INSPECT_TRAITS_H

#include "inspect/thing.h"

/* Such a pointer as one of its own kind: to the type that its vtable was made for. False: it
 * is none, or that can't be told. */
bool cp_trait_behind(const struct cp_expression_env *env, const struct cp_thing *thing,
		     struct cp_thing *ret);

#endif

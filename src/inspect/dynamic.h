/* SPDX-License-Identifier: MIT
 *
 * The type that an object really has: see dynamic.c.
 */
#ifndef CP_INSPECT_DYNAMIC_H
#define CP_INSPECT_DYNAMIC_H

#include "image/image.h"
#include "image/types.h"

struct cp_dynamic_env {
	const struct cp_reader *memory;
	/* The variable at an address, demangled, to be free()d; NULL: none. */
	char *(*variable_at)(void *ctx, uint64_t address, uint64_t *offset_ret);
	/* NULL: there is none. */
	const struct cp_type *(*type)(void *ctx, const char *name);
	void *ctx;
};

enum cp_dynamic {
	CP_DYNAMIC_FOUND,
	CP_DYNAMIC_PLAIN, /* the class has no virtual functions */
	CP_DYNAMIC_UNREADABLE,
	CP_DYNAMIC_ASTRAY, /* no vtable is where it says, or its class is not described */
};
/* The class that a `type` at `address` really is, by its vtable's symbol, to be free()d;
 * NULL: just that, or it can't be told. */
char *cp_dynamic_class(const struct cp_dynamic_env *env, const struct cp_type *type,
		       uint64_t address);
/* The whole object that a `type` at `address` is part of. */
enum cp_dynamic cp_dynamic_type(const struct cp_dynamic_env *env, const struct cp_type *type,
				uint64_t address, const struct cp_type **type_ret,
				uint64_t *address_ret);

#endif

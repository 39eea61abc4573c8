/* SPDX-License-Identifier: MIT
 *
 * The vtables of Rust's traits, and the types that they were made for: see vtables.c.
 */
#ifndef CP_CMD_VTABLES_H
#define CP_CMD_VTABLES_H

#include <stdint.h>

#include "base/vec.h"

struct cp_inspected;
struct cp_type;

struct cp_vtable {
	uint64_t address; /* in the process */
	char *name; /* owned; of the type */
	const struct cp_type *type; /* once it was looked for; NULL: there is none */
	bool sought;
};

struct cp_vtables {
	CP_VEC(struct cp_vtable) list;
	bool read;
};

/* The type that the vtable at an address was made for, and its name, which lives as long as
 * the table; NULL: no debug information tells. `in` is a struct cp_inspected. */
const struct cp_type *cp_vtable_type(void *in, uint64_t address, const char **name_ret);
void cp_vtables_free(struct cp_vtables *vtables);

#endif

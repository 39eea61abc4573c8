/* SPDX-License-Identifier: MIT
 *
 * Where in an object its bases are, and the object that a base is in: see bases.c.
 */
#ifndef CP_INSPECT_BASES_H
#define CP_INSPECT_BASES_H

#include "inspect/thing.h"

/* The base that `m` is, of a thing of the class that has it. */
struct cp_thing cp_base_of(const struct cp_expression_env *env, const struct cp_thing *object,
			   const struct cp_type_member *m);

/* The class that the object of `type` at `address` is a base of, to be free()d; NULL: it is
 * a whole one, or that can't be told. */
char *cp_base_class_of(const struct cp_expression_env *env, const struct cp_type *type,
		       uint64_t address);

/* The whole object that a thing of some class is a base of, by its vtable; false: it is a
 * whole one, or that can't be told. */
bool cp_base_whole(const struct cp_expression_env *env, const struct cp_thing *base,
		   struct cp_thing *ret);

/* Where an object of class `to` is that the one at *address of class `from` is a base of,
 * or has as a base. *error_ret is of cprof_value_error: that can't be told for what is in
 * memory. Classes that have nothing to do with one another leave *address as it is. */
CP_ERROR cp_base_cast(const struct cp_expression_env *env, const struct cp_type *from,
		      const struct cp_type *to, uint64_t *address, uint8_t *error_ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Values out of captures: see value.c.
 */
#ifndef CP_INSPECT_VALUE_H
#define CP_INSPECT_VALUE_H

#include "inspect/build.h"

#define CP_VALUE_FOLD 10 /* equal elements in a row that are shown once */

void cp_value_of_parameter(const struct cp_value_request *request,
			   const struct cp_parameter *parameter, cprof_value *ret);
/* The bytes of a parameter, in the arena; *error_ret and *address_ret (0: in
 * registers) tell why not and where. */
const uint8_t *cp_parameter_bytes(const struct cp_value_request *request,
				  const struct cp_parameter *parameter, size_t *size_ret,
				  uint64_t *address_ret, uint8_t *error_ret);

/* The same where some of them are not known; size 0: none is. */
struct cp_bytes cp_parameter_known(const struct cp_value_request *request,
				   const struct cp_parameter *parameter, uint8_t *error_ret);

/* To make values of what is read as it goes, with nothing captured. */
struct cp_build cp_build_live(const struct cp_value_request *request,
			      const struct cp_value_limits *limits, uint8_t source);
/* A bit-field of what is at `from`. */
void cp_build_bits(struct cp_build *b, cprof_value *v, const struct cp_type_member *m,
		   struct cp_bytes from);
void cp_build_value(struct cp_build *b, cprof_value *v, const struct cp_type *type,
		    struct cp_bytes from, unsigned depth, unsigned hops);
/* `t` is an array; `from` has as much of it as there is. */
void cp_build_elements(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		       struct cp_bytes from, unsigned depth, unsigned hops);
/* The part of `from` at `offset`; less than `size` when that is all there is. */
struct cp_bytes cp_build_part(struct cp_bytes from, uint64_t offset, uint64_t size);

/* The form of a Rust enum whose discriminant is `value`, of `size` bytes; NULL: none is. */
const struct cp_type_variant *cp_variant_by(const struct cp_type_details *d, uint64_t value,
					    uint64_t size);

#endif

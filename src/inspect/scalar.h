/* SPDX-License-Identifier: MIT
 *
 * Numbers and enums.
 */
#ifndef CP_INSPECT_SCALAR_H
#define CP_INSPECT_SCALAR_H

#include "inspect/build.h"

void cp_build_error(cprof_value *v, uint8_t error, uint64_t address);
/* `t` is stripped; `bits` of the bytes count. */
void cp_build_integer(cprof_value *v, const struct cp_type *t, const uint8_t *at, unsigned bits);
void cp_build_enum(struct cp_build *b, cprof_value *v, const struct cp_type *t, const uint8_t *at,
		   unsigned bits);
/* Numbers of any kind; `type` is `t` before it was stripped. */
void cp_build_scalar(struct cp_build *b, cprof_value *v, const struct cp_type *type,
		     const struct cp_type *t, const uint8_t *at);

#endif

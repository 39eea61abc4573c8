/* SPDX-License-Identifier: MIT
 *
 * Where debug information says that variables are: see locate.c.
 */
#ifndef CP_INSPECT_LOCATE_H
#define CP_INSPECT_LOCATE_H

#include "inspect/signature.h"

/* Evaluates a COMPUTED piece with the registers that were captured. */
enum cp_location_status cp_locate_now(const struct cp_piece *piece,
				      const struct cp_capture *capture,
				      struct cp_located *parts_ret /* CP_LOCATED_MAX */,
				      size_t *count_ret);
/* Is a COMPUTED piece the same at each call, the address of something static? */
bool cp_locate_is_fixed(const struct cp_piece *piece);
/* Does only the caller tell of a COMPUTED piece, of a parameter that is not passed? */
bool cp_locate_is_callers(const struct cp_piece *piece);
/* Would it be known, were the registers of the entry? */
bool cp_locate_lacks_entry(const struct cp_piece *piece, const struct cp_capture *capture);
/* The place of `v` at link-time `pc` by debug information, where the canonical frame
 * address is the stack pointer + `cfa_offset`. */
void cp_locate(const struct cp_signature *signature, const struct cp_variable *v, uint64_t pc,
	       int64_t cfa_offset, struct cp_place *ret);

/* The same in the middle of a frame, of a constant, too. */
struct cp_place cp_locate_in_frame(const struct cp_signature *signature,
				   const struct cp_variable *v, const struct cp_value_frame *frame);

/* The place of a static variable of `size` bytes that is not one object in memory. */
void cp_locate_static(const struct cp_location *at, uint64_t size, struct cp_place *ret);

/* Do members of a value have bytes from `at` up to `end`, or is that padding? */
bool cp_type_has_bytes(const struct cp_type *type, uint64_t at, uint64_t end);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Results of Rust: see classify_rust.c.
 */
#ifndef CP_INSPECT_CLASSIFY_RUST_H
#define CP_INSPECT_CLASSIFY_RUST_H

#include "inspect/place.h"

#define CP_RUST_RESULT 5 /* rdi: where a result goes that is in memory */
/* `takes_first`: a parameter is in the first register; `sets`: CP_RESULT_* of the code. */
struct cp_place cp_rust_result(const struct cp_type *type, bool takes_first, unsigned sets);
/* Are all registers of a place among those? */
bool cp_rust_is_set(const struct cp_place *place, unsigned sets);

#endif

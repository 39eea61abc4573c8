/* SPDX-License-Identifier: MIT
 *
 * Arguments by what the code stores: see stored.c.
 */
#ifndef CP_INSPECT_STORED_H
#define CP_INSPECT_STORED_H

#include "inspect/signature.h"

/* Places parameters where debug information has them at the entry, or by what the
 * code stores first where it has them later; `rest`: only those whose place is not
 * known. */
struct cp_error *cp_signature_place_by_code(struct cp_signature *signature, bool rest);

#endif

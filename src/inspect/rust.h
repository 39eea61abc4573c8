/* SPDX-License-Identifier: MIT
 *
 * Functions of Rust: see rust.c.
 */
#ifndef CP_INSPECT_RUST_H
#define CP_INSPECT_RUST_H

#include "inspect/signature.h"

/* Places the arguments and the result of a function of Rust. */
struct cp_error *cp_rust_place(struct cp_signature *signature);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What is captured at an exit: see exits.c.
 */
#ifndef CP_INSPECT_EXITS_H
#define CP_INSPECT_EXITS_H

#include "inspect/signature.h"

/* The exit at link-time `site`, made when first asked for; NULL when it is as all
 * others are. */
const struct cp_exit *cp_exit_at(const struct cp_signature *signature, uint64_t site);

#endif

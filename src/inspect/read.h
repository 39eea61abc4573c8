/* SPDX-License-Identifier: MIT
 *
 * Signatures in the making: see read.c.
 */
#ifndef CP_INSPECT_READ_H
#define CP_INSPECT_READ_H

#include "inspect/signature.h"

/* Plans what is captured at the entry anew; false without memory. */
bool cp_signature_plan_entry(struct cp_signature *signature);

#endif

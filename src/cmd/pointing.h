/* SPDX-License-Identifier: MIT
 *
 * Who points at something: see pointing.c.
 */
#ifndef CP_CMD_POINTING_H
#define CP_CMD_POINTING_H

#include "cmd/inspect_show.h"

/* Shows the words that hold the address which `text`, an expression, is or has. */
CP_ERROR cp_inspect_pointing(struct cp_inspect *i, const char *text);

#endif

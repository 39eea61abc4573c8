/* SPDX-License-Identifier: MIT */
#ifndef CP_CMD_MODULES_H
#define CP_CMD_MODULES_H

#include "base/buf.h"

/* The names of profilers that can be loaded, a line each. */
void cp_modules_names(struct cp_buf *out);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A layout (layout_of.h) as people read it, and as machines do.
 */
#ifndef CP_CMD_LAYOUT_SHOW_H
#define CP_CMD_LAYOUT_SHOW_H

#include "base/buf.h"
#include "base/json.h"
#include "cmd/layout_of.h"
#include "transcript/look.h"

void cp_layout_text(const struct cp_layout *l, const struct cp_look *look, struct cp_buf *out);
/* An object; `key`: NULL in an array. */
void cp_layout_json(struct cp_json *j, const char *key, const struct cp_layout *l);

#endif

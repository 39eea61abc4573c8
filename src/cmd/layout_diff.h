/* SPDX-License-Identifier: MIT
 *
 * What differs between the types of two files.
 */
#ifndef CP_CMD_LAYOUT_DIFF_H
#define CP_CMD_LAYOUT_DIFF_H

#include "cmd/layout_all.h"

/* Each type that is not the same in both, and what moved. CP_ERR_NOT_FOUND: there are none in
 * either of them. */
CP_ERROR cp_layout_diff(struct cp_image *before, struct cp_image *now,
			const struct cp_layout_wish *wish, struct cp_buf *out);

#endif
